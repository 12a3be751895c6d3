"""MACE: spammers found whatever their habit; the fit is a maximum."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit, softmax
from simulated_annotations import answered

import probtruth as pt


def spammed(n_items: int, seed: int) -> tuple[pt.Annotations, np.ndarray, np.ndarray]:
    """Six annotators who spam with these rates, from a habit of (.6, .3, .1)."""
    generator = np.random.default_rng(seed)
    rates, habit = np.array([0.05, 0.1, 0.2, 0.4, 0.9, 1.0]), np.array([0.6, 0.3, 0.1])
    classes = generator.integers(3, size=n_items)
    spam = generator.random((n_items, 6)) < rates
    label = np.where(spam, generator.choice(3, (n_items, 6), p=habit), classes[:, None])
    return answered(label), classes, rates


def test_spam_rates_are_at_their_maximum_where_all_classes_are_known() -> None:
    """Classes that never move do not end the climb: each annotator's likelihood alone, maximised by scipy."""
    annotations, classes, _ = spammed(60, seed=4)
    known = pt.infer_truth(annotations, "mace", gold=dict(enumerate(classes.tolist())), restarts=1)
    for annotator, ability in enumerate(known.annotators()["ability"].to_list()):
        mine = annotations.annotator == annotator
        says, right = annotations.label[mine], annotations.label[mine] == classes[annotations.item[mine]]

        def loss(free: np.ndarray, says: np.ndarray = says, right: np.ndarray = right) -> float:
            spam, habit = expit(free[0]), softmax(np.append(free[1:], 0))
            pseudo = 0.01 / 3 * (log_expit(free[0]) + log_expit(-free[0]) + np.log(habit).sum())
            return -float(np.log((1 - spam) * right + spam * habit[says]).sum() + pseudo)

        best = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12})
        assert ability == pytest.approx(1 - expit(best.x[0]), abs=2e-3)  # the last step rises by less than 1e-6


def test_classes_are_uniform_unless_learned() -> None:
    annotations, _, _ = spammed(80, seed=3)
    np.testing.assert_allclose(pt.infer_truth(annotations, "mace", restarts=1).marginals, 1 / 3)
    learned = pt.infer_truth(annotations, "mace", restarts=1, prior=1).marginals
    assert learned.max() - learned.min() > 0.01


def test_negative_smoothing_is_an_error() -> None:
    with pytest.raises(pt.InputError, match="smoothing -1"):
        pt.infer_truth(spammed(10, seed=1)[0], "mace", smoothing=-1)
