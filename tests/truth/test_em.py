"""What the EM methods share, against brute force over the classes: likelihood, posterior, known answers, climbs."""

import numpy as np
import pytest

import probtruth as pt
from probtruth.truth import em
from probtruth.truth.fit import MethodRequest
from probtruth.truth.flat import flatten

ROUNDING = 1e-9  # Sums of some hundred logs in another order

CONFUSED = ["dawid-skene-em", "one-coin", "mace"]
"""Methods whose likelihood is that of their confusion matrices and marginals."""
ALL = [*CONFUSED, "glad"]
CLIMBING = [*ALL, "ability", "perceived-class"]


def brute_force(annotations: pt.Annotations, truth: pt.Truth) -> tuple[np.ndarray, float]:
    """The posterior by multiplying probabilities, one annotation after the other."""
    joint = np.tile(truth.marginals, (annotations.n_items, 1))
    for item, annotator, label in zip(annotations.item, annotations.annotator, annotations.label, strict=True):
        joint[item] *= truth.confusion[annotator, :, label]
    return joint / joint.sum(1, keepdims=True), float(np.log(joint.sum(1)).sum())


@pytest.mark.parametrize("method", CONFUSED)
def test_posterior_and_likelihood_against_brute_force(simulated, method: str) -> None:
    annotations, _, _ = simulated
    truth = pt.infer_truth(annotations, method)
    probs, log_likelihood = brute_force(annotations, truth)
    np.testing.assert_allclose(truth.probs, probs, atol=ROUNDING)
    assert truth.diagnostics["log_likelihood"] == pytest.approx(log_likelihood, rel=ROUNDING)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        *((method, {}) for method in CLIMBING),
        ("dawid-skene-em", {"diagonal": 3, "off_diagonal": 0.5, "prior": 1.5}),
        ("dawid-skene-em", {"restarts": 3}),
    ],
)
def test_climbs_are_monotone_and_converge(simulated, method: str, options: dict[str, float]) -> None:
    annotations, _, _ = simulated
    diagnostics = pt.infer_truth(annotations, method, **options).diagnostics
    assert diagnostics["converged"] is True
    assert diagnostics["smallest_gain"] > -ROUNDING
    assert diagnostics["label_switching"] is False


@pytest.mark.parametrize("method", ALL)
def test_known_answers_hold_and_teach(simulated, method: str) -> None:
    annotations, classes, _ = simulated
    names, labels = annotations.index.items, annotations.index.labels
    gold = {names[row]: labels[classes[row]] for row in range(0, 120, 2)}
    truth = pt.infer_truth(annotations, method, gold=gold)
    np.testing.assert_array_equal(truth.probs[::2], np.eye(3)[classes[::2]])
    assert truth.diagnostics["n_gold"] == 60
    free = pt.infer_truth(annotations, method)
    assert (truth.probs[1::2] != free.probs[1::2]).any()
    right = {
        name: float(np.mean(found.probs[1::2].argmax(1) == classes[1::2]))
        for name, found in (("gold", truth), ("free", free))
    }
    assert right["gold"] >= right["free"]


@pytest.mark.parametrize("method", [*ALL, "majority"])
def test_a_known_answer_stands_in_for_annotations(method: str) -> None:
    rows = {"item": ["a", "a", "b"], "annotator": ["p", "q", "p"], "label": ["x", "x", "y"]}
    annotations = pt.Annotations.from_long(rows)
    padded = pt.Annotations(
        annotations.item,
        annotations.label,
        annotations.annotator,
        annotations.multiplicity,
        type(annotations.index)(("a", "b", "c"), ("x", "y"), ("p", "q")),
    )
    truth = pt.infer_truth(padded, method, gold={"c": "y"})
    np.testing.assert_array_equal(truth.probs[2], [0, 1])
    with pytest.raises(pt.InputError, match="no annotation for item 'c'"):
        pt.infer_truth(padded, method)


@pytest.mark.parametrize(
    ("method", "gold", "words"),
    [
        ("one-coin", {"i999": "a"}, "gold for item 'i999'"),
        ("one-coin", {"i001": "z"}, "gold of item 'i001': label 'z'"),
        ("one-coin", 7, "gold of type int"),
        ("one-coin", [("i001", "a"), ("i001", "b")], "two known labels for item 'i001'"),
        ("vote-share", {"i001": "a"}, "which answers the estimand 'distribution'"),
    ],
)
def test_gold_errors(simulated, method: str, gold: object, words: str) -> None:
    with pytest.raises(pt.InputError) as caught:
        pt.infer_truth(simulated[0], method, gold=gold)
    assert words in str(caught.value)


def test_switched_labels_are_flagged() -> None:
    """The classes found are the reverse of the words that the annotators used."""
    rows = {"item": ["a", "a", "b"], "annotator": ["p", "q", "p"], "label": ["x", "x", "y"]}
    flat = flatten(MethodRequest.without_draws(pt.Annotations.from_long(rows)))
    switched = np.array([[0.1, 0.9], [0.8, 0.2]])
    assert em.label_switching(switched, flat)
    assert not em.label_switching(switched[:, ::-1], flat)


@pytest.mark.parametrize("method", ALL)
def test_one_annotator_one_item_one_label_used(method: str) -> None:
    """The least data there can be, and a label that nobody used."""
    rows = {"item": ["a"], "annotator": ["p"], "label": ["x"]}
    truth = pt.infer_truth(pt.Annotations.from_long(rows, labels=["x", "y"]), method)
    assert np.isfinite(truth.probs).all()
    assert truth.probs[0, 0] >= 0.5
    assert np.isfinite(truth.diagnostics["log_posterior"])
    assert np.isfinite(pt.infer_truth(pt.Annotations.from_long(rows), method).probs).all()


def test_the_maximum_of_the_likelihood_has_no_prior(simulated) -> None:
    """Whatever an annotator never said: 0 log 0 pseudo-counts are 0."""
    diagnostics = pt.infer_truth(simulated[0], "dawid-skene-em").diagnostics
    assert diagnostics["log_posterior"] == diagnostics["log_likelihood"]


@pytest.mark.parametrize("method", CLIMBING)
def test_extrapolated_climbs_reach_the_same_top(simulated, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    options = {"tolerance": 1e-9, "max_iterations": 20_000, "draws": 0}
    quick = pt.infer_truth(simulated[0], method, **options)
    monkeypatch.setattr(em, "PLAIN", 20_000)
    plain = pt.infer_truth(simulated[0], method, **options)
    slack = 1e-6  # classes that still move by 1e-9 in a step
    np.testing.assert_allclose(quick.probs, plain.probs, atol=slack)
    assert quick.diagnostics["converged"] is True
    assert quick.diagnostics["smallest_gain"] > -ROUNDING
    assert quick.diagnostics["n_iterations"] < plain.diagnostics["n_iterations"]


def test_what_does_not_fit_into_memory_is_not_extrapolated(simulated, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = pt.infer_truth(simulated[0], "ability", draws=0)
    monkeypatch.setattr(em, "MEMORY_CELLS", 0)
    plain = pt.infer_truth(simulated[0], "ability", draws=0)
    assert quick.diagnostics["n_iterations"] < plain.diagnostics["n_iterations"]
