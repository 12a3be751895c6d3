"""Train on probabilistic truth instead of majority labels: the same classifier, a lower loss on held-out items.

Crowd workers of very differing skill label 1,200 items, three each. Dawid-Skene gives the probability of each class for
each item (the E step of EM). The classifier is fitted by the expected log loss under these probabilities (the M step of
a model with features), and once more on majority labels. Both are judged on held-out items whose class is known.
"""

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import probtruth as pt

N_TRAIN, N_TEST, N_FEATURES, N_LABELS = 1200, 1500, 12, 3
SKILL = np.array([0.92, 0.9, 0.85, 0.55, 0.5, 0.45, 0.4, 0.4])
"""How often each worker is right; 1/3 would be chance."""


def items(random: np.random.Generator, centres: np.ndarray, n_items: int) -> tuple[np.ndarray, np.ndarray]:
    """Features and classes of overlapping normal classes."""
    classes = random.integers(N_LABELS, size=n_items)
    return centres[classes] + random.normal(size=(n_items, N_FEATURES)), classes


def annotate(random: np.random.Generator, classes: np.ndarray) -> pt.Annotations:
    """Three workers an item; a wrong answer is any other class."""
    rows: list[tuple[int, int, int]] = []
    for item, label in enumerate(classes):
        for worker in random.choice(len(SKILL), 3, replace=False):
            right = random.random() < SKILL[worker]
            rows.append((item, worker, label if right else (label + random.integers(1, N_LABELS)) % N_LABELS))
    return pt.Annotations.from_long(dict(zip(("item", "annotator", "label"), zip(*rows, strict=True), strict=True)))


def logits(weights: Array, features: Array) -> Array:
    return features @ weights[:-1] + weights[-1]


@jax.jit
def fit(features: Array, truth: Array) -> Array:
    """Multinomial logistic regression by gradient descent on the expected log loss, with a small ridge."""

    def loss(weights: Array) -> Array:
        return pt.rules.log_score_from_logits(logits(weights, features), truth).mean() + 1e-3 * (weights**2).sum()

    def step(_: int, weights: Array) -> Array:
        return weights - 0.5 * jax.grad(loss)(weights)

    return jax.lax.fori_loop(0, 500, step, jnp.zeros((features.shape[1] + 1, N_LABELS)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="accepted for uniformity; nothing is written")
    parser.parse_args()

    random = np.random.default_rng(0)
    centres = random.normal(size=(N_LABELS, N_FEATURES)) * 0.55
    features, classes = items(random, centres, N_TRAIN)
    held_out, known = items(random, centres, N_TEST)
    annotations = annotate(random, classes)

    truths = {
        "majority": pt.infer_truth(annotations, "majority").probs.argmax(1),  # ties go to the first label
        "soft": pt.infer_truth(annotations, "dawid-skene-em").probs,
        "known": classes,
    }
    predictions, labels = {}, np.eye(N_LABELS)
    for name, truth in truths.items():
        wanted = truth if truth.ndim == 2 else labels[truth]
        agrees = (wanted.argmax(1) == classes).mean()
        print(f"{name:>9}: the most probable training label is right on {agrees:.1%} of the items")
        predictions[name] = np.asarray(logits(fit(jnp.asarray(features), jnp.asarray(wanted)), jnp.asarray(held_out)))

    judged = pt.Predictions.from_logits(predictions)
    comparison = pt.compare(pt.score(judged, pt.Truth.from_labels(known, n_labels=N_LABELS), rule="log"))
    print(f"mean log loss on {N_TEST} held-out items of known class (`known` was trained on the true classes):")
    for row in comparison.ranking().iter_rows(named=True):
        print(f"  {row['model']:<9}{row['score']:.3f}")
    (pair,) = [row for row in comparison.pairwise().to_dicts() if (row["a"], row["b"]) == ("majority", "soft")]
    print(
        f"majority - soft = {pair['difference']:+.3f} nats ({pair['low']:+.3f} to {pair['high']:+.3f}), "
        f"P(soft better) = {pair['p_b_better']:.4f}"
    )


if __name__ == "__main__":
    main()
