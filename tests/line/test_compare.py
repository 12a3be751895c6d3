"""What the line adds to a comparison: equal weights, and percentages as points of a proportion."""

from dataclasses import replace

import numpy as np
import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.line.compare import rope_in_units


def table(values: np.ndarray, **columns: list[str]) -> dict[str, list[object]]:
    """A long table of scores of the models a and b."""
    n = values.shape[1]
    made = {"item": [*range(n)] * 2, "model": ["a"] * n + ["b"] * n, "score": values.ravel().tolist()}
    return made | {name: [*listed, *listed] for name, listed in columns.items()}


MARKS = np.random.default_rng(0).integers(0, 2, (2, 60)).astype(float)


def test_two_per_cent_of_a_proportion_is_two_points() -> None:
    marks = pt.Scores.from_frame(table(MARKS), higher_is_better=True)
    assert pt.compare(marks, rope="2%", engine="exact").rope == 0.02
    truth = pt.Truth.from_labels([0, 1] * 30, 2)
    models = {name: np.random.default_rng(seed).dirichlet([1, 1], 60) for seed, name in enumerate("ab")}
    assert pt.evaluate(truth, models, rule="zero-one", rope="2.5%", engine="exact").comparison.rope == 0.025
    assert pt.compare_metric(models, truth, "accuracy", rope="2%", engine="exact").rope == 0.02


def test_a_percentage_of_anything_else_is_refused_with_the_number_to_write() -> None:
    losses = np.stack([np.linspace(0.5, 1.5, 60), np.linspace(1.5, 2.5, 60)])  # best mean: 1
    scores = pt.Scores.from_frame(table(losses), higher_is_better=False)
    with pytest.raises(InputError, match=r"rope '2%' of the score 'score'.*--rope 0\.02\)"):
        pt.compare(scores, rope="2%")
    with pytest.raises(InputError, match=r"of the best mean score is 0\.04: "):  # the best mean is 2
        pt.compare(pt.Scores.from_frame(table(losses), higher_is_better=True), rope="2%")
    shares = pt.Scores.from_frame(table(losses / 3), higher_is_better=False)  # between 0 and 1, but no known proportion
    with pytest.raises(InputError, match="a percentage of a proportion"):
        pt.compare(shares, rope="2%")


@pytest.mark.parametrize(
    ("rule", "is_share"),
    [
        *((name, True) for name in ("accuracy", "f1", "exact_match,strict", "error-rate")),
        ("score (arc by acc_norm,none; gsm8k by exact_match)", True),
        *((name, False) for name in ("reward", "bleu", "score (arc by acc; mt by bleu)", "log")),
    ],
)
def test_a_percentage_is_of_a_share_by_the_name_of_the_metric(rule: str, is_share: bool) -> None:
    scores = replace(
        pt.Scores.from_frame(table(np.array([[0.25, 0.5], [0.75, 0.5]])), higher_is_better=True), rule=rule
    )
    if is_share:
        assert rope_in_units("2%", scores) == 0.02
    else:
        with pytest.raises(InputError, match="a percentage of a proportion"):
            rope_in_units("2%", scores)


def test_equal_weights() -> None:
    groups = ["big"] * 50 + ["small"] * 10
    means = {name: MARKS[:, [one == name for one in groups]].mean(1) for name in ("big", "small")}
    scores = pt.Scores.from_frame(table(MARKS, group=groups), group="group", higher_is_better=True)
    (row,) = pt.compare(scores, weights="equal", engine="exact").pairs
    a, b = (sum(mean[row] for mean in means.values()) / 2 for row in (0, 1))
    assert row["difference"] == pytest.approx(a - b, abs=1e-12)
    of_sums = pt.compare(pt.Moments.of(scores), weights="equal", engine="exact").pairs[0]
    assert of_sums.difference == pytest.approx(a - b, abs=1e-12)
    with pytest.raises(InputError, match="weights without groups"):
        pt.compare(pt.Scores.from_frame(table(MARKS), higher_is_better=True), weights="equal")
    with pytest.raises(InputError, match="'equal'"):
        pt.compare(scores, weights="same")
