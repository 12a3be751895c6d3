"""Coverage of intervals of single groups, of their population and of one new group (half an hour).

- by-group: normal scores in groups of 4 to 400 items, whose standard deviations differ.
- by-group-ties: scores of 0 and 1 that tie on nine items in ten, or fewer where the groups' true differences are
  larger; their mean is 0.04. Cells: coverage of the groups / their population / one new group.
- by-group-kinds: the kinds of differences of `comparison_coverage`, in groups that differ by 0 or 0.3 sds of an item.
- by-group-annotators: ten groups of twenty items that up to three annotators see, whose own means differ; all groups
  have the same annotators, or each has so many of its own.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import polars as pl
from coverage_study import GENERATORS, Generator
from made_scores import cells as cells_of

import probtruth as pt

RUNS = 300
SIZES = (4, 5, 8, 20, 60, 150, 400, 400)
BETWEEN = (0.0, 0.3, 1.0, 3.0)  # sd between groups, in that of a typical item
TIED = ((4, 10), (10, 5), (10, 10), (30, 10), (10, 50), (5, 200))  # How many groups, and items in each
BETWEEN_TIED = (0.0, 0.03, 0.1, 0.3)
DIFFER, MEAN = 0.1, 0.04
KINDS = [kind for kind in GENERATORS if kind.cluster_size == 1 and not kind.reach]
SKEWED = ((10, 5), (30, 10), (10, 50))
BETWEEN_KINDS = (0.0, 0.3)
ANNOTATED, ANNOTATORS, OWN_ANNOTATORS = (10, 20), (2, 3, 5, 20), (2, 3, 6)
OF_ANNOTATORS, BETWEEN_ANNOTATED = (0.3, 1.0), (0.0, 0.5)


def covered(
    items: Sequence[np.ndarray], truth: np.ndarray, mean: float, another: float
) -> tuple[np.ndarray, bool, bool]:
    """Whether the interval of each group, of the population and of one new group holds its truth."""
    values = np.concatenate(items)
    group = np.repeat(np.arange(len(items)), [len(of_group) for of_group in items])
    table = {"item": [*range(len(values))] * 2, "model": np.repeat(["a", "b"], len(values)).tolist()}
    scores = pt.Scores.from_frame(table | {"score": [*values, *np.zeros(len(values))]}, higher_is_better=False)
    return covered_by(pt.compare(scores, groups=group.tolist(), engine="exact"), truth, mean, another)


def covered_by(found: pt.Comparison, truth: np.ndarray, mean: float, another: float) -> tuple[np.ndarray, bool, bool]:
    rows = sorted(found.groups, key=lambda row: int(row.group))
    of_group = np.array([row.low <= t <= row.high for row, t in zip(rows, truth, strict=True)])
    (population,) = found.group_results["population of groups"]
    (new,) = found.group_results["one new group"]
    return of_group, population.low <= mean <= population.high, new.low <= another <= new.high


def normal(rng: np.random.Generator, between: float) -> tuple[np.ndarray, bool, bool]:
    sd = 10 ** rng.uniform(-0.5, 0.5, len(SIZES))
    truth = between * rng.standard_normal(len(SIZES))
    items = [t + s * rng.standard_normal(n) for t, s, n in zip(truth, sd, SIZES, strict=True)]
    return covered(items, truth, 0.0, between * rng.standard_normal())


def tied(rng: np.random.Generator, n_groups: int, n_items: int, between: float) -> tuple[float, bool, bool]:
    truth = np.clip(MEAN + between * rng.standard_normal(n_groups + 1), -1, 1)
    items = []
    for difference in truth[1:]:
        differs = max(DIFFER, abs(difference))
        first_worse = (differs + difference) / 2
        items.append(rng.choice([1.0, -1.0, 0.0], n_items, p=[first_worse, differs - first_worse, 1 - differs]))
    while not np.any(items):  # of a study in which all items tie nothing is said
        items[0] = rng.choice([1.0, -1.0, 0.0], n_items, p=[DIFFER / 2, DIFFER / 2, 1 - DIFFER])
    groups, population, new = covered(items, truth[1:], MEAN, truth[0])
    return groups.mean(), population, new


def of_kind(
    rng: np.random.Generator, kind: Generator, n_groups: int, n_items: int, effect: float
) -> tuple[float, bool, bool]:
    effects = effect * rng.standard_normal(n_groups + 1)
    differences = kind.draw(rng, (n_groups, n_items)) + effects[1:, None]
    groups, population, new = covered([*differences], kind.mean + effects[1:], kind.mean, kind.mean + effects[0])
    return groups.mean(), population, new


def by_annotators(
    rng: np.random.Generator, n_annotators: int, of_annotators: float, between: float, own: bool
) -> tuple[float, bool, bool]:
    n_groups, n_items = ANNOTATED
    effects = between * rng.standard_normal(n_groups + 1)
    n_parts = n_groups if own else 1
    frames = []
    for part in range(n_parts):
        n_in_part = n_groups * n_items // n_parts
        frame = cells_of(rng, np.zeros(n_annotators), n_in_part, min(n_annotators, 3), of_annotators, 1.0)
        place = frame["item"].str.slice(1).cast(pl.Int64)
        group = pl.Series([part] * len(frame)) if own else place % n_groups
        effect = np.where(frame["model"] == "a", effects[1:][group.to_numpy()], 0.0)
        named = [pl.format("{}-{}", pl.lit(part), pl.col(name)).alias(name) for name in ("item", "annotator")]
        frames.append(frame.with_columns(pl.col("score") + effect, *named, group=group.cast(pl.String)))
    scores = pt.Scores.from_frame(pl.concat(frames), group="group", annotator="annotator", higher_is_better=False)
    groups, population, new = covered_by(pt.compare(scores, engine="exact"), effects[1:], 0.0, effects[0])
    return groups.mean(), population, new


def cell(rates: list[tuple[float, bool, bool]]) -> str:
    return " / ".join(f"{share:.3f}" for share in np.mean(rates, axis=0))


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "by-group", ("sd between groups", *(f"{n} items" for n in SIZES), "population", "one new group")
    for between in BETWEEN:
        rng = np.random.default_rng([7, round(10 * between)])
        found = [normal(rng, between) for _ in range(runs)]
        groups = np.mean([one[0] for one in found], axis=0)
        rest = np.mean([one[1:] for one in found], axis=0)
        yield "by-group", (between, *(f"{value:.3f}" for value in (*groups, *rest)))
    yield "by-group-ties", ("groups", "items in each", *(f"sd between groups {between:g}" for between in BETWEEN_TIED))
    for n_groups, n_items in TIED:
        cells = []
        for between in BETWEEN_TIED:
            rng = np.random.default_rng([n_groups, n_items, round(100 * between)])
            cells.append(cell([tied(rng, n_groups, n_items, between) for _ in range(runs)]))
        yield "by-group-ties", (n_groups, n_items, *cells)
    sizes = [f"{groups} groups of {items}, sd {sd:g}" for groups, items in SKEWED for sd in BETWEEN_KINDS]
    yield "by-group-kinds", ("differences", *sizes)
    for kind in KINDS:
        sd = float(kind.draw(np.random.default_rng(0), (1, 1_000_000)).std())
        cells = []
        for (n_groups, n_items), between in product(SKEWED, BETWEEN_KINDS):
            rng = np.random.default_rng([n_groups, n_items, round(10 * between)])
            found = [of_kind(rng, kind, n_groups, n_items, between * sd) for _ in range(-(-runs // 3))]
            cells.append(cell(found))
        yield "by-group-kinds", (kind.name, *cells)
    settings = [*product(OF_ANNOTATORS, BETWEEN_ANNOTATED)]
    names = [f"sd of annotators {sd:g}, of groups {between:g}" for sd, between in settings]
    yield "by-group-annotators", ("annotators", *names)
    for n_annotators, own in (*product(ANNOTATORS, (False,)), *product(OWN_ANNOTATORS, (True,))):
        cells = []
        for of_annotators, between in settings:
            rng = np.random.default_rng([n_annotators, round(10 * of_annotators), round(10 * between)])
            runs_of_cell = -(-2 * runs // 3)
            found = [by_annotators(rng, n_annotators, of_annotators, between, own) for _ in range(runs_of_cell)]
            cells.append(cell(found))
        yield "by-group-annotators", (f"{n_annotators} of each group" if own else n_annotators, *cells)
