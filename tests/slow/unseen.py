"""False claims where the reversing outcome was not seen, and claims that ordinary data lose (five minutes).

Before: a claim is P(one is better) of 0.975 or more, with all differences the same counted as certain. After: that, a
spread, and an order that the unseen would not turn.
"""

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.demo import load

RUNS, SEED, CLAIMED = 300, 17, 0.975
# Log-probabilities of two models (model, item, label) and one label for each item, or its vote shares
Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


def two(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Two models that give label 0 these probabilities."""
    return np.log(np.stack([np.stack([p, 1 - p], axis=1) for p in (first, second)]))


def one_class(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Forecasts of .999 and .95 for label 0, which comes in .97 of the items: the second is better by .069."""
    return two(np.full(n, 0.999), np.full(n, 0.95)), (rng.random(n) > 0.97).astype(int)


def disaster(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Label 1 comes in one item of a hundred and costs the first model 13.8 nats; the second is better by .010."""
    careful = np.where(rng.random(n) < 0.1, 0.5, 0.97)
    return two(1 - 10 ** rng.normal(-6, 0.05, n), careful), (rng.random(n) > 0.99).astype(int)


def rare_label(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The first model is better on labels 0 and 1, but label 2 comes in .03 of the items, at 1e-6 against .002."""
    truth = rng.dirichlet([0.3, 0.3], n)
    forecasts = [truth, 0.6 * truth + 0.2]
    logs = np.log(
        [np.column_stack([(1 - p) * f, np.full(n, p)]) for f, p in zip(forecasts, (1e-6, 0.002), strict=True)]
    )
    label = (rng.random(n) > truth[:, 0]).astype(int)
    return logs, np.where(rng.random(n) < 0.03, 2, label)


def ordinary(votes: int, spread: float) -> Draw:
    """Three labels, noisy forecasts of both models (the second with `spread`), so many votes an item."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        logits = rng.normal(0, 1.5, (n, 3))
        logs = np.stack([logits + rng.normal(0, noise, (n, 3)) for noise in (0.4, spread)])
        logs -= np.log(np.exp(logs).sum(-1, keepdims=True))
        probs = np.exp(logits)
        probs /= probs.sum(1, keepdims=True)
        counts = rng.multinomial(votes, probs)
        return logs, counts.argmax(1) if votes == 1 else counts / votes

    return draw


# How to draw a data set, which model is truly better, and numbers of items
WORLDS: dict[str, tuple[Draw, int, tuple[int, ...]]] = {
    "one class of two, rate .97": (one_class, 1, (20, 50, 200, 1000)),
    "13.8 nats in one of a hundred": (disaster, 1, (20, 50, 200, 1000)),
    "rare third label": (rare_label, 1, (20, 50, 200)),
    "ordinary, one hard label": (ordinary(1, 0.9), 0, (20, 50, 200)),
    "ordinary, five votes": (ordinary(5, 0.9), 0, (20, 50, 200)),
    "ordinary, five votes, far apart": (ordinary(5, 1.5), 0, (20, 50, 200)),
}


def claims(logs: np.ndarray, labels: np.ndarray) -> tuple[int | None, int | None]:
    """Which model is claimed to be better, before and after; None where none is."""
    n_labels = logs.shape[-1]
    truth = pt.Truth.from_labels(labels, n_labels=n_labels) if labels.ndim == 1 else pt.Truth.from_probs(labels)
    scores = pt.score(pt.Predictions.from_log_probs({"a": logs[0], "b": logs[1]}), truth)
    row = compare(scores, engine="exact", draws=1).pairs[0]
    p = row["p_a_better"]
    if p is None:  # the same difference on every item, which was certain before
        return int(row["difference"] > 0), None
    before = 0 if p >= CLAIMED else 1 if p <= 1 - CLAIMED else None
    turned = row["unseen_difference"] is not None and row["difference"] * row["unseen_difference"] < 0
    return before, None if turned else before


def demo(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Some items of the demo, a vote drawn for each, two of its models, and which is better on all its items."""
    logs, shares, better = of_demo()
    items = rng.choice(len(shares), n, replace=False)
    labels = (shares[items].cumsum(1) < rng.random((n, 1))).sum(1)
    a, b = rng.choice(len(logs), 2, replace=False)
    return logs[[a, b]][:, items], labels, int(better[b] < better[a])


@cache
def of_demo() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Forecasts, vote shares and mean losses of the demo."""
    votes, predictions = load()
    scores = pt.score(predictions, pt.infer_truth(votes))
    assert scores.labels is not None
    assert scores.labels.log_probs is not None
    return scores.labels.log_probs, scores.labels.truth, scores.values.mean(1)


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "unseen", ("world", "items", "false claims before", "after", "right claims before", "after")
    for name, (draw, better, sizes) in WORLDS.items():
        for n in sizes:
            rng = np.random.default_rng([SEED, n, len(name)])
            yield "unseen", (name, n, *rates([(*claims(*draw(rng, n)), better) for _ in range(runs)]))
    for n in (20, 50, 100, 200):
        rng = np.random.default_rng([SEED, n])
        drawn = (demo(rng, n) for _ in range(runs))
        yield (
            "unseen",
            ("demo, one vote", n, *rates([(*claims(logs, labels), better) for logs, labels, better in drawn])),
        )


def rates(found: list[tuple[int | None, int | None, int]]) -> Iterator[str]:
    for right in (False, True):
        for at in (0, 1):
            yield f"{np.mean([row[at] is not None and (row[at] == row[2]) is right for row in found]):.2f}"
