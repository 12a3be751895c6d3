"""How wide the interval of the study is that `plan` bought, over the width that it promised (ten minutes).

The difference of two models on item i, by answer u, is a_i + e_iu; a has the variance in the first column, relative to
that of the mean of an item's e in the pilot. The plan buys the cheapest study whose interval is three fifths as wide as
the pilot's, at prices of 1 for an item and 0.05 or 0.3 for an answer. Cells: mean width over the promise (over all
pilots; in brackets where the items' variance is estimated as 0, and how often that is), then the items bought over
those of the pilot.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

import probtruth as pt
from probtruth.comparison.compare import compare

RUNS = 100
PILOTS, PARTS, PRICES, ANSWERS = (40, 100), (0.03, 0.1, 0.3, 1.0, 3.0), (0.05, 0.3), 3


def study_of(rng: np.random.Generator, n_items: int, n_answers: int, part: float) -> pt.Scores:
    of_item = np.sqrt(part / ANSWERS) * rng.standard_normal((n_items, 1))
    answers = of_item + rng.standard_normal((n_items, n_answers))
    item, answer = np.indices(answers.shape).reshape(2, -1)
    names = [f"{one}/{other}" for one, other in zip(item, answer, strict=True)]  # nobody answers two items
    table = {
        "item": np.tile(item, 2),
        "model": np.repeat(["a", "b"], answers.size),
        "answer": names * 2,
        "score": np.concatenate([answers.ravel(), np.zeros(answers.size)]),
    }
    return pt.Scores.from_frame(table, replicate="answer", higher_is_better=False)


def cell(n_items: int, part: float, price: float, runs: int) -> str:
    rng = np.random.default_rng([n_items, round(100 * part), round(100 * price)])
    found = []
    for _ in range(runs):
        pilot = study_of(rng, n_items, ANSWERS, part)
        width = 0.6 * np.subtract(*[compare(pilot, engine="exact", draws=10).pairs[0][end] for end in ("high", "low")])
        made = pt.plan(pilot, width=float(width), costs={"item": 1.0, "replicate": price})
        bought = made.designs[-1]
        n_bought = max(int(np.ceil(bought["n_items"])), 2)
        study = study_of(rng, n_bought, int(bought["n_replicates"]), part)
        row = compare(study, engine="exact", draws=10).pairs[0]
        found.append(((row["high"] - row["low"]) / width, made.variance["items"] == 0, n_bought / n_items))
    ratio, none, items = np.array(found, float).T
    zero = none > 0
    of_zero = f"{ratio[zero].mean():.2f}" if zero.any() else "-"
    return f"{ratio.mean():.2f} ({of_zero} in {zero.mean():.2f}) {items.mean():.1f}"


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "purchases", ("items' variance", *(f"{n} items, {price:g}" for n, price in product(PILOTS, PRICES)))
    for part in PARTS:
        yield "purchases", (part, *(cell(n, part, price, runs) for n, price in product(PILOTS, PRICES)))
