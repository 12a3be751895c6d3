"""What the documentation makes from the code: docstrings as reStructuredText, and tables."""

from pathlib import Path
from typing import TypeAliasType

import pages
import pytest

from probtruth.scoring.rules import NAMED
from probtruth.truth.infer import METHODS
from probtruth.types import arguments

pytestmark = pytest.mark.page  # with them, not with the quick tests, comes what documentation is made with
pytest.importorskip("sphinx", reason="the extra `docs` is not installed")

live_tables = pages.extension("live_tables")
plain_docstrings = pages.extension("plain_docstrings")
public_names = pages.extension("public_names")

TYPES = {
    name: alias
    for name, alias in vars(arguments).items()
    if isinstance(alias, TypeAliasType) and alias.__module__ == arguments.__name__
}


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("Formula: |p - e_k|^2 * t_k", r"**Formula:** \|p - e\_k\|^2 \* t\_k"),
        ("Returns: `t_k`, nats", r"**Returns:** \ ``t_k``\ , nats"),
        ("(doi:10.1000/a_b(1)c)", r"(\ `doi:10.1000/a\_b(1)c <https://doi.org/10.1000/a_b(1)c>`__\ )"),
        ("In https://example.org/x; more", r"In \ `https://example.org/x <https://example.org/x>`__\ ; more"),
    ],
)
def test_a_paragraph(line: str, wanted: str) -> None:
    assert plain_docstrings.to_restructured([line]) == [wanted, ""]


def test_an_example_stays_as_it_is() -> None:
    assert plain_docstrings.to_restructured(["Sum.", "", "    >>> f(*a_)", "    2"]) == [
        "Sum.",
        "",
        ">>> f(*a_)",
        "2",
        "",
    ]


@pytest.mark.parametrize(("table", "names"), [("rules", NAMED), ("methods", METHODS), ("types", TYPES)])
def test_a_table_has_a_row_for_each_name(table: str, names: dict[str, object]) -> None:
    rows = live_tables.as_markdown(table).splitlines()
    assert len(rows) == len(names) + 2
    assert all(any(f"`{name}`" in row for row in rows) for name in names)
    assert len({row.replace(r"\|", "").count("|") for row in rows}) == 1


def test_every_command_and_option_is_listed() -> None:
    text = live_tables.commands()
    for command in ("demo", "run", "truth", "score", "compare", "check", "validate"):
        assert f"## `probtruth {command}`\n" in text
    assert "| `--predictions NAME=FILE` | A model" in text
    assert "| `--seed N` | Seed of everything random. | `0` |" in text


def test_a_section_has_a_line_and_a_page_for_each_object() -> None:
    kernels = public_names.as_markdown("kernels")
    assert "| {py:obj}`log_score <probtruth.log_score>` | " in kernels
    assert "\nreference/log_score\n" in kernels
    assert "{py:obj}`rules.power <probtruth.rules.power>`" in public_names.as_markdown("rules")
    assert "{py:obj}`rules.check_proper <probtruth.rules.check_proper>`" in public_names.as_markdown("rules")


def test_a_page_of_what_is_gone_is_removed(tmp_path: Path) -> None:
    (tmp_path / "gone.rst").write_text("gone\n")
    public_names.write_pages(tmp_path)
    written = {path.stem for path in tmp_path.iterdir()}
    assert {"compare", "Truth", "figures.plot_forest", "errors.ProbtruthError"} < written
    assert "gone" not in written
    assert ".. autoclass:: probtruth.Truth()\n   :members:" in (tmp_path / "Truth.rst").read_text()


def test_an_argument_is_a_field_with_the_lines_that_continue_it() -> None:
    """As Napoleon leaves them: the name as it is, the rest as any paragraph."""
    fields = [":param values: in metres, of `rows`,", "    or_feet.", ":param rest: names."]
    assert plain_docstrings.to_restructured(fields) == [
        ":param values: in metres, of \\ ``rows``\\ ,",
        r"    or\_feet.",
        ":param rest: names.",
        "",
    ]
