"""An order of the models by their scores alone, so that names and the order in which they came change nothing."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.evidence.moments import Structure
from probtruth.kernels.exact_sums import exact_sum

Key = tuple[object, ...]
Describe = Callable[[int | None], list[list[float]]]
"""Sums of powers of every model's scores, or (given a model) of that model's minus every model's."""


def model_order(
    values: Float[np.ndarray, "model item"], names: Sequence[str], within: Structure
) -> Int[np.ndarray, " model"]:
    """The order of models whose scores are held in memory; see `by_content`."""

    def describe(first: int | None) -> list[list[float]]:
        rows = values if first is None else values[first] - values
        units = within.unit_totals(rows)
        of_units = [within.group_totals(power) for power in _powers(units)]
        of_items = [] if within.unit is None else [exact_sum(power)[:, None] for power in _powers(rows)[1:]]
        listed: list[list[float]] = np.concatenate([*of_units, *of_items], axis=1).tolist()
        return listed

    return by_content(exact_sum(values).tolist(), names, describe)


def _powers(rows: Float[np.ndarray, "row item"]) -> list[np.ndarray]:
    square = rows * rows
    return [rows, square, square * rows]


def by_content(totals: Sequence[float], names: Sequence[str], describe: Describe) -> Int[np.ndarray, " model"]:
    """By mean, then by higher moments in each group, then by how a model differs from the others.

    Models that all of this leaves tied are exchanged by a permutation of the items, as far as means, variances and
    third moments can tell; only among those do the names decide.

    Arguments: `totals` of the models' scores; `describe` is asked for more only where they tie.
    """
    colours = _ranked([(total,) for total in totals])
    if len(set(colours)) < len(colours):
        own = describe(None)
        colours = _ranked([(colour, tuple(stats)) for colour, stats in zip(colours, own, strict=True)])
        for _ in range(len(totals)):
            finer = _refined(colours, describe)
            if len(set(finer)) == len(set(colours)):
                break
            colours = finer
    return np.array(sorted(range(len(totals)), key=lambda row: (colours[row], names[row])), np.int64)


def _refined(colours: Sequence[int], describe: Describe) -> list[int]:
    keys: list[Key] = []
    for row, colour in enumerate(colours):
        if colours.count(colour) == 1:
            keys.append((colour, ()))
            continue
        stats = describe(row)
        others = sorted((colours[other], tuple(stats[other])) for other in range(len(colours)) if other != row)
        keys.append((colour, tuple(others)))
    return _ranked(keys)


def _ranked(keys: Sequence[Key]) -> list[int]:
    place = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return [place[key] for key in keys]
