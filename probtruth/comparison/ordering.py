"""An order of the models by their scores alone, so that names and the order in which they came change nothing."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.sums import exact_sum, exact_totals

Key = tuple[object, ...]


def model_order(
    values: Float[np.ndarray, "model item"],
    names: Sequence[str],
    strata: Sequence[Int[np.ndarray, " _"]],
    clusters: Int[np.ndarray, " item"] | None,
) -> Int[np.ndarray, " model"]:
    """By mean, then by higher moments in each stratum, then by how a model differs from the others.

    Models that all of this leaves tied are exchanged by a permutation of the items, as far as means, variances and
    third moments can tell; only among those do the names decide.
    """
    colours = _ranked([(float(total),) for total in exact_sum(values)])
    if len(set(colours)) < len(colours):
        blocks = [values[:, items] for items in strata]
        if clusters is not None:
            places = [np.unique(clusters[items], return_inverse=True)[1] for items in strata]
            blocks += [exact_totals(block, place) for block, place in zip(blocks, places, strict=True)]
        own = [_powers(block) for block in blocks]
        colours = _ranked([(colour, *(tuple(stats[row]) for stats in own)) for row, colour in enumerate(colours)])
        for _ in range(len(values)):
            finer = _refined(colours, blocks)
            if len(set(finer)) == len(set(colours)):
                break
            colours = finer
    return np.array(sorted(range(len(values)), key=lambda row: (colours[row], names[row])), np.int64)


def _powers(rows: Float[np.ndarray, "row item"]) -> list[list[float]]:
    return np.stack([exact_sum(rows**power) for power in (1, 2, 3)], axis=1).tolist()  # type: ignore[no-any-return]


def _refined(colours: Sequence[int], blocks: Sequence[Float[np.ndarray, "model _"]]) -> list[int]:
    keys: list[Key] = []
    for row, colour in enumerate(colours):
        if colours.count(colour) == 1:
            keys.append((colour, ()))
            continue
        stats = [_powers(block[row] - block) for block in blocks]
        others = sorted(
            (colours[other], *(tuple(block[other]) for block in stats)) for other in range(len(colours)) if other != row
        )
        keys.append((colour, tuple(others)))
    return _ranked(keys)


def _ranked(keys: Sequence[Key]) -> list[int]:
    place = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return [place[key] for key in keys]
