"""Whether neighbouring items have like differences, in the order in which the caller gave them: a sign of clusters."""

import math

import numpy as np
from scipy.special import ndtri

from probtruth import check
from probtruth.comparison.estimation.design import Design
from probtruth.kernels.shapes import ItemFloats, ItemInts, ModelFloats
from probtruth.types import Scores

FALSE_ALARMS = 0.005  # Nominal rate of false alarms of one comparison; simulated, it is below 0.01
ALIKE = "items next to each other"  # How the warning begins
FEWEST, MOST = 20, 20_000  # Items from which on, and up to which, the order is looked at
# Squared kurtosis of ranks without many ties, and the items that each unit of more takes for a nearly normal sum.
EVEN, TAIL = 10, 20


def serial_notes(scores: Scores, plan: Design, means: ModelFloats) -> tuple[str, ...]:
    """A warning where differences of the best model from another follow each other; none where no order is known."""
    finite = np.flatnonzero(np.isfinite(scores.values).all(1))
    ordered = scores.item_order and plan.n_clusters is None
    if not ordered or plan.n_items < FEWEST or np.isnan(means).any() or len(finite) < 2:
        return ()
    order = np.arange(plan.n_items)
    if scores.item_rows is not None:
        order = np.argsort(scores.item_rows)
    order = order[:MOST]
    values = scores.losses[:, order]
    group = plan.of_item()[order]
    names = np.array(scores.models)[finite]
    by_mean = np.lexsort((names, means[finite]))
    best, *others = finite[by_mean]
    bar = float(ndtri(1 - FALSE_ALARMS / len(others)))
    most_alike = (0.0, "")
    for other in sorted(others):
        correlation, z = lag_one(values[best] - values[other], group)
        if z > bar:
            most_alike = max(most_alike, (correlation, scores.models[other]))
    largest, name = most_alike
    if not name:
        return ()
    return (
        f"{ALIKE}, in the order given, have like differences of {check.quote(scores.models[best])} and "
        f"{check.quote(name)} (rank correlation {largest:.2f}): they are not independent, and the intervals are too "
        "narrow; say what items share by clusters (command line: --clusters)",
    )


def lag_one(row: ItemFloats, group: ItemInts) -> tuple[float, float]:
    """The rank correlation of neighbours of one group, and its z score under exchangeable items."""
    ranks = np.zeros(len(row))
    bias = 0.0
    neighbours = 0
    for one in np.unique(group):
        members = np.flatnonzero(group == one)
        _, run, number = np.unique(row[members], return_inverse=True, return_counts=True)
        mean_rank = np.cumsum(number) - (number - 1) / 2
        centred = mean_rank[run] - (len(members) + 1) / 2
        spread = math.sqrt(float((centred**2).mean()))
        pairs = int((np.diff(members) == 1).sum())
        if spread == 0 or pairs == 0:
            continue
        ranks[members] = centred / spread
        neighbours += pairs
        bias += pairs / (len(members) - 1)
    uneven = float((ranks**4).mean()) ** 2
    if neighbours < FEWEST - 1 or (uneven > EVEN and TAIL * uneven > len(row)):
        return 0.0, 0.0
    products = ranks[1:] * ranks[:-1]
    of_one_group = group[1:] == group[:-1]
    total = float(products[of_one_group].sum()) + bias
    return total / neighbours, total / math.sqrt(neighbours)
