"""Names are shown, never markup."""

import re

from probtruth.report.contents import Extras, contents
from probtruth.report.markdown import markdown, shown
from probtruth.report.names import mark


def test_says_what_the_page_says(result, content):
    text = markdown(result, content)
    assert text.startswith("## nearest-neighbours is almost certainly the best of the 4 models.")
    for said in ("annotators are simulated", "### Models", "Diagnostics of the sampling", "```bibtex\n"):
        assert said in text


def test_every_row_of_a_table_has_its_columns(odd):
    for block in re.findall(r"(?:^\|.*\n)+", markdown(odd), re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1


def test_plain_names_are_written_plainly(result):
    """No invisible isolates, no backslashes where nothing could be markup."""
    text = markdown(result)
    assert "\u2068" not in text
    assert "nearest\\-neighbours" not in text


def test_a_number_before_a_point_starts_no_list():
    assert shown(mark("3.12.1")) == "3\\.12.1"


def test_a_fence_in_the_command_does_not_end_the_block(make):
    result = make["bare"](2)
    text = markdown(result, contents(result, Extras("probtruth run --out '```'")))
    assert "````sh\nprobtruth run --out '```'\n````" in text


def test_failing_diagnostics_come_first(make):
    failing = {"max_rhat": 1.5, "min_ess": 10.0, "divergences": 2}
    text = markdown(make["rewrite"](make["bare"](2), diagnostics=failing))
    assert text.index("Do not rely on the numbers below.") < text.index("Estimand")
