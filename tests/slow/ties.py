"""Coverage of the mean difference of 0/1 scores where most items tie, without groups and in four groups (a minute).

Items that do not tie favour the first model with probability 0.6. Cells: coverage of the 95% interval, in brackets its
mean width.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from coverage_study import zero_one
from made_scores import located

RUNS = 400
TIES = (0.8, 0.9, 0.95, 0.98, 1.0)
SIZES = (20, 50, 100, 200)
GROUPS = (1, 4)
FIRST_BETTER = 0.6


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "ties", ("ties", "items", *(f"{groups} groups" for groups in GROUPS))
    for ties, n_items in product(TIES, SIZES):
        rng = np.random.default_rng([n_items, round(100 * ties)])
        differences = zero_one(ties, FIRST_BETTER)(rng, (runs, n_items))
        true = (1 - ties) * (1 - 2 * FIRST_BETTER)
        cells: list[str] = []
        for groups in GROUPS:
            of_group = np.arange(n_items) % groups
            ends = np.zeros((runs, 2))
            for run, difference in enumerate(differences):
                found = located(np.stack([difference, np.zeros(n_items)]), of_group, pseudo=1.0)
                ends[run] = found.margins[0].interval()
            covered = (ends[:, 0] <= true) & (true <= ends[:, 1])
            cells.append(f"{covered.mean():.3f} ({np.ptp(ends, axis=1).mean():.3f})")
        yield "ties", (f"{ties:g}", n_items, *cells)
