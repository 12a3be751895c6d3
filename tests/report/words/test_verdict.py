"""The words follow from the numbers, whichever way a pair is stored."""

from dataclasses import replace
from statistics import NormalDist

import pytest

from probtruth.comparison.rows import NO_SPREAD
from probtruth.line.analysis.standing import Answer, Unseen
from probtruth.report.words import verdict
from probtruth.report.words.sentences import Name

ROW = {"a": "a", "b": "b", "difference": -0.2, "low": -0.3, "high": -0.1, "p_a_better": 0.999, "p_equivalent": 0.01}


def text(sentence):
    return "".join(sentence)


def two(make, p, p_equivalent=None, rope=None, higher_is_better=False):
    """Two models with a given probability that `model-00` is better."""
    result = make["bare"](2, rope=rope, higher_is_better=higher_is_better)
    z = NormalDist().inv_cdf(p)
    pair = {"a": "model-00", "b": "model-01", "difference": -z, "low": -z - 1.96, "high": 1.96 - z}
    pair |= {"p_a_better": p, "p_equivalent": p_equivalent, "p_b_better": 1 - p}
    ranks = [
        {**row, "p_best": {"model-00": p, "model-01": 1 - p}[row["model"]]}
        for row in sorted(result.comparison.ranks, key=lambda row: row["model"])
    ]
    return make["rewrite"](result, pairs=[pair], ranks=ranks)


@pytest.mark.parametrize(
    ("p", "headline", "level"),
    [
        (0.995, "model-00 is almost certainly better than model-01.", "certain"),
        (0.96, "model-00 is very probably better than model-01.", "likely"),
        (0.85, "model-00 is probably better than model-01.", "likely"),
        (0.7, "Whether model-00 or model-01 is better is open.", "open"),
        (0.02, "model-01 is very probably better than model-00.", "likely"),
    ],
)
def test_headline_of_two_models(make, p, headline, level):
    said = verdict.verdict(two(make, p))
    assert text(said.headline) == headline
    assert said.level == level


def test_numbers_are_told_from_the_side_of_the_leader(make):
    first, *_ = verdict.verdict(two(make, 0.02)).details  # z = -2.054: the interval of the advantage is 2.054 +- 1.96
    assert text(first) == (
        "The mean seconds of model-01 is lower than that of model-00 by 2.1 (95% interval 0.1 to 4.0); P(lower) = 0.98."
    )


def test_higher_is_better_says_higher(make):
    first, *_ = verdict.verdict(two(make, 0.96, higher_is_better=True)).details
    assert "model-00 is higher than that of model-01 by 1.8" in text(first)


def test_equivalence_beats_a_certain_difference(make):
    said = verdict.verdict(two(make, 0.999, p_equivalent=0.97, rope=0.5))
    assert text(said.headline) == "model-00 and model-01 are practically equivalent."
    assert "Counting differences up to 0.5 as equivalent, P(model-00 and model-01 are equivalent) = 0.97." in map(
        text, said.details
    )


def test_several_models_speak_of_the_best(result, make):
    said = verdict.verdict(result)
    assert text(said.headline) == "nearest-neighbours is almost certainly the best of the 4 models."
    assert text(said.details[0]).startswith("The mean log loss of nearest-neighbours is lower than that of logistic")
    assert text(said.details[1]) == "P(nearest-neighbours is best) > 0.999."
    open_said = verdict.verdict(make["bare"](12))
    assert open_said.level == "open"
    assert any(text(line).startswith("Could still be the best (P ≥ 0.05): ") for line in open_said.details)


def test_estimand_truth_and_sources_of_uncertainty_are_named(result):
    said = " ".join(map(text, verdict.verdict(result).details))
    assert "Estimand: mean paired difference of expected log scores over new items like these." in said
    assert "a distribution of labels for each item), inferred by vote-share." in said
    assert "70% comes from the choice of items and 30% from the labels." in said


@pytest.mark.parametrize(
    ("diagnostics", "words"),
    [
        ({"max_rhat": 1.02}, "R-hat is 1.020, above 1.01"),
        ({"min_ess": 399.0}, "effective sample size is 399, below 400"),
        ({"divergences": 3}, "3 divergent transitions"),
        ({"engines_agree": False}, "engines disagree"),
        ({"max_rhat": float("nan")}, "R-hat could not be computed"),
    ],
)
def test_failing_diagnostics_leave_no_verdict(make, diagnostics, words):
    said = verdict.verdict(make["demo"](diagnostics=diagnostics))
    assert text(said.headline) == "No verdict: the diagnostics of the sampling fail."
    assert said.level == "invalid"
    assert words in " ".join(said.failing)


def test_engines_without_diagnostics_do_not_fail():
    nothing = dict.fromkeys(("max_rhat", "min_ess", "divergences", "engines_agree"))
    assert verdict.failing_diagnostics(nothing) == ()


def test_unknown_difference_leaves_no_verdict(make):
    inf = float("inf")
    result = make["bare"](2)
    pair = {"a": "model-00", "b": "model-01", "difference": float("nan"), "low": None, "high": None}
    pair |= dict.fromkeys(("p_a_better", "p_equivalent", "p_b_better"))
    ranks = [{**row, "score": inf, "p_best": None, "expected_rank": None} for row in result.comparison.ranks]
    said = verdict.verdict(make["rewrite"](result, pairs=[pair], ranks=ranks))
    assert said.level == "invalid"
    assert text(said.headline) == "No verdict: the difference between model-00 and model-01 is not known."
    assert "infinite or not known" in text(said.details[0])


def test_models_that_never_differ_are_said_to_be_the_same(make):
    result = two(make, 0.5)
    same = make["rewrite"](result, pairs=[{**result.comparison.pairs[0], "difference": 0.0, "low": 0.0, "high": 0.0}])
    said = verdict.verdict(same)
    assert said.level == "open"
    assert text(said.details[0]) == (
        "On every item, model-00 and model-01 have the same score, and so the same mean seconds."
    )


def test_advantage_reads_a_pair_from_both_sides(make):
    comparison = make["rewrite"](make["bare"](2), pairs=[{**ROW, "p_b_better": 0.001}]).comparison
    ahead, behind = verdict.advantage(comparison, "a", "b"), verdict.advantage(comparison, "b", "a")
    assert (ahead["advantage"], ahead["low"], ahead["high"], ahead["p_better"]) == (0.2, 0.1, 0.3, 0.999)
    assert (behind["advantage"], behind["low"], behind["high"], behind["p_better"]) == (-0.2, -0.3, -0.1, 0.001)


def test_names_are_marked_and_long_ones_shortened(make):
    said = verdict.verdict(make["demo"](("x" * 300, "b", "y" * 300, "d")))
    names = [piece for piece in said.headline if isinstance(piece, Name)]
    assert [name.whole for name in names] == ["b"]
    longest = [piece for line in said.details for piece in line if isinstance(piece, Name)]
    assert {name.whole for name in longest} == {"b", "x" * 300}
    assert max(map(len, longest)) == verdict.LONGEST_NAME


def with_standing(result, **fields):
    made = replace(result)
    made.__dict__["standing"] = replace(result.standing, **fields)
    return made


def test_it_depends_where_the_questions_have_two_winners(result):
    answers = (
        Answer("distribution", "vote-share", "logistic", 0.99),
        Answer("class", "ability", "neural-network", 0.9),
    )
    said = verdict.verdict(with_standing(result, answers=answers))
    assert text(said.headline) == (
        "It depends on the question: logistic is best by how annotators would answer, neural-network by the one true "
        "class of each item."
    )
    assert [text(line) for line in said.details[:2]] == [
        "Question: how annotators would answer (vote-share). Best: logistic, P = 0.99.",
        "Question: the one true class of each item (ability). Best: neural-network, P = 0.90.",
    ]
    assert said.level == "open"


def test_not_yet_known_where_the_unseen_would_turn_the_order(result):
    unseen = Unseen("logistic", 0.139, 0.5012, 20)
    said = verdict.verdict(with_standing(result, unseen=unseen))
    assert text(said.headline) == (
        "Not yet known: nearest-neighbours leads logistic, but outcomes not yet seen could turn the order."
    )
    assert text(said.details[0]) == (
        "20 items without an outcome that would cost nearest-neighbours more than any seen so far leave room for up to "
        "14% of such (95% upper bound); with so many, logistic would be better by 0.5."
    )


def test_not_yet_known_where_the_prior_would_turn_the_order(result):
    said = verdict.verdict(with_standing(result, prior=True))
    assert "another prior would turn the order" in text(said.headline)


def test_the_same_difference_on_every_item_is_no_verdict(make):
    result = make["bare"](2)
    pair = {"a": "model-00", "b": "model-01", "difference": -0.25, "reason": NO_SPREAD}
    pair |= dict.fromkeys(("low", "high", "p_a_better", "p_equivalent", "p_b_better"))
    ranks = [{**row, "p_best": None, "expected_rank": None} for row in result.comparison.ranks]
    ranks.sort(key=lambda row: row["model"])
    said = verdict.verdict(make["rewrite"](result, pairs=[pair], ranks=ranks))
    assert text(said.headline) == "Not yet known: model-00 leads model-01 by the same difference on every item."
    assert "nothing tells how far other items may differ" in text(said.details[0])
