"""Names are shown, never markup."""

import re
from dataclasses import replace

import pytest

from probtruth.report.markdown import markdown


def test_says_what_the_page_says(result):
    text = markdown(result)
    assert text.startswith("## nearest-neighbours is almost certainly the best of the 4 models.")
    for said in (
        "annotators are simulated",
        "### Models",
        "Diagnostics of the sampling",
        "```sh\n",
    ):
        assert said in text


@pytest.fixture(scope="module")
def of_odd(odd):
    return markdown(odd)


def test_odd_names_cannot_become_markup(of_odd):
    text = of_odd
    assert "<script" not in text
    assert "&lt;script&gt;alert\\(1\\)&lt;/script&gt;" in text
    assert "co \\| \\*x\\* \\$y\\$" in text
    assert "\u202e" not in text


def test_every_row_of_a_table_has_its_columns(of_odd):
    for block in re.findall(r"(?:^\|.*\n)+", of_odd, re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1


def test_plain_names_are_written_plainly(result):
    """No invisible isolates, no backslashes where nothing could be markup."""
    text = markdown(result)
    assert "\u2068" not in text
    assert "nearest\\-neighbours" not in text


def test_a_fence_in_the_command_does_not_end_the_block(make):
    text = markdown(replace(make["bare"](2), command="probtruth run --out '```'"))
    assert "````sh\nprobtruth run --out '```'\n````" in text


def test_failing_diagnostics_come_first(make):
    failing = {"max_rhat": 1.5, "min_ess": 10.0, "divergences": 2, "engines_agree": False}
    text = markdown(make["rewrite"](make["bare"](2), diagnostics=failing))
    assert text.index("Do not rely on the numbers below.") < text.index("Estimand")
