"""What would mend the interval of 40 expert labels on a uniform sample: a table in Markdown.

    python tests/slow/uniform_gold.py

takes about a minute on one core: 100 data sets of 400 items a world, three samples of each (a coverage of 0.90 has a
standard error of about 0.02). Its table stands in `docs/validity/expert-labels.md`.
"""

from collections.abc import Callable, Mapping

import numpy as np
from expert_labels import ITEMS, LARGE, WORLDS, drawn, scored
from scipy.special import stdtrit

DATA_SETS, SAMPLES, ANSWERS = 100, 3, 40
NAMES = (
    "one model learned from the votes",
    "one model repeats the votes",
    "annotators and models fail on the same 35% of items",
    "5 annotators, right 0.7",
)
Interval = tuple[float, float]


def tuned(known: np.ndarray, expert: np.ndarray) -> float:
    """The weight of PPI++ for a mean."""
    slope = np.cov(expert, known)[0, 1] / ((1 + len(known) / ITEMS) * known.var(ddof=1))
    return float(np.clip(slope, 0.0, 1.0))


def around(mean: float, variance: float, df: int) -> Interval:
    """A t interval."""
    half = stdtrit(df, 0.975) * variance**0.5
    return mean - half, mean + half


def of_all(weight: float, rest: np.ndarray, known: np.ndarray, every: np.ndarray) -> float:
    """What the choice of all items adds to the variance of a corrected mean."""
    return (weight**2 * every.var(ddof=1) + 2 * weight * np.cov(rest, known)[0, 1]) / ITEMS


def weighed(weight: float, known: np.ndarray, expert: np.ndarray, every: np.ndarray) -> Interval:
    """PPI++ with some weight of the inferred scores."""
    rest, n = expert - weight * known, len(known)
    variance = rest.var(ddof=2) / n + of_all(weight, rest, known, every)
    return around(rest.mean() + weight * every.mean(), variance, n - 2)


def towards(goal: float) -> Callable[[np.ndarray, np.ndarray, np.ndarray], Interval]:
    """The weight with five answers' worth of a prior guess."""

    def interval(known: np.ndarray, expert: np.ndarray, every: np.ndarray) -> Interval:
        n = len(known)
        return weighed((n * tuned(known, expert) + 5 * goal) / (n + 5), known, expert, every)

    return interval


def cross_fitted(known: np.ndarray, expert: np.ndarray, every: np.ndarray) -> Interval:
    """Every fifth of the answers is corrected with the weight that the others suggest."""
    fold = np.arange(len(known)) % 5
    weights = np.array([tuned(known[fold != one], expert[fold != one]) for one in range(5)])[fold]
    values, mean = expert - weights * (known - every.mean()), float(weights.mean())
    variance = values.var(ddof=1) / len(known) + of_all(mean, expert - mean * known, known, every)
    return around(values.mean(), variance, len(known) - 1)


def leverage(known: np.ndarray, expert: np.ndarray, every: np.ndarray) -> Interval:
    """Residuals over 1 - leverage, as HC3 has them, with what each moves the weight by."""
    weight, n = tuned(known, expert), len(known)
    rest, away = expert - weight * known, known - known.mean()
    size = (away**2).sum()
    own = (rest - rest.mean()) / (1 - np.minimum(1 / n + away**2 / size, 0.9))
    moved = 1 + n * (every.mean() - known.mean()) * away / size
    variance = ((own * moved) ** 2).sum() / n**2 + of_all(weight, rest, known, every)
    return around(rest.mean() + weight * every.mean(), variance, n - 2)


def alone(known: np.ndarray, expert: np.ndarray, every: np.ndarray) -> Interval:
    """The t interval of the answers."""
    return around(expert.mean(), expert.var(ddof=1) / len(expert), len(expert) - 1)


WAYS: Mapping[str, Callable[[np.ndarray, np.ndarray, np.ndarray], Interval]] = {
    "gold alone": alone,
    "weight drawn to 1": towards(1.0),
    "to 0": towards(0.0),
    "cross-fitted": cross_fitted,
    "leverage (HC3)": leverage,
}


def study(name: str, seed: int) -> list[str]:
    """The best weight, the skewness of the corrections, and of each way coverage and width beside gold alone."""
    rng = np.random.default_rng(seed)
    truth, _, probs = drawn(rng, LARGE, **WORLDS[name])
    at = np.arange(LARGE), truth
    expected = float(np.log(probs[1][at] / probs[0][at]).mean())
    ends: dict[str, list[Interval]] = {way: [] for way in WAYS}
    pairs = []
    for _ in range(DATA_SETS):
        truth, votes, probs = drawn(rng, ITEMS, **WORLDS[name])
        scores = scored(votes, probs)
        losses = scores.labels.losses
        every, right = scores.values[0] - scores.values[1], (losses[0] - losses[1])[np.arange(ITEMS), truth]
        pairs.append((every, right))
        for _ in range(SAMPLES):
            some = rng.choice(ITEMS, ANSWERS, replace=False)
            for way, interval in WAYS.items():
                ends[way].append(interval(every[some], right[some], every))
    known, expert = np.concatenate(pairs, axis=1)
    best = np.cov(known, expert)[0, 1] / known.var()
    rest = expert - best * known
    skewness = ((rest - rest.mean()) ** 3).mean() / rest.std() ** 3
    unit = np.diff(ends["gold alone"]).mean()
    cells = [f"{best:.2f}", f"{skewness:+.1f}"]
    for rows in ends.values():
        low, high = np.array(rows).T
        cells.append(f"{((low <= expected) & (expected <= high)).mean():.2f}; {(high - low).mean() / unit:.2f}")
    return cells


def main() -> None:
    print(f"| world | best weight | skewness | {' | '.join(WAYS)} |")
    print("|---|---|---|" + "---|" * len(WAYS))
    for number, name in enumerate(NAMES):
        print(f"| {name} | {' | '.join(study(name, number))} |", flush=True)


if __name__ == "__main__":
    main()
