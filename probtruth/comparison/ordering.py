"""An order of the models by their scores alone, so that names and the order in which they came change nothing."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.sufficient import Structure
from probtruth.comparison.sums import exact_sum

Key = tuple[object, ...]
Describe = Callable[[np.ndarray], list[list[float]]]


def model_order(
    values: Float[np.ndarray, "model item"], names: Sequence[str], within: Structure
) -> Int[np.ndarray, " model"]:
    """By mean, then by higher moments in each group, then by how a model differs from the others.

    Models that all of this leaves tied are exchanged by a permutation of the items, as far as means, variances and
    third moments can tell; only among those do the names decide.
    """

    def describe(rows: np.ndarray) -> list[list[float]]:
        """Sums of powers of items and of units, in every group."""
        units = within.unit_totals(rows)
        of_units = [within.group_totals(units**power) for power in (1, 2, 3)]
        of_items = [] if within.unit is None else [exact_sum(rows**power)[:, None] for power in (2, 3)]
        listed: list[list[float]] = np.concatenate([*of_units, *of_items], axis=1).tolist()
        return listed

    colours = _ranked([(total,) for total in exact_sum(values).tolist()])
    if len(set(colours)) < len(colours):
        own = describe(values)
        colours = _ranked([(colour, tuple(stats)) for colour, stats in zip(colours, own, strict=True)])
        for _ in range(len(values)):
            finer = _refined(colours, values, describe)
            if len(set(finer)) == len(set(colours)):
                break
            colours = finer
    return np.array(sorted(range(len(values)), key=lambda row: (colours[row], names[row])), np.int64)


def _refined(colours: Sequence[int], values: Float[np.ndarray, "model item"], describe: Describe) -> list[int]:
    keys: list[Key] = []
    for row, colour in enumerate(colours):
        if colours.count(colour) == 1:
            keys.append((colour, ()))
            continue
        stats = describe(values[row] - values)
        others = sorted((colours[other], tuple(stats[other])) for other in range(len(colours)) if other != row)
        keys.append((colour, tuple(others)))
    return _ranked(keys)


def _ranked(keys: Sequence[Key]) -> list[int]:
    place = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return [place[key] for key in keys]
