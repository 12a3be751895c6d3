"""The words follow from the numbers, whichever way a pair is stored, and the headline never contradicts the table."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from line_results import of_scores
from simulated_annotations import answered

import probtruth as pt
from probtruth.comparison.results.rows import NO_SPREAD
from probtruth.line.standing import Answer, Unseen
from probtruth.report.about import assumptions, facts
from probtruth.report.names import unmarked
from probtruth.report.tables import models
from probtruth.report.verdict import verdict


def headline(result):
    return unmarked(verdict(result).headline)


def details(result):
    return list(map(unmarked, verdict(result).details))


def numbers(result):
    return {unmarked(what): unmarked(value) for what, value in verdict(result).numbers}


def two(make, p, p_equivalent=None, rope=None, higher_is_better=False):
    """Two models with a given probability that `model-00` is better."""
    result = make["bare"](2, rope=rope, higher_is_better=higher_is_better)
    z = NormalDist().inv_cdf(p)
    pair = {"a": "model-00", "b": "model-01", "difference": -z, "low": -z - 1.96, "high": 1.96 - z}
    if higher_is_better:
        pair |= {"difference": z, "low": z - 1.96, "high": z + 1.96}
    pair |= {"p_a_better": p, "p_equivalent": p_equivalent, "p_b_better": 1 - p}
    ranks = [
        {**row, "p_best": {"model-00": p, "model-01": 1 - p}[row["model"]]}
        for row in sorted(result.comparison.ranks, key=lambda row: row["model"])
    ]
    return make["rewrite"](result, pairs=[pair], ranks=ranks, unseen={})


@pytest.mark.parametrize(
    ("p", "said", "level"),
    [
        (0.995, "model-00 is almost certainly better than model-01.", "certain"),
        (0.96, "model-00 is very probably better than model-01.", "likely"),
        (0.85, "model-00 is probably better than model-01.", "likely"),
        (0.7, "The comparison of model-00 and model-01 is inconclusive.", "inconclusive"),
        (0.02, "model-01 is very probably better than model-00.", "likely"),
    ],
)
def test_headline_of_two_models(make, p, said, level):
    assert headline(two(make, p)) == said
    assert verdict(two(make, p)).level == level


@pytest.mark.parametrize(
    ("n", "known", "said"),
    [(50, None, True), (400, None, False), (50, (0.0, 1.0), False)],  # a known range says what it costs at most
)
def test_the_first_sentence_says_what_few_scores_without_a_bound_cannot_exclude(n, known, said):
    """An outcome of one item in 100 is absent from 0.6 of data sets of 50: no score tells what it would cost."""
    bold = np.random.default_rng(1).normal(0.3, 0.1, n)
    careful = bold + np.random.default_rng(2).permutation(np.linspace(0.3, 0.5, n))
    scores = of_scores({"bold": bold, "careful": careful}, higher_is_better=False).scores
    scores = replace(scores, known=replace(scores.known, range=known))
    shown = headline(pt.Result.of(pt.compare(scores, engine="exact")))
    assert shown.startswith("bold is almost certainly better than careful")
    assert shown.endswith(f", unless rare outcomes that these {n} items do not show cost it much more.") is said


@pytest.mark.parametrize(
    ("kind", "name"),
    [("binary", "score"), ("marks", "score"), ("means of five seeds", "score"), ("shares", "f1"), ("seconds", "score")],
)
def test_the_reservation_stands_over_no_score_that_has_shown_its_bounds(kind, name):
    """0/1 scores, marks from 1 to 7, means of 0/1 and shares by name have ends that no rare outcome can pass."""
    rng = np.random.default_rng(5)
    hard = rng.random(60)
    made = {
        "binary": lambda p: (hard < p).astype(float),
        "marks": lambda p: np.clip(np.round(1 + 6 * (0.7 * hard + p / 2)), 1, 7),
        "means of five seeds": lambda p: np.clip(np.round(5 * (hard + p - 0.5)) / 5, 0, 1),
        "shares": lambda p: 0.3 + 0.2 * hard + 0.4 * p + 0.01 * rng.normal(size=60),
        "seconds": lambda p: 3 + hard + p + 0.01 * rng.normal(size=60),
    }[kind]
    rows = {"item": [*range(60)] * 2, "model": ["bold"] * 60 + ["careful"] * 60, name: [*made(0.95), *made(0.2)]}
    scores = pt.Scores.from_frame(rows, score=name, higher_is_better=True)
    said = headline(pt.Result.of(pt.compare(scores, engine="exact")))
    assert said.startswith("bold is almost certainly better"), said
    assert ("unless rare outcomes" in said) is (kind == "seconds")


def test_a_time_series_is_doubted_in_the_first_sentence():
    """Neighbours with a rank correlation of 0.9: the intervals are those of independent items."""
    rng = np.random.default_rng(2)
    drift = np.cumsum(rng.normal(size=300))
    drift = 0.5 + (drift - drift.mean()) / drift.std()
    said = headline(of_scores({"new": drift, "old": 0 * drift}, higher_is_better=True))
    assert said.endswith(", if items next to each other were independent, which they do not seem to be.")


def test_clusters_of_very_different_sizes_are_doubted_in_the_first_sentence():
    """Twelve clusters, of which one has half of the items: such intervals cover 0.4 to 0.9 where size matters."""
    size = np.array([60, *[5] * 11])
    clusters = np.repeat(np.arange(12), size).tolist()
    new = 1 + np.random.default_rng(0).normal(size=len(clusters))
    result = of_scores({"new": new, "old": 0 * new}, higher_is_better=True, clusters=clusters)
    assert headline(result).endswith(", if the size of a cluster has nothing to do with its difference.")
    assert any("the size of a cluster goes with its difference" in line for line in result.to_dict()["warnings"])


def test_numbers_are_given_from_the_side_of_the_leader(make):
    """z = -2.054: the leader minus the other is -2.054 +- 1.96, and less is better."""
    result = two(make, 0.02)
    assert numbers(result) == {
        "Difference in mean seconds, model-01 minus model-00 (negative favours model-01)": (
            "−2.1 (95% interval −4.0 to −0.1)"
        ),
        "P(model-01 is better)": "0.98",
        "What to do next": "Use model-01.",
    }


def test_orientation_and_metric_are_named_once(make):
    result = make["rewrite"](two(make, 0.96, higher_is_better=True), rule="includes")
    what = "Difference in mean includes, model-00 minus model-01 (positive favours model-00)"
    assert numbers(result)[what].startswith("+1.8 (")
    assert facts(result)[-1] == "accuracy, higher is better"
    assert "better" not in " ".join(details(result))


def test_a_column_called_brier_may_be_of_another_scale():
    """The sum over labels was claimed of the caller's own numbers, which were scikit-learn's."""
    probs, truth = {"a": [[0.9, 0.1], [0.2, 0.8]], "b": [[0.6, 0.4], [0.4, 0.6]]}, pt.Truth.from_labels([0, 1], 2)
    ours = pt.score(probs, truth, rule="brier")
    rows = {"item": ["x", "y"] * 2, "model": ["a", "a", "b", "b"], "brier": ours.values.ravel() / 2}
    for scores, said in ((ours, True), (pt.read_scores(rows, score="brier"), False)):
        lines = " ".join(assumptions(pt.Result.of(pt.compare(scores, engine="exact"))))
        assert ("The Brier score is summed over labels" in lines) is said


def test_equivalence_beats_a_certain_difference(make):
    result = two(make, 0.999, p_equivalent=0.97, rope=0.5)
    assert headline(result) == "model-00 and model-01 are practically equivalent."
    assert "Counting differences up to 0.5 as equivalent, P(model-00 and model-01 are equivalent) = 0.97." in details(
        result
    )
    assert numbers(result)["What to do next"] == "Either will do: decide by cost."


def test_several_models_speak_of_the_best(result, make):
    assert headline(result) == "nearest-neighbours is almost certainly the best of the 4 models."
    what = "Difference in mean log loss, nearest-neighbours minus logistic (negative favours nearest-neighbours)"
    assert numbers(result)[what].startswith("−0.09")
    assert numbers(result)["P(nearest-neighbours is best)"] == ">0.999"
    assert "95% set of best models: nearest-neighbours." in details(result)
    open_said = make["bare"](12)
    assert verdict(open_said).level == "inconclusive"
    assert any(line.startswith("95% set of best models: ") for line in details(open_said))


@pytest.mark.parametrize(
    ("chances", "following"),
    [
        ((0.999, 0.0002, 0.0008), "model-01"),  # a chance below 0.001 is one of a few draws: the better mean is next
        ((0.9, 0.03, 0.07), "model-02"),  # the worse mean, and likelier to be the best
    ],
)
def test_the_model_that_the_headline_compares_with_is_the_second_row_of_the_table(make, chances, following):
    bare = make["bare"](3)
    ranks = [{**row, "p_best": p} for row, p in zip(bare.comparison.ranks, chances, strict=True)]
    result = make["rewrite"](bare, ranks=ranks)
    assert f"Difference in mean seconds, model-00 minus {following} (negative favours model-00)" in numbers(result)
    assert unmarked(models(result).rows[1][0]) == following
    assert result.to_dict()["verdict"]["next"] == following


def test_two_identical_runners_up_are_both_in_the_set_of_best_models():
    """The set of three that `decisions` holds, not a second count from P(best)."""
    loss = np.random.default_rng(0).normal(0.5, 0.3, 30)
    twin = loss + 0.02 * (np.arange(30) % 3 - 0.8)
    result = of_scores({"a": loss, "b": twin, "c": twin}, higher_is_better=False)
    chosen = result.comparison.decisions["credible_set"]
    line = next(line for line in details(result) if line.startswith("95% set"))
    assert all(model in line.removeprefix("95% set of best models: ") for model in chosen)
    assert line.count(",") + line.count(" and ") == len(chosen) - 1


def test_the_next_step_of_an_open_comparison_is_a_size(make):
    """By the plan itself: items in all, of which the comparison has 60."""
    rng = np.random.default_rng(1)
    x, y = rng.normal([0.5, 0.53], 0.2, (60, 2)).T
    result = of_scores({"x": x, "y": y}, higher_is_better=False)
    averaged = pt.plan(result, costs={"item": 1.0})
    observed = pt.plan(result, difference=averaged.difference)
    sizes = [float(f"{made.designs[-1]['n_items']:.2g}") for made in (observed, averaged)]
    assert sizes[0] < sizes[1]
    assert numbers(result)["What to do next"] == (
        f"About {sizes[0]:,.0f} items in all would probably decide (80%) if the difference is as observed; about "
        f"{sizes[1]:,.0f}, averaged over all differences that the data leave open; here are 60."
    )


def test_the_next_step_of_a_board_is_about_the_difference_that_is_shown():
    """It was about that on the items which both models have: 231 items, for a difference that takes 2,506."""
    rng = np.random.default_rng(4)
    loss = rng.normal([0.5, 0.53, 0.53], 0.2, (60, 3)) + rng.normal(0, 0.4, (60, 1))
    loss[rng.random(loss.shape) >= 0.7] = np.nan
    result = of_scores(dict(zip("xyz", loss.T, strict=True)), higher_is_better=False)
    shown = [rank.model for rank in result.comparison.ranked[:2]]
    observed = pt.plan(result, *shown, difference=result.comparison.pair(*shown).difference)
    assert result.next_step.n_items == observed.designs[-1]["n_items"]


def test_the_largest_source_of_uncertainty_decides_what_to_get(make):
    result = make["rewrite"](two(make, 0.7), parts=lambda: {"items": 0.2, "annotators": 0.7, "labels": 0.1})
    assert numbers(result)["What to do next"] == (
        "Get more annotators: 70% of the uncertainty is due to the annotators."
    )
    assert "70% is due to the choice of annotators" in details(result)[-1]
    result = make["rewrite"](two(make, 0.7), parts=lambda: {"items": 0.4, "labels": None, "replicates": 0.6})
    assert numbers(result)["What to do next"] == (
        "Get more replicates of each item: 60% of the uncertainty is due to the replicates."
    )


def test_reference_and_sources_of_uncertainty_are_named(result):
    said = " ".join(details(result))
    assert f"Estimand: {result.comparison.estimand}." in said
    assert (
        "Reference: how annotators would answer (a distribution of labels for each item), inferred from annotations: "
        "vote shares (vote-share)."
    ) in said
    assert "62% is due to the labels and 38% is due to the choice of items." in said


def test_accuracy_and_score_that_disagree_are_explained(result):
    """The demo: the support-vector model is right most often, and its probabilities are the worst calibrated.

    By hand it is not bold: the mean of its highest probabilities, 0.730, is below its accuracy, 0.890.
    """
    (line,) = map(unmarked, verdict(result).accuracy)
    assert line.startswith(
        "support-vector has the highest accuracy, 0.890 against 0.879 of nearest-neighbours, but a worse log loss: "
        "it is underconfident (miscalibration 0.33 against 0.045)."
    )


def test_one_infinite_loss_is_the_first_sentence_and_another_rule_is_computed():
    """One forecast of 0 on 1 of 1,200 items: P(best) > 0.999 of the other model is not what a reader wants to know."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 1200)
    right = np.eye(2)[truth]
    xgb = 0.15 + 0.7 * right
    xgb[7] = 1 - right[7]
    models = {"xgb": xgb, "forest": 0.25 + 0.5 * right}
    result = pt.evaluate(truth.tolist(), models, engine="exact")
    assert headline(result).startswith(
        "xgb gave probability 0 to what happened on 1 of 1,200 items, which makes the mean log loss infinite, whatever "
        "is right elsewhere. Under the Brier score xgb leads, P(best) > 0.999"
    )
    assert numbers(result)["What to do next"] == "Set --floor or use --rule brier, and look at these items."
    assert verdict(result).level == "inconclusive"
    twin = pt.evaluate(truth.tolist(), {**models, "twin": 0.15 + 0.7 * right}, engine="exact")
    assert headline(twin).startswith("xgb gave probability 0"), "nothing else speaks against xgb"
    poor = pt.evaluate(truth.tolist(), {**models, "xgb": right[:, ::-1], "twin": 0.15 + 0.7 * right}, engine="exact")
    assert headline(poor).startswith("twin leads"), "xgb loses under either rule"


@pytest.mark.parametrize(
    ("diagnostics", "words"),
    [
        ({"max_rhat": 1.02}, "Largest rank-normalised split R-hat: 1.020 (passes if at most 1.01)."),
        ({"min_ess": 399.0}, "Smallest effective sample size: 399 (passes if at least 400)."),
        ({"divergences": 3}, "Divergent transitions: 3 (passes if 0)."),
        ({"max_rhat": float("nan")}, "Largest rank-normalised split R-hat: not finite (passes if at most 1.01)."),
    ],
)
def test_failing_diagnostics_leave_no_verdict(make, diagnostics, words):
    said = verdict(make["demo"](diagnostics={"min_ess": None} | diagnostics))
    assert said.headline == "No verdict: the diagnostics of the sampling fail."
    assert said.level == "invalid"
    assert said.failing == (words,)


def test_unknown_difference_leaves_no_verdict(make):
    inf = float("inf")
    result = make["bare"](2)
    pair = {"a": "model-00", "b": "model-01", "difference": None, "low": None, "high": None}
    pair |= dict.fromkeys(("p_a_better", "p_equivalent", "p_b_better"))
    ranks = [{**row, "score": inf, "p_best": None, "expected_rank": None} for row in result.comparison.ranks]
    unknown = make["rewrite"](result, pairs=[pair], ranks=ranks)
    assert verdict(unknown).level == "invalid"
    assert headline(unknown) == "No verdict: the difference between model-00 and model-01 is not known."
    assert "infinite or not known" in details(unknown)[0]


def test_two_models_that_are_compared_where_others_are_not_have_no_verdict_over_all(make):
    result = make["bare"](3)
    ranks = [{**row, "p_best": None, "expected_rank": None} for row in result.comparison.ranks]
    unknown = make["rewrite"](result, ranks=ranks)
    assert headline(unknown) == "No verdict: not all of the 3 models can be compared with each other."


def test_finite_means_that_nothing_connects_are_not_called_unknown():
    nan = np.nan
    result = of_scores({"x": [1, 2, 3, nan, nan, nan], "y": [nan, nan, nan, 2, 3, 5]}, higher_is_better=True)
    assert details(result)[0] == "No chain of shared items connects the two models."
    assert numbers(result)["What to do next"] == "Score the models on the same items."
    assert "No chain of shared items connects the two models." in result.paragraph()


def test_models_that_never_differ_are_said_to_be_the_same(make):
    result = two(make, 0.5)
    same = make["rewrite"](result, pairs=[{**result.comparison.pairs[0], "difference": 0.0, "low": 0.0, "high": 0.0}])
    assert verdict(same).level == "inconclusive"
    assert details(same)[0] == "On every item, model-00 and model-01 have the same score, and so the same mean seconds."


def with_standing(result, **fields):
    made = replace(result)
    made.__dict__["standing"] = replace(result.standing, **fields)
    return made


def test_a_metric_that_one_model_lacks_is_no_equal_difference_and_stays_within_its_range():
    """`even leads shy by the same difference on every item`, with a precision of 0.59 to 1.18."""
    positive = np.clip(np.linspace(0, 1, 40) + np.random.default_rng(1).normal(0, 0.3, (2, 40)), 0.02, 0.98)
    positive[1] /= 2
    models = {name: np.stack([1 - p, p], 1) for name, p in zip(["even", "shy"], positive, strict=True)}
    result = pt.Result.of(pt.compare_metric(models, [0] * 20 + [1] * 20, "precision", engine="exact"))
    assert headline(result) == "No verdict: the difference between even and shy is not known."
    assert numbers(result)["Difference in precision of '1', even minus shy (positive favours even)"] == "not known"
    assert numbers(result)["What to do next"] == "Collect more items before you rely on this."
    assert details(result)[0].startswith("Precision of '1' of 'shy' is undefined")
    assert result.comparison.ranks[0]["high"] == 1.0


def test_it_depends_where_the_questions_have_two_winners(result):
    answers = (
        Answer("distribution", "vote-share", "logistic", 0.99),
        Answer("class", "ability", "neural-network", 0.9),
    )
    turned = with_standing(result, answers=answers)
    assert headline(turned) == (
        "It depends on the question: logistic is best by how annotators would answer (P = 0.99), neural-network is "
        "best by the one true class of each item (P = 0.90)."
    )
    said = numbers(turned)
    opinions, answers, ask = list(said)
    assert opinions == "If you report opinions (how annotators would answer)"
    assert answers == "If you report right answers (the one true class of each item)"
    assert all("nearest-neighbours minus logistic" in said[title] for title in (opinions, answers)), "both figures"
    assert said[ask] == "Decide which is yours: do you report opinions, or right answers?"
    assert verdict(turned).level == "inconclusive"


def test_a_reservation_stands_next_to_the_probability_that_the_table_shows(result):
    """`Not yet known` above P(best) > 0.999 contradicted itself: the sentence names the number, and its limit."""
    turned = with_standing(result, unseen=Unseen("logistic", 0.139, 0.5012, 20))
    assert headline(turned) == (
        "nearest-neighbours leads on what was observed (P(best) > 0.999), but rare outcomes that were not observed "
        "could put logistic ahead."
    )
    assert details(turned)[0] == (
        "20 items without an outcome that would cost nearest-neighbours more than any observed leave room for up to "
        "14% of such (95% upper bound); with so many, logistic would be better by 0.5."
    )


def test_the_same_difference_on_every_item_is_no_verdict(make):
    result = make["bare"](2)
    pair = {"a": "model-00", "b": "model-01", "difference": -0.25, "reason": NO_SPREAD}
    pair |= dict.fromkeys(("low", "high", "p_a_better", "p_equivalent", "p_b_better"))
    ranks = [{**row, "p_best": None, "expected_rank": None} for row in result.comparison.ranks]
    ranks.sort(key=lambda row: row["model"])
    same = make["rewrite"](result, pairs=[pair], ranks=ranks)
    assert headline(same) == (
        "model-00 leads model-01 by the same difference on every item: how sure this is cannot be estimated."
    )
    assert "nothing tells how far other items may differ" in details(same)[0]


def crowd(seed: int, bias: float, gap: float) -> pt.Result:
    """Two models judged by four annotators who all lean their own way on all items."""
    rng = np.random.default_rng(seed)
    n_items, leaning, ease = 150, rng.normal(0, bias, 4), rng.normal(size=150)
    label = ease[:, None] + leaning + rng.logistic(size=(n_items, 4)) > 0
    p = {name: 1 / (1 + np.exp(-ease - shift - rng.normal(0, 0.5, n_items))) for name, shift in (("x", 0), ("y", gap))}
    probs = {name: np.stack([1 - of, of], 1) for name, of in p.items()}
    predictions = pt.Predictions.from_probs(probs, items=range(n_items), labels=[0, 1])
    return pt.evaluate(answered(label.astype(int)), predictions, engine="exact")


def test_items_that_the_same_annotators_judge_do_not_decide_alone():
    """The plan was asked of the comparison, which does not have the annotations, and was always refused."""
    result = crowd(2, 1.0, 0.1)
    assert 0 < result.comparison.uncertainty["annotators"] < 0.5
    assert numbers(result)["What to do next"] == "More items would not be enough: get more annotators too."
