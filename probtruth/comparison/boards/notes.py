"""What is said of a board with holes: who lacks what, where models differ otherwise, means that no scores have."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
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
ROUNDING = 1e-9  # Errors below this share of the differences are rounding


def notes_on(
    sums: Moments, names: Sequence[str], fits: Sequence[Fit], shared: Float[np.ndarray, "finite finite"]
) -> tuple[str, ...]:
    """Who lacks what, whether that looks like failures, and where models (of finite scores) differ otherwise."""
    columns = sums.columns
    assert columns is not None
    lacks = np.isnan(columns.values) @ columns.count
    order = np.argsort(-lacks, kind="stable")
    said = [f"{check.quote(sums.models[at])} lacks {lacks[at]:,}" for at in order[:SHOWN] if lacks[at]]
    others = int((lacks > 0).sum()) - len(said)
    if others:
        said.append(f"{others} more of the models lack fewer")
    notes = [
        f"of {columns.count.sum():,} items {', '.join(said)}: every score counts, and the models that an item was "
        "scored on say what it is worth"
    ]
    most = order[0]
    if len(order) > 1 and lacks[most] >= FEW_MISSING and lacks[most] > MORE * lacks[order[1]]:
        notes.append(
            f"{check.quote(sums.models[most])} lacks far more scores than the others: if it failed on these items, "
            "give them the score of a failure; a missing score says nothing about the model"
        )
    sign = -1.0 if sums.higher_is_better else 1.0
    return (*notes, *_otherwise(names, fits, shared, sign))


def unknown(estimate: Estimate, df: Float[np.ndarray, "row group"]) -> tuple[str, ...]:
    """A sentence on pairs that rest on one item."""
    pairs = pairs_of(np.arange(estimate.n_models))
    rest = np.flatnonzero((df[estimate.n_models :] == 0).any(1))
    if not len(rest):
        return ()
    a, b = (check.quote(estimate.names[at]) for at in pairs[rest[0]])
    more = f" (and {len(rest) - 1} more of the pairs)" if len(rest) > 1 else ""
    unit = estimate.design.unit_name
    return (
        f"{a} and {b}{more} are connected by one {unit}, or hardly more: nothing tells how much their difference could "
        f"vary from {unit} to {unit}, so that P(better) and P(best) are not known; score more {unit}s with both",
    )


def beyond(estimate: Estimate, limits: tuple[float, float] | None) -> tuple[str, ...]:
    """A sentence on a mean that no scores of this range have."""
    if limits is None:
        return ()
    low, high = limits
    means = estimate.over_groups().mean[: estimate.n_models, 0]
    for at in np.flatnonzero((means < low) | (means > high))[:1].tolist():
        sign = estimate.about.sign
        least, most = sorted((sign * low + 0.0, sign * high + 0.0))  # no negative zero
        return (
            f"the mean of {check.quote(estimate.names[at])} would be {sign * means[at]:.3g}, beyond the scores' range "
            f"({least:g} to {most:g}): models cannot differ as much on the items that it lacks as on those that it "
            "has, so the differences hold for the latter alone",
        )
    return ()


def _otherwise(
    names: Sequence[str], fits: Sequence[Fit], shared: Float[np.ndarray, "finite finite"], sign: float
) -> tuple[str, ...]:
    """A sentence on the pair whose difference on shared items is least like that of the whole board."""
    if len(names) < 3:
        return ()
    n_items = sum(fit.n_items for fit in fits)
    mean = np.sum([fit.n_items * fit.mean for fit in fits], axis=0) / n_items
    parts = [fit.of_sums(mean) for fit in fits]
    scores, moved, size = (np.concatenate(one, axis=-1) for one in zip(*parts, strict=True))
    pairs = pairs_of(np.arange(len(names)))
    shared_items = shared[pairs[:, 0], pairs[:, 1]]
    found: tuple[float, int, float, float] | None = None
    looked_at = np.isin(pairs, leading(mean)).all(1) & (shared_items >= ENOUGH_SHARED) & (shared_items < n_items)
    for at in np.flatnonzero(looked_at).tolist():
        a, b = pairs[at]
        difference = scores[a] - scores[b]
        both = ~np.isnan(difference)
        direct = float(difference[both] @ size[both]) / shared_items[at]
        influence = (moved[b] - moved[a]) / n_items
        influence[both] += (difference[both] - direct * size[both]) / shared_items[at]
        error = float(np.linalg.norm(influence))
        whole = float(mean[a] - mean[b])
        if error <= ROUNDING * float(np.abs(difference[both]).max()):
            continue
        p = 2 * float(stdtr(shared_items[at] - 1, -abs(direct - whole) / error))
        if found is None or p < found[0]:
            found = (p, at, direct, whole)
    if found is None or found[0] * looked_at.sum() > CHANCE:  # Bonferroni, over all pairs
        return ()
    _, at, direct, whole = found
    a, b = (check.quote(names[place]) for place in pairs[at])
    return (
        f"{a} minus {b} is {sign * direct:.3g} on the {shared_items[at]:,.0f} items that both were scored on and "
        f"{sign * whole:.3g} on the whole board, more than chance explains: how far models differ depends on the "
        "items, so the answer depends on which items a model was scored on",
    )
