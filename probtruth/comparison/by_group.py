"""Every group's own answer: each pair's difference in it, as far as the other groups let it stand."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Num

from probtruth.comparison.naming import named_pairs
from probtruth.comparison.posterior.population import Population
from probtruth.comparison.rows import mixture_columns, mixture_row

Row = dict[str, object]
EVERY = 4
"""Of so many points of the quadrature one is taken."""
COLUMNS = ("difference", "low", "high", "p_a_better")


def group_rows(
    population: Population, models: Sequence[str], groups: Sequence[str], n_items: Num[np.ndarray, " group"]
) -> list[Row]:
    """One row for each group and pair, groups and pairs by name."""
    pairs = named_pairs(models)
    columns = [mixture_columns(population.of_groups(row, EVERY), None) for row in range(len(pairs))]
    rows: list[Row] = []
    for group, name in enumerate(groups):
        for a, b, row, sign in pairs:
            values = mixture_row(columns[row], group, sign)
            said = {column: values[column] for column in COLUMNS}
            rows.append({"group": name, "a": a, "b": b, **said, "n_items": int(n_items[group])})
    return rows
