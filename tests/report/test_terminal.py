"""What a terminal of 80 columns shows."""

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from probtruth.line.labelled import truth_dict
from probtruth.report import terminal
from probtruth.types import Truth
from probtruth.types.index import Index


def printed(*renderables, columns=80):
    stream = StringIO()
    Console(file=stream, width=columns, force_terminal=True, color_system=None).print(*renderables, sep="\n")
    return stream.getvalue()


def test_summary_says_verdict_tables_and_note(result):
    text = printed(*terminal.summary(result))
    assert text.startswith("nearest-neighbours is almost certainly the best of the 4 models.")
    for said in ("Models, most probably best first", "0.487 to 0.589", ">0.999", "annotators are"):
        assert said in text


def test_nothing_is_wider_than_the_terminal(odd):
    text = printed(*terminal.summary(odd))
    assert max(cell_len(line) for line in text.splitlines()) <= 80
    assert "−0.120" in text  # numbers are never cut


def test_names_are_no_markup_and_control_nothing(make):
    names = ("[bold]x[/bold]", "[/oops]", "a\x1b[31mred", ":smile: \u202egnp")
    text = printed(*terminal.summary(make["demo"](names)), columns=140)
    for shown in ("[bold]x[/bold]", "[/oops]", "a�[31mred", ":smile: �gnp"):
        assert shown in text
    assert "\x1b[31m" not in text


def test_failing_diagnostics_and_warnings(make):
    failing = {"max_rhat": 1.5, "min_ess": 10.0, "divergences": 2}
    text = printed(*terminal.summary(replace(make["demo"](diagnostics=failing), warned=("careful [x]",))))
    assert text.startswith("No verdict: the diagnostics of the sampling fail.")
    assert "R-hat: 1.500" in text
    assert "! Careful [x]" in text


def test_long_tables_are_cut_and_say_so(make):
    text = printed(*terminal.summary(make["bare"](32)))
    assert "and 12 more" in text


@pytest.fixture
def inferred():
    """Published numbers of Dawid and Skene 1979, Table 4: marginals, and observer 1's error rates."""
    confusion = np.array([[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]])
    index = Index(("p1",), ("1", "2", "3", "4"), tuple(f"observer {number}" for number in range(1, 13)))
    return Truth(
        np.array([[0.4, 0.42, 0.11, 0.07]]),
        index,
        "class",
        "dawid-skene-em",
        marginals=np.array([0.4, 0.42, 0.11, 0.07]),
        confusion=np.stack([confusion] * 12),
        diagnostics={"iterations": 12, "converged": True, "change": 1.234567891e-9},
    )


def test_truth_summary_shows_marginals_and_confusion(inferred):
    text = printed(*terminal.truth_summary(truth_dict(inferred)))
    for said in ("class marginals", "0.420", "observer 1: P(answer | truth)", "0.890  0.110", "2 more annotators"):
        assert said in text
    assert "iterations 12, converged yes" in text


def test_truth_dict_has_all_annotators_by_name(inferred):
    found = truth_dict(inferred)
    assert found["marginals"] == {"1": 0.4, "2": 0.42, "3": 0.11, "4": 0.07}
    assert len(found["confusion"]) == 12
    assert found["confusion"]["observer 12"]["3"]["2"] == 0.34
    assert found["n_annotators"] == 12


def test_truth_without_a_model_gives_means_over_items(result):
    found = truth_dict(result.truth)
    assert found["confusion"] is None
    assert sum(found["marginals"].values()) == pytest.approx(1)
    assert "annotator ada" not in printed(*terminal.truth_summary(found))
