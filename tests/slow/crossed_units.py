"""Coverage where the same annotators (or seeds) stand behind many items (twenty minutes).

The difference of two models on item i, as unit u sees it, is a_i + b_u + e_iu, with a and e normal of sd 1 and b of the
sd in the head of the column. Each unit sees a share of the items, each item at least one unit. Designs of few cells are
drawn twice as often. Cells: coverage (or width) at 60, 300 and 5,000 items.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from made_scores import estimated

from probtruth.comparison.estimation.design import Design
from probtruth.comparison.estimation.shared_units import Shared
from probtruth.comparison.estimation.unit_sums import UnitSums
from probtruth.comparison.posterior.margin import margins

RUNS = 500
ITEMS, SPREADS, MANY = (60, 300, 5000), (0.0, 0.1, 0.3, 1.0, 3.0), 50_000
UNITS: dict[int, tuple[float, ...]] = {
    2: (1.0,),
    3: (1.0,),
    5: (0.03, 0.3, 1.0),
    8: (0.03, 0.1, 0.3, 1.0),
    20: (0.03, 0.1, 0.3, 1.0),
    60: (0.03, 0.1, 0.3, 1.0),
    200: (0.03, 0.1, 0.3, 1.0),
}

KINDS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "crossed": lambda rng, size: rng.standard_normal(size),
    "crossed-skewed": lambda rng, size: rng.exponential(size=size) - 1,
    "crossed-extremes": lambda rng, size: rng.integers(0, 2, size) * 2.0 - 1,
}


def intervals(item: np.ndarray, unit: np.ndarray, values: np.ndarray, n_items: int, n_units: int) -> np.ndarray:
    """The interval of compare for each row of values, from cells by item."""
    count = np.bincount(item, minlength=n_items)
    means = np.add.reduceat(values, np.flatnonzero(np.diff(item, prepend=-1)), axis=1) / count
    plan = Design.of(np.zeros(n_items, int))
    estimate = estimated(means, plan)
    names = tuple(map(str, range(n_units)))
    sums = UnitSums.of(names, item, unit, values, plan)
    part = Shared("annotator", sums.units(np.ones(1)), n_units, n_units).part(len(values))
    found = margins(replace(estimate, parts={**estimate.parts, "annotators": part}))
    return np.array([margin.interval() for margin in found[: len(values)]])


def cells(n_units: int, share: float, n_items: int, runs: int) -> dict[tuple[str, float], tuple[float, float]]:
    """Coverage, and mean width against that of an interval which knows the true variance."""
    rng = np.random.default_rng([n_units, round(100 * share), n_items])
    holds, width = [], []
    for _ in range(runs if n_items * n_units * share > MANY else 2 * runs):
        seen = rng.random((n_items, n_units)) < share
        seen[np.arange(n_items), rng.integers(0, n_units, n_items)] |= ~seen.any(1)
        item, unit = np.nonzero(seen)
        weight = 1 / seen.sum(1)
        of_unit = np.bincount(unit, weight[item], n_units) / n_items
        base = rng.standard_normal(n_items)[item] + rng.standard_normal(len(item))
        biases = np.concatenate([np.outer(SPREADS, draw(rng, n_units)) for draw in KINDS.values()])
        low, high = intervals(item, unit, base + biases[:, unit], n_items, n_units).T
        true = (1 + weight.mean()) / n_items + np.tile(SPREADS, len(KINDS)) ** 2 * (of_unit**2).sum()
        holds.append((low <= 0) & (high >= 0))
        width.append((high - low) / (2 * 1.959964 * np.sqrt(true)))
    both = zip(np.mean(holds, axis=0).tolist(), np.mean(width, axis=0).tolist(), strict=True)
    return dict(zip(itertools.product(KINDS, SPREADS), both, strict=True))


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    tables = {**{kind: (kind, 0) for kind in KINDS}, "crossed-width": ("crossed", 1)}
    for table in tables:
        yield table, ("units", "share of items", *(f"sd {spread:g}" for spread in SPREADS))
    for units, share in ((units, share) for units, shares in UNITS.items() for share in shares):
        found = [cells(units, share, n, runs) for n in ITEMS]
        for table, (kind, which) in tables.items():
            row = [" ".join(f"{one[kind, spread][which]:.{3 - which}f}" for one in found) for spread in SPREADS]
            yield table, (units, f"{share:.0%}", *row)
