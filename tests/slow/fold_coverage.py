"""Coverage of intervals for the difference of two learners under cross-validation (two minutes).

Linear discriminant analysis and naive Bayes on two normal classes with correlated features, by ten-fold
cross-validation, once and repeated ten times. The estimand is the difference in the accuracy of the two learners,
averaged over training sets of nine tenths of the items, from 20,000 training sets and the closed form of a linear
rule's accuracy. Cells: coverage, in brackets the mean width. With 2,000 data sets (a quarter with repeats) a share of
0.95 has a standard error of 0.005 (0.010).
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr
from scipy.stats import t

import probtruth as pt
from probtruth.comparison.compare import compare

RUNS, FOLDS, TRAININGS = 2000, 10, 20_000
# Two classes of equal size: means plus and minus SIGNAL, a common covariance of which this is the root.
SIGNAL = np.array([0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0, 0.0])
ROOT = np.linalg.cholesky(0.4 * np.ones((8, 8)) + 0.6 * np.eye(8))

Linear = tuple[np.ndarray, float]


def sample(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Features, and classes of -1 and 1."""
    side = np.where(np.arange(n) % 2, 1.0, -1.0)
    return side[:, None] * SIGNAL + rng.standard_normal((n, len(SIGNAL))) @ ROOT.T, side


def learn(features: np.ndarray, side: np.ndarray) -> tuple[Linear, Linear]:
    """Linear discriminant analysis, and the same with features taken as independent (naive Bayes)."""
    upper, lower = features[side > 0], features[side < 0]
    middle = (upper.mean(0) + lower.mean(0)) / 2
    apart = upper.mean(0) - lower.mean(0)
    centred = np.concatenate([upper - upper.mean(0), lower - lower.mean(0)])
    covariance = centred.T @ centred / (len(centred) - 2)
    found = [np.linalg.solve(covariance, apart), apart / np.diag(covariance)]
    return (found[0], float(found[0] @ middle)), (found[1], float(found[1] @ middle))


def accuracy(learned: Linear) -> float:
    """Of a linear rule on new items, in closed form."""
    direction, threshold = learned
    sd = float(np.linalg.norm(ROOT.T @ direction))
    return float(ndtr((SIGNAL @ direction - threshold) / sd) + ndtr((SIGNAL @ direction + threshold) / sd)) / 2


def cross_validated(rng: np.random.Generator, n: int, repeats: int) -> tuple[np.ndarray, np.ndarray]:
    """Both learners' accuracy by fold, and their difference by item averaged over repeats; stratified folds."""
    features, side = sample(rng, n)
    by_fold, by_item = [], np.zeros(n)
    for _ in range(repeats):
        fold = np.empty(n, int)
        for value in (-1.0, 1.0):
            members = np.flatnonzero(side == value)
            fold[rng.permutation(members)] = np.arange(len(members)) % FOLDS
        for number in range(FOLDS):
            held = fold == number
            learned = learn(features[~held], side[~held])
            right = np.array([(features[held] @ rule - least) * side[held] > 0 for rule, least in learned], float)
            by_fold.append(right.mean(1))
            by_item[held] += (right[0] - right[1]) / repeats
    return np.array(by_fold).T, by_item


def corrected(by_fold: np.ndarray) -> tuple[float, float]:
    folds = np.tile(np.arange(by_fold.shape[1]), 2)
    table = {"item": folds, "model": np.repeat(["a", "b"], by_fold.shape[1]), "score": by_fold.ravel()}
    scores = pt.Scores.from_frame(table, higher_is_better=True)
    (row,) = compare(scores, replicates="folds", fold_correlation=1 / FOLDS, engine="exact", draws=1).pairs
    return row["low"], row["high"]


def paired(values: np.ndarray) -> tuple[float, float]:
    half = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5
    return float(values.mean() - half), float(values.mean() + half)


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "folds", ("items", "repeats", "true difference", "t over folds", "correlated folds", "t over items")
    for n, repeats in ((60, 1), (60, 10), (200, 1), (200, 10), (1000, 1), (1000, 10)):
        rng = np.random.default_rng(n + repeats)
        trained = (learn(*sample(rng, n - n // FOLDS)) for _ in range(TRAININGS))
        true = float(np.mean([accuracy(first) - accuracy(second) for first, second in trained]))
        ends = []
        for _ in range(runs if repeats == 1 else -(-runs // 4)):
            by_fold, by_item = cross_validated(rng, n, repeats)
            ends.append([paired(by_fold[0] - by_fold[1]), corrected(by_fold), paired(by_item)])
        low, high = np.array(ends).transpose(2, 1, 0)
        holds, width = ((low <= true) & (true <= high)).mean(1), (high - low).mean(1)
        cells = [f"{share:.3f} ({size:.3f})" for share, size in zip(holds, width, strict=True)]
        yield "folds", (n, repeats, f"{true:.4f}", *cells)
