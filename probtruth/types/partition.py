"""How items belong together, and the scores that are averaged within them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from probtruth.check import Texts
from probtruth.kernels.shapes import CellInts, ChosenInts, ItemInts, ModelCell, ModelItem, TheseInts
from probtruth.types.shown import Brief


@dataclass(frozen=True, eq=False, repr=False)
class Partition(Brief):
    """Which of some named groups or clusters each item lies in; `codes` are positions in `names`."""

    codes: ItemInts
    names: Texts

    def part(self, items: TheseInts) -> "Partition":
        """That of some items; names that none of them has are left out."""
        used, codes = np.unique(self.codes[items], return_inverse=True)
        return Partition(codes, tuple([self.names[code] for code in used.tolist()]))


@dataclass(frozen=True, eq=False, repr=False)
class Replicates(Brief):
    """The scores before replicates were averaged: of each item and replicate (a cell), every model's, NaN for none.

    Cells stand by item (its place) and, within it, by replicate (the place of its name).
    """

    item: CellInts
    replicate: CellInts
    values: ModelCell
    names: Texts
    what: str = "replicate"  # or "annotator", whose part of the variance always counts

    def counts(self, n_items: int) -> Int[np.ndarray, "model item"]:
        """How many replicates each model has of each item."""
        counted = [np.bincount(self.item[~np.isnan(row)], minlength=n_items) for row in self.values]
        return np.array(counted, np.int64)

    def means(self, n_items: int) -> ModelItem:
        """Each model's mean over the replicates of each item; NaN where it has none."""
        found = np.full((len(self.values), n_items), np.nan)
        for row, values in zip(found, self.values, strict=True):
            there = ~np.isnan(values)
            n = np.bincount(self.item[there], minlength=n_items)
            total = np.bincount(self.item[there], values[there], n_items)
            np.divide(total, n, out=row, where=n > 0)
        return found

    def part(self, models: ChosenInts, items: TheseInts, n_items: int) -> "Replicates":
        """The cells of some models on some of the `n_items` items, which are in ascending order."""
        place = np.full(n_items, -1)
        place[items] = np.arange(len(items))
        cells = np.flatnonzero(place[self.item] >= 0)
        values = self.values[np.ix_(models, cells)]
        return Replicates(place[self.item[cells]], self.replicate[cells], values, self.names, self.what)
