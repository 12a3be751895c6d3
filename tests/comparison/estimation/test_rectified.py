"""Reference: the PPI++ estimate and its variance by hand; properties; errors."""

from dataclasses import replace

import numpy as np
import pytest

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.comparison.estimation.design import design
from probtruth.comparison.estimation.rectified import AGREEING, Rectified
from probtruth.comparison.options import checked_options
from probtruth.comparison.posterior.margin import margins
from probtruth.comparison.sources import of_scores
from probtruth.types import ExpertScores, LabelsBehind

N, M = 200, 40
ITEMS = tuple(f"i{number:04d}" for number in range(N))


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


def test_the_skewness_of_few_answers_counts_in_part() -> None:
    """By m/(m + 40), m the answers: the skewness of the corrected scores themselves, by hand."""
    scores, expert = made()
    expert = expert + np.random.default_rng(5).exponential(size=expert.shape)
    rows = np.arange(0, N, N // M)
    gold = with_gold(scores, expert, rows)
    plan = design(gold, None, None, None)
    values = Rectified.of(gold, gold.gold, plan).values
    deviation = values[0] - values[1] - (values[0] - values[1]).mean()
    third = N**2 / ((N - 1) * (N - 2)) * (deviation**3).sum() / N**3
    variance = N / (N - 1) * (deviation**2).sum() / N**2
    found = of_scores(gold, plan, checked_options("exact")).items
    skewness = found.third[-1, 0] / found.variance[-1, 0] ** 1.5
    assert skewness == pytest.approx(third / variance**1.5 * M / (M + 40), rel=1e-9)


def test_an_answer_on_every_item_is_the_comparison_of_the_answers() -> None:
    scores, expert = made(1)
    anchored = pair_of(with_gold(scores, expert, np.arange(N)))
    plain = pair_of(replace(scores, values=expert))
    for key in ("difference", "low", "high", "p_a_better"):
        assert anchored[key] == pytest.approx(plain[key], rel=1e-9)


def test_an_answer_on_every_item_of_clusters_that_differ_in_size() -> None:
    scores, expert = made(1)
    clusters = {item: str(min(row // 2, 20)) for row, item in enumerate(scores.items)}  # twenty of 2 items, one of 160
    anchored = pair_of(with_gold(scores, expert, np.arange(N), np.ones(N)), clusters=clusters)
    plain = pair_of(replace(scores, values=expert), clusters=clusters)
    for key in ("difference", "low", "high", "p_a_better"):
        assert anchored[key] == plain[key]


def test_unequal_weights_have_the_freedom_of_their_quadratic_form() -> None:
    # by hand: V = r' M' D M r for independent r, M what takes the weighted mean off, D the squared shares over the
    # variances of the residuals; E V = tr, freedom = tr^2 / tr of the square (Bell and McCaffrey 2002)
    scores, expert = made(2)
    chance = 10 ** np.random.default_rng(2).uniform(-1.5, 0, 25)
    anchored = with_gold(scores, expert, np.arange(25), chance)
    _, room, _, df = Rectified.of(anchored, anchored.gold, design(scores, None, None, None))._weighing()
    share = (1 / chance) / (1 / chance).sum()
    residual = np.eye(25) - share
    form = residual.T @ np.diag(share**2 / np.diag(residual @ residual.T)) @ residual
    assert room[:25] == pytest.approx(np.diag(residual @ residual.T), rel=1e-12)
    assert df == pytest.approx([np.trace(form) ** 2 / np.trace(form @ form)], rel=1e-9)
    assert np.trace(form) == pytest.approx((share**2).sum(), rel=1e-12)


def test_intervals_hold_where_probabilities_differ_by_orders_of_magnitude() -> None:
    # known scores that go with the experts', some 20 answers whose weights differ by up to 100: worth 5 to 15 chosen
    # alike, with that many less one degrees of freedom 0.88 of the intervals held the truth
    rng, held, n = np.random.default_rng(6), 0, 0
    options = checked_options("nuts", "new-items", None, 1, 0, False)
    while n < 800:
        known = rng.normal(size=(2, N))
        size = 10 ** rng.uniform(-2, 0, N)
        chance = np.minimum(20 * size / size.sum(), 1.0)
        rows = np.flatnonzero(rng.random(N) < chance)
        weights = 1 / chance[rows]
        if len(rows) < 10 or weights.sum() ** 2 < 5 * (weights**2).sum():
            continue
        expert = known + 0.3 * rng.normal(size=known.shape)
        anchored = with_gold(pt.Scores(known, ("a", "b"), ITEMS, "loss"), expert, rows, chance[rows])
        plan = design(anchored, None, None, None)
        low, high = margins(of_scores(anchored, plan, options))[2].interval()
        held, n = held + (low < 0 < high), n + 1
    assert held > 0.915 * n  # binomial(800, 0.945) is below 732 once in two thousand


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


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (range(9), {}, "at least 10"),
        (range(20), {"groups": ["x"] * 100 + ["y"] * 100}, "in group 'y'"),
        (range(20), {"population": "these-items"}, "these-items"),
        (range(20), {"replicates": "crossed"}, "crossed"),
    ],
)
def test_errors(rows, options, message) -> None:
    scores, expert = made()
    with pytest.raises(pt.InputError, match=message):
        compare(with_gold(scores, expert, list(rows)), draws=50, **options)


def test_answers_that_one_weight_swamps_are_refused() -> None:
    # nineteen items of probability 1 and one of 1 in 1,000: the estimate is that one answer, and its spread unknown
    scores, expert = made()
    anchored = with_gold(scores, expert, np.arange(20), np.r_[np.ones(19), 0.001])
    with pytest.raises(pt.InputError, match=r"as much as 1 drawn at random"):
        compare(anchored, draws=50)


def test_answers_that_count_as_few_drawn_at_random_are_said() -> None:
    scores, expert = made()
    for low, said in ((0.5, False), (0.05, True)):
        chance = np.r_[np.full(55, 1.0), np.full(5, low)]
        warnings = compare(with_gold(scores, expert, np.arange(60), chance), engine="exact", draws=50).warnings
        assert any("60 items, which count as much as" in line for line in warnings) == said


def test_up_to_one_answer_more_is_counted_of_a_label_that_few_have() -> None:
    # by hand: an item that turned out to have label 1 would change the difference by its loss under label 1 less what
    # is known of it; the mean square of that over the items that may have the label, times 1 - 2/5, once in 40 answers
    rng = np.random.default_rng(8)
    probs = np.column_stack([0.9 + 0.1 * rng.random(N), 0.1 * rng.random(N)])
    losses = rng.normal(size=(2, N, 2)) + np.array([[0.0, 1.0], [0.0, 4.0]])[:, None]
    known = (losses * probs).sum(2)
    scores = pt.Scores(known, ("a", "b"), ITEMS, "loss", labels=LabelsBehind(losses, probs, "class"))
    rows = np.arange(0, N, N // M)
    label = (np.arange(M) < 2).astype(int)
    gold = ExpertScores(rows, losses[:, rows, label], None, M, {"often": 38.0, "rare": 2.0})
    plain, found = (replace(scores, gold=one) for one in (replace(gold, labels=None), gold))
    evidence = [
        of_scores(one, design(one, None, None, None), checked_options("nuts", "new-items", None, 1, 0, False))
        for one in (plain, found)
    ]
    apart, tuned = known[0] - known[1], evidence[1].about.gold.tuned
    change = losses[0, :, 1] - losses[1, :, 1] - tuned * apart
    change -= (losses[0] - losses[1])[rows, label].mean() - tuned * apart[rows].mean()
    square = np.average(change**2, weights=0.9 * probs[:, 1] + 0.1 * probs[:, 1].mean()) * (1 - 2 / 5)
    narrow, wide = (one.items for one in evidence)
    assert (wide.variance - narrow.variance)[2] == pytest.approx(square / M**2, rel=1e-9)
    assert (wide.third - narrow.third)[2] == pytest.approx(-((square / M**2) ** 1.5), rel=1e-9)
    assert not any("fewer than 5" in said for said in compare(plain, engine="exact", draws=50).warnings)
    assert any("fewer than 5 expert answers of 'rare'" in w for w in compare(found, engine="exact", draws=50).warnings)


def test_a_quarter_of_an_answer_more_is_counted_where_all_are_as_inferred() -> None:
    """Marks of a judge whom people confirm on all of forty items, by hand: one more could have any item's marks."""
    rng = np.random.default_rng(1)
    known = (rng.random((2, N)) < [[0.4], [0.2]]).astype(float)
    rows = np.arange(0, N, N // M)
    anchored = with_gold(pt.Scores(known, ("a", "b"), ITEMS, "loss"), known, rows)
    found = Rectified.of(anchored, anchored.gold, design(anchored, None, None, None))
    apart = known[0] - known[1]
    apart -= apart.mean()
    size = (apart**2).sum() / np.abs(apart).sum()
    corrections = (1 - found.tuned) * apart[rows]
    n_seen = ((corrections - corrections.mean()) ** 2).sum() / size**2
    assert n_seen < 0.1
    wanted = (0.25 * (1 - n_seen / 5)) ** 0.5 * size
    assert np.abs([found.change[0, 1], found.change[1, 0]]) == pytest.approx(wanted, rel=1e-9)


def test_a_quarter_of_an_answer_more_is_counted_where_all_have_the_likeliest_label() -> None:
    """By hand: what an item would change under each label that it has not, doubted by a tenth."""
    rng = np.random.default_rng(3)
    probs = np.full((N, 2), 0.03)
    label = rng.integers(0, 2, N)
    probs[np.arange(N), label] = 0.97
    losses = rng.integers(0, 2, (2, N))[..., None] ^ np.array([0, 1])  # each model answers with one of the labels
    known = (losses * probs).sum(2)
    scores = pt.Scores(known, ("a", "b"), ITEMS, "loss", labels=LabelsBehind(losses.astype(float), probs, "class"))
    rows = np.arange(0, N, N // M)
    counts = np.bincount(label[rows], minlength=2)
    gold = ExpertScores(rows, losses[:, rows, label[rows]].astype(float), None, M, dict(zip("01", counts, strict=True)))
    anchored = replace(scores, gold=gold)
    found = Rectified.of(anchored, gold, design(anchored, None, None, None))
    apart = losses[0] - losses[1]
    inferred = found.tuned * (known[0] - known[1])
    expected = inferred + (apart[rows, label[rows]] - inferred[rows]).mean()
    change = apart - expected[:, None]
    weight = (0.9 * probs + 0.1 * probs.mean(0)) * (1 - probs)
    size = (weight * change**2).sum() / (weight * np.abs(change)).sum()
    n_seen = (change[rows, label[rows]] ** 2).sum() / size**2
    assert n_seen < 1
    assert np.abs(found.change[0, 1]) == pytest.approx((0.25 * (1 - n_seen / 5)) ** 0.5 * size, rel=1e-9)
