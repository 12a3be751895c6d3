"""Coverage with judges (replicates) of whom each sees a share of the items, from 5 to 100 per cent (ten minutes).

The score of a model on item i by judge u is a_i + b_u + e_iu, with a and e of sd 1 and b of the sd in the head, of its
own in each model; every item has two judges at least, the same for both models. The difference of the models over new
items and new judges is 0. Cells: coverage at 150 items where nobody says what replicates are, where they are said to be
crossed, and where they are said to be independent; then the median width of the first over that of the last.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

import probtruth as pt
from probtruth.comparison.compare import compare

RUNS = 200
ITEMS, JUDGES, FILLED, SPREADS = 150, (2, 3, 5, 12, 30, 60), (0.05, 0.12, 0.2, 0.5, 1.0), (0.0, 0.2, 0.6)
KINDS = (None, "crossed", "independent")


def scores(rng: np.random.Generator, n_judges: int, share: float, spread: float) -> pt.Scores:
    seen = rng.random((ITEMS, n_judges)) < share
    rows = np.arange(ITEMS)
    first = rng.integers(0, n_judges, ITEMS)
    seen[rows, first] = True
    seen[rows, (first + rng.integers(1, n_judges, ITEMS)) % n_judges] = True
    item, judge = np.nonzero(seen)
    lean = spread * rng.standard_normal((2, n_judges))
    of_item = rng.standard_normal((2, ITEMS))
    values = of_item[:, item] + lean[:, judge] + rng.standard_normal((2, len(item)))
    table = {
        "item": np.tile(item, 2),
        "model": np.repeat(["a", "b"], len(item)),
        "judge": np.tile(judge, 2),
        "score": values.ravel(),
    }
    return pt.Scores.from_frame(table, replicate="judge", higher_is_better=False)


def cell(n_judges: int, share: float, spread: float, runs: int) -> str:
    rng = np.random.default_rng([n_judges, round(100 * share), round(10 * spread)])
    held = np.zeros((runs, len(KINDS)))
    width = np.zeros((runs, len(KINDS)))
    for run in range(runs):
        made = scores(rng, n_judges, share, spread)
        for at, kind in enumerate(KINDS):
            row = compare(made, replicates=kind, engine="exact", draws=10).pairs[0]
            held[run, at] = row["low"] <= 0 <= row["high"]
            width[run, at] = row["high"] - row["low"]
    return " ".join(f"{one:.3f}" for one in held.mean(0)) + f" {np.median(width[:, 0] / width[:, 2]):.2f}"


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "replicates", ("judges", "items that each sees", *(f"sd {spread:g}" for spread in SPREADS))
    for judges, share in product(JUDGES, FILLED):
        if judges * share >= 2 or share == 1.0 or judges >= 30:
            yield "replicates", (judges, f"{share:.0%}", *(cell(judges, share, spread, runs) for spread in SPREADS))
