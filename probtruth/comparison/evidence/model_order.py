"""An order of the models by their scores alone, so that names and the order in which they came change nothing."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Int

from probtruth.comparison.evidence.parts import Parts
from probtruth.comparison.evidence.sweeps import RowSums, alone

Key = tuple[object, ...]
Describe = Callable[[int | None], list[list[float]]]
"""Sums of powers of every model's scores, or (given a model) of that model's minus every model's."""


def model_order(parts: Parts, models: Int[np.ndarray, " finite"]) -> Int[np.ndarray, " finite"]:
    """Those models, whose scores are finite, by content; see `by_content`."""

    def describe(first: int | None) -> list[list[float]]:
        rows = alone(models) if first is None else np.stack([np.full_like(models, models[first]), models], axis=1)
        listed: list[list[float]] = RowSums(parts, rows).described().tolist()
        return listed

    totals = RowSums(parts, alone(models)).totals_over_groups().tolist()
    order: np.ndarray = models[by_content(totals, [parts.models[model] for model in models], describe)]
    return order


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
    position = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return [position[key] for key in keys]
