"""`Estimate`: the mean of every model and of every pair's difference, and the parts of its variance.

Whatever can be compared becomes one, and `compare.conclude(estimate, options)` makes the `Comparison` of it. All
numbers are of losses, so that scores of which more is better come negated. `names` stand in order (`sorted`); rows are
the models, then their pairs (`rows_from_models`). What must be said goes into `About.notes` (each is a warning) and
`About.over` (what the answer is about). A row that the data do not connect is NaN, with `About.unknown` as its reason.
The first part is that of many units (items, prompts); every further one is of units that many items share, whose
degrees of freedom count by the share of the variance they have. A part has a column for each group, or one column
where all groups share it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int, Num

from probtruth.comparison.estimation.design import Design, pair_rows_of, pairs_of
from probtruth.comparison.results.unseen import Outcomes
from probtruth.kernels.arrays import ratio
from probtruth.kernels.shapes import (
    Batch,
    ChosenInts,
    DrawFloats,
    FiniteInts,
    GroupFloats,
    ModelItem,
    ModelUnit,
    RowFloats,
    RowGroup,
)
from probtruth.types import Audit, RuleFacts
from probtruth.types.pairs import Pair

if TYPE_CHECKING:
    from probtruth.comparison.estimation.rectified import Rectified


Numbers = Num[np.ndarray, "*#batch"] | np.float64  # of shapes that broadcast
Shares = dict[str, float | None]  # by source; None: unknown
Intervals = dict[str, tuple[float, float] | None]
# The variance of the difference of two models (by their places in the names) that comes from one source; None: unknown
VarianceOf = Callable[[int, int], float | None]

SOURCES = ("items", "annotators", "labels")  # Of the variance: those that every answer names
SHARE_DRAWS = 4000  # Of the variances of all parts, for the intervals of their shares
NEAR = 1e-2  # Below this part of two models' squares, those of their difference are summed up by themselves
MANY = 1e6  # Degrees of freedom where a variance is known rather than estimated


@dataclass(frozen=True, eq=False)
class Part:
    """One source of the variance of every mean: variance, third central moment and degrees of freedom.

    `raw` is the variance before what chance alone gives was taken off: by its share the degrees of freedom count.
    """

    variance: RowGroup
    third: RowGroup
    df: RowGroup
    raw: RowGroup | None = None

    def of(self, rows: slice | ChosenInts) -> "Part":
        raw = None if self.raw is None else self.raw[rows]
        return Part(self.variance[rows], self.third[rows], self.df[rows], raw)

    def times(self, factor: GroupFloats) -> "Part":
        """The part of means of which each has so many times the variance."""
        variance = self.variance * factor
        raw = None if self.raw is None else self.raw * factor
        return Part(variance, self.third * factor**1.5, np.broadcast_to(self.df, variance.shape), raw)

    @property
    def with_chance(self) -> RowGroup:
        return self.variance if self.raw is None else self.raw

    def drawn(self, rng: np.random.Generator) -> DrawFloats:
        """The variance of one mean, then draws of it: it was estimated with so many degrees of freedom."""
        estimated = float(self.with_chance[0, 0])
        of_chance = estimated - self.variance[0, 0]
        df = float(self.df[0, 0])
        draws = np.full(1 + SHARE_DRAWS, estimated)
        if df < MANY:
            draws[1:] *= df / rng.chisquare(df, SHARE_DRAWS)
        return np.maximum(draws - of_chance, 0.0)


def part_of(square: Numbers, cube: Numbers, n: Numbers, weight: Numbers, df: Numbers) -> Part:
    """The part of n independent units that weigh so many items, from the sums of powers of their residuals."""
    of_square = ratio(n, n - 1, np.nan) / weight**2
    unbiased = ratio(n**2, (n - 1) * (n - 2))
    of_cube = unbiased / weight**3.0
    variance = of_square * square
    third = np.where(n > 2, of_cube * cube, 0.0)
    return Part(variance, third, np.broadcast_to(df, variance.shape))


def power_sums(of_models: ModelUnit) -> tuple[RowGroup, RowGroup]:
    """The sums of squares and of cubes of each row, from sums of products of models' numbers."""
    product = of_models @ of_models.T
    crossed = np.square(of_models) @ of_models.T
    square_of_model = product.diagonal()
    cube_of_model = crossed.diagonal()
    first, second = pairs_of(np.arange(len(of_models))).T
    both = square_of_model[first] + square_of_model[second]
    square = both - 2 * product[first, second]
    skew = crossed[second, first] - crossed[first, second]
    of_models_alone = cube_of_model[first] - cube_of_model[second]
    cube = of_models_alone + 3 * skew
    for at in np.flatnonzero(square <= NEAR * both):  # else rounding would tell models that are alike apart
        apart = of_models[first[at]] - of_models[second[at]]
        square[at] = apart @ apart
        cube[at] = np.square(apart) @ apart
    squares = np.append(square_of_model, square)
    cubes = np.append(cube_of_model, cube)
    return squares[:, None], cubes[:, None]


def rows_from_models(means: Float[np.ndarray, "model ..."]) -> Float[np.ndarray, "row ..."]:
    """The models' own numbers, then the differences of all pairs."""
    first, second = pairs_of(np.arange(len(means))).T
    return np.concatenate([means, means[first] - means[second]])


@runtime_checkable
class Curve(Protocol):
    """The likelihood of a mean where it is not that of a normal: the t of a value is its signed root."""

    def root(self, centre: float, scale: float, value: float) -> float: ...

    def value(self, centre: float, scale: float, t: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True, eq=False, kw_only=True)
class About:
    """What words, tests and tables say of the data behind an estimate; only the first two must be given.

    `models` are all, in the caller's order, and `means` their mean losses, also the infinite ones. `range` is that of
    one item's loss, where it is known; `values` are the losses of all items, and `shared_items` on how many of them two
    models of the estimate were both scored, where some were not.
    """

    rule: str
    higher_is_better: bool
    models: tuple[str, ...] = ()
    means: Float[np.ndarray, " mean"] = field(default_factory=partial(np.zeros, 0))  # none before the estimate is made
    over: str = "new items like these"  # what the estimand is about, in words
    known: RuleFacts = field(default_factory=RuleFacts)
    n_replicates: int = 1
    audit: Audit = field(default_factory=Audit)
    from_labels: bool = False
    of_means: bool = True
    values: ModelItem | None = None
    shared_items: Int[np.ndarray, "finite finite"] | None = None
    gold: "Rectified | None" = None
    notes: tuple[str, ...] = ()
    unknown: str = "nothing in the data connects the two models"  # why a row is NaN
    outcomes: Outcomes | None = None
    range: tuple[float, float] | None = None
    preference: Callable[[Pair], Sequence[float]] | None = None  # of votes: P(a preferred), its interval
    curve: Curve | None = None

    @property
    def sign(self) -> float:
        """What turns losses into scores as given, and back."""
        return -1.0 if self.higher_is_better else 1.0

    @property
    def bound(self) -> float:
        """The largest difference that two scores of an item can have; infinite where that is not known."""
        if self.range is None:
            return math.inf
        low, high = self.range
        return high - low


@dataclass(frozen=True, eq=False)
class UnitsInGroups:
    """Of what units that many items share add to the mean over groups: what all groups have of it, and each besides."""

    common: float
    own: GroupFloats

    @classmethod
    def of(cls, share: Float[np.ndarray, "unit group"], weights: GroupFloats) -> "UnitsInGroups":
        """Of each unit's share of each group; what groups have in common is the mean covariance of two."""
        of_each = (share**2).sum(0)
        of_all = float(((share @ weights) ** 2).sum())
        apart = 1 - float((weights**2).sum())
        in_common = max(float(ratio(of_all - weights**2 @ of_each, apart, of_all)), 0.0)
        own = np.maximum(of_each - in_common, 0.0)
        return cls(float(ratio(in_common, of_all, 1.0)), np.asarray(ratio(own, of_all)))


@dataclass(frozen=True, eq=False)
class Estimate:
    """The mean loss of every model and pair in every group (or in all, one column), with the parts of its variance.

    `within` says what of the first part comes from labels, replicates or experts, of any two models. `together` is the
    first part where groups are put together, with fewer of the items that stand for rare differences; `centre` and
    `plain` are the mean with these, and the first part without any; `ends` the least and largest value of each row.
    `n_units` are independent ones. `of_new` is the part of units that many items share as new ones would have it, of
    which groups have what `in_groups` says. `like_items` are the items of like weight that each row has with holes.
    """

    names: tuple[str, ...]
    mean: RowGroup
    parts: Mapping[str, Part]
    design: Design
    about: About
    within: Mapping[str, VarianceOf] = field(default_factory=dict)
    n_items: Num[np.ndarray, " group"] | None = None
    n_units: int | None = None
    together: Part | None = None
    centre: RowGroup | None = None
    plain: Part | None = None
    ends: Float[np.ndarray, "end row"] | None = None
    of_new: Part | None = None
    in_groups: UnitsInGroups | None = None
    like_items: RowGroup | None = None

    @property
    def n_models(self) -> int:
        return len(self.names)

    @property
    def order(self) -> FiniteInts:
        """Where the models of the estimate stand among all."""
        return np.array([self.about.models.index(name) for name in self.names], np.int64)

    @property
    def items(self) -> Part:
        """The first part: of many units."""
        return next(iter(self.parts.values()))

    @property
    def shared(self) -> str | None:
        """The name of the first part whose units many items share."""
        return next(iter([*self.parts][1:]), None)

    @property
    def group_items(self) -> Num[np.ndarray, " group"]:
        return self.design.group_sizes if self.n_items is None else self.n_items

    def for_new_units(self) -> "Estimate":
        """The same for new ones of the units that many items share, where there are any."""
        if self.shared is None or self.of_new is None:
            return self
        return replace(self, parts={**self.parts, self.shared: self.of_new})

    def with_items(self, change: Callable[[Part], Part]) -> "Estimate":
        """The same with another first part, also where groups are put together and without rare differences."""
        first = next(iter(self.parts))
        together = None if self.together is None else change(self.together)
        plain = None if self.plain is None else change(self.plain)
        return replace(self, parts={**self.parts, first: change(self.items)}, together=together, plain=plain)

    def over_groups(self) -> "Estimate":
        """The mean over these groups by their weights, in one column: variances add up, nothing is shrunk."""
        if self.mean.shape[1] == 1:
            return self
        if self.together is not None:
            parts = {**self.parts, next(iter(self.parts)): self.together}
            return replace(self, parts=parts, together=None).over_groups()
        weights = self.design.weights[:, None]
        parts = dict(self.parts)
        for name, part in parts.items():
            if part.variance.shape[1] > 1:
                parts[name] = self._combined(part)
        centre = self.centre
        if centre is not None:
            centre = centre @ weights
        plain = self.plain
        if plain is not None:
            plain = self._combined(plain)
        return replace(self, mean=self.mean @ weights, parts=parts, centre=centre, plain=plain)

    def _combined(self, part: Part) -> Part:
        weights = self.design.weights
        square = weights**2
        estimated = part.df > 0
        of_group = square * np.where(estimated, part.variance, 0.0)
        spread = ratio(of_group**2, part.df)
        if not estimated.all():
            # a group that tells nothing of its spread has that of the others
            items = self.group_items if self.like_items is None else self.like_items
            pooled, pooled_df = self.pooled(items)
            of_others = np.where(estimated, 0.0, square / items)
            of_pooled = of_others.sum(1) * pooled
            of_group = np.column_stack([of_group, of_pooled])
            spread = np.column_stack([spread, ratio(of_pooled**2, pooled_df)])
        variance = of_group.sum(1, keepdims=True)
        df = ratio(variance**2, spread.sum(1, keepdims=True), part.df.sum(1, keepdims=True))
        third = part.third @ weights[:, None] ** 3
        return Part(variance, third, df)

    def pooled(self, items: np.ndarray) -> tuple[RowFloats, RowFloats]:
        """The variance of one item, pooled over groups of so many, for each row, and its degrees of freedom."""
        estimated = self.items.df > 0
        freedom = np.where(estimated, self.design.df, 0.0)
        of_item = items * np.where(estimated, self.items.variance, 0.0)
        total = freedom.sum(1)
        return ratio((freedom * of_item).sum(1), total, np.nan), total

    def total(self) -> Part:
        """All parts of the mean over these groups together, with the degrees of freedom of the sum."""
        first = self.over_groups().items
        beyond = self.beyond_items()
        if beyond is None:
            return Part(first.variance, first.third, first.df)
        joined = joined_df(first.variance, first.df, beyond.variance, beyond.with_chance, beyond.df)
        df = np.where(beyond.df > 0, joined, first.df)
        return Part(first.variance + beyond.variance, first.third + beyond.third, df)

    def beyond_items(self) -> Part | None:
        """What all groups share: all parts but the first together; None without any."""
        others = [*self.parts.values()][1:]
        if not others:
            return None
        variance = np.sum([part.variance for part in others], axis=0)
        third = np.sum([part.third for part in others], axis=0)
        raw = np.sum([part.with_chance for part in others], axis=0)
        spread = np.sum([part.with_chance**2 / part.df for part in others], axis=0)
        return Part(variance, third, ratio(raw**2, spread), raw)

    def plain_variance(self) -> RowFloats:
        """The variance of the mean over these groups without the items that stand for rare differences."""
        over_groups = self.over_groups()
        variance = over_groups.total().variance
        if over_groups.plain is not None:
            variance = variance - over_groups.items.variance + over_groups.plain.variance
        return variance[:, 0]

    def shares(self, a: int, b: int, seed: int) -> tuple[Shares, Intervals]:
        """What each source has of the variance of the difference of two models, and its 95% interval; None: unknown."""
        row = self.n_models + pair_rows_of(np.array([[a, b]]), self.n_models)
        rng = np.random.default_rng(seed)
        variances = {}  # the estimate, then draws of it
        for name, part in self.over_groups().parts.items():
            variances[name] = part.of(row).drawn(rng)
        total = np.sum([*variances.values()], axis=0)
        varies = bool(total[0] > 0)
        if not varies:
            total = np.ones_like(total)
            variances[next(iter(variances))] = total
        unknown = False
        if "items" in variances:
            for name, variance_of in self.within.items():
                variance = variance_of(a, b) if varies else None
                if variance is not None:
                    of_items = np.minimum(variance, variances["items"])
                    variances["items"] = variances["items"] - of_items
                    variances[name] = variances.get(name, 0.0) + of_items
                unknown |= variance is None and name == "labels"
        shares: Shares = dict.fromkeys(SOURCES)
        intervals: Intervals = dict.fromkeys(SOURCES)
        for name, of_source in variances.items():
            share = ratio(of_source, total)
            estimated = float(share[0])
            shares[name] = estimated
            intervals[name] = None
            if varies and not unknown:
                low, high = np.quantile(share[1:], [0.025, 0.975]).tolist()
                intervals[name] = (min(low, estimated), max(high, estimated))
        if unknown:
            shares["items"] = None
        elif "items" not in variances:
            shares["items"] = 0.0
        return shares, intervals


def joined_df(
    variance: Batch,
    df: Batch,
    extra: Batch,
    raw: Batch,
    unit_df: Batch,
) -> Batch:
    """Degrees of freedom of a mean whose variance has a part from many items and one (`extra`) from few units.

    `raw` is the latter with what chance gives it.
    """
    # Satterthwaite's rule has squared shares; a share estimated from two or three units is often small by chance
    power = unit_df / (unit_df + 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (raw / (variance + raw)) ** power
        inverse = share / unit_df + (1 - share) / df
        # but many units that chance explains do not make the rest better known
        of_sum = (variance**2 / df + extra**2 / unit_df) / (variance + extra) ** 2
        inverse = np.fmax(inverse, of_sum)
        return np.asarray(np.maximum(1 / inverse, 1.0))
