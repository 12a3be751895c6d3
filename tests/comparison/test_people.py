"""Groups of people in scores by annotator: each group's own answer, and P(two groups disagree)."""

import made_scores
import numpy as np
import pandas
import polars
import pytest
from scipy.stats import multivariate_normal, norm

import probtruth as pt
from probtruth.comparison.people import _disagreement
from probtruth.comparison.results.rows import TOLD
from probtruth.types.comparison import PEOPLE

TRUE = {"g0": -0.3, "g1": 0.3}  # The difference of the models by the annotators of each group


def cells(
    seed: int, of_groups: tuple[float, float], n_items: int = 60, n_annotators: int = 30, each: int = 6
) -> tuple[polars.DataFrame, dict[str, str]]:
    """Scores of two models whose difference has a mean by group, and tastes of annotators and of items."""
    group = np.arange(n_annotators) % 2
    means = np.array(of_groups)[group]
    frame = made_scores.cells(np.random.default_rng(seed), means, n_items, each, 0.3, 0.3, noise=0.5)
    return frame, {f"u{at}": f"g{group[at]}" for at in range(n_annotators)}


def compared(seed: int, of_groups: tuple[float, float], **sizes: int) -> pt.Comparison:
    frame, groups = cells(seed, of_groups, **sizes)
    scores = pt.read_scores(frame, annotator="annotator", higher_is_better=False)
    return by_groups(scores, groups)


def p_disagree(found: pt.Comparison) -> float:
    (row,) = found.decisions["group_disagreement"]
    return row["p_disagree"]


def by_groups(scores: pt.Scores, groups: dict[str, str]) -> pt.Comparison:
    return pt.compare(scores, annotator_groups=groups, engine="exact")


@pytest.mark.parametrize("clustered", [False, True])
def test_a_group_has_the_answer_of_its_cells_alone(clustered: bool) -> None:
    frame, groups = cells(0, (-0.3, 0.3))
    frame = frame.filter(~((polars.col("annotator") == "u3") & (polars.col("model") == "a")))  # whom one model lacks
    names = {"annotator": "annotator", "higher_is_better": False}
    if clustered:
        frame = frame.with_columns(passage=polars.col("item").str.slice(0, 2))
        names["cluster"] = "passage"
    found = by_groups(pt.read_scores(frame, **names), groups).group_results[PEOPLE]
    assert [(row.a, row.b, row.group) for row in found] == [("a", "b", "g0"), ("a", "b", "g1")]
    for row in found:
        inside = frame.filter(polars.col("annotator").replace_strict(groups) == row.group)
        alone = pt.compare(pt.read_scores(inside, **names), engine="exact").pairs[0]
        assert row.difference == pytest.approx(alone.difference, rel=1e-9)
        # of new annotators in full; where that is wider by more, `compare` says both
        assert row.high - row.low == pytest.approx(alone.high - alone.low, rel=TOLD - 1)
        assert row.n_items == inside["item"].n_unique()


def test_where_one_gave_nearly_all_labels_a_group_is_its_new_annotators() -> None:
    frame, groups = cells(0, (-0.3, 0.3))
    first = polars.col("annotator") == "u0"
    inside = frame.filter(first | ((polars.col("item").str.slice(1).cast(int) < 6) & (polars.col("annotator") != "u1")))
    inside = inside.filter(polars.col("annotator").replace_strict(groups) == "g0")
    frame = polars.concat([inside, frame.filter(polars.col("annotator").replace_strict(groups) == "g1")])
    names = {"annotator": "annotator", "higher_is_better": False}
    row = by_groups(pt.read_scores(frame, **names), groups).group_results[PEOPLE][0]
    (new,) = pt.compare(pt.read_scores(inside, **names), engine="exact").group_results["new annotators"]
    for name in ("difference", "low", "high", "p_a_better"):
        assert row[name] == pytest.approx(new[name], rel=1e-9), name


def test_annotators_who_all_say_the_same_are_one_answer() -> None:
    # each annotator answers twice, under two names in two groups: both groups are the headline, and cannot disagree
    frame, _ = cells(0, (-0.3, -0.3))
    twin = frame.with_columns(annotator=polars.col("annotator") + "'")
    scores = pt.read_scores(polars.concat([frame, twin]), annotator="annotator", higher_is_better=False)
    groups = {name: "twin" if name.endswith("'") else "first" for name in scores.replicates.names}
    found = by_groups(scores, groups)
    headline = pt.compare(pt.read_scores(frame, annotator="annotator", higher_is_better=False), engine="exact").pairs[0]
    for row in found.group_results[PEOPLE]:
        assert row.difference == pytest.approx(found.pairs[0].difference, rel=1e-9)
        assert row.high - row.low == pytest.approx(headline.high - headline.low, rel=TOLD - 1)


def test_their_population_and_a_new_group() -> None:
    rng = np.random.default_rng(5)
    frame, _ = cells(3, (-0.3, -0.3), n_annotators=40)
    groups = {f"u{at}": f"g{at % 8}" for at in range(40)}
    shift = dict(zip(sorted(set(groups.values())), rng.normal(0, 0.5, 8).tolist(), strict=True))
    moved = polars.col("annotator").replace_strict(groups).replace_strict(shift, return_dtype=polars.Float64)
    first = polars.col("model") == "a"
    frame = frame.with_columns(score=polars.when(first).then(polars.col("score") + moved).otherwise("score"))
    scores = pt.read_scores(frame, annotator="annotator", higher_is_better=False)
    found = by_groups(scores, groups)
    (population,) = found.group_results[f"population of {PEOPLE}"]
    (new,) = found.group_results["one new group of annotators"]
    by_group = [row.difference for row in found.group_results[PEOPLE]]
    assert min(by_group) < population.difference < max(by_group)
    # eight groups that differ by 0.5: no narrower than their spread alone leaves it, and a new group differs as they do
    of_means = 2 * 1.96 * np.std(by_group, ddof=1) / np.sqrt(8)
    # what shared items add was known with one degree of freedom, which made the interval five times as wide
    assert of_means < population.high - population.low < 2 * of_means
    assert new.high - new.low > 2 * (population.high - population.low)
    assert found.diagnostics["tables"][f"population of {PEOPLE}"] == {"engine": "exact"}


@pytest.mark.long
def test_opposing_groups_are_covered_and_disagree() -> None:
    covered = 0
    certain = 0
    for seed in range(40):
        found = compared(seed, (-0.3, 0.3))
        for row in found.group_results[PEOPLE]:
            covered += row.low <= TRUE[row.group] <= row.high
        certain += p_disagree(found) > 0.9
    assert covered >= 72  # of 80: three standard errors below 0.95 is 70
    assert certain >= 24


@pytest.mark.long
def test_groups_that_agree_are_seldom_said_to_disagree() -> None:
    chances = [p_disagree(compared(seed, (-0.3, -0.3))) for seed in range(30)]
    assert np.median(chances) < 0.1
    assert max(chances) < 0.95


@pytest.mark.long
def test_where_neither_group_has_a_better_model_disagreement_is_open() -> None:
    chances = [p_disagree(compared(seed, (0.0, 0.0))) for seed in range(30)]
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
    turned = by_groups(scores, groups)
    found = compared(0, (-0.3, 0.3))
    for row, other in zip(turned.group_results[PEOPLE], found.group_results[PEOPLE], strict=True):
        assert row.difference == pytest.approx(other.difference, rel=1e-12)
        assert row.p_a_better == pytest.approx(other.p_b_better, rel=1e-9)
    assert p_disagree(turned) == pytest.approx(p_disagree(found), abs=1e-6)


def test_the_same_difference_on_every_cell_has_no_spread() -> None:
    frame, groups = cells(0, (-0.3, 0.3))
    first = frame.filter(polars.col("model") == "a")
    shifted = first.with_columns(model=polars.lit("b"), score=polars.col("score") + 0.1)
    scores = pt.read_scores(polars.concat([first, shifted]), annotator="annotator", higher_is_better=False)
    found = by_groups(scores, groups)
    for row in found.group_results[PEOPLE]:
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
        ({"u0": "x"}, "no group for annotator"),
        (dict.fromkeys(groups, "x"), "one group of annotators"),
        (groups | {"u0": "lonely"}, "group 'lonely' with 1 annotator"),
        (groups | {"u0": None}, "annotator 'u0': got a blank"),
        (["x"], "expected a mapping"),
        (polars.DataFrame({"annotator": list(groups), "group": list(groups.values())}), "dict.zip.table"),
    ):
        with pytest.raises(pt.InputError, match=message):
            pt.compare(scores, annotator_groups=wrong)
    with pytest.raises(pt.InputError, match="annotations with scores by annotator"):
        pt.compare(scores, annotations=pt.Annotations.from_long({"item": ["q"], "annotator": ["u"], "label": ["x"]}))
    assert by_groups(scores, pandas.Series(groups)).group_results == by_groups(scores, groups).group_results
    plain = pt.read_scores(frame.unique(["item", "model"]).drop("annotator"), higher_is_better=False)
    with pytest.raises(pt.InputError, match="scores without annotators"):
        pt.compare(plain, annotator_groups=groups)
    with pytest.raises(pt.InputError, match="these-items"):
        pt.compare(scores, annotator_groups=groups, population="these-items")
