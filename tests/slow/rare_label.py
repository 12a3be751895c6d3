"""A rare label and the class marginals: the default with and without its anchor, on simulated crowds.

Run from the repository's root (about five minutes of one core):

    python tests/slow/rare_label.py

Prints a table of docs/validity/truth.md. 72 crowds of 300 items: a label that is true of 2, 8 or 25 per cent,
2 or 5 labels, good or poor annotators, 3 or 8 annotations an item, in three worlds. No real gold enters.
"""

import sys
import zlib
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from crowds import Crowd, assign
from truth_study import annotations_of

from probtruth.truth.fit import MethodRequest
from probtruth.truth.flat import flatten, plurality
from probtruth.truth.methods.ability import fit_ability, fit_anchored
from probtruth.truth.methods.perceived_class import PerceptionSettings, fit_perceived
from probtruth.truth.methods.pooled import temper

N_ITEMS, N_ANNOTATORS = 300, 40
FLOOR = 1e-15
SETTINGS = PerceptionSettings(0.3, 1.0, 60, 1)

Random = np.random.Generator


def classes(random: Random, n_labels: int, rate: float) -> np.ndarray:
    """The last label is true of that share of the items, the others are equally frequent."""
    rare = max(1, round(N_ITEMS * rate))
    return np.r_[np.full(rare, n_labels - 1), random.integers(0, n_labels - 1, N_ITEMS - rare)]


def confusions(random: Random, n_labels: int, good: bool) -> np.ndarray:
    """Confusion rows of their own for every annotator, right in 90 or 65 per cent on average."""
    centre = 0.9 if good else 0.65
    skill = random.beta(8 * centre, 8 * (1 - centre), (N_ANNOTATORS, n_labels))
    table = np.zeros((N_ANNOTATORS, n_labels, n_labels))
    for label in range(n_labels):
        others = [other for other in range(n_labels) if other != label]
        table[:, label, label] = skill[:, label]
        table[:, label, others] = (1 - skill[:, label, None]) * random.dirichlet(
            np.full(n_labels - 1, 2.0), N_ANNOTATORS
        )
    return table


def answered(random: Random, confusion: np.ndarray, truth: np.ndarray, per_item: int) -> Crowd:
    item, annotator = assign(random, N_ITEMS, N_ANNOTATORS, per_item)
    steps = np.cumsum(confusion[annotator, truth[item]], axis=1)
    label = (random.random((len(item), 1)) >= steps).sum(1).clip(max=steps.shape[1] - 1)
    return item, annotator, label, truth, steps.shape[1]


def independent(random: Random, n_labels: int, good: bool, per_item: int, rate: float) -> Crowd:
    """Errors independent given the class."""
    truth = classes(random, n_labels, rate)
    return answered(random, confusions(random, n_labels, good), truth, per_item)


def leaning(random: Random, n_labels: int, good: bool, per_item: int, rate: float) -> Crowd:
    """As independent, but all annotators give the rare label too often, or all too seldom."""
    truth, table = classes(random, n_labels, rate), confusions(random, n_labels, good)
    lean = random.beta(3, 9, N_ANNOTATORS)[:, None, None]
    if random.random() < 0.5:
        table = table * (1 - lean)
        table[:, :, -1:] += lean
    else:
        moved = table[:, :, -1:] * np.minimum(1.5 * lean, 1)
        table[:, :, -1:] -= moved
        table[:, :, :-1] += moved / (n_labels - 1)
    return answered(random, table, truth, per_item)


def hard(random: Random, n_labels: int, good: bool, per_item: int, rate: float) -> Crowd:
    """Items differ in difficulty; where an item is hard, some annotators give the rare label, as if unable to tell."""
    truth = classes(random, n_labels, rate)
    ability = random.normal(2.5 if good else 1.0, 0.6, N_ANNOTATORS)
    difficulty, dodge = random.normal(0, 1.2, N_ITEMS), random.beta(1, 3, N_ANNOTATORS)
    item, annotator = assign(random, N_ITEMS, N_ANNOTATORS, per_item)
    right = random.random(len(item)) < 1 / (1 + np.exp(difficulty[item] - ability[annotator]))
    lure = (truth + random.integers(1, n_labels, N_ITEMS)) % n_labels
    other = (truth[item] + random.integers(1, n_labels, len(item))) % n_labels
    wrong = np.where(random.random(len(item)) < 0.6, lure[item], other)
    dodged = (random.random(len(item)) < dodge[annotator]) & (truth[item] != n_labels - 1)
    wrong = np.where(dodged, n_labels - 1, wrong)
    return item, annotator, np.where(right, truth[item], wrong), truth, n_labels


def supported_shares(counts: np.ndarray) -> np.ndarray:
    """The class shares under one confusion matrix for all annotators, by EM with its pseudo-counts 8 and 0.5."""
    probs, prior = plurality(counts), np.where(np.eye(counts.shape[1], dtype=bool), 8.0, 0.5)
    shares = probs.mean(0)
    for _ in range(200):
        confusion = probs.T @ counts + prior
        shares = (probs.sum(0) + 1) / (len(counts) + counts.shape[1])
        logs = counts @ np.log(confusion / confusion.sum(1, keepdims=True)).T + np.log(shares)
        probs = np.exp(logs - logs.max(1, keepdims=True))
        probs /= probs.sum(1, keepdims=True)
    return np.asarray(shares)


WORLDS = {"independent": independent, "leaning": leaning, "hard items": hard}


def answers(crowd: Crowd) -> dict[str, np.ndarray]:
    """Class probabilities: votes, tempered ability under each anchor, and the default without and with its anchor."""
    annotations = annotations_of(crowd)
    request = replace(MethodRequest.without_draws(annotations), seed=1)
    flat, counts = flatten(request), annotations.counts()
    n_votes = counts.sum(1).astype(float)
    free, anchored = fit_ability(request, flat), fit_anchored(request, flat)
    fits = {
        "no anchor": free,
        "anchored where a label drifts": anchored,
        "always anchored to most votes": fit_ability(request, flat, 1 + plurality(counts).sum(0)),
        "always anchored to one confusion": fit_ability(request, flat, 1 + N_ITEMS * supported_shares(counts)),
    }
    table = {"majority": plurality(counts)}
    for name, ability in fits.items():
        table[f"tempered ability, {name}"] = temper(ability.probs, np.exp(ability.log_marginals), n_votes, 0.4)
    default = (
        fit_perceived(request, flat, free, SETTINGS).probs
        + temper(free.probs, np.exp(free.log_marginals), n_votes, 0.4)
    ) / 2
    table["`pooled`, no anchor"] = table["`pooled`, anchored where a label drifts"] = default
    if not np.array_equal(free.probs, anchored.probs):
        perceived = fit_perceived(request, flat, anchored, SETTINGS).probs
        table["`pooled`, anchored where a label drifts"] = (
            perceived + temper(anchored.probs, np.exp(anchored.log_marginals), n_votes, 0.4)
        ) / 2
    return table


def judged(probs: np.ndarray, truth: np.ndarray) -> tuple[float, float, float]:
    """Log loss, error, and how many items are called the rare label for each that is (in logs, at least 1/20)."""
    right, rare = probs[np.arange(len(truth)), truth], probs.shape[1] - 1
    called = (probs.argmax(1) == rare).sum() / (truth == rare).sum()
    loss = -np.log(np.maximum(right, FLOOR)).mean()
    return float(loss), float((probs.argmax(1) != truth).mean()), float(np.log(max(called, 0.05)))


def main() -> None:
    figures: dict[str, dict[str, list[tuple[float, float, float]]]] = {}
    for world, make in WORLDS.items():
        for cell in product((2, 5), (True, False), (3, 8), (0.02, 0.08, 0.25)):
            seed = [zlib.crc32(world.encode()), *(round(100 * part) for part in cell)]
            crowd = make(np.random.default_rng(seed), *cell)
            for method, probs in answers(crowd).items():
                figures.setdefault(method, {}).setdefault(world, []).append(judged(probs, crowd[3]))
        print(world, file=sys.stderr, flush=True)
    print("| method | " + " | ".join(WORLDS) + " | all | worst loss | rare label called |\n|---" + "|---" * 6 + "|")
    for method, by_world in figures.items():
        rows = {world: np.array(values) for world, values in by_world.items()}
        every = np.concatenate(list(rows.values()))
        means = [f"{part[:, 0].mean():.3f}, {part[:, 1].mean():.3f}" for part in (*rows.values(), every)]
        ends = f"{every[:, 0].max():.2f} | {np.exp(every[:, 2].mean()):.2f}"
        print(f"| {method} | " + " | ".join(means) + f" | {ends} |")


if __name__ == "__main__":
    main()
