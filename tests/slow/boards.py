"""Coverage of the difference of two models on boards with missing scores (ten minutes).

A score is its model's mean, what the item is worth (sd 2) and an error (sd 1); models differ by 0.3 from one to the
next. Holes are at random, by difficulty (every other model is seldom scored on items that cost much), by model (each
lacks as much as the next one more), in blocks (each model on a run of the items), or chained (each model shares items
with its two neighbours only). With `interaction` the worth counts up to half more for one model than for another. With
clusters, items come in tens that share half of the variance of their errors. Cells: coverage of the 95% interval of the
first pair, in brackets its median width relative to the first method's; a dash where a method seldom has an answer.

- ours: every score, item effects free;
- shared: the items that both models have, compared by themselves in the same way;
- shared_t: the same items, paired t;
- complete: the items that all models have, paired t;
- mixed: a random effect for each item, by maximum restricted likelihood, normal limits, by statsmodels.
"""

import warnings
from collections.abc import Iterator

import numpy as np
from made_scores import make
from scipy.special import stdtrit

from probtruth.comparison.compare import compare
from probtruth.errors import ProbtruthError

RUNS = 100  # half as many with 20 models
MIXED_RUNS = 5  # of the mixed model, which takes a second each: its widths, hardly its coverage
KINDS = ("random", "difficulty", "model", "blocks", "chained")
WORTH = 2.0
STEP = 0.3
METHODS = ("ours", "shared", "shared_t", "complete", "mixed")
SIZES = (
    (3, 60, 0.9),
    (3, 60, 0.5),
    (3, 60, 0.2),
    (3, 300, 0.2),
    (6, 60, 0.7),
    (6, 300, 0.5),
    (20, 60, 0.5),
)
LARGER = ((6, 3000, 0.2), (20, 300, 0.2))  # with holes at random and by difficulty only

Ends = tuple[float, float]


def world(
    rng: np.random.Generator, n_models: int, n_items: int, fill: float, kind: str, interaction: float, clustered: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    worth = WORTH * rng.standard_normal(n_items)
    error = rng.standard_normal((n_models, n_items))
    clusters = None
    if clustered:
        clusters = np.arange(n_items) // 10
        error = np.sqrt(0.5) * (error + rng.standard_normal((n_models, n_items // 10 + 1))[:, clusters])
    more = 1 + interaction * np.linspace(0, 1, n_models)[:, None]
    values = more * worth + STEP * np.arange(n_models)[:, None] + error
    values[holes(rng, worth, n_models, fill, kind)] = np.nan
    return values, clusters


def holes(rng: np.random.Generator, worth: np.ndarray, n_models: int, fill: float, kind: str) -> np.ndarray:
    n_items = len(worth)
    shape = n_models, n_items
    place = np.arange(n_models)[:, None]
    if kind == "random":
        return rng.random(shape) >= fill
    if kind == "difficulty":
        seldom = np.clip(2 * fill / (1 + np.exp(2 * worth)), 0.02, 0.98)
        return rng.random(shape) >= np.where(place % 2 == 0, fill, seldom)
    if kind == "model":
        share = np.linspace(min(1.0, 1.6 * fill), 0.4 * fill, n_models)[:, None]
        return rng.random(shape) >= share
    item = np.arange(n_items)
    if kind == "blocks":
        start = (place * n_items) // (2 * n_models)
        return ((item - start) % n_items) >= max(fill, 0.6) * n_items
    wanted = 2 * n_items / (n_models + 1)
    start = place * n_items / (n_models + 1)
    return (item < start) | (item >= start + wanted)


def paired(difference: np.ndarray, clusters: np.ndarray | None) -> Ends | None:
    here = ~np.isnan(difference)
    n = int(here.sum())
    if n < 3 or clusters is not None:
        return None
    chosen = difference[here]
    half = float(stdtrit(n - 1, 0.975)) * chosen.std(ddof=1) / np.sqrt(n)
    return chosen.mean() - half, chosen.mean() + half


def mixed(values: np.ndarray) -> Ends | None:
    import statsmodels.api as sm

    model, item = np.nonzero(~np.isnan(values))
    columns = np.eye(len(values))[model]
    columns[:, 0] = 1.0  # the others are differences to the first
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = sm.MixedLM(values[model, item], columns, groups=item).fit(reml=True)
    low, high = fit.conf_int()[1]
    return -float(high), -float(low)


def ours(values: np.ndarray, clusters: np.ndarray | None) -> Ends | None:
    try:
        pair = compare(make(values), clusters=clusters, engine="exact", draws=10).pairs[0]  # no draw is read
    except ProbtruthError:
        return None
    return None if pair.low is None else (pair.low, pair.high)


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "boards", ("models", "items", "filled", "holes", "interaction", "clusters", *METHODS)
    cells = [(*size, kind, 0.0, False) for size in SIZES for kind in KINDS]
    cells += [(*size, kind, 0.0, False) for size in LARGER for kind in KINDS[:2]]
    cells += [(*size, "random", 0.5, False) for size in SIZES]
    cells += [(*size, "random", 0.0, True) for size in SIZES if size[1] >= 300]
    for n_models, n_items, fill, kind, interaction, clustered in cells:
        rng = np.random.default_rng([n_models, n_items, round(100 * fill), KINDS.index(kind), round(10 * interaction)])
        ends: dict[str, list[Ends]] = {method: [] for method in METHODS}
        n_runs = runs // 2 if n_models == 20 else runs
        for run in range(n_runs):
            values, clusters = world(rng, n_models, n_items, fill, kind, interaction, clustered)
            complete = np.where(np.isnan(values).any(0), np.nan, values[0] - values[1])
            found = {
                "ours": ours(values, clusters),
                "shared": ours(values[:2], clusters),
                "shared_t": paired(values[0] - values[1], clusters),
                "complete": paired(complete, clusters),
            }
            if n_items <= 300 and run < MIXED_RUNS and not clustered:
                found["mixed"] = mixed(values)
            for method, one in found.items():
                if one is not None:
                    ends[method].append(one)
        # without interaction the true difference is the step; with it the worth has mean 0, so it is the step too
        yield "boards", (n_models, n_items, fill, kind, interaction, clustered, *_cells(ends, n_runs))


def _cells(ends: dict[str, list[Ends]], runs: int) -> Iterator[str]:
    first = None
    for method, found in ends.items():
        least = MIXED_RUNS if method == "mixed" else runs
        if len(found) < 0.5 * min(least, runs):
            yield "-"
            continue
        table = np.array(found)
        covered = float(((table[:, 0] <= -STEP) & (table[:, 1] >= -STEP)).mean())
        width = float(np.median(table[:, 1] - table[:, 0]))
        first = first or width
        yield f"{covered:.3f} ({width / first:.2f})"
