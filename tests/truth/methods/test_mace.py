"""MACE: spammers found whatever their habit; the fit is a maximum."""

import numpy as np
import pytest

import probtruth as pt


def spammed(n_items: int, seed: int) -> tuple[pt.Annotations, np.ndarray, np.ndarray]:
    """Six annotators who spam with these rates, from a habit of (.6, .3, .1)."""
    generator = np.random.default_rng(seed)
    rates, habit = np.array([0.05, 0.1, 0.2, 0.4, 0.9, 1.0]), np.array([0.6, 0.3, 0.1])
    classes = generator.integers(3, size=n_items)
    spam = generator.random((n_items, 6)) < rates
    label = np.where(spam, generator.choice(3, (n_items, 6), p=habit), classes[:, None])
    item, annotator = np.divmod(np.arange(n_items * 6), 6)
    rows = {"item": item, "annotator": annotator, "label": label.ravel()}
    return pt.Annotations.from_long(rows), classes, rates


def test_spam_rates_are_recovered() -> None:
    annotations, classes, rates = spammed(500, seed=2)
    truth = pt.infer_truth(annotations, "mace", restarts=2)
    five_errors = 5 * 0.5 / np.sqrt(500)
    np.testing.assert_allclose(truth.annotators()["ability"], 1 - rates, atol=five_errors)
    assert (truth.probs.argmax(1) == classes).mean() > 0.98
    assert truth.annotators()["information"].to_numpy()[5] < 0.05


def test_classes_are_uniform_unless_learned() -> None:
    annotations, _, _ = spammed(80, seed=3)
    np.testing.assert_allclose(pt.infer_truth(annotations, "mace", restarts=1).marginals, 1 / 3)
    learned = pt.infer_truth(annotations, "mace", restarts=1, prior=1).marginals
    assert learned.max() - learned.min() > 0.01  # type: ignore[union-attr]


def test_negative_smoothing_is_an_error() -> None:
    with pytest.raises(pt.InputError, match="smoothing -1"):
        pt.infer_truth(spammed(10, seed=1)[0], "mace", smoothing=-1)
