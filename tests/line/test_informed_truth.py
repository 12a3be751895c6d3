"""Classes from annotators and models together: unbiased where annotators alone are not, and no model marks itself."""

from dataclasses import replace

import numpy as np
import pytest
from simulated_annotations import answered

import probtruth as pt
from probtruth.line.informed_truth import informed_by, on_evidence
from probtruth.scoring.align import align

ITEMS, LABELS = 2000, 3


def informed_scores(truth, predictions):
    return on_evidence(truth, align(predictions, truth), "annotators-and-models", 0).scores("log", None)


def informed_truth(truth, predictions):
    return informed_by(truth, align(predictions, truth), 0).truth


def softmax(logits):
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def drawn(seed, right=0.7, annotators=3, items=ITEMS):
    """True classes, the posterior from annotators of known quality, and predictions of a sharp and a dull model."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, LABELS, items)
    log = np.zeros((items, LABELS))
    for _ in range(annotators):
        said = np.where(rng.random(items) < right, classes, (classes + rng.integers(1, LABELS, items)) % LABELS)
        log += np.log(np.where(np.eye(LABELS)[said] == 1, right, (1 - right) / (LABELS - 1)))
    logits = 1.5 * np.eye(LABELS)[classes] + rng.standard_normal((items, LABELS))
    probs = {"sharp": softmax(1.5 * logits), "dull": softmax(0.7 * logits + 0.5 * rng.standard_normal(logits.shape))}
    truth = pt.Truth.from_probs(softmax(log), estimand="class")
    return classes, truth, probs


def difference(scores):
    values = scores.values if scores.influence is None else scores.values + scores.influence
    row = values[scores.models.index("sharp")] - values[scores.models.index("dull")]
    return row.mean(), row.std(ddof=1) / np.sqrt(len(row))


class TestCentre:
    def test_few_annotators_alone_are_biased_and_with_the_models_they_are_not(self):
        classes, truth, probs = drawn(1)
        logs = np.log(probs["dull"] / probs["sharp"])
        exact = logs[np.arange(ITEMS), classes].mean()  # scored against the true classes
        predictions = pt.Predictions.from_probs(probs)
        alone, alone_se = difference(pt.score(predictions, truth))
        scores = informed_scores(truth, predictions)
        both, both_se = difference(scores)
        assert abs(alone - exact) > 10 * alone_se
        assert abs(both - exact) < 3 * both_se

    @pytest.mark.long
    def test_the_spread_holds_what_the_fitted_weights_add(self):
        # the standard error against the standard deviation of the mean over 200 fresh samples of 300 items
        found = []
        for seed in range(200):
            _, truth, probs = drawn(seed, items=300)
            scores = informed_scores(truth, pt.Predictions.from_probs(probs))
            plain = scores.values[scores.models.index("sharp")] - scores.values[scores.models.index("dull")]
            found.append((*difference(scores), plain.std(ddof=1) / np.sqrt(300)))
        means, errors, plain = np.array(found).T
        assert errors.mean() / means.std(ddof=1) == pytest.approx(1.0, abs=0.2)  # a deviation of 200: 5 per cent
        assert plain.mean() < 0.75 * means.std(ddof=1)  # items' spread alone is too narrow

    def test_certain_classes_stay(self):
        classes, _, probs = drawn(2, items=50)
        truth = pt.Truth.from_labels(classes, n_labels=LABELS)
        assert (informed_truth(truth, pt.Predictions.from_probs(probs)).probs == truth.probs).all()

    def test_without_any_annotator_s_knowledge_nothing_is_learned_of_the_weights(self):
        _, _, probs = drawn(2, items=50)
        truth = pt.Truth.from_probs(np.full((50, LABELS), 1 / LABELS), estimand="class")
        weights = informed_truth(truth, pt.Predictions.from_probs(probs)).diagnostics["model_weights"]
        assert weights == {"dull": 0.5, "sharp": 0.5}  # the prior


class TestHomework:
    def test_a_model_that_is_sure_of_nonsense_gets_no_say(self):
        classes, truth, probs = drawn(4)
        rng = np.random.default_rng(0)
        nonsense = softmax(8 * rng.standard_normal((ITEMS, LABELS)))
        informed = informed_truth(truth, pt.Predictions.from_probs({**probs, "sure": nonsense}))
        assert abs(informed.diagnostics["model_weights"]["sure"]) < 0.05
        hit = informed.probs[np.arange(ITEMS), classes]
        assert hit.mean() > truth.probs[np.arange(ITEMS), classes].mean()

    def test_saying_the_same_with_more_confidence_changes_nothing(self):
        _, truth, probs = drawn(5)
        alone = informed_truth(truth, pt.Predictions.from_probs({"a": probs["sharp"]}))
        powered = probs["sharp"] ** 2 / (probs["sharp"] ** 2).sum(1, keepdims=True)
        louder = informed_truth(truth, pt.Predictions.from_probs({"a": powered}))
        np.testing.assert_allclose(louder.probs, alone.probs, atol=0.01)  # the prior of the weight is all that differs


class TestInvariance:
    def test_order_of_items_and_names_of_models_leave_no_trace(self):
        _, truth, probs = drawn(6, items=200)
        order = np.random.default_rng(0).permutation(200)
        names = [f"item-{number:03d}" for number in range(200)]
        one = informed_truth(
            pt.Truth.from_probs(truth.probs, items=names, estimand="class"),
            pt.Predictions.from_probs({"a": probs["sharp"], "b": probs["dull"]}, items=names),
        )
        shuffled = [names[place] for place in order]
        two = informed_truth(
            pt.Truth.from_probs(truth.probs[order], items=shuffled, estimand="class"),
            pt.Predictions.from_probs({"z": probs["sharp"][order], "b": probs["dull"][order]}, items=shuffled),
        )
        place = [two.index.items.index(name) for name in one.index.items]
        assert (two.probs[place] == one.probs).all()
        assert two.diagnostics["model_weights"]["z"] == one.diagnostics["model_weights"]["a"]

    def test_items_without_predictions_keep_what_annotators_said(self):
        _, truth, probs = drawn(7, items=60)
        names = [str(number) for number in range(60)]
        named = pt.Truth.from_probs(truth.probs, items=names, estimand="class")
        some = pt.Predictions.from_probs({"a": probs["sharp"][:50]}, items=names[:50])
        found = informed_truth(named, some)
        places = [found.index.items.index(name) for name in names[50:]]
        assert (found.probs[places] == named.probs[places]).all()


class TestErrors:
    def test_opinions_are_not_for_models_to_correct(self):
        truth = pt.Truth.from_probs([[0.6, 0.4]] * 4)
        with pytest.raises(pt.InputError, match="estimand 'class'"):
            informed_truth(truth, pt.Predictions.from_probs({"a": [[0.5, 0.5]] * 4}))

    def test_an_unknown_kind_of_evidence_is_named(self):
        votes = pt.Annotations.from_counts([[4, 1], [0, 5], [2, 3], [5, 0]])
        models = pt.Predictions.from_probs({"a": [[0.8, 0.2]] * 4, "b": [[0.6, 0.4]] * 4})
        with pytest.raises(pt.InputError, match="annotators-and-models"):
            pt.evaluate(votes, models, evidence="annotator-and-models")


class TestTheLine:
    def test_the_result_names_the_evidence_and_the_weights(self):
        rng = np.random.default_rng(0)
        classes, _, probs = drawn(8, items=60)
        votes = np.where(rng.random((60, 4)) < 0.8, classes[:, None], rng.integers(0, LABELS, (60, 4)))
        annotations = answered(votes)
        predictions = pt.Predictions.from_probs(probs, items=range(60), labels=range(LABELS))
        asked = {"method": "dawid-skene-em", "estimand": "class", "engine": "exact"}
        both = pt.evaluate(annotations, predictions, **asked)
        assert both.to_dict()["truth"]["evidence"] == "annotators and models"
        assert [row["model"] for row in both.to_dict()["truth"]["model_weights"]] == ["dull", "sharp"]
        alone = pt.evaluate(annotations, predictions, evidence="annotators", **asked)
        assert alone.to_dict()["truth"]["evidence"] == "annotators"
        assert (both.scores.values != alone.scores.values).any()
        assert abs(both.comparison.pairs[0]["difference"]) == pytest.approx(
            abs(both.scores.values[0].mean() - both.scores.values[1].mean()), abs=1e-12
        )

    def test_the_labels_share_is_what_the_comparison_has_beyond_known_classes(self):
        classes, truth, probs = drawn(9)
        predictions = pt.Predictions.from_probs(probs)
        scores = informed_scores(truth, predictions)
        unsure = pt.compare(scores, engine="exact")
        known = pt.compare(pt.score(predictions, pt.Truth.from_labels(classes, LABELS)), engine="exact")
        wide, narrow = (found.pairs[0]["high"] - found.pairs[0]["low"] for found in (unsure, known))
        assert unsure.uncertainty["labels"] == pytest.approx(1 - (narrow / wide) ** 2, abs=0.1)


@pytest.mark.parametrize("options", [{}, {"clusters": [f"c{row // 3}" for row in range(120)]}])
def test_accuracy_as_a_metric_is_as_unsure_as_the_zero_one_score(options):
    """The metric left out what the fitted weights add: 0.18 wide where the score was 0.24."""
    _, truth, probs = drawn(5, right=0.5, items=120)
    models = pt.Predictions.from_probs(probs)
    options = {**options, "engine": "exact", "evidence": "annotators-and-models"}
    found = pt.compare_metric(models, truth, "accuracy", **options)
    result = pt.evaluate(truth, models, rule="zero-one", **options)
    (ours,), (theirs,) = found.pairs, result.comparison.pairs
    assert ours.difference == pytest.approx(-theirs.difference)
    assert found.model_free[0]["t"] == pytest.approx(-result.comparison.model_free[0]["t"], rel=1e-6)
    width = theirs.high - theirs.low
    assert ours.high - ours.low == pytest.approx(width, rel=1e-9)
    # with classes of like frequency kappa is accuracy beyond chance, over its range
    (kappa,) = pt.compare_metric(models, truth, "kappa", **options).pairs
    assert (kappa.high - kappa.low) * (1 - 1 / LABELS) == pytest.approx(width, rel=0.1)
    (plain,) = pt.compare(
        replace(result.scores, influence=None), clusters=options.get("clusters"), engine="exact"
    ).pairs
    assert plain.high - plain.low < 0.9 * width


def test_forecasts_count_once_in_the_truth_of_a_result():
    """The truth that `evaluate` returns was informed by the same forecasts again: differences were smaller."""
    _, truth, probs = drawn(6, right=0.5, items=150)
    models = pt.Predictions.from_probs(probs)
    both = {"evidence": "annotators-and-models"}
    result = pt.evaluate(truth, models, engine="exact", **both)
    again = pt.evaluate(result.truth, models, engine="exact", **both)
    by_steps = pt.compare(pt.score(models, result.truth, **both), engine="exact")
    for other in (again.comparison, by_steps):
        assert other.pairs == result.comparison.pairs
    np.testing.assert_array_equal(again.truth.probs, result.truth.probs)
    wanted = pt.compare_metric(models, truth, "f1", label=0, engine="exact", **both)
    assert pt.compare_metric(models, result.truth, "f1", label=0, engine="exact", **both).pairs == wanted.pairs
    alone = pt.evaluate(result.truth, models, engine="exact", evidence="annotators")
    assert alone.comparison.pairs == pt.evaluate(truth, models, engine="exact", evidence="annotators").comparison.pairs
