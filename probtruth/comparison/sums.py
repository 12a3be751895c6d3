"""Sums over items of rows (scores or their differences), cell by cell, which add up over parts of the items."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.design import Structure

BLOCK = 1 << 17  # Numbers worked on at once: they stay in the processor's cache
RARE = 30  # Sizes are looked at one by one where fewer numbers than this differ from 0

PerRow = Float[np.ndarray, " row"]
PerGroup = Float[np.ndarray, "row group"]
PerCell = Float[np.ndarray, "row cell"]


@dataclass(frozen=True, eq=False)
class Sums:
    """Items, mean, sums of squared and of cubed residuals of each cell: a group, or a cluster, without the latter two.

    `differ` numbers of a row are not 0; `least` and `most` are the sizes of those where they are few.
    """

    n: Int[np.ndarray, " cell"]
    mean: PerCell
    square: PerCell | None
    cube: PerCell | None
    low: PerGroup
    high: PerGroup
    differ: Int[np.ndarray, " row"]
    least: PerRow
    most: PerRow

    @classmethod
    def of(cls, values: Float[np.ndarray, "model item"], within: Structure, pairs: np.ndarray | None = None) -> "Sums":
        """Those of the rows of values, or of them and the differences of these pairs."""
        cell = within.group if within.unit is None else within.unit
        n_cells = within.n_groups if within.unit_group is None else len(within.unit_group)
        if cell is None:
            counts, starts, group_starts = np.array([values.shape[1]]), np.array([0]), np.array([0])
        else:
            group = np.zeros(len(cell), np.int64) if within.group is None else within.group
            order = np.lexsort((cell, group))
            counts = np.bincount(cell, minlength=n_cells)
            if (np.diff(order) != 1).any():
                values = values[:, order]
            starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
            group_starts = np.flatnonzero(np.diff(group[order], prepend=-1))
            cells, groups = cell[order][starts], group[order][group_starts]
        made = []
        n_rows = len(values) + (0 if pairs is None else len(pairs))
        step = max(1, BLOCK // max(values.shape[1], 1))
        for start in range(0, n_rows, step):
            rows = values[start : start + step]
            if pairs is not None and start + step > len(values):
                first, second = pairs[max(0, start - len(values)) : start + step - len(values)].T
                rows = np.concatenate([rows, _minus(values, first, second)])
            made.append(_of_block(rows, starts, group_starts, within.unit_group is None))
        parts: list[Any] = [None if part[0] is None else np.concatenate(part) for part in zip(*made, strict=True)]
        mean, square, cube, low, high, differ, least, most = parts
        if cell is not None:
            mean, square, cube = (
                None if part is None else _spread(part, cells, n_cells) for part in (mean, square, cube)
            )
            low = _spread(low, groups, within.n_groups, np.inf)
            high = _spread(high, groups, within.n_groups, -np.inf)
        return cls(counts, mean, square, cube, low, high, differ, least, most)

    def of_rows(self, rows: Int[np.ndarray, " chosen"]) -> "Sums":
        kept: list[Any] = [getattr(self, field.name) for field in fields(self)[1:]]
        chosen: list[Any] = [None if part is None else part[rows] for part in kept]
        return Sums(self.n, *chosen)

    def of_cells(
        self, cells: Int[np.ndarray, " cell"], n_cells: int, groups: Int[np.ndarray, " group"], n_groups: int
    ) -> "Sums":
        """The same where the cells and groups are some of more."""
        n = np.zeros(n_cells, np.int64)
        n[cells] = self.n
        powers: list[Any] = [self.mean, self.square, self.cube]
        wide: list[Any] = [None if part is None else _spread(part, cells, n_cells) for part in powers]
        mean, square, cube = wide
        low, high = _spread(self.low, groups, n_groups, np.inf), _spread(self.high, groups, n_groups, -np.inf)
        return Sums(n, mean, square, cube, low, high, self.differ, self.least, self.most)

    def __add__(self, other: "Sums") -> "Sums":
        """Those of both parts, of the same cells."""
        one, two = self.n.astype(np.float64), other.n.astype(np.float64)
        n = np.maximum(one + two, 1.0)
        square = cube = None
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.where((one > 0) & (two > 0), other.mean - self.mean, 0.0)
            mean = np.where(one > 0, self.mean, other.mean) + apart * two / n
            if (
                self.square is not None
                and other.square is not None
                and self.cube is not None
                and other.cube is not None
            ):
                square = self.square + other.square + apart**2 * one * two / n
                cube = self.cube + other.cube + apart**3 * one * two * (one - two) / n**2
                cube = cube + 3 * apart * (one * other.square - two * self.square) / n
        few = self.differ + other.differ < RARE
        return Sums(
            self.n + other.n,
            mean,
            square,
            cube,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.differ + other.differ,
            np.where(few, np.minimum(self.least, other.least), np.inf),
            np.where(few, np.maximum(self.most, other.most), 0.0),
        )


def _minus(values: np.ndarray, first: Int[np.ndarray, " row"], second: Int[np.ndarray, " row"]) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.asarray(values[first] - values[second])


def _of_block(
    rows: Float[np.ndarray, "row item"], starts: np.ndarray, group_starts: np.ndarray, powers: bool
) -> tuple[np.ndarray | None, ...]:
    counts = np.diff(starts, append=rows.shape[1])
    square = cube = None
    with np.errstate(invalid="ignore", over="ignore"):
        mean = np.add.reduceat(rows, starts, axis=1) / counts
        if powers:
            residual = rows - (mean if len(starts) == 1 else np.repeat(mean, counts, axis=1))
            raised = residual * residual
            square = np.add.reduceat(raised, starts, axis=1)
            raised *= residual
            cube = np.add.reduceat(raised, starts, axis=1)
        low, high = (ends.reduceat(rows, group_starts, axis=1) for ends in (np.minimum, np.maximum))
    return mean, square, cube, low, high, *few_sizes(rows)


def few_sizes(rows: Float[np.ndarray, "row unit"]) -> tuple[Int[np.ndarray, " row"], PerRow, PerRow]:
    """How many numbers of each row are not 0, and the least and the largest size of those, where they are few."""
    differ = np.array([np.count_nonzero(row) for row in rows], np.int64)
    least, most = np.full(len(rows), np.inf), np.zeros(len(rows))
    for row in np.flatnonzero((differ > 0) & (differ < RARE)):
        sizes = np.abs(rows[row][rows[row] != 0])
        least[row], most[row] = sizes.min(), sizes.max()
    return differ, least, most


def _spread(part: np.ndarray, places: Int[np.ndarray, " some"], size: int, empty: float = 0.0) -> np.ndarray:
    wide = np.full((len(part), size), empty)
    wide[:, places] = part
    return wide
