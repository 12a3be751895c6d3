"""The Bayesian model against exact enumeration, published data, known answers and pooling."""

import itertools

import numpy as np
import pytest
from scipy.special import gammaln
from simulated_annotations import SAMPLED, TWELVE

import probtruth as pt
from probtruth.truth.programs import CLASS_COUNTS, DIAGONAL_SHARE, ROW_COUNTS
from probtruth.truth.sampled import settled, switching


def exact(annotations: pt.Annotations, known: dict[str, str]) -> np.ndarray:
    """P(class) of every item by summing over all classes of all items; Dirichlets integrate in closed form."""
    n_items, n_labels = annotations.n_items, annotations.n_labels
    off = ROW_COUNTS * (1 - DIAGONAL_SHARE) / (n_labels - 1)
    rows = off + (ROW_COUNTS * DIAGONAL_SHARE - off) * np.eye(n_labels)

    def log_evidence(prior: np.ndarray, counts: np.ndarray) -> float:
        """Log marginal probability of counts under Dirichlets along the last axis."""
        own = (gammaln(prior + counts) - gammaln(prior)).sum(-1)
        return float((own + gammaln(prior.sum(-1)) - gammaln((prior + counts).sum(-1))).sum())

    total = np.zeros((n_items, n_labels))
    for classes in itertools.product(range(n_labels), repeat=n_items):
        truth = np.array(classes)
        names = dict(zip(annotations.index.items, (annotations.index.labels[place] for place in classes), strict=True))
        if any(names[item] != label for item, label in known.items()):
            continue
        counts = np.zeros((len(annotations.index.annotators), n_labels, n_labels))
        np.add.at(counts, (annotations.annotator, truth[annotations.item], annotations.label), 1)
        logs = log_evidence(np.full(n_labels, CLASS_COUNTS), np.bincount(truth, minlength=n_labels))
        logs += log_evidence(np.broadcast_to(rows, counts.shape), counts)
        total[np.arange(n_items), truth] += np.exp(logs)
    return total / total.sum(1, keepdims=True)


@pytest.mark.long
@pytest.mark.parametrize("known", [{}, {"b": "y", "e": "y"}])
def test_against_exact_enumeration(known: dict[str, str]) -> None:
    truth = pt.infer_truth(TWELVE, "dawid-skene", gold=known, **SAMPLED)
    ess = truth.diagnostics["min_ess"]
    assert ess > 100
    five_errors = 5 * 0.4 / np.sqrt(1000)  # the sd over draws of P(class) is below .4; effective draws near 1,000
    np.testing.assert_allclose(truth.probs, exact(TWELVE, known), atol=five_errors)
    for item, label in known.items():
        assert truth.probs[TWELVE.index.items.index(item), TWELVE.index.labels.index(label)] == 1


@pytest.mark.long
def test_anesthesia(anesthesia) -> None:
    """Patient 3, whom EM makes certain, is not: .37 to .63 under a Bayesian fit of these data with a similar prior."""
    truth = pt.infer_truth(anesthesia, "dawid-skene")
    em = pt.infer_truth(anesthesia, "dawid-skene-em")
    patient = anesthesia.index.items.index("2")
    assert em.probs[patient].max() > 0.97
    assert 0.25 < truth.probs[patient, 0] < 0.55
    assert truth.diagnostics["divergences"] == 0
    assert truth.diagnostics["label_switching"] is False
    assert truth.diagnostics["converged"] is True
    table = truth.annotators()
    assert (table["accuracy_low"] < table["accuracy"]).all()
    assert truth.draws.shape == (1000, 45, 4)


def test_chains_in_another_naming_are_seen() -> None:
    right = np.log(np.broadcast_to([[0.8, 0.2], [0.3, 0.7]], (3, 10, 4, 2, 2)))
    assert not switching(right)
    switched = right.copy()
    switched[1] = right[1][..., ::-1]
    assert switching(switched)


def test_a_sampler_has_converged_when_chains_agree_and_draws_are_enough() -> None:
    assert settled(1.01, 200.0)
    assert not settled(1.2, 200.0)
    assert not settled(1.0, 20.0)
    assert not settled(float("nan"), float("nan"))


def test_errors() -> None:
    annotations = pt.Annotations.from_long({"item": ["a"], "annotator": ["p"], "label": ["x"]})
    with pytest.raises(pt.InputError, match="samples 1"):
        pt.infer_truth(annotations, "dawid-skene", samples=1)
