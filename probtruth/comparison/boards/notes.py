"""What is said of a board with holes: who lacks what, where models differ otherwise, means that no scores have."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import stdtr

from probtruth import check
from probtruth.comparison.boards.fit import Fit
from probtruth.comparison.estimation.design import leading, pairs_of
from probtruth.comparison.estimation.estimate import Estimate
from probtruth.comparison.estimation.moments import Moments

SHOWN = 3  # Models that a note names
FEW_MISSING = 5  # Missing scores below which nobody asks whether they are failures
MORE = 3  # A model that lacks so many times what the next one lacks stands out
ENOUGH_SHARED = 10  # Shared items from which a pair's own difference is looked at
CHANCE = 0.01  # Probability, over all pairs, of a difference between the two that is said without a reason
LEAST_DF = 0.5  # Degrees of freedom below which no interval of a mean says anything: it would be 400 errors wide
ROUNDING = 1e-9  # Errors below this share of the scores are rounding


def notes_on(fits: Sequence[Fit], estimate: Estimate) -> Iterator[str]:
    """Sentences on what does not follow from the scores."""
    yield from _otherwise(fits, estimate)
    yield from _unknown(estimate)
    yield from _beyond(estimate)


def lacking(sums: Moments) -> Iterator[str]:
    """Sentences on what lacks, and whether that looks like failures."""
    columns = sums.columns
    assert columns is not None
    lacks = np.isnan(columns.values) @ columns.count
    order = np.argsort(-lacks, kind="stable")
    said = [f"{check.quote(sums.models[at])} lacks {lacks[at]:,}" for at in order[:SHOWN] if lacks[at]]
    others = np.count_nonzero(lacks) - len(said)
    if others:
        said.append(f"{others} more of the models lack fewer")
    yield (
        f"of {columns.count.sum():,} items {', '.join(said)}: every score counts, and the models that an item was "
        "scored on say what it is worth"
    )
    most = order[0]
    if len(order) > 1 and lacks[most] >= FEW_MISSING and lacks[most] > MORE * lacks[order[1]]:
        yield (
            f"{check.quote(sums.models[most])} lacks far more scores than the others: if it failed on these items, "
            "give them the score of a failure; a missing score says nothing about the model"
        )


def _otherwise(fits: Sequence[Fit], estimate: Estimate) -> Iterator[str]:
    """The pair whose difference on shared items is least like that of the whole board."""
    n_items = estimate.design.n_items
    shared = estimate.about.shared_items
    assert shared is not None
    if len(shared) < 3:
        return
    size = np.concatenate([fit.columns.size for fit in fits])
    scores = np.concatenate([fit.columns.values for fit in fits], axis=1)
    mean = np.average([fit.mean for fit in fits], axis=0, weights=[fit.n_items for fit in fits])
    of_groups = [fit.influence + np.outer(fit.mean - mean, fit.columns.size) for fit in fits]
    moved = np.concatenate(of_groups, axis=1) / n_items
    pairs = [(a, b) for a, b in pairs_of(leading(mean)) if ENOUGH_SHARED <= shared[a, b] < n_items]
    beyond = []
    for a, b in pairs:
        difference = scores[a] - scores[b]
        direct = float(np.nansum(difference * size)) / shared[a, b]
        influence = np.nan_to_num(difference - direct * size) / shared[a, b] - moved[a] + moved[b]
        error = float(np.sqrt(np.square(influence).sum()))
        if error > ROUNDING * float(np.nanmax(np.abs(scores[[a, b]]))):
            whole = float(mean[a] - mean[b])
            t = abs(direct - whole) / error
            p = 2 * len(pairs) * float(stdtr(shared[a, b] - 1, -t))  # Bonferroni, over all pairs
            if p <= CHANCE:
                beyond.append((p, a, b, direct, whole))
    sign = estimate.about.sign
    for _, a, b, direct, whole in sorted(beyond)[:1]:
        yield (
            f"{check.quote(estimate.names[a])} minus {check.quote(estimate.names[b])} is {sign * direct:.3g} on the "
            f"{shared[a, b]:,} items that both were scored on and {sign * whole:.3g} on the whole board, more than "
            "chance explains: how far models differ depends on the items, so the answer depends on which items a model "
            "was scored on"
        )


def _unknown(estimate: Estimate) -> Iterator[str]:
    """Pairs that rest on one item, in each group."""
    rest = np.flatnonzero((estimate.items.df[estimate.n_models :] == 0).all(1))
    if not len(rest):
        return
    a, b = pairs_of(np.array(estimate.names))[rest[0]].tolist()
    more = f" (and {len(rest) - 1} more of the pairs)" if len(rest) > 1 else ""
    unit = estimate.design.unit_name
    yield (
        f"{check.quote(a)} and {check.quote(b)}{more} are connected by one {unit}, or hardly more: nothing tells how "
        f"much their difference could vary from {unit} to {unit}, so that P(better) and P(best) are not known; score "
        f"more {unit}s with both"
    )


def _beyond(estimate: Estimate) -> Iterator[str]:
    """A mean that no scores of their range have."""
    if estimate.about.range is None:
        return
    low, high = estimate.about.range
    means = estimate.over_groups().mean[: estimate.n_models, 0]
    for at in np.flatnonzero((means < low) | (means > high))[:1].tolist():
        sign = estimate.about.sign
        least, most = sorted((sign * low + 0.0, sign * high + 0.0))  # no negative zero
        yield (
            f"the mean of {check.quote(estimate.names[at])} would be {sign * means[at]:.3g}, beyond the scores' range "
            f"({least:g} to {most:g}): models cannot differ as much on the items that it lacks as on those that it "
            "has, so the differences hold for the latter alone"
        )
