"""Coverage of intervals for the difference of two learners under cross-validation, as a table in Markdown.

    PYTHONPATH=tests/comparison python tests/slow/fold_coverage.py

takes about two minutes on one core.
"""

import numpy as np
from scipy.special import ndtr
from scipy.stats import t

from probtruth.comparison.design import Design
from probtruth.comparison.location import Sums, combine, correlated_folds, means_from
from probtruth.comparison.margin import Margin, margins

SIGNAL = np.array([0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0, 0.0])
SPREAD = 0.4 * np.ones((8, 8)) + 0.6 * np.eye(8)
"""Two classes of equal size, normal with correlated features: means plus and minus SIGNAL, this covariance."""
ROOT = np.linalg.cholesky(SPREAD)
FOLDS, REPLICATIONS, TRAININGS = 10, 2000, 20_000

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


def right(learned: Linear, features: np.ndarray, side: np.ndarray) -> np.ndarray:
    return (features @ learned[0] - learned[1]) * side > 0


def cross_validated(rng: np.random.Generator, n: int, repeats: int) -> tuple[np.ndarray, np.ndarray]:
    """Differences of accuracy by fold, and by item averaged over repeats; stratified folds."""
    features, side = sample(rng, n)
    by_fold, by_item = [], np.zeros(n)
    for _ in range(repeats):
        fold = np.empty(n, int)
        for value in (-1.0, 1.0):
            members = np.flatnonzero(side == value)
            fold[rng.permutation(members)] = np.arange(len(members)) % FOLDS
        for number in range(FOLDS):
            held = fold == number
            first, second = learn(features[~held], side[~held])
            scores = [right(one, features[held], side[held]) for one in (first, second)]
            difference = scores[0].astype(float) - scores[1]
            by_fold.append(difference.mean())
            by_item[held] += difference / repeats
    return np.array(by_fold), by_item


def reported(by_fold: np.ndarray) -> Margin:
    """What `compare(..., replicates="folds", fold_correlation=1/10)` reports."""
    plan = Design.of(np.zeros(len(by_fold), int))
    means = means_from(Sums.of(by_fold[None], plan), plan, np.abs(by_fold).max(keepdims=True))
    return margins(combine(correlated_folds(means, 1 / FOLDS), np.ones(1)))[0]


def paired(values: np.ndarray) -> tuple[float, float]:
    reach = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5
    return float(values.mean() - reach), float(values.mean() + reach)


def main() -> None:
    print(OPENING)
    print("| items | repeats | true difference | t over folds | correlated folds | t over items |")
    print("|---|---|---|---|---|---|")
    for n, repeats in ((60, 1), (60, 10), (200, 1), (200, 10), (1000, 1), (1000, 10)):
        rng = np.random.default_rng(n + repeats)
        trained = (learn(*sample(rng, n - n // FOLDS)) for _ in range(TRAININGS))
        true = float(np.mean([accuracy(first) - accuracy(second) for first, second in trained]))
        ends: dict[str, list[tuple[float, float]]] = {"folds": [], "correlated": [], "items": []}
        for _ in range(REPLICATIONS if repeats == 1 else REPLICATIONS // 4):
            by_fold, by_item = cross_validated(rng, n, repeats)
            ends["folds"].append(paired(by_fold))
            ends["correlated"].append(reported(by_fold).interval())
            ends["items"].append(paired(by_item))
        cells = []
        for found in map(np.array, ends.values()):
            holds, width = ((found[:, 0] <= true) & (true <= found[:, 1])).mean(), np.ptp(found, axis=1).mean()
            cells.append(f"{holds:.3f} ({width:.3f})")
        print(f"| {n} | {repeats} | {true:.4f} | " + " | ".join(cells) + " |", flush=True)
    print(CLOSING)


OPENING = f"""# Validity under cross-validation

Written by `tests/slow/fold_coverage.py`. We compare linear discriminant analysis with naive Bayes on two normal
classes with correlated features, by ten-fold cross-validation, once and repeated ten times. The estimand is the
difference in the accuracy of the two *learners*, averaged over training sets of nine tenths of the items. We know it
from {TRAININGS:,} training sets and the closed form of a linear rule's accuracy. {REPLICATIONS:,} replications (a
quarter with repeats; a share of 0.95 has a standard error of 0.005 and 0.010).

Coverage of the 95% interval, and its mean width in brackets: the paired t over folds (or folds of all
repeats), the fold-corrected interval that `replicates="folds"` gives with `fold_correlation=1/10`, and the paired t
over items, each item's score averaged over the repeats.
"""
CLOSING = """
Folds of repeated cross-validation share their items, so a t-interval over all of them is far too narrow. The
correction is conservative. Items are the safest unit here: if you can, pass scores by item, averaged over repeats.
Use folds only if you have nothing else."""

if __name__ == "__main__":
    main()
