"""Ability: the fit is a maximum of its posterior; rare classes, and crowds that prefer a label."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp
from simulated_annotations import answered

import probtruth as pt
from probtruth.line.labelled import drifts
from probtruth.truth.em import EmLimits
from probtruth.truth.fit import MethodRequest
from probtruth.truth.flat import flatten
from probtruth.truth.methods.ability import (
    ABILITY_SPREAD,
    OWN_SPREAD,
    SHARED_DIAGONAL,
    SHARED_SPREAD,
    anchored_counts,
    fit_ability,
)

LIMITS = EmLimits(500, 1e-6)


def objective(annotations: pt.Annotations, parts: list[np.ndarray]) -> float:
    """Log likelihood plus log prior, written out densely (marginals with one pseudo-count a label)."""
    log_marginals, a, b, d, g = parts
    log_answers = log_softmax(a[:, None, None] * g + b.T[:, None, :] + d.transpose(2, 0, 1), axis=2)
    joint = np.tile(log_marginals, (annotations.n_items, 1))
    np.add.at(joint, annotations.item, log_answers[annotations.annotator, :, annotations.label])
    centre = SHARED_DIAGONAL * (np.eye(len(g)) - 1 / len(g))
    prior = ((a - 1) ** 2).sum() / ABILITY_SPREAD**2 + ((b**2).sum() + (d**2).sum()) / OWN_SPREAD**2
    prior += ((g - centre) ** 2).sum() / SHARED_SPREAD**2
    return float(logsumexp(joint, axis=1).sum() + log_marginals.sum() - 0.5 * prior)


def test_fit_is_a_maximum(simulated) -> None:
    annotations, _, _ = simulated
    request = MethodRequest.without_draws(annotations)
    solution = fit_ability(request, flatten(request), EmLimits(20_000, 1e-10))
    parts = [solution.log_marginals, *solution.parameters]
    top = objective(annotations, parts)
    rounding = 1e-9
    np.testing.assert_allclose(solution.diagnostics["log_posterior"], top, rtol=rounding)
    generator = np.random.default_rng(0)
    slack = 1e-6  # what the last EM steps have left to gain along a direction
    for block in range(1, 5):
        for _ in range(20):
            moved = [part.copy() for part in parts]
            moved[block] += 1e-2 * generator.standard_normal(moved[block].shape)
            assert objective(annotations, moved) < top + slack


def poor_crowd(seed: int) -> tuple[pt.Annotations, np.ndarray]:
    """300 items, 8 per cent of the class 1; forty poor annotators, right in two of three, eight an item."""
    generator = np.random.default_rng(seed)
    classes = (np.arange(300) < 24).astype(int)
    right = generator.beta(5.2, 2.8, (40, 2))
    who = np.argsort(generator.random((300, 40)), 1)[:, :8]
    correct = generator.random((300, 8)) < right[who, classes[:, None]]
    return answered(np.where(correct, classes[:, None], 1 - classes[:, None]), who), classes


@pytest.mark.long
def test_a_rare_class_does_not_absorb_the_rest() -> None:
    """Free marginals make up to 64 per cent of a class of 8; drawn a little towards the votes, few crowds lose."""
    losses = []
    for seed in range(12):
        annotations, classes = poor_crowd(seed)
        request = MethodRequest.without_draws(annotations)
        flat = flatten(request)
        probs = (fit_ability(request, flat, LIMITS, counts).probs for counts in (1, anchored_counts(flat)))
        losses.append([-np.log(table[np.arange(len(classes)), classes]).mean() for table in probs])
    free, anchored = np.array(losses).T
    assert anchored.mean() < free.mean() - 0.15
    assert (anchored > free + 0.05).sum() <= 1


def test_a_crowd_that_prefers_a_label_does_not_make_it_frequent() -> None:
    """Labels are equally frequent, two thirds of the votes name the first: marginals that follow the votes would be
    0.7 and 0.3 and more; annotators' confusion tells otherwise."""
    generator = np.random.default_rng(0)
    classes = np.arange(600) % 2
    right = np.stack([generator.uniform(0.9, 0.98, 30), generator.uniform(0.5, 0.75, 30)], 1)
    who = np.argsort(generator.random((600, 30)), 1)[:, :7]
    correct = generator.random((600, 7)) < right[who, classes[:, None]]
    annotations = answered(np.where(correct, classes[:, None], 1 - classes[:, None]), who)
    request = MethodRequest.without_draws(annotations)
    assert annotations.counts().sum(0)[0] / (600 * 7) > 0.63
    flat = flatten(request)
    anchored = fit_ability(request, flat, LIMITS, anchored_counts(flat))
    assert abs(np.exp(anchored.log_marginals[0]) - 0.5) < 0.04


def test_labels_that_drift_are_named() -> None:
    """Known answers show that the only annotator says 0 where it is 1; of 200 other items, all with a vote for 0, the
    truth then holds 1 of most: far from no vote at all."""
    n_known, n_open = 60, 200
    rows = {"item": [*range(n_known + n_open)], "annotator": ["x"] * (n_known + n_open)}
    labels = [1] * 5 + [0] * (n_known + n_open - 5)
    votes = pt.Annotations.from_long(rows | {"label": labels})
    gold = {item: 0 if item < 5 else 1 for item in range(n_known)}
    truth = pt.infer_truth(votes, "dawid-skene-em", gold=gold, draws=0)
    held = truth.probs[n_known:].mean(0)
    assert held[1] > 0.8
    assert truth.diagnostics["drifted_labels"] == {
        "0": (pytest.approx(held[0]), 1.0),
        "1": (pytest.approx(held[1]), 0.0),
    }
    (warning, *_) = drifts(replace(truth, method="pooled"))
    assert f"'1' for {held[1]:.0%} of the items (0%)" in warning
    assert drifts(pt.infer_truth(votes, "majority")) == []
