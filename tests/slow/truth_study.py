"""Which truth method, and which constants: every method on simulated crowds of many kinds.

Run from the repository's root (some ten minutes on two cores):

    python tests/slow/truth_study.py --replicates 6

Prints the Markdown tables of `docs/validity/truth-methods.csv`. No gold of any real data set enters.
"""

import argparse
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from crowds import CROWDS, Crowd

import probtruth as pt
from probtruth.truth.methods.pooled import temper
from probtruth.types.index import Index

FLOOR = 1e-15
"""Probabilities of the true class below this enter the mean log loss as this; how many did is reported."""

EPSILONS, RHOS = (0.2, 0.3, 0.5), (0.2, 0.3, 0.4, 0.5)
SWEEPS = 150

DEFAULT = "pooled 0.3 0.4"
"""The constants of the package."""

SHOWN = (
    "vote shares",
    "shares + 1/K",
    "dawid-skene-em",
    "dawid-skene-em + 1",
    "ability",
    "tempered 0.4",
    "perceived-class 0.3",
    DEFAULT,
)
"""The methods of the second table."""

BASIC: Mapping[str, tuple[str, dict[str, object]]] = {
    "vote shares": ("vote-share", {}),
    "shares + 1/K": ("dirichlet", {}),
    "shares + 1": ("dirichlet", {"prior": 1}),
    "dirichlet": ("dirichlet", {}),
    "dawid-skene-em": ("dawid-skene-em", {}),
    "dawid-skene-em + 1": ("dawid-skene-em", {"diagonal": 1, "off_diagonal": 1}),
    "ability": ("ability", {}),
}


def annotations_of(crowd: Crowd) -> pt.Annotations:
    item, annotator, label, truth, n_labels = crowd
    sizes = (len(truth), n_labels, -(-int(annotator.max() + 1) // 20) * 20)  # few shapes, few compilations
    index = Index(*(tuple(map(str, range(size))) for size in sizes))
    flat = (part.astype(np.int64) for part in (item, label, annotator))
    return pt.Annotations(*flat, np.ones(len(item), np.int64), index)


def answers(crowd: Crowd, seed: int) -> dict[str, np.ndarray]:
    """The class probabilities of every method."""
    annotations = annotations_of(crowd)
    found = {}
    for name, (method, options) in BASIC.items():
        given = {"prior": 1 / crowd[4]} if name == "shares + 1/K" else options
        truth = pt.infer_truth(annotations, method, draws=0, **given)
        found[name] = truth.probs
        if name == "ability":
            marginals = truth.marginals
    for epsilon in EPSILONS:
        options = {"epsilon": epsilon, "sweeps": SWEEPS, "chains": 1}
        perceived = pt.infer_truth(annotations, "perceived-class", draws=0, seed=seed, **options).probs
        found[f"perceived-class {epsilon}"] = perceived
        for rho in RHOS:
            tempered = temper(found["ability"], marginals, annotations.counts().sum(1).astype(float), rho)
            found[f"tempered {rho}"] = tempered
            found[f"pooled {epsilon} {rho}"] = (perceived + tempered) / 2
    return found


def judged(probs: np.ndarray, truth: np.ndarray) -> tuple[float, int, float, float]:
    """Log loss, how many true classes were floored, error, and how often the 95% set holds the true class."""
    right = probs[np.arange(len(truth)), truth]
    order = np.argsort(-probs, axis=1, kind="stable")
    before = np.cumsum(np.take_along_axis(probs, order, 1), 1) - np.take_along_axis(probs, order, 1)
    place = (order == truth[:, None]).argmax(1)
    inside = before[np.arange(len(truth)), place] < 0.95
    loss = float(-np.log(np.maximum(right, FLOOR)).mean())
    return loss, int((right < FLOOR).sum()), float((probs.argmax(1) != truth).mean()), float(inside.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=6)
    replicates = parser.parse_args().replicates
    figures: dict[str, dict[str, list[tuple[float, int, float, float]]]] = {}
    for name, make in CROWDS.items():
        for replicate in range(replicates):
            crowd = make(np.random.default_rng([zlib.crc32(name.encode()), replicate]))
            for method, probs in answers(crowd, replicate).items():
                figures.setdefault(method, {}).setdefault(name, []).append(judged(probs, crowd[3]))
        print(name, file=sys.stderr, flush=True)
    print_tables(figures)


def print_tables(figures: Mapping[str, Mapping[str, list[tuple[float, int, float, float]]]]) -> None:
    """Means over all crowds, then the log loss of each crowd."""
    print("| method | log loss | worst crowd | floored | error | covered | least covered | below the default |")
    print("|---|---|---|---|---|---|---|---|")
    best = np.array([[row[0] for row in rows] for rows in figures[DEFAULT].values()])
    for method, by_crowd in figures.items():
        table = np.array(list(by_crowd.values()))
        floored = int(table[..., 1].sum())
        loss, _, error, inside = table.mean((0, 1))
        crowds = table.mean(1)
        wins = int((table[..., 0].mean(1) < best.mean(1)).sum())
        print(
            f"| {method} | {loss:.3f} | {crowds[:, 0].max():.3f} | {floored} | {error:.3f} | {inside:.3f} "
            f"| {crowds[:, 3].min():.3f} | {wins} of {len(crowds)} |"
        )
    print("\n| crowd | " + " | ".join(SHOWN) + " | covered | error |\n|---|" + "---|" * (len(SHOWN) + 2))
    for name in figures[DEFAULT]:
        losses = [np.mean([row[0] for row in figures[method][name]]) for method in SHOWN]
        _, _, error, inside = np.mean(figures[DEFAULT][name], 0)
        print(f"| {name} | " + " | ".join(f"{loss:.3f}" for loss in losses) + f" | {inside:.3f} | {error:.3f} |")


if __name__ == "__main__":
    main()
