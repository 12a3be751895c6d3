"""Reference: the PPI++ estimate and its variance by hand; properties; errors."""

from dataclasses import replace

import numpy as np
import pytest

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.comparison.evidence.design import design
from probtruth.comparison.evidence.rectified import AGREEING, Rectified
from probtruth.types import ExpertScores

N, M = 200, 40


def made(seed=0, n_models=2, n=N):
    rng = np.random.default_rng(seed)
    known = rng.normal(size=(n_models, n)) + np.arange(n_models)[:, None] * 0.2
    expert = 0.8 * known + 0.5 * rng.normal(size=known.shape) + 0.1
    items = tuple(f"i{number:04d}" for number in range(n))
    scores = pt.Scores(known, tuple("abcd"[:n_models]), items, "loss")
    return scores, expert


def with_gold(scores, expert, rows, probability=None):
    return replace(scores, gold=ExpertScores(np.asarray(rows), expert[:, rows], probability, len(rows)))


def pair_of(scores, **options):
    return compare(scores, engine="exact", draws=50, **options).pairs[0]


def test_the_estimate_is_that_of_ppi_plus_plus() -> None:
    # by hand: mean of lambda f over all items plus the mean of g - lambda f over the answers; Angelopoulos et al. 2023,
    # with the lambda of least variance (equation 6 there, of the mean), drawn towards 1 by five answers
    scores, expert = made()
    rows = np.arange(0, N, N // M)
    f, g = scores.values[0] - scores.values[1], (expert[0] - expert[1])[rows]
    base, slope = np.full(N, g.mean()), f - f[rows].mean()
    base[rows] += N / M * (g - g.mean())
    slope[rows] -= N / M * (f[rows] - f[rows].mean())
    best = -np.cov(base, slope)[0, 1] / slope.var(ddof=1)
    tuned = (M * best + AGREEING) / (M + AGREEING)
    wanted = tuned * f.mean() + (g - tuned * f[rows]).mean()
    found = compare(with_gold(scores, expert, rows), engine="exact", draws=50)
    assert 0 < best < 1
    assert found.gold["weight_of_inferred"] == pytest.approx(tuned, rel=1e-9)
    assert found.pairs[0]["difference"] == pytest.approx(wanted, rel=1e-9)
    assert found.ranks[0]["score"] == pytest.approx(
        min((tuned * scores.values + 0).mean(1) + (expert - tuned * scores.values)[:, rows].mean(1)), rel=1e-9
    )


def test_an_answer_on_every_item_is_the_comparison_of_the_answers() -> None:
    scores, expert = made(1)
    anchored = pair_of(with_gold(scores, expert, np.arange(N)))
    plain = pair_of(replace(scores, values=expert))
    for key in ("difference", "low", "high", "p_a_better"):
        assert anchored[key] == pytest.approx(plain[key], rel=1e-9)


def test_few_answers_have_few_degrees_of_freedom() -> None:
    # known scores that say nothing: lambda is near 0 and the interval is that of a t over the answers alone
    scores, _ = made(2)
    expert = np.random.default_rng(3).normal(size=scores.values.shape)
    rows = np.arange(12)
    plan = design(scores, None, None, None)
    anchored = Rectified.of(with_gold(scores, expert, rows), with_gold(scores, expert, rows).gold, plan)
    row = pair_of(with_gold(scores, expert, rows))
    answers = (expert[0] - expert[1])[rows]
    error = answers.std(ddof=1) / 12**0.5
    assert anchored.effective == pytest.approx(12)
    assert row["high"] - row["low"] > 2 * 2.2 * error  # stdtrit(11, .975) = 2.20
    assert row["high"] - row["low"] < 2 * 2.2 * error * 1.6


def test_an_interval_covers_whatever_the_known_scores_are() -> None:
    # known scores off by 1 in favour of b: plain intervals never hold 0, anchored ones nineteen times of twenty
    rng, held = np.random.default_rng(4), 0
    for _ in range(100):
        truth = rng.normal(size=(2, 150))
        known = truth + rng.normal(size=truth.shape) + np.array([[1.0], [0.0]])
        items = tuple(map(str, range(150)))
        scores = pt.Scores(known, ("a", "b"), tuple(sorted(items)), "loss")
        rows = np.sort(rng.choice(150, 40, replace=False))
        row = pair_of(with_gold(scores, truth, rows))
        held += row["low"] < 0 < row["high"]
    assert held >= 88  # binomial(100, 0.95) is below 88 once in a thousand


def test_probabilities_weigh_the_answers() -> None:
    # no information in the known scores but where items were chosen: Hajek's mean, by hand
    scores, expert = made(5)
    scores = replace(scores, values=np.zeros_like(scores.values))
    rows = np.arange(30)
    chance = np.linspace(0.1, 0.9, 30)
    row = pair_of(with_gold(scores, expert, rows, chance))
    assert row["difference"] == pytest.approx(np.average((expert[0] - expert[1])[rows], weights=1 / chance), rel=1e-9)


def test_groups_are_corrected_each_by_its_own_answers() -> None:
    scores, expert = made(6)
    expert[0, :100] += 3.0  # the answers of the first group alone say that a is worse there
    groups = {item: "x" if row < 100 else "y" for row, item in enumerate(scores.items)}
    rows = np.r_[np.arange(0, 100, 5), np.arange(100, 200, 5)]
    found = compare(with_gold(scores, expert, rows), groups, engine="exact", draws=50)
    of_group = {row["group"]: row["difference"] for row in found.groups}
    difference = expert[0] - expert[1]
    assert of_group["x"] == pytest.approx(difference[:100].mean(), abs=0.6)
    assert of_group["y"] == pytest.approx(difference[100:].mean(), abs=0.6)
    assert found.pairs[0]["difference"] == pytest.approx(difference.mean(), abs=0.4)


def test_clusters_and_several_models() -> None:
    scores, expert = made(7, n_models=3)
    clusters = {item: str(row // 4) for row, item in enumerate(scores.items)}
    rows = np.arange(0, N, 8)
    found = compare(with_gold(scores, expert, rows), clusters=clusters, engine="exact", draws=50)
    assert sum(row["p_best"] for row in found.ranks) == pytest.approx(1.0)
    assert all(row["low"] < row["difference"] < row["high"] for row in found.pairs)


def test_the_order_of_items_changes_no_bit() -> None:
    scores, expert = made(8)
    rows = np.arange(0, N, 5)
    turned = replace(scores, values=scores.values[:, ::-1].copy(), items=scores.items[::-1])
    other = with_gold(turned, expert[:, ::-1].copy(), np.sort(N - 1 - rows))
    keys = ("difference", "low", "high", "p_a_better")
    first, second = pair_of(with_gold(scores, expert, rows)), pair_of(other)
    assert [first[key] for key in keys] == [second[key] for key in keys]


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (range(9), {}, "at least 10"),
        (range(20), {"groups": ["x"] * 100 + ["y"] * 100}, "in group 'y'"),
        (range(20), {"population": "these-items"}, "these-items"),
        (range(20), {"replicates": "crossed"}, "crossed"),
        (range(20), {"likelihood": "normal"}, "gold"),
    ],
)
def test_errors(rows, options, message) -> None:
    scores, expert = made()
    with pytest.raises(pt.InputError, match=message):
        compare(with_gold(scores, expert, list(rows)), draws=50, **options)
