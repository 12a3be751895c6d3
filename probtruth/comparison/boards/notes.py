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


def notes_on(sums: Moments, fits: Sequence[Fit], estimate: Estimate) -> Iterator[str]:
    """Sentences on what lacks, whether that looks like failures, and what does not follow from the scores."""
    yield from _lacking(sums)
    yield from _otherwise(fits, estimate)
    yield from _unknown(estimate)
    yield from _beyond(estimate)


def _lacking(sums: Moments) -> Iterator[str]:
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
    size = np.concatenate([fit.columns.size for fit in fits])
    scores = np.concatenate([fit.columns.values for fit in fits], axis=1)
    mean = np.average([fit.mean for fit in fits], axis=0, weights=[fit.n_items for fit in fits])
    of_groups = [fit.influence + np.outer(fit.mean - mean, fit.columns.size) for fit in fits]
    moved = np.concatenate(of_groups, axis=1)
    shared = estimate.about.shared_items
    assert shared is not None
    pairs = [(a, b) for a, b in pairs_of(leading(mean)) if ENOUGH_SHARED <= shared[a, b] < n_items]
    found = []
    for a, b in pairs:
        difference = scores[a] - scores[b]
        both = ~np.isnan(difference)
        direct = float(difference[both] @ size[both]) / shared[a, b]
        influence = (moved[b] - moved[a]) / n_items
        influence[both] += (difference[both] - direct * size[both]) / shared[a, b]
        error = float(np.linalg.norm(influence))
        if error > ROUNDING * float(np.abs(scores[[a, b]][:, both]).max()):
            whole = float(mean[a] - mean[b])
            t = abs(direct - whole) / error
            found.append((2 * float(stdtr(shared[a, b] - 1, -t)), a, b, direct, whole))
    if not found:
        return
    p, a, b, direct, whole = min(found)
    if len(mean) < 3 or p * len(pairs) > CHANCE:  # Bonferroni, over all pairs
        return
    first, second = (check.quote(estimate.names[at]) for at in (a, b))
    sign = estimate.about.sign
    yield (
        f"{first} minus {second} is {sign * direct:.3g} on the {shared[a, b]:,} items that both were scored on and "
        f"{sign * whole:.3g} on the whole board, more than chance explains: how far models differ depends on the "
        "items, so the answer depends on which items a model was scored on"
    )


def _unknown(estimate: Estimate) -> Iterator[str]:
    """Pairs that rest on one item, in each group."""
    pairs = pairs_of(np.arange(estimate.n_models))
    rest = np.flatnonzero((estimate.items.df[estimate.n_models :] == 0).all(1))
    if not len(rest):
        return
    a, b = (check.quote(estimate.names[at]) for at in pairs[rest[0]])
    more = f" (and {len(rest) - 1} more of the pairs)" if len(rest) > 1 else ""
    unit = estimate.design.unit_name
    yield (
        f"{a} and {b}{more} are connected by one {unit}, or hardly more: nothing tells how much their difference could "
        f"vary from {unit} to {unit}, so that P(better) and P(best) are not known; score more {unit}s with both"
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
