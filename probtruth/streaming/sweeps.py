"""What one pass over the parts finds out: extremes of rows, then exact sums of them; bit for bit as in memory.

A row is one model's scores, or the differences of two. Rounding is monotone, so that the largest term of a sum (its
exponent is needed first) follows from the extremes of the row, without another pass.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.companions.size_counts import SizeCounts
from probtruth.comparison.evidence.moments import RARE
from probtruth.kernels.exact_sums import exponent, part_sum, part_totals, settled
from probtruth.streaming.parts import Part, Parts

HELD = 1 << 17
"""Numbers held at once: they stay in the processor's cache."""
TOGETHER = 16
"""Parts whose counts are joined at once."""
ALONE = -1
"""In place of the second model: the row is the first model's own scores."""

Pairs = Int[np.ndarray, "row 2"]


@dataclass(frozen=True, eq=False)
class Extremes:
    """The least and the largest term of each row in each group, how many are not 0, and the sizes of those if few."""

    low: Float[np.ndarray, "row group"]
    high: Float[np.ndarray, "row group"]
    differ: Int[np.ndarray, " row"]
    least: Float[np.ndarray, " row"]
    most: Float[np.ndarray, " row"]

    def merged(self, other: "Extremes") -> "Extremes":
        """Those of both."""
        return Extremes(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.differ + other.differ,
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
        )


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a sum: the row's numbers, less the centre of their group or times its weight.

    With `n_groups` 1 they are summed over all items, whatever groups there are.
    """

    rows: Pairs
    n_groups: int
    centre: Float[np.ndarray, "row group"] | None = None
    weight: Float[np.ndarray, " group"] | None = None

    def of(self, part: Part) -> Float[np.ndarray, "row item"]:
        """Those of a part."""
        taken = differences(part.values, self.rows)
        if self.centre is not None:
            taken -= self.centre if part.group is None or self.n_groups == 1 else self.centre[:, part.group]
        if self.weight is not None:
            weight = self.weight if part.group is None else self.weight[part.group]
            with np.errstate(invalid="ignore"):
                taken = np.where(weight > 0, taken * weight, 0.0)
        return taken

    def bounds(self, found: Extremes) -> Float[np.ndarray, " row"]:
        """The largest size of a term, from the extremes of the rows."""
        low, high = found.low, found.high
        if self.centre is not None:
            low, high = low - self.centre, high - self.centre
        if self.weight is not None:
            with np.errstate(invalid="ignore"):
                low, high = (np.where(self.weight > 0, ends * self.weight, 0.0) for ends in (low, high))
        return np.asarray(np.maximum(high, -low).max(1, initial=0.0))


def differences(values: Float[np.ndarray, "model item"], rows: Pairs) -> Float[np.ndarray, "row item"]:
    """The rows of a block, newly made."""
    first, second = rows.T
    taken: np.ndarray = values[first]
    two = second != ALONE
    if two.all():
        taken -= values[second]
    elif two.any():
        taken[two] -= values[second[two]]
    return taken


def extremes(parts: Parts, rows: Pairs) -> Extremes:
    """The extremes of all items."""
    return reduce(Extremes.merged, parts.each(partial(_extremes, rows, len(parts.n_items))))


def _extremes(rows: Pairs, n_groups: int, part: Part) -> Extremes:
    return reduce(Extremes.merged, (_block_extremes(rows, n_groups, block) for block in blocks(part, len(rows))))


def _block_extremes(rows: Pairs, n_groups: int, part: Part) -> Extremes:
    taken = differences(part.values, rows)
    low, high = np.full((len(rows), n_groups), np.inf), np.full((len(rows), n_groups), -np.inf)
    if part.group is None:
        low[:, 0], high[:, 0] = taken.min(1), taken.max(1)
    else:
        for row, terms in enumerate(taken):
            np.minimum.at(low[row], part.group, terms)
            np.maximum.at(high[row], part.group, terms)
    differ = np.count_nonzero(taken, axis=1)
    least, most = np.full(len(rows), np.inf), np.zeros(len(rows))
    for row in np.nonzero((differ > 0) & (differ < RARE))[0]:  # asked for only where few differ in all
        sizes = np.abs(taken[row, taken[row] != 0])
        least[row], most[row] = sizes.min(), sizes.max()
    return Extremes(low, high, differ, least, most)


def sums(
    parts: Parts, terms: Terms, peak: Float[np.ndarray, " row"], n_powers: int
) -> Float[np.ndarray, "power row group"]:
    """Exact sums of the terms, of their squares and of their cubes (as many of these as asked), in each group."""
    n = int(parts.n_items.sum())
    peaks = [peak, peak * peak, peak * peak * peak][:n_powers]
    tops = np.stack([exponent(size, n)[0] for size in peaks])
    work = partial(_sums, terms, tops, exponent(peak, n)[1])
    return settled(reduce(np.add, parts.each(work)))


def _sums(terms: Terms, tops: Int[np.ndarray, "power row"], bits: int, part: Part) -> np.ndarray:
    return reduce(np.add, (_block_sums(terms, tops, bits, block) for block in blocks(part, len(terms.rows))))


def _block_sums(terms: Terms, tops: Int[np.ndarray, "power row"], bits: int, part: Part) -> np.ndarray:
    first = terms.of(part)
    found = []
    power = first
    for place, top in enumerate(tops):
        if place:
            power = power * first
        if part.group is None or terms.n_groups == 1:
            found.append(part_sum(power, top, bits)[..., None])
        else:
            found.append(part_totals(power, part.group, terms.n_groups, top, bits))
    return np.stack(found, axis=1)


def unit_sums(parts: Parts, terms: Terms, peak: Float[np.ndarray, " row"], n_units: int) -> np.ndarray:
    """Exact totals of the terms of each unit (row, unit)."""
    top, bits = exponent(peak, int(parts.n_items.sum()))
    work = partial(_unit_sums, terms, top, bits, n_units)
    return settled(reduce(np.add, parts.each(work)))


def _unit_sums(terms: Terms, top: Int[np.ndarray, " row"], bits: int, n_units: int, part: Part) -> np.ndarray:
    total = np.zeros((3, len(terms.rows), n_units))
    for block in blocks(part, len(terms.rows)):
        if block.unit is not None:
            total += part_totals(terms.of(block), block.unit, n_units, top, bits)
    return total


def size_counts(parts: Parts, rows: Pairs) -> list[SizeCounts]:
    """How many numbers of each row lie in narrow bins of their size."""
    waiting: list[list[SizeCounts]] = []
    for found in parts.each(partial(_size_counts, rows)):
        waiting.append(found)
        if len(waiting) == TOGETHER:
            waiting = [_joined_counts(waiting)]
    return _joined_counts(waiting)


def _size_counts(rows: Pairs, part: Part) -> list[SizeCounts]:
    return [SizeCounts.of(differences(part.values, row[None])[0]) for row in rows]


def _joined_counts(parts: list[list[SizeCounts]]) -> list[SizeCounts]:
    return [SizeCounts.joined(of_row) for of_row in zip(*parts, strict=True)]


def gathered(parts: Parts) -> Part:
    """All parts as one, in the order of the items; for few items only."""
    found = list(parts.each(itself))
    item = np.concatenate([part.item for part in found])
    order = np.argsort(item)
    values = np.concatenate([part.values for part in found], axis=1)
    joined = _joined(part.group for part in found), _joined(part.unit for part in found)
    group, unit = (None if codes is None else codes[order] for codes in joined)
    return Part(values[:, order], item[order], group, unit)


def itself(part: Part) -> Part:
    """The part."""
    return part


def _joined(codes: Iterable[Int[np.ndarray, " item"] | None]) -> Int[np.ndarray, " item"] | None:
    known = [some for some in codes if some is not None]
    return np.concatenate(known) if known else None


def blocks(part: Part, n_rows: int) -> Iterator[Part]:
    """The part in pieces small enough to be quick."""
    yield from part.blocks(max(1, HELD // max(n_rows, 1)))
