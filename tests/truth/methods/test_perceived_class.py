"""Perceived classes: the likelihood by enumeration, a maximum, simulated misperception, known answers, options."""

import itertools

import numpy as np
import pytest
from simulated_annotations import TWELVE, misperceived, simulate

import probtruth as pt
from probtruth.truth import em
from probtruth.truth.fit import MethodRequest
from probtruth.truth.flat import flatten
from probtruth.truth.methods import ability
from probtruth.truth.methods.perceived_class import appearances_of, fit_perceived


def loss(truth: pt.Truth, classes: np.ndarray) -> float:
    return float(-np.log(np.maximum(truth.probs[np.arange(len(classes)), classes], 1e-15)).mean())


@pytest.mark.parametrize("annotations", [TWELVE, simulate(5, 4, 3, 3, seed=2)[0]])
def test_likelihood_is_the_sum_over_appearances_and_what_every_annotator_sees(annotations: pt.Annotations) -> None:
    request = MethodRequest.without_draws(annotations)
    flat = flatten(request)
    counts = np.ones(flat.n_labels)
    start = ability.fit_ability(request, flat, em.EmLimits(500, 1e-3), counts)
    fitted = fit_perceived(request, flat, start, counts, None, em.EmLimits(500, 1e-3))
    looks = appearances_of(flat, start)
    hard = float(fitted.run.parameters[-1])
    np.testing.assert_allclose(looks.seen.sum(1), 1)
    np.testing.assert_allclose(looks.hard.sum(1), 1)
    answers = np.exp(ability.log_confusion(fitted.run.parameters[:-1]))  # class seen, label, annotator
    total = 0.0
    for item in range(flat.n_items):
        rows = np.flatnonzero(flat.item == item)
        votes = list(zip(flat.annotator[rows], flat.label[rows], strict=True))
        joint = np.zeros(flat.n_labels)
        for one, look in itertools.product(range(flat.n_labels), range(len(looks.seen))):
            share = hard * looks.hard[one, look] + (1 - hard) * (look == one)
            each = [looks.seen[look] @ answers[:, label, who] for who, label in votes]
            joint[one] += np.exp(fitted.run.log_marginals[one]) * share * np.prod(each)
        np.testing.assert_allclose(fitted.run.probs[item], joint / joint.sum(), rtol=1e-9)
        total += np.log(joint.sum())
    np.testing.assert_allclose(fitted.run.log_likelihood, total, rtol=1e-9)


def test_every_step_climbs_to_a_point_from_which_none_does(simulated) -> None:
    options = {"max_iterations": 5000, "tolerance": 1e-8, "draws": 0}
    truth = pt.infer_truth(simulated[0], "perceived-class", **options)
    rounding = 1e-8
    assert truth.diagnostics["converged"] is True
    assert truth.diagnostics["smallest_gain"] > -rounding
    quick = pt.infer_truth(simulated[0], "perceived-class", draws=0)
    left = truth.diagnostics["log_posterior"] - quick.diagnostics["log_posterior"]
    assert abs(left) < 0.01  # nats that the default leaves; what items can look like follows where `ability` ended
    np.testing.assert_allclose(quick.probs, truth.probs, atol=0.03)


def test_not_confident_where_everybody_is_wrong() -> None:
    annotations, classes = misperceived(1)
    losses = {
        method: loss(pt.infer_truth(annotations, method, draws=0), classes)
        for method in ("dawid-skene-em", "ability", "perceived-class")
    }
    assert losses["perceived-class"] < 0.6 * losses["ability"]
    assert losses["perceived-class"] < 0.6 * losses["dawid-skene-em"]
    truth = pt.infer_truth(annotations, "perceived-class", draws=50)
    assert truth.draws.shape == (50, 200, 3)
    assert "accuracy_low" not in truth.annotators().columns  # intervals of annotators who err together do not cover
    np.testing.assert_allclose(truth.confusion.sum(2), 1)


def test_known_answers_hold_and_teach_how_often_items_mislead() -> None:
    annotations, classes = misperceived(3, share=0.4)
    names, labels = annotations.index.items, annotations.index.labels
    gold = {names[row]: labels[classes[row]] for row in range(0, 200, 2)}
    taught = pt.infer_truth(annotations, "perceived-class", gold=gold, draws=0)
    free = pt.infer_truth(annotations, "perceived-class", draws=0)
    np.testing.assert_array_equal(taught.probs[::2], np.eye(3)[classes[::2]])
    rest = np.arange(1, 200, 2)
    losses = [-np.log(truth.probs[rest, classes[rest]]).mean() for truth in (taught, free)]
    assert losses[0] < losses[1]
    assert taught.diagnostics["hard_items"] > free.diagnostics["hard_items"] + 0.1


@pytest.mark.parametrize(
    ("options", "words"),
    [({"hard": 0}, "hard"), ({"hard": 1}, "hard"), ({"tolerance": -1}, "tolerance"), ({"max_iterations": 0}, "0")],
)
@pytest.mark.parametrize("method", ["perceived-class", "pooled"])
def test_errors(simulated, method: str, options: dict[str, float], words: str) -> None:
    with pytest.raises(pt.InputError) as caught:
        pt.infer_truth(simulated[0], method, **options)
    assert words in str(caught.value)


def test_one_label_is_certain() -> None:
    votes = pt.Annotations.from_long({"item": ["a", "a", "b"], "annotator": ["p", "q", "p"], "label": ["x", "x", "x"]})
    for method in ("perceived-class", "pooled"):
        np.testing.assert_allclose(pt.infer_truth(votes, method).probs, 1)


def test_items_in_blocks_are_those_at_once(simulated, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pt.infer_truth(simulated[0], "perceived-class", draws=0)
    monkeypatch.setattr("probtruth.truth.methods.perceived_class.BLOCK", 200)
    parts = pt.infer_truth(simulated[0], "perceived-class", draws=0)
    rounding = 1e-9
    np.testing.assert_allclose(parts.probs, whole.probs, atol=rounding)
