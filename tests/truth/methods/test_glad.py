"""GLAD: the fit is a stationary point of its objective; ability and difficulty are recovered in order."""

import numpy as np
import pytest
from scipy.special import expit, logsumexp
from simulated_annotations import answered, simulate

import probtruth as pt


def graded(n_items: int, n_annotators: int, seed: int) -> tuple[pt.Annotations, np.ndarray, np.ndarray, np.ndarray]:
    """Every annotator answers every item: annotations, classes, ability, log easiness."""
    generator = np.random.default_rng(seed)
    classes = generator.integers(3, size=n_items)
    ability, easiness = generator.normal(1, 1, n_annotators), generator.normal(0, 1, n_items)
    right = generator.random((n_items, n_annotators)) < expit(ability * np.exp(easiness)[:, None])
    other = (classes[:, None] + generator.integers(1, 3, right.shape)) % 3
    return answered(np.where(right, classes[:, None], other)), classes, ability, easiness


def objective(annotations: pt.Annotations, ability: np.ndarray, easiness: np.ndarray) -> float:
    """Log likelihood plus log prior, written out densely."""
    right = expit(ability[annotations.annotator] * np.exp(easiness[annotations.item]))
    hit = annotations.label[:, None] == np.arange(annotations.n_labels)
    terms = np.where(hit, np.log(right)[:, None], np.log((1 - right) / (annotations.n_labels - 1))[:, None])
    joint = np.full((annotations.n_items, annotations.n_labels), -np.log(annotations.n_labels))
    np.add.at(joint, annotations.item, terms)
    prior = -0.5 * ((ability - 1) ** 2).sum() - 0.5 * ((easiness - 1) ** 2).sum()
    return float(logsumexp(joint, axis=1).sum() + prior)


@pytest.mark.parametrize(
    "annotations", [graded(30, 6, seed=1)[0], pytest.param(simulate(60, 6, 3, 3, seed=8)[0], marks=pytest.mark.long)]
)
def test_fit_is_a_maximum(annotations: pt.Annotations) -> None:
    truth = pt.infer_truth(annotations, "glad", tolerance=1e-10, max_iterations=5000)
    ability, easiness = truth.annotators()["ability"].to_numpy(), -truth.by_item()["difficulty"].to_numpy()
    top = objective(annotations, ability, easiness)
    rounding = 1e-9
    np.testing.assert_allclose(truth.diagnostics["log_posterior"], top, rtol=rounding)
    step, slack = 1e-3, 1e-7  # a slope of up to 1e-4 is left by the last EM steps
    for row in range(len(ability)):
        for sign in (-step, step):
            moved = ability.copy()
            moved[row] += sign
            assert objective(annotations, moved, easiness) < top + slack
    for row in range(len(easiness)):
        for sign in (-step, step):
            moved = easiness.copy()
            moved[row] += sign
            assert objective(annotations, ability, moved) < top + slack
