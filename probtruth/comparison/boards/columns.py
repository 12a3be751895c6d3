"""Scores with holes in columns that add up over parts of the items.

A column is an item; or one row of a triangular root of many items that the same models were scored on: with one row
for each model and one for a constant, its products of two add up as those of the items do. An item's influence on the
means is linear in its scores, in one way for all items of such a set, so that these columns give its squares.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

Values = Float[np.ndarray, "model column"]


@dataclass(frozen=True, eq=False)
class Columns:
    """The scores of each column, and the cell (group or cluster) of its items.

    `size` is what the constant has become: 1 of an item; its squares count items. `cubes` has, at the first column of a
    set, what the products of three of its columns lack: of the constant, then of the scores about the set's mean.
    """

    values: Values
    size: Float[np.ndarray, " column"]
    cell: Int[np.ndarray, " column"]
    cubes: Shaped[np.ndarray, " column"]  # each an array of rows, rows and rows, or None

    @classmethod
    def of_items(cls, values: Values, cell: Int[np.ndarray, " column"]) -> "Columns":
        return cls(values, np.ones(len(cell)), cell, np.full(len(cell), None))

    @property
    def count(self) -> Int[np.ndarray, " column"]:
        """How many items each column counts for."""
        return np.rint(self.size**2).astype(np.int64)

    @property
    def seen(self) -> Bool[np.ndarray, "model column"]:
        return ~np.isnan(self.values)

    @property
    def sets(self) -> list[int]:
        """The first columns of the sets of many items."""
        return [at for at, cubes in enumerate(self.cubes) if cubes is not None]

    def of_models(self, places: Int[np.ndarray, " model"]) -> "Columns":
        """Those of some models; a place after the last is that of a model that lacks all."""
        values = np.pad(self.values, ((0, 1), (0, 0)), constant_values=np.nan)
        row = np.append(0, places + 1)
        cubes = self.cubes.copy()
        for at in self.sets:
            cubes[at] = np.pad(cubes[at], (0, 1))[np.ix_(row, row, row)]
        return replace(self, values=values[places], cubes=cubes)

    def chosen(self, columns: Bool[np.ndarray, " column"]) -> "Columns":
        """Some columns."""
        return Columns(**{name: array[..., columns] for name, array in vars(self).items()})

    def __add__(self, other: "Columns") -> "Columns":
        arrays = vars(other)
        return Columns(**{name: np.concatenate([array, arrays[name]], -1) for name, array in vars(self).items()})

    def merged(self) -> "Columns":
        """The same with a root for each set of columns, of one cell and the same models, that has more numbers."""
        keys = np.vstack([self.cell, self.seen])
        _, set_of, n_columns = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
        set_of = set_of.ravel()
        large = n_columns > (len(self.values) + 1) ** 2
        merged = self.chosen(~large[set_of])
        for one in np.flatnonzero(large):
            merged += self.chosen(set_of == one)._joined()
        return merged

    def _joined(self) -> "Columns":
        """The root of the columns of one set."""
        # of models with an infinite score nothing else is asked
        values = np.nan_to_num(self.values, posinf=0.0, neginf=0.0)
        mean = values @ self.size / (self.size @ self.size)
        about_mean = np.vstack([self.size, values - np.outer(mean, self.size)])
        root = np.linalg.qr(about_mean.T, mode="r").T
        lacking = _cubes(about_mean) - _cubes(root)
        for at in self.sets:
            shift = np.eye(len(root))
            shift[:, 0] = about_mean[:, at] / self.size[at]
            lacking += np.einsum("abc,ia,jb,kc->ijk", self.cubes[at], shift, shift, shift, optimize=True)
        joined = root[1:] + np.outer(mean, root[0])
        joined[~self.seen[:, 0]] = np.nan
        cubes = np.full(len(root), None)
        cubes[0] = lacking
        return Columns(joined, root[0], np.repeat(self.cell[0], len(root)), cubes)


def _cubes(rows: Float[np.ndarray, "row column"]) -> Float[np.ndarray, "row row row"]:
    """The sums of products of three; of a row at a time, for the memory."""
    return np.stack([(row * rows) @ rows.T for row in rows])
