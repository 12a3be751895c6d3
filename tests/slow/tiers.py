"""How often tiers are cut falsely, and how many there are (two minutes).

100 items, normal scores of variance 1, independent between models. A cut is false if some model above it is not better
than some model below it.
"""

from collections.abc import Iterator

import numpy as np

import probtruth as pt

RUNS, ITEMS = 300, 100
ERROR = (2 / ITEMS) ** 0.5  # Standard error of the difference of two models
APART = {"all equal": 0.0, "two halves, 3 apart": 3.0, "two halves, 6 apart": 6.0}  # In those standard errors


def tiers_of(rng: np.random.Generator, means: np.ndarray) -> np.ndarray:
    names = [f"m{model:02d}" for model in range(len(means))]
    scores = means[:, None] * ERROR + rng.standard_normal((len(means), ITEMS))
    table = {"item": np.tile(np.arange(ITEMS), len(means)), "model": np.repeat(names, ITEMS), "score": scores.ravel()}
    found = pt.compare(pt.Scores.from_frame(table, higher_is_better=False), engine="exact")
    tier = {row["model"]: row["tier"] for row in found.ranks}
    return np.array([tier[name] for name in names])


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "tiers", ("models", "true means", "data sets with a false cut", "mean number of tiers", "true number")
    for world, apart in APART.items():
        for n in (2, 3, 5, 10):
            rng, means = np.random.default_rng(n), apart * (np.arange(n) >= n // 2)
            found = np.array([tiers_of(rng, means) for _ in range(runs)])
            above = found[:, :, None] < found[:, None, :]
            false = (above & (means[:, None] >= means)).any((1, 2)).mean()
            yield "tiers", (n, world, f"{false:.3f}", f"{found.max(1).mean():.2f}", len(np.unique(means)))
