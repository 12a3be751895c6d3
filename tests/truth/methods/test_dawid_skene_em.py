"""Published solutions, a direct dense twin, monotone climbs, ties of names, unidentified rows."""

import numpy as np
import pytest
from simulated_annotations import answered

import probtruth as pt
from probtruth.truth import em
from probtruth.truth.fit import MethodRequest
from probtruth.truth.flat import flatten

TWO_DIGITS = 0.005  # The published tables have two digits


def test_anesthesia(anesthesia) -> None:
    """Dawid and Skene (1979), Tables 2 and 3: class marginals, and observer 1's error rates (rows: true class)."""
    truth = pt.infer_truth(anesthesia, "dawid-skene-em")
    np.testing.assert_allclose(truth.marginals, [0.40, 0.42, 0.11, 0.07], atol=TWO_DIGITS)
    published = [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]]
    np.testing.assert_allclose(truth.confusion[0], published, atol=TWO_DIGITS)
    assert truth.diagnostics["converged"] is True
    assert truth.diagnostics["label_switching"] is False


def test_snow_rte(snow_rte) -> None:
    """Error 7.25 per cent; nine gold items get probability zero: log loss infinite, or .67, 1.20, 1.47 when floored.

    Figures of Dawid-Skene EM on Snow et al.'s (2008) textual entailment data against the experts' labels.
    """
    annotations, gold = snow_rte
    truth = pt.infer_truth(annotations, "dawid-skene-em")
    assert (truth.probs.argmax(1) != gold).mean() == 0.0725
    right = truth.probs[np.arange(len(gold)), gold]
    assert (right < 1e-250).sum() == 9  # whether 1e-281 is 0 depends on the processor
    for floor, loss in ((1e-6, 0.67), (1e-12, 1.20), (1e-15, 1.47)):
        assert -np.log(np.maximum(right, floor)).mean() == pytest.approx(loss, abs=TWO_DIGITS)


def dense_em(annotations: pt.Annotations, steps: int) -> tuple[np.ndarray, float]:
    """The textbook form: items x annotators x labels counts, products of probabilities."""
    n_items, n_annotators, n_labels = annotations.n_items, annotations.n_annotators, annotations.n_labels
    counts = np.zeros((n_items, n_annotators, n_labels))
    np.add.at(counts, (annotations.item, annotations.annotator, annotations.label), 1)
    probs = counts.sum(1) / counts.sum((1, 2))[:, None]
    for _ in range(steps):
        marginals = probs.mean(0)
        confusion = np.einsum("ik,ijl->jkl", probs, counts)
        confusion /= confusion.sum(2, keepdims=True)
        joint = marginals * np.prod(confusion[None] ** counts[:, :, None, :], axis=(1, 3))
        probs = joint / joint.sum(1, keepdims=True)
    return probs, float(np.log(joint.sum(1)).sum())


def test_agrees_with_the_dense_form(simulated) -> None:
    annotations, _, _ = simulated
    probs, log_likelihood = dense_em(annotations, em.PLAIN)
    truth = pt.infer_truth(annotations, "dawid-skene-em", max_iterations=em.PLAIN)
    rounding = 1e-10
    np.testing.assert_allclose(truth.probs, probs, atol=rounding)
    assert truth.diagnostics["log_likelihood"] == pytest.approx(log_likelihood, rel=rounding)
    assert truth.diagnostics["converged"] is False
    assert truth.diagnostics["n_iterations"] == em.PLAIN


def test_restarts_differ_and_the_best_is_kept(simulated) -> None:
    annotations, _, _ = simulated
    diagnostics = pt.infer_truth(annotations, "dawid-skene-em", restarts=4, max_iterations=2, seed=3).diagnostics
    reached = diagnostics["restarts_log_posterior"]
    assert len(set(reached)) == 4
    assert diagnostics["log_posterior"] == max(reached)


def test_repeats_count_as_annotations() -> None:
    once = {"item": ["a", "a", "b"], "annotator": ["p", "q", "p"], "label": ["x", "y", "y"], "replicate": [0, 0, 0]}
    twice = {name: [*column, column[0]] for name, column in once.items()}
    twice["replicate"] = [0, 0, 0, 1]
    flat = flatten(MethodRequest.without_draws(pt.Annotations.from_long(twice)))
    np.testing.assert_array_equal(flat.weight, [2, 1, 1])


def test_unidentified_rows_are_nan_and_counted() -> None:
    rows = {"item": ["a", "b", "b"], "annotator": ["p", "p", "q"], "label": ["x", "y", "y"]}
    truth = pt.infer_truth(pt.Annotations.from_long(rows), "dawid-skene-em")
    assert np.isnan(truth.confusion[1, 0]).all()  # q never answered an item of class x
    np.testing.assert_array_equal(truth.confusion[1, 1], [0, 1])
    assert truth.diagnostics["n_unidentified_rows"] == 1


def test_600_annotators_an_item_do_not_underflow() -> None:
    generator = np.random.default_rng(0)
    label = (np.arange(4)[:, None] + (generator.random((4, 600)) >= 0.7)) % 2
    truth = pt.infer_truth(answered(label), "dawid-skene-em", diagonal=2, off_diagonal=1)
    np.testing.assert_array_equal(truth.probs.argmax(1), [0, 1, 0, 1])
    assert np.isfinite(truth.diagnostics["log_likelihood"])
