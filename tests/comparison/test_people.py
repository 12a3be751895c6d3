"""Groups of people in scores by annotator: each group's own answer, and P(two groups disagree)."""

import numpy as np
import polars
import pytest
from scipy.stats import multivariate_normal, norm

import probtruth as pt
from probtruth.comparison.people import NAME, _disagreement

TRUE = {"g0": -0.3, "g1": 0.3}  # The difference of the models by the annotators of each group


def cells(
    seed: int, of_groups: tuple[float, float], n_items: int = 60, n_annotators: int = 30, each: int = 6
) -> tuple[polars.DataFrame, dict[str, str]]:
    """Scores of two models whose difference has a mean by group, and tastes of annotators and of items."""
    rng = np.random.default_rng(seed)
    group = np.arange(n_annotators) % 2
    item = np.repeat(np.arange(n_items), each)
    annotator = np.concatenate([rng.choice(n_annotators, each, replace=False) for _ in range(n_items)])
    difference = np.array(of_groups)[group][annotator] + 0.5 * rng.standard_normal(len(item))
    difference += 0.3 * rng.standard_normal(n_items)[item]
    difference += 0.3 * rng.standard_normal(n_annotators)[annotator]
    base = rng.standard_normal(len(item))
    columns = {
        "item": np.tile([f"q{at}" for at in item], 2),
        "annotator": np.tile([f"u{at}" for at in annotator], 2),
        "model": ["a"] * len(item) + ["b"] * len(item),
        "score": np.concatenate([base + difference, base]),
    }
    return polars.DataFrame(columns), {f"u{at}": f"g{group[at]}" for at in range(n_annotators)}


def compared(seed: int, of_groups: tuple[float, float], **sizes: int) -> pt.Comparison:
    frame, groups = cells(seed, of_groups, **sizes)
    scores = pt.read_scores(frame, annotator="annotator", higher_is_better=False)
    return pt.compare(scores, annotator_groups=groups)


def p_disagree(found: pt.Comparison) -> float:
    (row,) = found.decisions["group_disagreement"]
    return row["p_disagree"]


def test_each_group_has_the_mean_of_its_cells() -> None:
    frame, groups = cells(0, (-0.3, 0.3))
    found = compared(0, (-0.3, 0.3))
    rows = found.group_results[NAME]
    assert [(row.a, row.b, row.group) for row in rows] == [("a", "b", "g0"), ("a", "b", "g1")]
    wide = frame.pivot(on="model", index=["item", "annotator"], values="score")
    for row in rows:
        inside = wide.filter(polars.col("annotator").replace_strict(groups) == row.group)
        assert row.difference == pytest.approx((inside["a"] - inside["b"]).mean(), rel=1e-12)
        assert row.n_items == inside["item"].n_unique()


def test_opposing_groups_are_covered_and_disagree() -> None:
    covered = 0
    certain = 0
    for seed in range(100):
        found = compared(seed, (-0.3, 0.3))
        for row in found.group_results[NAME]:
            covered += row.low <= TRUE[row.group] <= row.high
        certain += p_disagree(found) > 0.9
    assert covered >= 186  # of 200: 0.93
    assert certain >= 60


def test_groups_that_agree_are_seldom_said_to_disagree() -> None:
    chances = [p_disagree(compared(seed, (-0.3, -0.3))) for seed in range(60)]
    assert np.median(chances) < 0.1
    assert max(chances) < 0.95


def test_where_neither_group_has_a_better_model_disagreement_is_open() -> None:
    chances = [p_disagree(compared(seed, (0.0, 0.0))) for seed in range(60)]
    assert 0.3 < np.mean(chances) < 0.6
    assert np.mean(np.array(chances) > 0.95) <= 0.1


def test_a_warning_says_who_prefers_which() -> None:
    found = compared(1, (-1.0, 1.0))
    (said,) = [line for line in found.warnings if "disagree" in line]
    assert "'a' by the annotators of 'g0', 'b' by those of 'g1'" in said
    turned = compared(1, (1.0, -1.0))
    (said,) = [line for line in turned.warnings if "disagree" in line]
    assert "'a' by the annotators of 'g1', 'b' by those of 'g0'" in said
    assert not any("disagree" in line for line in compared(1, (-1.0, -1.0)).warnings)


def test_scores_of_which_more_is_better_turn_the_side() -> None:
    frame, groups = cells(0, (-0.3, 0.3))
    scores = pt.read_scores(frame, annotator="annotator", higher_is_better=True)
    turned = pt.compare(scores, annotator_groups=groups)
    found = compared(0, (-0.3, 0.3))
    for row, other in zip(turned.group_results[NAME], found.group_results[NAME], strict=True):
        assert row.difference == pytest.approx(other.difference, rel=1e-12)
        assert row.p_a_better == pytest.approx(other.p_b_better, rel=1e-9)
    assert p_disagree(turned) == pytest.approx(p_disagree(found), abs=1e-6)


def test_the_same_difference_on_every_cell_has_no_spread() -> None:
    frame, groups = cells(0, (-0.3, 0.3))
    first = frame.filter(polars.col("model") == "a")
    shifted = first.with_columns(model=polars.lit("b"), score=polars.col("score") + 0.1)
    scores = pt.read_scores(polars.concat([first, shifted]), annotator="annotator", higher_is_better=False)
    found = pt.compare(scores, annotator_groups=groups)
    for row in found.group_results[NAME]:
        assert row.difference == pytest.approx(-0.1)
        assert row.p_a_better is None
        assert "spread" in row.reason
    assert p_disagree(found) is None


def test_disagreement_by_closed_form() -> None:
    # independent: p (1 - q) + q (1 - p); of the same variable never; of medians arccos(r) / pi (Sheppard 1899)
    p, q = norm.cdf([0.4, -1.1]).tolist()
    precision = 1e-6  # 64 nodes; worst where the correlation is 1
    assert _disagreement(p, q, 0.0, 1.0) == pytest.approx(p * (1 - q) + q * (1 - p), abs=precision)
    assert _disagreement(p, p, 1.0, 1.0) == pytest.approx(0.0, abs=precision)
    assert _disagreement(0.5, 0.5, 0.6, 1.0) == pytest.approx(np.arccos(0.6) / np.pi, abs=precision)
    assert _disagreement(1.0, 0.0, 0.3, 1.0) == pytest.approx(1.0, abs=precision)
    for correlation in (-0.9, -0.3, 0.5, 0.95):
        covariance = [[1.0, correlation], [correlation, 1.0]]
        both = multivariate_normal.cdf([0.4, -1.1], cov=covariance, abseps=1e-9, releps=1e-9)
        assert _disagreement(p, q, correlation, 1.0) == pytest.approx(p + q - 2 * both, abs=precision)
    assert _disagreement(None, 0.5, 0.3, 1.0) is None


def test_errors() -> None:
    frame, groups = cells(0, (0.0, 0.0))
    scores = pt.read_scores(frame, annotator="annotator", higher_is_better=False)
    for wrong, message in (
        ({"u0": "x"}, "no group of annotator"),
        (dict.fromkeys(groups, "x"), "one group of annotators"),
        (groups | {"u0": "lonely"}, "group 'lonely' with 1 annotator"),
        (["x"], "expected a mapping"),
    ):
        with pytest.raises(pt.InputError, match=message):
            pt.compare(scores, annotator_groups=wrong)
    plain = pt.read_scores(frame.unique(["item", "model"]).drop("annotator"), higher_is_better=False)
    with pytest.raises(pt.InputError, match="scores without annotators"):
        pt.compare(plain, annotator_groups=groups)
    with pytest.raises(pt.InputError, match="these-items"):
        pt.compare(scores, annotator_groups=groups, population="these-items")
