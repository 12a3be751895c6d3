"""The same few annotators, or the same seeds, on every item: their own leanings do not average out over items."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth.comparison.evidence.moments import Location
from probtruth.comparison.evidence.sweeps import all_pairs
from probtruth.errors import InputError
from probtruth.kernels.arrays import to_host
from probtruth.kernels.exact_sums import exact_sum
from probtruth.types import Annotations, Scores

MOST_CELLS = 50_000_000
"""Cells of an item-by-unit table that is still made."""
FEW, COMPLETE = 30, 0.5
"""Annotators are the same few on every item if there are at most so many, each on at least this share of the items."""
SKEWED_FROM, SKEWNESS_FROM = 4, 5.0
"""Units from which on a skewness is estimated at all, as of clusters; it counts by U/(U + so many), because that of few
units is mostly noise."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Losses by item and unit (annotator or replicate), NaN where a unit did not see the item.

    `of(a)` are those of a model; `paired(a, b)` says whether the two models have the same units.
    """

    what: str
    of: Callable[[int], Float[np.ndarray, "item unit"]]
    paired: Callable[[int, int], bool]


@dataclass(frozen=True)
class Excess:
    """What the units add to the variance of a mean: `raw` as their means vary, `chance` what noise alone gives.

    `skewness` is that of a mean of their means; 0 where they are too few to show one.
    """

    raw: float
    chance: float
    df: float
    skewness: float = 0.0

    @property
    def extra(self) -> float:
        """The variance due to the units themselves, at least 0."""
        return max(0.0, self.raw - self.chance)

    @property
    def third(self) -> float:
        """The third central moment due to the units themselves."""
        return float(self.skewness * self.extra**1.5)

    def flipped(self) -> "Excess":
        """That of the negative."""
        return replace(self, skewness=-self.skewness)


def excess(cells: Float[np.ndarray, "item unit"], item_weights: Float[np.ndarray, " item"]) -> Excess:
    r"""The variance that units shared by items add to the weighted mean of the items' own means.

    With residuals $r_{iu} = x_{iu} - \bar x_i$ and $c_u = \sum_i \omega_i r_{iu}/m_i$, `raw` is $\sum_u c_u^2$ and
    `chance` $\sum_{iu} (\omega_i r_{iu}/m_i)^2$, which is what units without a leaning of their own would give; both
    times what makes the difference unbiased, in a complete table U/(U-1) N/(N-1): then it is the component of variance
    of the two-way layout, (MS_unit - MS_error)/(N U).

    Degrees of freedom are the units less one; where their parts p in the mean differ, the effective number (Kish),
    1/sum p^2, less one.

    Source: Searle, Casella and McCulloch 1992, Variance Components, section 4.3, doi:10.1002/9780470316856.
    """
    seen = ~np.isnan(cells)
    used, n_seen = seen.any(0), seen.sum(1)
    units, items = int(used.sum()), int((n_seen > 0).sum())
    if units < 2 or items < 2:
        return Excess(0.0, 0.0, 1.0)
    values = np.where(seen, cells, 0.0)
    mean = exact_sum(values) / np.maximum(n_seen, 1)
    share = item_weights / np.maximum(n_seen, 1)
    part = np.where(seen, values - mean[:, None], 0.0) * share[:, None]
    whole = seen[:, used][n_seen > 0].all() and np.ptp(item_weights) == 0
    scale = units / (units - 1) * items / (items - 1) if whole else _unbiased(seen, share, n_seen)
    of_unit = exact_sum(np.ascontiguousarray(part.T))
    raw = scale * float(exact_sum(of_unit**2))
    chance = scale * float(exact_sum(exact_sum(np.ascontiguousarray(part.T) ** 2)))
    weight = exact_sum(np.ascontiguousarray(np.where(seen, share[:, None], 0.0).T))
    effective = units if whole else float(exact_sum(weight)) ** 2 / float(exact_sum(weight**2))
    return Excess(raw, chance, max(effective - 1.0, 1.0), skewness_of(of_unit[used]))


def skewness_of(of_unit: Float[np.ndarray, " unit"]) -> float:
    """The skewness of the units' mean, drawn to 0; it is 0 where they are fewer than show one, or alike."""
    units, square = len(of_unit), float(exact_sum(of_unit**2))
    if units < SKEWED_FROM or square == 0:
        return 0.0
    root = math.sqrt(units * (units - 1)) / (units - 2)  # of the third moment and the variance, both without bias
    return float(units / (units + SKEWNESS_FROM) * root * exact_sum(of_unit**3) / square**1.5)


def _unbiased(seen: Bool[np.ndarray, "item unit"], share: np.ndarray, n_seen: np.ndarray) -> float:
    """What `raw` minus `chance` is multiplied by so that its expectation is the units' part of the mean's variance."""
    weight = np.where(seen, share[:, None], 0.0)
    total = weight.sum(0)
    removed = weight.T @ (seen / np.maximum(n_seen, 1)[:, None])
    left = np.diag(total) - removed
    chance = float((weight**2 * (1 - 1 / np.maximum(n_seen, 1))[:, None]).sum())
    beyond_chance = float((left**2).sum()) - chance
    return float((total**2).sum()) / beyond_chance if beyond_chance > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Crossed:
    """Units that items share, for the models of a comparison and what each item counts for."""

    cells: Cells
    order: Int[np.ndarray, " finite"]
    item_weights: Float[np.ndarray, " item"]

    def widened(self, pairs: Location, levels: Location) -> tuple[Location, Location]:
        """The locations with the units' variance added; degrees of freedom as in `joined`."""
        cells, models = self.cells, self.order.tolist()
        own = [excess(cells.of(model), self.item_weights) for model in models]
        between: list[tuple[Excess, ...]] = []
        for a, b in all_pairs(len(models)):
            one, other = models[a], models[b]
            if cells.paired(one, other):
                between.append((excess(cells.of(one) - cells.of(other), self.item_weights),))
            else:
                between.append((own[a], own[b].flipped()))
        return wider(pairs, between), wider(levels, [(one,) for one in own])


def wider(location: Location, parts: Sequence[tuple[Excess, ...]]) -> Location:
    """A location with what the units add to the variance of each row."""
    extra = np.array([sum(one.extra for one in row) for row in parts])
    raw = np.array([sum(one.raw for one in row) for row in parts])
    spread = np.array([sum(one.raw**2 / one.df for one in row) for row in parts])
    with np.errstate(invalid="ignore", divide="ignore"):
        unit_df = np.where(spread > 0, raw**2 / spread, 1.0)
    return replace(
        location,
        plain_variance=location.plain_variance + extra,
        variance=location.variance + extra,
        third=location.third + np.array([sum(one.third for one in row) for row in parts]),
        df=np.where(spread > 0, joined_df(location.variance, location.df, raw, unit_df), location.df),
    )


def joined_df(
    variance: Float[np.ndarray, "*batch"],
    df: Float[np.ndarray, "*batch"],
    raw: Float[np.ndarray, "*batch"],
    unit_df: Float[np.ndarray, "*batch"] | float,
) -> Float[np.ndarray, "*batch"]:
    r"""Degrees of freedom of a mean whose variance has a part from many items and one from few units.

    Formula: with V and its freedom f from the items, R (`raw`) with its freedom u from the units,
    $w = (R/(V + R))^{u/(u + 1)}$, the inverse is $w/u + (1 - w)/f$.

    Satterthwaite's rule squares both shares, as if they were known. Here R comes from so few units that it is often
    small by chance: then the rule gives the items' freedom to an interval that lacks most of its variance, and 2
    units cover 0.87 (3 units 0.92) where the true parts are alike. Shares that are not squared, and for few units
    drawn to 1, keep that above 0.92; the rule agrees with Satterthwaite's where one part is all. See
    `docs/validity/crossed.md`.

    Source: this package; after Satterthwaite 1946, doi:10.2307/3002019, and Cochran 1964, "Approximate significance
    levels of the Behrens-Fisher test", doi:10.2307/2527427, whose quantile is a mean with unsquared shares too.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (raw / (variance + raw)) ** (unit_df / (unit_df + 1))
        return np.asarray(np.maximum(1 / (share / unit_df + (1 - share) / df), 1.0))


def annotator_cells(scores: Scores, annotations: object) -> Cells:
    """Each annotator's own loss of each model: the loss if the label were the one that this annotator gave.

    Errors: `InputError` where the annotations are not those behind the scores.
    """
    if not isinstance(annotations, Annotations):
        raise InputError(f"annotations of type {type(annotations).__name__}", "Annotations", "Use read_annotations.")
    if annotations.annotator is None:
        raise InputError("annotations that are counts", "annotations with annotators", "Leave annotations out.")
    labels = scores.labels
    if labels is None or labels.shares is None or labels.estimand != "distribution":
        raise InputError(
            "annotations with scores that are not against vote shares",
            "scores of the estimand 'distribution'",
            "Score against infer_truth(annotations, method='vote-share'), or leave annotations out.",
        )
    row_named = {name: row for row, name in enumerate(scores.items)}
    row_of = np.array([row_named.get(name, -1) for name in annotations.index.items])[annotations.item]
    known = row_of >= 0
    item, unit = row_of[known], annotations.annotator[known]
    label = _columns(annotations.label[known], labels.shares)
    n_items, n_units, n_labels = len(scores.items), len(annotations.index.annotators), labels.shares.shape[1]
    if n_items * n_units > MOST_CELLS:
        raise InputError(f"{n_items} items x {n_units} annotators", f"at most {MOST_CELLS} cells", "Leave them out.")
    votes = item * n_labels + np.minimum(label, n_labels - 1)
    counts = np.bincount(votes, minlength=n_items * n_labels).reshape(n_items, n_labels)
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    if (len(label) and label.max() >= n_labels) or not np.allclose(shares, labels.shares, rtol=0, atol=SAME):
        raise InputError("annotations other than those behind the scores", "the same", "Score against their truth.")
    cell = item * n_units + unit
    count = np.bincount(cell, minlength=n_items * n_units)
    losses = to_host(labels.losses)

    def of(model: int) -> Float[np.ndarray, "item unit"]:
        total = np.bincount(cell, losses[model, item, label], n_items * n_units)
        with np.errstate(invalid="ignore"):
            mean: np.ndarray = np.where(count > 0, total / count, np.nan)
        return mean.reshape(n_items, n_units)

    return Cells("annotator", of, lambda a, b: True)


def _columns(label: Int[np.ndarray, " annotation"], shares: Float[np.ndarray, "item label"]) -> np.ndarray:
    """The labels as columns of the shares, which have those of the predictions too: the used ones, in their order."""
    used, named = np.flatnonzero((shares > 0).any(0)), np.unique(label)
    if len(used) != len(named):
        return label
    return np.asarray(used[np.searchsorted(named, label)])


SAME = 1e-6
"""Vote shares closer than this are the same (they may have passed through float32)."""


def same_few(annotations: Annotations) -> bool:
    """Whether the same few annotators labelled the items, each at least half of them."""
    if annotations.annotator is None or not 2 <= len(annotations.index.annotators) <= FEW:
        return False
    pairs = np.unique(annotations.annotator * annotations.n_items + annotations.item)
    seen = np.bincount(pairs // annotations.n_items, minlength=len(annotations.index.annotators))
    return bool((seen >= COMPLETE * annotations.n_items).all())


def replicate_cells(scores: Scores) -> Cells:
    """Each replicate's own losses.

    Errors: `InputError` where the scores have no replicates, or each item has replicates of its own names.
    """
    repeated = scores.replicates
    if repeated is None or not repeated.names:
        raise InputError(
            "replicates='crossed' without replicates that items share",
            "scores whose replicates (seeds) have the same names on every item",
            "Give Scores.from_frame(..., replicate=COLUMN), or use replicates='independent'.",
        )
    used: Bool[np.ndarray, "model replicate"] = ~np.isnan(repeated.values).all(1)
    return Cells("replicate", repeated.values.__getitem__, lambda a, b: bool((used[a] == used[b]).all()))
