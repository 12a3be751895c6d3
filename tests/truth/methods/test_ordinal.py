"""Ordered labels: against exact sums over classes and places, against nominal methods, and what needs an order."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit, logsumexp
from scipy.stats import norm

import probtruth as pt
from probtruth.truth import programs

QUICK = {"samples": 100, "warmup": 100, "chains": 2}
"""As in test_infer, whose compiled program for 30 items, 5 annotators and 3 labels is used again."""


def graded(seed: int, n_items: int = 30, names: tuple[str, ...] = ("1", "2", "3")) -> tuple[pt.Annotations, np.ndarray]:
    """Items on a line, whose class is the part of the line they lie in; 3 of 5 annotators with cuts of their own."""
    generator = np.random.default_rng(seed)
    place = generator.normal(0, 1, n_items)
    cuts = np.array([-0.5, 0.5]) + generator.normal(0, 0.2, (5, 1))
    rows: dict[str, list[object]] = {"item": [], "annotator": [], "label": []}
    for item in range(n_items):
        for who in generator.choice(5, 3, replace=False):
            said = (place[item] + 0.4 * generator.normal() > cuts[who]).sum()
            rows["item"].append(item)
            rows["annotator"].append(int(who))
            rows["label"].append(names[said])
    classes = (place[:, None] > [-0.5, 0.5]).sum(1)
    return pt.Annotations.from_long(rows, labels=names), classes


def log_loss(truth: pt.Truth, classes: np.ndarray) -> float:
    return float(-np.log(np.maximum(truth.probs[np.arange(len(classes)), classes], 1e-15)).mean())


@pytest.mark.long
def test_better_than_nominal_methods_on_graded_items() -> None:
    """Nominal methods take borderline items, on which annotators split, for certain; over three crowds of 30 items."""
    losses: dict[str, list[float]] = {"ordinal": [], "ability": [], "dawid-skene-em": [], "one-coin": []}
    for seed in range(3):
        annotations, classes = graded(seed)
        for method, found in losses.items():
            options = QUICK if method == "ordinal" else {}
            found.append(log_loss(pt.infer_truth(annotations, method, draws=0, **options), classes))
    means = {method: np.mean(found) for method, found in losses.items()}
    best = means.pop("ordinal")
    assert best < 0.9 * min(means.values()), (best, means)


@pytest.mark.long
def test_order_of_words_is_given_and_outputs_keep_the_order_of_the_index() -> None:
    numbers, _ = graded(0)
    words, _ = graded(0, names=("low", "middle", "high"))
    order = ["low", "never", "middle", "high"]
    first, second = (
        pt.infer_truth(numbers, "ordinal", draws=9, **QUICK),
        pt.infer_truth(words, "ordinal", draws=9, order=order, **QUICK),
    )
    place = [words.index.labels.index(name) for name in ("low", "middle", "high")]
    np.testing.assert_array_equal(second.probs[:, place], first.probs)
    np.testing.assert_array_equal(second.draws[:, :, place], first.draws)  # type: ignore[index]
    np.testing.assert_array_equal(second.confusion[:, place][:, :, place], first.confusion)  # type: ignore[index]
    np.testing.assert_array_equal(second.marginals[place], first.marginals)  # type: ignore[index]
    assert second.annotators().equals(first.annotators())
    truth = pt.infer_truth(words, "ordinal", draws=0, order=order, gold={"0": "low"}, **QUICK)
    assert truth.probs[0, words.index.labels.index("low")] == 1


def test_quadrature_is_that_of_the_normal() -> None:
    points, weights = programs.quadrature(programs.POSITIONS)
    for power, moment in enumerate((1, 0, 1, 0, 3, 0, 15)):  # of the standard normal distribution
        rounding = 1e-12
        assert abs(weights @ points**power - moment) < rounding


def test_joint_sums_over_the_places_of_an_item() -> None:
    """Two labels, one annotator with a cut at 0 and precision 2, against a sum written out."""
    points, weights = programs.quadrature(3)
    assert norm.cdf(points[2]) > 0.9
    places = np.array([-0.5, 0.5])[:, None] + 0.3 * points
    first = expit(2 * (0 - places)).reshape(-1)
    log_answers = np.log(np.stack([first, 1 - first], 1))[None]
    log_marginals = np.log([0.3, 0.7])
    parts = ([0, 0, 1], [0, 1, 1], [2.0, 1.0, 1.0], np.zeros((2, 2)), log_marginals, log_answers)
    joint = jax.jit(programs.log_joint)(*(jnp.asarray(part) for part in parts))
    by_class = first.reshape(2, 3)
    once = np.log(by_class**2 * (1 - by_class))
    expected = [log_marginals + logsumexp(once, 1, weights), log_marginals + np.log((1 - by_class) @ weights)]
    single = np.finfo(np.float32).eps * 64
    np.testing.assert_allclose(np.asarray(joint), expected, rtol=single)
    confusion = jax.jit(programs.log_confusion)(jnp.asarray(log_answers))
    np.testing.assert_allclose(np.exp(confusion[0, :, 0]), by_class @ weights, rtol=single)


def test_labels_without_an_order_are_refused() -> None:
    words, _ = graded(0, names=("low", "middle", "high"))
    with pytest.raises(pt.InputError, match="Give order="):
        pt.infer_truth(words, "ordinal")
    with pytest.raises(pt.InputError, match="order lacks the label 'middle'"):
        pt.infer_truth(words, "ordinal", order=["low", "high"])
