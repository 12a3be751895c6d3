"""What to compare models against where each item has one true class and the votes are noisy: a table in Markdown.

    python tests/slow/class_estimand.py

takes about five minutes. 30 replications of 400 items: a coverage of 0.95 has a standard error of 0.04.
"""

import sys
from collections.abc import Iterator

import numpy as np

import probtruth as pt
from probtruth.line.informed_truth import score_on_evidence
from probtruth.scoring.align import align

REPLICATIONS, ITEMS, LABELS = int(sys.argv[1]) if len(sys.argv) > 1 else 30, 400, 3
T_95 = 1.966
SCENARIOS = {
    "3 annotators, right 0.7": {"annotators": 3, "right": 0.7},
    "5 annotators, right 0.7": {"annotators": 5, "right": 0.7},
    "5 annotators, right 0.9": {"annotators": 5, "right": 0.9},
    "10 annotators, right 0.5": {"annotators": 10, "right": 0.5},
    "1 annotator of 5 an item, right 0.8": {"annotators": 5, "right": 0.8, "each": 1},
    "2 annotators of 20 an item, right 0.8": {"annotators": 20, "right": 0.8, "each": 2},
    "5 annotators, right 0.7, 0.4 on the same 30% of items": {"annotators": 5, "right": 0.7, "uneven": True},
    "5 annotators, right 0.7; one model blind to a class": {"annotators": 5, "right": 0.7, "blind": True},
    "5 annotators, right 0.7; one model learned from the votes": {"annotators": 5, "right": 0.7, "copy": True},
}
EVIDENCE = "annotators-and-models"
METHODS = ("votes", "inverse", "em", "em + models", "pooled", "pooled + models")


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def drawn(rng, annotators, right, each=None, uneven=False, blind=False, copy=False):
    """True classes, votes (item, annotator; -1 for none), and two models' probabilities."""
    truth = rng.integers(0, LABELS, ITEMS)
    chance = np.full(ITEMS, right)
    if uneven:
        chance = np.where(rng.random(ITEMS) < 0.3, 0.4, (right - 0.3 * 0.4) / 0.7)
    votes = np.full((ITEMS, annotators), -1)
    for one in range(annotators):
        other = (truth + rng.integers(1, LABELS, ITEMS)) % LABELS
        votes[:, one] = np.where(rng.random(ITEMS) < chance, truth, other)
    if each is not None:
        silent = rng.random(votes.shape).argsort(1) >= each
        votes[silent] = -1
    logits = 1.5 * np.eye(LABELS)[truth] + rng.standard_normal((ITEMS, LABELS))
    sharp, dull = (scale * logits + 0.5 * rng.standard_normal(logits.shape) for scale in (1.5, 0.8))
    if blind:
        dull[:, 1] = dull[:, 2]
    if copy:
        dull += 1.5 * (shares_of(votes) - 1 / LABELS)
    return truth, votes, np.stack([softmax(sharp), softmax(dull)])


def shares_of(votes: np.ndarray) -> np.ndarray:
    counts = np.stack([(votes == label).sum(1) for label in range(LABELS)], 1)
    return counts / counts.sum(1, keepdims=True)


def inverse(votes: np.ndarray, found: pt.Truth) -> np.ndarray:
    """Unbiased weights of the classes: votes times the inverse of the mean confusion; negative ones stay."""
    return shares_of(votes) @ np.linalg.inv(found.confusion.mean(0))


def weights(votes: np.ndarray, probs: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each method the distribution of every item's class, and what each item adds through fitted weights."""
    rows, annotators = np.nonzero(votes >= 0)
    frame = {"item": rows, "annotator": annotators, "label": votes[rows, annotators]}
    annotations = pt.Annotations.from_long({name: [f"{v:04d}" for v in column] for name, column in frame.items()})
    names = [[f"{number:04d}" for number in range(size)] for size in (ITEMS, LABELS)]
    predictions = pt.Predictions.from_probs({"a": probs[0], "b": probs[1]}, items=names[0], labels=names[1])
    em = pt.infer_truth(annotations, method="dawid-skene-em", draws=0)
    pooled = pt.infer_truth(annotations, estimand="class", draws=0)
    nothing = np.zeros((2, ITEMS))
    yield shares_of(votes), nothing
    yield inverse(votes, em), nothing
    for truth in (em, pooled):
        yield truth.probs, nothing
        behind = score_on_evidence(truth, align(predictions, truth), EVIDENCE, "log", None, 0).scores.labels
        yield behind.truth, nothing if behind.influence is None else behind.influence


def study(scenario: dict[str, object], seed: int) -> Iterator[tuple[float, float, float]]:
    """For each method: coverage, bias and width of the difference of mean log loss, as multiples of the oracle's."""
    rng = np.random.default_rng(seed)
    rows: list[list[tuple[float, float]]] = [[] for _ in METHODS]
    oracle, true = [], []
    for _ in range(REPLICATIONS):
        truth, votes, probs = drawn(rng, **scenario)
        gain = np.log(probs[1] / probs[0])
        exact = gain[np.arange(ITEMS), truth]
        true.append(exact.mean())
        oracle.append(exact.std(ddof=1) / ITEMS**0.5)
        for row, (weight, influence) in zip(rows, weights(votes, probs), strict=True):
            loss = (weight * gain).sum(1) + influence[0] - influence[1]
            row.append((loss.mean(), loss.std(ddof=1) / ITEMS**0.5))
    expected = np.mean(true)
    for row in rows:
        mean, error = np.array(row).T
        covers = (np.abs(mean - expected) < T_95 * error).mean()
        yield covers, (mean.mean() - expected) / np.mean(oracle), error.mean() / np.mean(oracle)


OPENING = f"""# Comparing models under the estimand `class`

The table is what `tests/slow/class_estimand.py` prints. Each item has one true class, annotators err, and the
question is by how much the mean log loss of two models differs on new items, scored against the true classes. There
are {ITEMS} items of {LABELS} classes and {REPLICATIONS} replications. Entries: coverage of the 95% interval; bias in
standard errors of a comparison that knows the true classes; width as a multiple of that comparison's width.

- *votes*: the plain vote shares, as under the estimand `distribution`.
- *inverse*: vote shares times the inverse of the annotators' estimated confusion, unbiased if that estimate is
  right; weights may be negative.
- *em*, *pooled*: the class posterior from the annotators alone, by Dawid and Skene's model and by the default
  method.
- *+ models*: the same with the models' forecasts among the evidence (`informed_truth`), the default of
  `evaluate`; the spread holds what the fitted weights of the models add.
"""


def main() -> None:
    print(OPENING)
    print("| annotators | " + " | ".join(METHODS) + " |")
    print("|---|" + "---|" * len(METHODS))
    for number, (name, scenario) in enumerate(SCENARIOS.items()):
        cells = [f"{covers:.2f}; {bias:+.1f}; {width:.2f}" for covers, bias, width in study(scenario, number)]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
