"""How unsure a statistic is over new items and new annotators, from what each of them moves it by."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import stdtr, stdtrit

PerRow = Float[np.ndarray, " row"]

TAIL = 0.025  # Of a 95% interval, on either side
FEWEST = 3  # Annotators of whom leaving one out leaves a pair


def most_unseen(n_items: int) -> float:
    """The largest share of items that are unlike all that were seen, at the end of a 95% interval."""
    return float(1 - TAIL ** (1 / n_items))


@dataclass(frozen=True, eq=False)
class Spread:
    """Standard errors and degrees of freedom of statistics, one for each row."""

    error: PerRow
    df: PerRow

    @property
    def half_width(self) -> PerRow:
        """What a 95% t interval reaches on either side."""
        return stdtrit(self.df, 1 - TAIL) * self.error

    def p_below(self, difference: PerRow) -> PerRow:
        """P(the true difference is below 0); a half where all is 0."""
        below = (1 - np.sign(difference)) / 2
        unsure = self.error > 0
        t = -difference[unsure] / self.error[unsure]
        below[unsure] = stdtr(self.df[unsure], t)
        return below


@dataclass(frozen=True, eq=False)
class Influences:
    """What items, and annotators on each of their items (cells), move statistics by.

    `removed` is the share of all pairs of answers that goes with an annotator's answer to an item.
    """

    of_item: Float[np.ndarray, "row item"]
    of_cell: Float[np.ndarray, "row cell"]
    annotator: Int[np.ndarray, " cell"]
    removed: Float[np.ndarray, " cell"]

    def less_first(self) -> "Influences":
        """Those on each statistic's difference from the first."""
        return Influences(
            self.of_item - self.of_item[:1], self.of_cell - self.of_cell[:1], self.annotator, self.removed
        )

    def spread(self) -> Spread:
        """Of items; and of annotators, as far as theirs is beyond what the noise of their answers gives."""
        # The jackknife of a U-statistic: without annotator j it is off by sum_i d_ij / (1 - r_j), with r_j the share of
        # pairs that j is part of. Of the sum of squares, that of single cells is noise, which items already count.
        n_items = self.of_item.shape[1]
        freedom = max(n_items - 1, 1)
        centred = self.of_item - self.of_item.mean(1, keepdims=True)
        items = (centred**2).sum(1) * n_items / freedom
        used, who = np.unique(self.annotator, return_inverse=True)
        n = len(used)
        remaining = 1 - np.bincount(who, self.removed, n)
        if n < FEWEST or (remaining <= 0).any():  # nothing tells how others would answer
            return Spread(np.sqrt(items), np.full(len(items), float(freedom)))
        moved = np.empty((len(items), n))
        squares = np.empty_like(moved)
        for row, of_cell in enumerate(self.of_cell):
            moved[row] = np.bincount(who, of_cell, n) / remaining
            squares[row] = np.bincount(who, of_cell**2, n) / remaining**2
        moved -= moved.mean(1, keepdims=True)
        others = (n - 1) / n
        raw = (moved**2).sum(1) * others
        noise = squares.sum(1) * others**2
        extra = np.maximum(raw - noise, 0.0)
        # Satterthwaite's rule, with a larger share for few annotators: what they show by chance is often too little
        total = items + raw
        total[total <= 0] = 1.0
        share = (raw / total) ** others
        df = 1 / (share / (n - 1) + (1 - share) / freedom)
        return Spread(np.sqrt(items + extra), df)
