"""Ordered labels: against exact sums over classes and places, against nominal methods, and what needs an order."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, logsumexp, softmax
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


def test_joint_sums_over_the_places_of_an_item() -> None:
    """Two labels, one annotator with a cut at 0 and precision 2, against a sum written out; the last item is known."""
    places = programs.places(2)
    near = norm.pdf((places - np.array([-0.5, 0.5])[:, None]) / 0.3)
    near /= near.sum(1, keepdims=True)
    first = expit(2 * (0 - places))
    log_answers, log_marginals = np.log(np.stack([first, 1 - first], 1))[None], np.log([0.3, 0.7])
    log_places = log_marginals[:, None] + np.log(near)
    kinds = np.array([[1.0, 0, 0], [1, 0, 0], [0, 0, 1]])
    with jax.enable_x64(True):
        places_now, answers = jnp.asarray(log_places), jnp.asarray(log_answers)
        parts = (jnp.asarray(part) for part in ([0, 0, 1, 2], [0, 1, 1, 0], [2.0, 1.0, 1.0, 1.0], kinds))
        joint = jax.jit(programs.log_joint)(*parts, places_now, answers)
        found = jax.jit(programs.classes)(jax.nn.softmax(joint, axis=1), jnp.asarray(kinds), places_now)
        confusion = jax.jit(programs.log_confusion)(answers, places_now)
    once = np.log(near @ (first**2 * (1 - first)))
    by_class = [
        log_marginals + once,
        log_marginals + np.log(near @ (1 - first)),
        [-np.inf, np.log(0.7 * near[1] @ first)],
    ]
    rounding = 1e-12
    np.testing.assert_allclose(logsumexp(joint, axis=1), logsumexp(by_class, axis=1), rtol=rounding)
    np.testing.assert_allclose(found, softmax(by_class, axis=1), rtol=rounding)
    np.testing.assert_allclose(np.exp(confusion[0, :, 0]), near @ first, rtol=rounding)


def test_places_are_close_enough_for_sharp_annotators() -> None:
    """Three annotators of precision 15 at cuts of their own and items of sd 0.2 to 0.7, against adaptive quadrature."""
    places, cuts = programs.places(5), np.array([0.43, 0.5, 0.55])

    def agree(place: np.ndarray) -> np.ndarray:
        return np.prod([expit(15 * (cut - place)) for cut in cuts], axis=0)

    for spread in (0.2, 0.35, 0.7):
        near = norm.pdf(places / spread)
        exact, _ = quad(lambda place, spread=spread: agree(place) * norm.pdf(place, scale=spread), -6, 6, points=cuts)
        assert abs(near @ agree(places) / near.sum() - exact) < 0.01


@pytest.mark.long
def test_annotators_who_seldom_err_are_believed() -> None:
    """The best of annotators: with few places for each class, chains split an item's place from its class.

    Six who err by a fiftieth of the distance of the classes, items that lie near theirs: most votes are always right.
    """
    generator = np.random.default_rng(0)
    classes = generator.integers(5, size=150)
    seen = classes + 0.1 * generator.normal(size=150)
    rows: dict[str, list[object]] = {"item": [], "annotator": [], "label": []}
    for item, annotator in itertools.product(range(150), range(6)):
        said = (seen[item] + generator.logistic(scale=1 / 12) > np.arange(4) + 0.5).sum()
        rows["item"].append(item)
        rows["annotator"].append(annotator)
        rows["label"].append(int(said))
    truth = pt.infer_truth(pt.Annotations.from_long(rows), "ordinal", draws=0, samples=200, warmup=200, chains=3)
    assert log_loss(truth, classes) < 0.05
    by_chain = (np.asarray(truth.sampled["class"]) == classes).mean(1)
    assert by_chain.min() > 0.9  # in every chain, of every item


def test_labels_without_an_order_are_refused() -> None:
    words, _ = graded(0, names=("low", "middle", "high"))
    with pytest.raises(pt.InputError, match="Give order="):
        pt.infer_truth(words, "ordinal")
    with pytest.raises(pt.InputError, match="order lacks the label 'middle'"):
        pt.infer_truth(words, "ordinal", order=["low", "high"])


def test_one_label_is_refused() -> None:
    alone = pt.Annotations.from_long({"item": ["a", "b"], "annotator": ["p", "p"], "label": [1, 1]})
    with pytest.raises(pt.InputError, match="one label"):
        pt.infer_truth(alone, "ordinal")
