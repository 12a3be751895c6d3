"""Whether neighbouring items have like differences, in the order in which the caller gave them: a sign of clusters."""

import math

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtri

from probtruth import check
from probtruth.comparison.design import Design
from probtruth.comparison.pairs import first_and_last
from probtruth.types import Scores

FALSE_ALARMS = 0.005  # Nominal rate of false alarms of one comparison; simulated, it is below 0.01
ALIKE = "items next to each other"  # How the warning begins
FEWEST, MOST = 20, 20_000  # Items from which on, and up to which, the order is looked at
# Squared kurtosis of ranks without many ties, and the items that each unit of more takes for a nearly normal sum.
EVEN, TAIL = 10, 20


def serial_notes(scores: Scores, plan: Design, means: Float[np.ndarray, " model"]) -> tuple[str, ...]:
    """A warning where differences of the best model from another follow each other; none where no order is known."""
    if not scores.item_order or plan.n_clusters is not None or plan.n_items < FEWEST or np.isnan(means).any():
        return ()
    order = slice(MOST) if scores.item_rows is None else np.argsort(scores.item_rows)[:MOST]
    values, group = scores.losses[:, order], plan.of_item()[order]
    finite = np.nonzero(np.isfinite(scores.values).all(1))[0]
    if len(finite) < 2:
        return ()
    best = finite[np.lexsort((np.array(scores.models)[finite], means[finite]))[0]]
    others = [model for model in finite if model != best]
    bar = float(ndtri(1 - FALSE_ALARMS / len(others)))
    correlation = {scores.models[other]: lag_one(values[best] - values[other], group) for other in others}
    alike = {name: r for name, (r, z) in correlation.items() if z > bar}
    if not alike:
        return ()
    name = max(alike, key=lambda other: alike[other])
    more = f" and of {len(alike) - 1} more pairs" if len(alike) > 1 else ""
    return (
        f"{ALIKE}, in the order given, have like differences of "
        f"{check.quote(scores.models[best])} and {check.quote(name)}{more} (rank correlation {alike[name]:.2f}): they "
        "are not independent, and the intervals are too narrow; say what items share by clusters (command line: "
        "--clusters)",
    )


def lag_one(row: Float[np.ndarray, " item"], group: Int[np.ndarray, " item"]) -> tuple[float, float]:
    """The rank correlation of neighbours of one group, and its z score under exchangeable items."""
    ranks, bias, neighbours = np.zeros(len(row)), 0.0, 0
    for one in np.unique(group):
        own = np.nonzero(group == one)[0]
        first, last = first_and_last(row[own])
        centred = (first + last) / 2
        centred -= centred.mean()
        spread = math.sqrt(float((centred**2).mean()))
        pairs = int((np.diff(own) == 1).sum())
        if spread == 0 or pairs == 0:
            continue
        ranks[own] = centred / spread
        neighbours += pairs
        bias += pairs / (len(own) - 1)
    uneven = float((ranks**4).mean()) ** 2
    if neighbours < FEWEST - 1 or (uneven > EVEN and TAIL * uneven > len(row)):
        return 0.0, 0.0
    same = (group[1:] == group[:-1]) & (ranks[1:] != 0) & (ranks[:-1] != 0)
    total = float((ranks[1:] * ranks[:-1])[same].sum()) + bias
    return total / neighbours, total / math.sqrt(neighbours)
