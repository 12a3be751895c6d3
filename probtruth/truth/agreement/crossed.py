"""How unsure a statistic is over new items and new annotators, from what each of them moves it by."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import stdtr, stdtrit

from probtruth.kernels.arrays import ratio

PerRow = Float[np.ndarray, " row"]

TAIL = 0.025  # Of a 95% interval, on either side
PAIR = 2  # Annotators of equal numbers of answers, of whom nothing tells how others would answer
SLOWLY = 3  # Power by which what annotators add comes in from there, until there is one more


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
    item: Int[np.ndarray, " cell"]
    annotator: Int[np.ndarray, " cell"]
    removed: Float[np.ndarray, " cell"]

    def less_first(self) -> "Influences":
        """Those on each statistic's difference from the first."""
        return replace(self, of_item=self.of_item - self.of_item[:1], of_cell=self.of_cell - self.of_cell[:1])

    def spread(self) -> Spread:
        """Of items; and of annotators, as far as theirs is beyond what the noise of their answers gives."""
        n_items = self.of_item.shape[1]
        freedom = max(n_items - 1, 1)
        centred = self.of_item - self.of_item.mean(1, keepdims=True)
        items = (centred**2).sum(1) * n_items / freedom
        if not len(self.item):  # counts
            return Spread(np.sqrt(items), np.full(len(items), float(freedom)))
        used, who = np.unique(self.annotator, return_inverse=True)
        n = len(used)
        n_answers = np.bincount(self.item)
        size = n_answers[self.item]
        # A statistic of pairs is sum_v s_v b_v of annotators' biases, s_v the share of pairs that v is part of. What
        # goes with annotator j, sum_i d_ij, has of b_j s_j (1 - s_j), of b_v the share of pairs of both less s_j s_v
        of_pair = self.removed / (size - 1)
        beside = csr_array((np.sqrt(of_pair), (self.item, who)), (len(n_answers), n))
        together = beside.T @ beside
        alone = together.diagonal()
        share = np.bincount(who, self.removed, n)
        square = share**2
        total_square = float(square.sum())
        both = float((together.data**2).sum() - (alone**2).sum())
        crossed = float(((beside @ share) ** 2).sum() - alone @ square)
        of_others = both - 2 * crossed + total_square**2 - float((square**2).sum())
        own = float((square * (1 - share) ** 2).sum())
        scale = float(ratio(total_square, own + max(of_others, 0.0)))
        # Squares of single cells are noise, which items already count: what an item's cells have in common is so as far
        # as an annotator's items are not all
        elsewhere = 1 - np.bincount(who, self.removed * size / 2, n)[who]
        raw = np.empty(len(items))
        noise = np.empty(len(items))
        for row, of_cell in enumerate(self.of_cell):
            common = (np.bincount(self.item, of_cell) / n_answers)[self.item]
            raw[row] = scale * (np.bincount(who, of_cell, n) ** 2).sum()
            noise[row] = scale * ((of_cell - common) ** 2 + elsewhere * common**2).sum()
        # so many with like numbers of answers tell as much (Kish)
        effective = len(who) ** 2 / float((np.bincount(who) ** 2).sum())
        counted = min(max(effective - PAIR, 0.0), 1.0) ** SLOWLY
        raw *= counted
        extra = np.maximum(raw - counted * noise, 0.0)
        # Satterthwaite's rule, with a larger share for few annotators: what they show by chance is often too little
        of_annotators = max(effective - 1, 1.0)
        total = items + raw
        total[total <= 0] = 1.0
        part = (raw / total) ** (of_annotators / (of_annotators + 1))
        df = 1 / (part / of_annotators + (1 - part) / freedom)
        return Spread(np.sqrt(items + extra), df)
