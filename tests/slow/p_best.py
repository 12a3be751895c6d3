"""P(best) of models whose true means spread by a number of standard errors (five minutes).

Normal scores of sd 1 on 100 items (and 30), independent between models; true means normal, of the sd in the second
column in standard errors of a difference. Cells: how often the 95% set holds the best model, its mean size, the mean of
the highest P(best) and how often that model is the best, and the mean logarithm of the best model's probability; first
as `compare` says it, then from the draws that are not pooled. At a spread of 0 every model is as good: the best is one
drawn beforehand.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from made_scores import estimated

from probtruth.comparison.estimation.design import Design
from probtruth.comparison.options import checked_options
from probtruth.comparison.posterior.posterior import decide, posterior_of

RUNS = 600
ITEMS, MODELS, SPREADS = (100, 30), (3, 10, 40), (0.0, 0.5, 1.0, 2.0, 6.0)
DRAWS = 500  # Of each of four chains
LEAST = 1 / (4 * DRAWS)


def held(chance: np.ndarray, best: int) -> tuple[bool, int, float, bool, float]:
    order = np.argsort(-chance, kind="stable")
    size = int(np.searchsorted(np.cumsum(chance[order]), 0.95 - 1e-12)) + 1
    logarithm = float(np.log(max(chance[best], LEAST)))
    return best in order[:size], size, float(chance.max()), int(order[0]) == best, logarithm


def cell(n_items: int, n_models: int, spread: float, runs: int) -> tuple[str, str]:
    rng = np.random.default_rng([n_items, n_models, round(10 * spread)])
    options = checked_options("exact", draws=DRAWS)
    plan = Design.of(np.zeros(n_items, int))
    found: list[list[tuple[bool, int, float, bool, float]]] = [[], []]
    for _ in range(runs):
        truth = spread * np.sqrt(2 / n_items) * rng.standard_normal(n_models)
        values = truth[:, None] + rng.standard_normal((n_models, n_items))
        best = int(truth.argmin()) if spread else 0
        post = posterior_of(estimated(values, plan), None, options)
        for at, draws in enumerate((post.ranked, post.means)):
            found[at].append(held(decide(draws)[0][:, 0], best))
    cells = []
    for each in found:
        share, size, said, right, logarithm = np.array(each, float).mean(0)
        cells.append(f"{share:.3f} {size:.1f} {said:.2f}/{right:.2f} {logarithm:.3f}")
    return cells[0], cells[1]


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "p-best", ("models", "spread", "items", "pooled", "not pooled")
    for models, spread, items in product(MODELS, SPREADS, ITEMS):
        yield "p-best", (models, spread, items, *cell(items, models, spread, runs if models < 40 else runs // 2))
