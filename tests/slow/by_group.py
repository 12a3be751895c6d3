"""Coverage of intervals of single groups, of 4 to 400 items, whose standard deviations differ (five minutes)."""

from collections.abc import Iterator

import numpy as np

import probtruth as pt

RUNS = 300
SIZES = (4, 5, 8, 20, 60, 150, 400, 400)
BETWEEN = (0.0, 0.3, 1.0, 3.0)  # sd between groups, in that of a typical item


def covered(rng: np.random.Generator, between: float) -> tuple[np.ndarray, bool, bool]:
    """Whether the interval of each group, of the population and of one new group holds its truth."""
    sd = 10 ** rng.uniform(-0.5, 0.5, len(SIZES))
    truth = between * rng.standard_normal(len(SIZES))
    items = [t + s * rng.standard_normal(n) for t, s, n in zip(truth, sd, SIZES, strict=True)]
    values = np.concatenate(items)
    group = np.repeat(np.arange(len(SIZES)), SIZES)
    table = {"item": [*range(len(values))] * 2, "model": np.repeat(["a", "b"], len(values)).tolist()}
    scores = pt.Scores.from_frame(table | {"score": [*values, *np.zeros(len(values))]}, higher_is_better=False)
    found = pt.compare(scores, groups=group.tolist(), engine="exact")
    rows = sorted(found.groups, key=lambda row: int(row.group))
    of_group = np.array([row.low <= t <= row.high for row, t in zip(rows, truth, strict=True)])
    (population,) = found.group_results["population of groups"]
    (new,) = found.group_results["one new group"]
    another = between * rng.standard_normal()
    return of_group, population.low <= 0 <= population.high, new.low <= another <= new.high


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "by-group", ("sd between groups", *(f"{n} items" for n in SIZES), "population", "one new group")
    for between in BETWEEN:
        rng = np.random.default_rng([7, round(10 * between)])
        found = [covered(rng, between) for _ in range(runs)]
        groups = np.mean([one[0] for one in found], axis=0)
        rest = np.mean([one[1:] for one in found], axis=0)
        yield "by-group", (between, *(f"{value:.3f}" for value in (*groups, *rest)))
