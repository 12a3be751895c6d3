"""Simulated studies of two models on items of one true class each, which annotators tell with errors."""

from collections.abc import Iterator, Mapping

import numpy as np

import probtruth as pt
from probtruth.line.informed_truth import on_evidence as truth_on_evidence
from probtruth.scoring.align import align

ITEMS, LABELS = 400, 3
RARE, SELDOM = np.array([0.85, 0.1, 0.05]), np.array([0.485, 0.485, 0.03])
WORLDS: Mapping[str, Mapping[str, object]] = {
    "3 annotators, right 0.7": {"annotators": 3},
    "5 annotators, right 0.7": {},
    "5 annotators, right 0.9": {"right": 0.9},
    "10 annotators, right 0.5": {"annotators": 10, "right": 0.5},
    "1 annotator of 5 an item, right 0.8": {"right": 0.8, "each": 1},
    "2 annotators of 20 an item, right 0.8": {"annotators": 20, "right": 0.8, "each": 2},
    "5 annotators, right 0.7, 0.4 on the same 30% of items": {"uneven": True},
    "one model blind to a class": {"blind": True},
    "one model learned from the votes": {"copy": 1.5},
    "one model repeats the votes": {"copy": 4.0},
    "annotators and models fail on the same 35% of items": {"hard": True},
    "classes of 85, 10 and 5%, annotators prefer the first": {"rare": True},
    "25% of items look like another class to annotators and the sharper model": {"distractor": True},
    "3% of a class that annotators see in 0.3 of them, one model never": {"seen": 0.3, "right": 0.8},
    "3% of a class that annotators see in 0.6 of them, one model never": {"seen": 0.6, "right": 0.8},
}


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def shares_of(votes: np.ndarray) -> np.ndarray:
    counts = np.stack([(votes == label).sum(1) for label in range(LABELS)], 1)
    return counts / counts.sum(1, keepdims=True)


def drawn(
    rng, n, annotators=5, right=0.7, each=None, uneven=False, blind=False, copy=0.0,
    hard=False, rare=False, distractor=False, seen=None,
):  # fmt: skip
    """True classes, votes (item, annotator; -1 for none), and two models' probabilities."""
    shares = RARE if rare else None if seen is None else SELDOM
    truth = rng.integers(0, LABELS, n) if shares is None else rng.choice(LABELS, n, p=shares)
    chance, signal = np.full(n, right), np.full(n, 1.5)
    if uneven:
        chance = np.where(rng.random(n) < 0.3, 0.4, (right - 0.3 * 0.4) / 0.7)
    if hard:
        failing = rng.random(n) < 0.35
        chance, signal = np.where(failing, 0.45, 0.85), np.where(failing, 0.2, 2.2)
    pull = np.where(rng.random(n) < 0.25, (truth + rng.integers(1, LABELS, n)) % LABELS, -1) if distractor else None
    votes = np.empty((n, annotators), np.int64)
    for one in range(annotators):
        other = (truth + rng.integers(1, LABELS, n)) % LABELS
        vote = np.where(rng.random(n) < chance, truth, other)
        if rare:
            vote = np.where((truth > 0) & (rng.random(n) < 0.45), 0, vote)
        if seen is not None:
            either = rng.integers(0, 2, n)
            vote = np.where(truth == 2, np.where(rng.random(n) < seen, 2, either), np.where(vote == 2, either, vote))
        if pull is not None:
            vote = np.where((pull >= 0) & (rng.random(n) < 0.6), pull, vote)
        votes[:, one] = vote
    if each is not None:
        votes[rng.random(votes.shape).argsort(1) >= each] = -1
    logits = signal[:, None] * np.eye(LABELS)[truth] + rng.standard_normal((n, LABELS))
    logits += 0.0 if shares is None else np.log(shares) / 1.5
    scales = (1.5, 0.8) if seen is None else (1.2, 1.2)
    sharp, dull = (scale * logits + 0.5 * rng.standard_normal(logits.shape) for scale in scales)
    if pull is not None:
        sharp = sharp + 2.0 * (pull[:, None] == np.arange(LABELS))
    if blind:
        dull[:, 1] = dull[:, 2]
    if seen is not None:
        dull[:, 2] = dull.min(1) - 5.0
    if copy:
        dull = dull + copy * (shares_of(votes) - 1 / LABELS)
    return truth, votes, np.stack([softmax(sharp), softmax(dull)])


def annotations_of(votes: np.ndarray) -> pt.Annotations:
    rows, annotators = np.nonzero(votes >= 0)
    columns = {"item": rows, "annotator": annotators, "label": votes[rows, annotators]}
    return pt.Annotations.from_long({name: [f"{v:04d}" for v in column] for name, column in columns.items()})


def on_evidence(truth: pt.Truth, probs: np.ndarray) -> pt.Scores:
    """The log loss of both models against the inferred classes, their forecasts among the evidence."""
    predictions = pt.Predictions.from_probs(
        {"a": probs[0], "b": probs[1]}, items=truth.index.items, labels=truth.index.labels
    )
    return truth_on_evidence(truth, align(predictions, truth), "annotators-and-models", 0).scores("log", None)


def losses_of(scores: pt.Scores, gain: np.ndarray) -> np.ndarray:
    """By how much the second model's loss is smaller on each item, and what the fitted weights of the models add."""
    behind = scores.labels
    loss = (np.asarray(behind.truth) * gain).sum(1)
    moved = scores.influence
    return loss if moved is None else loss + moved[0] - moved[1]


def samples(runs: int, seed: int, world: Mapping[str, object]) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    yield from (drawn(rng, ITEMS, **world) for _ in range(runs))
