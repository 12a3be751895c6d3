"""plan.py, pilot.py and pilot_of.py: widths and chances against simulation, designs against hand algebra."""

import math
from contextlib import nullcontext

import numpy as np
import pytest
from coverage_study import fitted
from made_scores import make
from planning_study import by_annotators, by_clusters, by_items, decided, labelled
from scipy.stats import norm, t

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.study.pilot import pilot_of
from probtruth.types import Scores

CLOSE = 0.05
"""How near a predicted width must be to the simulated one; the means of pilots here are good to .02."""
EXACT = 1e-9
RNG = np.random.default_rng(0)
DIFFERENCE = RNG.normal(-0.2, 1, 80)
SCORES = make([DIFFERENCE, 0 * DIFFERENCE], "ab")
REPEATED = Scores.from_frame(
    {
        "item": list(range(8)) * 4,
        "model": ["a"] * 16 + ["b"] * 16,
        "replicate": ([0] * 8 + [1] * 8) * 2,
        "score": RNG.normal(size=32),
    },
    replicate="replicate",
    higher_is_better=False,
)


def rows(made):
    return {row["design"]: row for row in made.designs}


@pytest.mark.long
@pytest.mark.parametrize("name", ["normal", "exponential", "Brier, hard labels", "right or wrong, 60% ties"])
def test_width_for_more_items(name):
    assert abs(by_items(name, 200, 600, pilots=25, studies=150).off) < CLOSE


def test_width_for_other_clusters():
    assert abs(by_clusters(60, 60, 10, pilots=25, studies=150).off) < CLOSE


def test_width_for_more_annotators():
    assert abs(by_annotators((200, 3), (300, 9), pilots=12, studies=60, rule="brier").off) < CLOSE


def test_a_study_decides_as_often_as_planned():
    chance, share = decided(50, 100, pilots=60, effect=1.0)
    assert abs(chance - share) < 5 * math.sqrt(chance * (1 - chance) / 60)


def test_the_pilot_again_has_the_width_of_the_pilot():
    comparison = compare(SCORES, engine="exact")
    made = pt.plan(SCORES)
    assert made.difference == pytest.approx(comparison.pairs[0]["difference"], rel=EXACT)
    assert made.error == pytest.approx(DIFFERENCE.std(ddof=1) / math.sqrt(80), rel=EXACT)
    width = comparison.pairs[0]["high"] - comparison.pairs[0]["low"]
    assert rows(made)["pilot again"]["width"] == pytest.approx(width, rel=0.1)  # resampled skewness against its own


def test_from_a_comparison_and_from_a_result():
    comparison = compare(SCORES, engine="exact")
    made, own = pt.plan(comparison, n_items=300), pt.plan(SCORES, n_items=300)
    assert made.error == pytest.approx(own.error, rel=0.03)  # of 10,000 draws
    assert rows(made)["study"]["width"] == pytest.approx(rows(own)["study"]["width"], rel=CLOSE)
    assert rows(made)["study"]["p_certain"] == pytest.approx(rows(own)["study"]["p_certain"], abs=0.05)
    assert pt.plan(pt.Result.of_scores(SCORES, engine="exact"), n_items=300).designs == own.designs


def test_variance_of_labels_and_items_by_hand():
    scores = labelled(np.random.default_rng(1), 150, 4, "brier")
    made = pt.plan(scores, n_items=150, n_annotators=8)
    d = scores.values[0] - scores.values[1]
    loss = scores.label_values[0] - scores.label_values[1]
    noise = ((scores.shares * loss**2).sum(1) - (scores.shares * loss).sum(1) ** 2).mean() / 3
    assert made.variance["annotation"] == pytest.approx(4 * noise, rel=EXACT)
    assert made.variance["items"] == pytest.approx(d.var(ddof=1) - noise, rel=EXACT)
    one, two = rows(made)["pilot again"]["width"], rows(made)["study"]["width"]
    assert (two / one) ** 2 == pytest.approx((d.var(ddof=1) - noise / 2) / d.var(ddof=1), rel=EXACT)
    assert set(rows(made)) == {"pilot again", "study", "items x 2", "annotators x 2"}


def test_chance_by_the_normal_distribution():
    # a study of many items, true difference given: power of a one-sided z-test at .975 to either side
    made = pt.plan(SCORES, n_items=5000, difference=0.03, certainty=0.975)
    error = DIFFERENCE.std(ddof=1) / math.sqrt(5000)
    wanted = norm.sf(1.96 - 0.03 / error) + norm.cdf(-1.96 - 0.03 / error)
    assert rows(made)["study"]["p_certain"] == pytest.approx(wanted, abs=0.01)  # skewness of resampled items
    assert rows(made)["study"]["p_b"] > rows(made)["study"]["p_a"]


@pytest.mark.parametrize(
    ("draw", "n_items"),
    [
        (lambda rng, size: rng.standard_normal(size), 6),
        (lambda rng, size: (rng.lognormal(size=size) - math.exp(0.5)) / math.sqrt((math.e - 1) * math.e), 30),
    ],
    ids=["few", "skewed"],
)
def test_a_study_of_few_or_skewed_items_decides_as_often_as_planned(draw, n_items):
    # a bar as far away as the mean interval's half-width gave 0.35 for 0.57 (few) and 0.41 for 0.95 (a long tail on the
    # side of the difference)
    rng = np.random.default_rng(4)
    pilot, error = draw(rng, 2000), 1 / math.sqrt(n_items)
    pilot = (pilot - pilot.mean()) / pilot.std(ddof=1)
    studies = np.stack([rng.choice(pilot, n_items) for _ in range(1500)])
    for sign in (1, -1):
        truth = sign * 2.5 * error
        made = rows(pt.plan(make([pilot, 0 * pilot], "ab"), n_items=n_items, difference=truth))["study"]
        margins, _ = fitted(studies + truth, 1, 0.0)
        share = np.mean([margin.below(0.0) > 0.95 for margin in margins])
        other = np.mean([margin.above(0.0) > 0.95 for margin in margins])
        assert made["p_a"] == pytest.approx(share, abs=0.06)  # errors of 0.013 and 0.016, and the smoothing
        assert made["p_b"] == pytest.approx(other, abs=0.06)


def test_a_pilot_that_is_kept_cannot_change_its_mind_alone():
    same = rows(pt.plan(SCORES, keep=True))["study"]
    p = compare(SCORES, engine="exact").pairs[0]["p_a_better"]
    assert same["p_a"] == float(p > 0.95)
    clear = make([DIFFERENCE - 0.3, 0 * DIFFERENCE], "ab")
    kept, fresh = (rows(pt.plan(clear, n_items=160, keep=keep))["study"] for keep in (True, False))
    assert kept["width"] == fresh["width"]
    assert kept["p_certain"] > fresh["p_certain"]


def test_no_design_is_smaller_than_the_pilot_that_it_keeps():
    # a clear pilot of 80 items: 20 of them would decide as well, but the study contains all 80
    clear = make([DIFFERENCE - 1, 0 * DIFFERENCE], "ab")
    for aim in ({}, {"width": 3.0}):
        made = pt.plan(clear, n_items=160, keep=True, costs={"item": 1}, **aim)
        assert rows(made)["cheapest"]["n_items"] == 80
        assert made.curve()["n_items"].min() >= 80
    votes = labelled(np.random.default_rng(1), 150, 2, "brier")
    with pytest.raises(pt.InputError, match="smaller than the pilot"):
        pt.plan(votes, n_items=100, n_annotators=100, keep=True)


def test_exchanged_models():
    made, other = pt.plan(SCORES, n_items=200, a="a", b="b"), pt.plan(SCORES, n_items=200, a="b", b="a")
    assert made.difference == -other.difference
    assert rows(made)["study"]["p_a"] == pytest.approx(rows(other)["study"]["p_b"], rel=EXACT)


def test_the_cheapest_is_enough_and_one_item_less_is_not():
    made = pt.plan(SCORES, width=0.3, costs={"item": 3})
    best = rows(made)["cheapest"]
    assert best["width"] <= 0.3
    assert best["cost"] == 3 * best["n_items"]
    assert rows(pt.plan(SCORES, n_items=int(best["n_items"]) - 1))["study"]["width"] > 0.3


def test_the_cheapest_of_items_and_annotations():
    scores = labelled(np.random.default_rng(1), 150, 4, "brier")
    dear, cheap = (
        rows(pt.plan(scores, width=0.1, costs={"item": price, "annotation": 1}))["cheapest"] for price in (20, 0.1)
    )
    assert dear["n_annotators"] > cheap["n_annotators"]
    assert dear["n_items"] < cheap["n_items"]
    tried = pt.plan(scores, n_items=int(dear["n_items"]) + 30, n_annotators=int(dear["n_annotators"]) - 1,
                    costs={"item": 20, "annotation": 1})  # fmt: skip
    assert rows(tried)["study"]["width"] > 0.1 or rows(tried)["study"]["cost"] >= dear["cost"]


def test_clusters_that_share_all_are_bought_whole():
    shared = np.repeat(RNG.normal(size=30), 4)
    scores = make([shared, 0 * shared], "ab")
    names = np.repeat(np.arange(30), 4).astype(str).tolist()
    made = pt.plan(scores, clusters=names, n_items=480, n_clusters=30, costs={"item": 1, "cluster": 5}, width=0.5)
    assert made.variance["items"] == pytest.approx(0, abs=EXACT)
    study, more = rows(made)["study"], rows(made)["clusters x 2"]
    assert study["width"] == pytest.approx(rows(made)["pilot again"]["width"], rel=EXACT)  # more of the same is nothing
    assert more["width"] < 0.75 * study["width"]
    assert pt.plan(scores, clusters=names, n_clusters=60).designs[1]["n_items"] == 240


def test_replicates():
    rng = np.random.default_rng(3)
    items, answers = rng.normal(size=(2, 1, 400)), rng.normal(0, 2, (2, 5, 400))
    frame = {
        "item": [k for _ in range(2) for _ in range(5) for k in range(400)],
        "model": ["a"] * 2000 + ["b"] * 2000,
        "seed": [r for _ in range(2) for r in range(5) for _ in range(400)],
        "score": (items + answers).ravel(),
    }
    made = pt.plan(Scores.from_frame(frame, replicate="seed", higher_is_better=False), n_replicates=20)
    assert made.variance["replicate"] == pytest.approx(8, rel=0.1)  # twice 2^2, from 3,200 degrees of freedom
    assert made.variance["items"] == pytest.approx(2, rel=0.5)
    assert rows(made)["replicates x 2"]["n_replicates"] == 40


def test_nothing_varies():
    made = pt.plan(make([[1.0] * 9, [2.0] * 9], "ab"), costs={"item": 1})
    assert rows(made)["study"]["width"] == 0
    assert rows(made)["study"]["p_a"] == 1
    assert "no spread" in made.warnings[0]


def test_a_pilot_that_does_not_decide_says_what_the_average_hides():
    """Averaged over a flat prior; simulated, differences of a quarter of the pilot's error: 0.59 said, 0.17 true."""
    undecided = make([DIFFERENCE - DIFFERENCE.mean() - 0.1, 0 * DIFFERENCE], "ab")
    made = pt.plan(undecided, n_items=200)
    half = rows(pt.plan(undecided, n_items=200, difference=made.difference / 2))["study"]["p_certain"]
    (warning,) = made.warnings
    assert f"it is {half:.2f} if the models differ by half as much" in warning
    assert half < rows(made)["study"]["p_certain"] - 0.1
    assert "by half as much" not in pt.plan(undecided, n_items=200, keep=True).warnings[0]
    assert not pt.plan(undecided, n_items=200, difference=-0.1).warnings
    assert not pt.plan(make([DIFFERENCE - 1, 0 * DIFFERENCE], "ab"), n_items=200).warnings


def test_out_of_reach_is_said():
    made = pt.plan(SCORES, difference=0.0, power=0.9, costs={"item": 1})
    assert "cheapest" not in rows(made)
    assert "no design" in made.warnings[-1]


def test_curve_grows():
    curve = pt.plan(SCORES, n_items=200).curve()
    assert (np.diff(curve["width"].to_numpy()) < 0).all()
    assert curve["n_items"].min() == 20
    assert curve["n_items"].max() == 2000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pt.plan([1, 2]), "list, expected Scores, a Comparison or a Result"),
        (lambda: pt.plan(make(np.ones((3, 4)))), "3 models and no a"),
        (lambda: pt.plan(SCORES, a="a", b="a"), "'a' twice"),
        (lambda: pt.plan(SCORES, a="a", b="c"), "model 'c'"),
        (lambda: pt.plan(SCORES, n_items=1), "n_items 1"),
        (lambda: pt.plan(SCORES, n_annotators=3), "n_annotators with a pilot that says nothing of annotators"),
        (lambda: pt.plan(SCORES, n_clusters=3), "n_clusters with a pilot"),
        (lambda: pt.plan(SCORES, n_replicates=3), "n_replicates with a pilot"),
        (lambda: pt.plan(SCORES, certainty=0.3), "certainty 0.3, expected a number between 0.5 and 1"),
        (lambda: pt.plan(SCORES, certainty=1), "certainty 1, expected a number between 0.5 and 1"),
        (lambda: pt.plan(SCORES, certainty=1.5), "certainty 1.5, expected a number between 0.5 and 1"),
        (lambda: pt.plan(SCORES, power=95), "power 95"),
        (lambda: pt.plan(SCORES, width=0), "width 0"),
        (lambda: pt.plan(SCORES, difference=math.nan), "difference 'nan'"),
        (lambda: pt.plan(SCORES, costs=3), "costs '3'"),
        (lambda: pt.plan(SCORES, costs={"items": 3}), "Did you mean 'item'?"),
        (lambda: pt.plan(SCORES, costs={"item": -3}), "prices of at least 0"),
        (lambda: pt.plan(SCORES, n_items=40, keep=True), "smaller than the pilot"),
        (lambda: pt.plan(compare(SCORES, engine="exact"), clusters=["x"] * 80), "its own"),
        (lambda: pt.plan(compare(REPEATED, engine="exact", population="these-items")), "one of new items"),
    ],
)
def test_errors(call, message):
    with pytest.raises(pt.InputError) as error:
        call()
    assert message in str(error.value)


def test_comparisons_that_say_too_little_to_plan_from():
    with pytest.raises(pt.errors.PosteriorError, match="no finite difference"):
        pt.plan(compare(make([[1.0, math.inf, 2.0], [1.0, 2.0, 2.5]], "ab"), engine="exact"))
    with pytest.raises(pt.errors.PosteriorError, match="3 independent units"):
        pt.plan(compare(make([[1.0, 3.0, 2.0], [1.0, 2.0, 2.5]], "ab"), engine="exact"))


HALVES = ["x"] * 40 + ["y"] * 40
PAIRS = [f"c{row // 2}" for row in range(80)]


@pytest.mark.parametrize("asked", [pt.plan, pt.validate])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": HALVES}, "a result with 2 groups"),
        ({"clusters": PAIRS}, "a result with 40 clusters"),
        ({"groups": HALVES, "weights": {"x": 0.9, "y": 0.1}}, "a result with 2 groups"),
    ],
)
def test_a_result_of_another_design_than_its_scores_say_is_refused(asked, options, message):
    # clusters or groups that were given beside the scores: a plan was for independent items, without a word
    result = pt.Result.of_scores(SCORES, engine="exact", **options)
    with pytest.raises(pt.InputError, match=message):
        asked(result)
    with pytest.raises(pt.InputError, match="alone give") if "weights" in options else nullcontext():
        asked(result, **{name: names for name, names in options.items() if name != "weights"})


def test_what_more_items_do_not_make_smaller_is_refused():
    result = pt.Result.of_scores(REPEATED, engine="exact", replicates="folds", fold_correlation=0.1)
    for pilot in (result, result.comparison):
        with pytest.raises(pt.InputError, match="folds that share"):
            pt.plan(pilot)


@pytest.mark.parametrize(("size", "message"), [(1e-200, "at least 1e-75"), (1e160, "up to 1e[+]75")])
@pytest.mark.parametrize("asked", [pt.plan, pt.validate])
def test_scores_whose_powers_have_no_number_are_refused(asked, size, message):
    # as `compare` refuses them; a plan said that two items decide with certainty, or NaN
    with pytest.raises(pt.InputError, match=message):
        asked(make([size * DIFFERENCE, 0 * DIFFERENCE], "ab"))


@pytest.mark.parametrize("values", [[[1.0], [2.0]], [[1.0, math.inf], [1.0, 2.0]]])
def test_pilots_without_a_spread(values):
    with pytest.raises(pt.errors.PosteriorError):
        pt.plan(make(values, "ab"))


def test_a_comparison_gives_the_width_it_reports():
    # thirty skewed differences: the interval is wider than the t's, and the plan for the same study as wide as it is
    skewed = np.random.default_rng(5).exponential(size=30) ** 2
    found = compare(make([skewed, 0 * skewed], "ab"), engine="exact")
    row = found.pairs[0]
    width = float(str(row["high"])) - float(str(row["low"]))
    t_width = 2 * t.ppf(0.975, 29) * skewed.std(ddof=1) / math.sqrt(30)
    assert width > 1.1 * t_width
    designs = rows(pt.plan(found))
    # a sample's standard deviation is expected to be 1 - 1/(4 (n - 1)) of the true one
    assert designs["study"]["width"] == pytest.approx(width * (1 + 1 / (4 * 29)), rel=1e-3)
    # with more items it is the interval that the scores themselves are planned to have
    by_scores = rows(pt.plan(make([skewed, 0 * skewed], "ab")))
    assert designs["items x 2"]["width"] == pytest.approx(by_scores["items x 2"]["width"], rel=CLOSE)


def test_widths_between_the_simulated_sizes_are_between_theirs():
    pilot = pilot_of(SCORES, None, None, None, None, 0)
    found = [pilot.half_width(n) for n in range(20, 60)]
    assert (np.diff(found) < 0).all()


def test_clusters_of_one_item_are_as_good_as_items():
    alone = rows(pt.plan(SCORES, clusters=[f"c{place}" for place in range(80)]))
    assert alone["clusters x 2"]["width"] == pytest.approx(rows(pt.plan(SCORES))["items x 2"]["width"], rel=CLOSE)


def test_items_are_offered_where_only_the_replicates_vary():
    # two replicates whose differences are +1 and -1 on every item but for a mean of -0.1: no variance between items
    n = 40
    first = np.tile([0.9, -1.1], n)
    frame = {
        "item": [*np.repeat(np.arange(n), 2)] * 2,
        "model": ["a"] * 2 * n + ["b"] * 2 * n,
        "seed": [0, 1] * 2 * n,
        "score": [*(first + np.repeat(RNG.normal(0, 0.1, n), 2)), *np.zeros(2 * n)],
    }
    made = pt.plan(Scores.from_frame(frame, replicate="seed", higher_is_better=False), difference=-0.1)
    assert made.variance["items"] == 0
    both = rows(made)
    # by hand: the variance of the mean is that of a replicate over items times replicates
    assert both["items x 2"]["width"] == pytest.approx(both["replicates x 2"]["width"], rel=0.03)
