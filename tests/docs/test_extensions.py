"""What the documentation makes from the code: docstrings as reStructuredText, and tables."""

import pages
import pytest

import probtruth
from probtruth.scoring.rules import RULES
from probtruth.truth.infer import METHODS

live_tables = pages.extension("live_tables")
plain_docstrings = pages.extension("plain_docstrings")
public_names = pages.extension("public_names")


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


@pytest.mark.parametrize(("table", "names"), [("rules", RULES), ("methods", METHODS)])
def test_a_table_has_a_row_for_each_name(table: str, names: dict[str, object]) -> None:
    rows = live_tables.as_markdown(table).splitlines()
    assert len(rows) == len(names) + 2
    assert all(any(f"`{name}`" in row for row in rows) for name in names)
    assert len({row.replace(r"\|", "").count("|") for row in rows}) == 1


def test_every_command_and_option_is_listed() -> None:
    text = live_tables.commands()
    for command in ("demo", "run", "truth", "score", "compare", "check", "info"):
        assert f"## `probtruth {command}`\n" in text
    assert "| `--predictions NAME=FILE` | A model's probabilities" in text
    assert "| `--seed N` | Seed of everything random. | `0` |" in text


def test_modules_on_the_api_page_bring_their_functions() -> None:
    assert ".. autofunction:: probtruth.log_score\n" in public_names.as_markdown("kernels")
    assert ".. autoclass:: probtruth.Truth()\n" in public_names.as_markdown("nouns")
    assert public_names.callables_of(probtruth.companions)[0] == "ThreeRegions"
    assert ".. autofunction:: probtruth.rules.power\n" in public_names.as_markdown("rules")
    assert ".. autofunction:: probtruth.check_proper" in public_names.as_markdown("rules")
