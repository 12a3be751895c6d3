"""What to compare models against where each item has one true class and the votes are noisy (five minutes).

Each cell: coverage of the 95% interval; bias in standard errors of a comparison that knows the true classes; width as a
multiple of that comparison's. With 30 data sets of 400 items a coverage of 0.95 has a standard error of 0.04.

- votes: the plain vote shares, as under the estimand `distribution`.
- inverse: vote shares times the inverse of the annotators' estimated confusion, unbiased if that estimate is right.
- em, pooled: the class posterior from the annotators alone, by Dawid and Skene's model and by the default method.
- + models: the same with the models' forecasts among the evidence, the default of `evaluate`.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from judged import ITEMS, WORLDS, annotations_of, losses_of, on_evidence, samples, shares_of

import probtruth as pt

RUNS, T_95 = 30, 1.966
METHODS = ("votes", "inverse", "em", "em + models", "pooled", "pooled + models")


def losses(votes: np.ndarray, probs: np.ndarray) -> Iterator[np.ndarray]:
    """For each method the difference of the models' losses on every item."""
    annotations, gain = annotations_of(votes), np.log(probs[1] / probs[0])
    em = pt.infer_truth(annotations, method="dawid-skene-em", draws=0)
    yield (shares_of(votes) * gain).sum(1)
    yield (shares_of(votes) @ np.linalg.inv(em.confusion.mean(0)) * gain).sum(1)
    for truth in (em, pt.infer_truth(annotations, estimand="class", draws=0)):
        yield (truth.probs * gain).sum(1)
        yield losses_of(on_evidence(truth, probs), gain)


def cells(world: Mapping[str, object], runs: int, seed: int) -> Iterator[str]:
    found, true = [], []
    for truth, votes, probs in samples(runs, seed, world):
        exact = np.log(probs[1] / probs[0])[np.arange(ITEMS), truth]
        true.append(exact.mean())
        rows = [exact, *losses(votes, probs)]
        found.append([(row.mean(), row.std(ddof=1) / ITEMS**0.5) for row in rows])
    mean, error = np.array(found).transpose(2, 1, 0)
    expected, unit = np.mean(true), error[0].mean()
    for centre, spread in zip(mean[1:], error[1:], strict=True):
        covers = (np.abs(centre - expected) < T_95 * spread).mean()
        yield f"{covers:.2f}; {(centre.mean() - expected) / unit:+.1f}; {spread.mean() / unit:.2f}"


def study(runs: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "class-estimand", ("annotators", *METHODS)
    for number, (name, world) in enumerate(list(WORLDS.items())[:9]):
        yield "class-estimand", (name, *cells(world, runs, number))
