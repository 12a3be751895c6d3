"""How few expert labels make a comparison under the estimand `class` right (ten minutes).

Experts tell the class of 20, 40 or 100 of 400 items; cells have the coverage of the 95% interval of the difference in
log loss, and its mean width as a multiple of that of 400 expert labels. With 100 data sets a coverage of 0.95 has a
standard error of 0.02.

- none: no expert labels, the classes inferred by `dawid-skene-em` with the models' forecasts as evidence: too sure of
  itself, which is hard on every column but the next.
- gold alone: the t interval of a uniform sample's expert labels.
- ppi_py: PPI++ of the package `ppi-python` on the same sample, if it is installed.
- uniform: `evaluate(..., gold=...)` with the same sample.
- chosen: the same with items and probabilities of `choose-gold`.
"""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec

import numpy as np
from judged import ITEMS, LABELS, WORLDS, annotations_of, drawn, on_evidence
from scipy.special import stdtrit

import probtruth as pt
from probtruth.comparison.compare import compare
from probtruth.io.gold import ExpertAnswers
from probtruth.line.gold import with_answers
from probtruth.study.choose_gold import choose_gold

RUNS, ANSWERS = 100, (20, 40, 100)
LARGE = 400_000  # Items from which the true difference is taken
RIVALS = ("gold alone", *(("ppi_py",) if find_spec("ppi_py") else ()))
HEAD = ("world", "none", *RIVALS, "uniform", "chosen")


def interval(scores: pt.Scores) -> tuple[float, float]:
    """The reported interval of a minus b."""
    (row,) = compare(scores, engine="exact", draws=1).pairs
    return row["low"], row["high"]


def intervals(scores: pt.Scores, truth: np.ndarray, n: int, rng: np.random.Generator) -> Iterator[tuple[float, float]]:
    """Of the rivals, then of ours, on one sample of n items; chosen ones on their own."""
    label_values = scores.labels.losses
    known, expert = scores.values[0] - scores.values[1], (label_values[0] - label_values[1])[np.arange(ITEMS), truth]
    sample = np.sort(rng.choice(ITEMS, n, replace=False))
    half = stdtrit(n - 1, 0.975) * expert[sample].std(ddof=1) / n**0.5
    yield expert[sample].mean() - half, expert[sample].mean() + half
    if "ppi_py" in RIVALS:
        from ppi_py import ppi_mean_ci

        low, high = ppi_mean_ci(expert[sample], known[sample], np.delete(known, sample), alpha=0.05)
        yield float(np.squeeze(low)), float(np.squeeze(high))
    chosen = choose_gold(scores, n, seed=int(rng.integers(2**31)))
    chances = np.array([row["probability"] for row in chosen])
    labels = [f"{label:04d}" for label in range(LABELS)]
    for items, chance in (([scores.items[row] for row in sample], None), ([row["item"] for row in chosen], chances)):
        shares = tuple({labels[truth[scores.items.index(name)]]: 1.0} for name in items)
        yield interval(with_answers(scores, ExpertAnswers(tuple(items), shares, chance, n), labels))


def cells(world: Mapping[str, object], runs: int, seed: int) -> Iterator[list[str]]:
    """For each number of answers: coverage and width as a multiple of that of all answers known."""
    rng = np.random.default_rng(seed)
    truth, _, probs = drawn(rng, LARGE, **world)
    expected = float(np.log(probs[1] / probs[0])[np.arange(LARGE), truth].mean())
    found: list[list[list[tuple[float, float]]]] = [[] for _ in ANSWERS]
    oracle = []
    for _ in range(runs):
        truth, votes, probs = drawn(rng, ITEMS, **world)
        scores = on_evidence(pt.infer_truth(annotations_of(votes), method="dawid-skene-em", draws=0), probs)
        exact = np.log(probs[1] / probs[0])[np.arange(ITEMS), truth]
        oracle.append(2 * stdtrit(ITEMS - 1, 0.975) * exact.std(ddof=1) / ITEMS**0.5)
        without = interval(scores)
        for rows, n in zip(found, ANSWERS, strict=True):
            rows.append([without, *intervals(scores, truth, n, rng)])
    for rows in found:
        low, high = np.array(rows).T
        covers, widths = ((low <= expected) & (expected <= high)).mean(1), (high - low).mean(1) / np.mean(oracle)
        yield [f"{share:.2f}; {width:.2f}" for share, width in zip(covers, widths, strict=True)]


def study(runs: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    for n in ANSWERS:
        yield f"expert-labels-{n}", HEAD
    for number, (name, world) in enumerate(WORLDS.items()):
        for n, row in zip(ANSWERS, cells(world, runs, number), strict=True):
            yield f"expert-labels-{n}", (name, *row)
