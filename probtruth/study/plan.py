"""`plan`: what a study of a given size will show, the cheapest study that shows enough, and what to buy next."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaincinv, ndtr, stdtr, stdtrit

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.study.pilot import Design, Pilot, pilot_of
from probtruth.types import Annotations, Comparison, Scores
from probtruth.types.arguments import Groups
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars

    from probtruth.line.result import Result

Row = Mapping[str, Any]
COUNTS = ("n_items", "n_annotators", "n_clusters", "n_replicates")
COLUMNS = ("design", *COUNTS, "width", "p_certain", "p_a", "p_b", "cost")
RESOURCES = ("item", "annotation", "cluster", "replicate")
# Numbers of annotators, replicates and items of a cluster that the search for the cheapest design tries.
TRIED = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 100)
MOST = 10**8  # The largest number of items of a design
FEW_UNITS = 30  # A pilot of fewer independent units gives a warning
LARGE = 500  # Degrees of freedom from which on the study's own error is taken to be known
CENTRES = (np.arange(40) + 0.5) / 40  # Probabilities at which its distribution is evaluated
# Before the pilot the true difference is normal around 0, with a standard deviation of so many of the pilot's errors,
# each as likely: a flat prior promises too much where true differences are often small.
SCALES = 2.0 ** np.arange(-1, 6)


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Brief):
    """What designs would show. `designs` are the rows of `table()`, `sizes` those of `curve()`.

    `variance` holds the parts of the variance of one item's difference (`clusters`, `items`, one `annotation`, one
    `replicate`; None if unknown), and `shared`, that of one annotator or replicate that judges many items;
    `difference` and `error` are the pilot's estimate.
    """

    a: str
    b: str
    difference: float
    error: float
    variance: Mapping[str, float | None]
    certainty: float
    power: float
    width: float | None
    designs: Sequence[Row]
    sizes: Sequence[Row]
    warnings: tuple[str, ...] = ()

    def table(self) -> "polars.DataFrame":
        """One row for each design: the pilot again, the study, twice as much of each thing, and the cheapest if there
        are costs.

        `width` is the expected width of the 95% interval in units of the score; `p_certain` the probability that the
        study says "a is better" (`p_a`) or "b is better" (`p_b`) with the chosen certainty.
        """
        return frames.from_rows(self.designs, COLUMNS)

    def curve(self) -> "polars.DataFrame":
        """The same for growing numbers of items, with all else as in the study."""
        return frames.from_rows(self.sizes, COLUMNS)

    def to_dict(self) -> dict[str, object]:
        """All of it, as plain values."""
        names = ("a", "b", "difference", "error", "variance", "certainty", "power", "width")
        rows = {"designs": [dict(row) for row in self.designs], "curve": [dict(row) for row in self.sizes]}
        return {**{name: getattr(self, name) for name in names}, **rows, "warnings": list(self.warnings)}


@dataclass(frozen=True)
class Aim:
    """How designs are judged."""

    pilot: Pilot
    lower_is_better: bool
    certainty: float
    power: float
    width: float | None
    costs: Mapping[str, float] | None
    difference: float | None
    keep: bool

    def chances(self, design: Design) -> tuple[float, float]:
        """P(the study says a), P(it says b)."""
        error, df = self.pilot.error_of(design), self.pilot.df_of(design)
        if error == 0:
            known = self.pilot.difference if self.difference is None else self.difference
            low, high = float(known < 0), float(known > 0)
            return (low, high) if self.lower_is_better else (high, low)
        bar = self.pilot.half_width(design) / float(stdtrit(df, 0.975)) / error * float(stdtrit(df, self.certainty))
        if self.difference is not None:
            low, high = (_exceeds(sign * self.difference / error, 1.0, bar, df) for sign in (-1, 1))
        else:
            kept = min((error / self.pilot.error) ** 2, 1.0) if self.keep else 0.0  # the weight of the pilot's items
            low, high = np.zeros(2)
            for weight, mean, variance in _posterior(self.pilot):
                centre = (kept * self.pilot.difference + (1 - kept) * mean) / error
                spread = math.sqrt((1 - kept) ** 2 * variance / error**2 + (1 - kept))
                low += weight * _exceeds(-centre, spread, bar, df)
                high += weight * _exceeds(centre, spread, bar, df)
        return (float(low), float(high)) if self.lower_is_better else (float(high), float(low))

    def cost(self, design: Design) -> float | None:
        """What a design costs; None without prices."""
        if self.costs is None:
            return None
        each = self.costs["item"] + self.costs["annotation"] * (design.n_annotators or 0)
        each += self.costs["replicate"] * design.n_replicates
        return design.n_items * each + (design.n_clusters or 0) * self.costs["cluster"]

    def possible(self, design: Design) -> bool:
        """Whether a design has space for the pilot's items, where it keeps them."""
        pilot = self.pilot
        return not self.keep or (
            pilot.error_of(design) <= pilot.error * (1 + 1e-9) and design.n_items >= pilot.design.n_items * (1 - 1e-9)
        )

    def enough(self, design: Design) -> bool:
        """Whether a design is possible and reaches the power, or the width if there is one."""
        if not self.possible(design):
            return False
        if self.width is not None:
            return 2 * self.pilot.half_width(design) <= self.width
        return sum(self.chances(design)) >= self.power

    def row(self, name: str, design: Design) -> Row:
        """The row of a table of designs."""
        p_a, p_b = self.chances(design)
        counts = [None if getattr(design, name) is None else round(getattr(design, name), 9) for name in COUNTS]
        width = 2 * self.pilot.half_width(design)
        return dict(zip(COLUMNS, (name, *counts, width, p_a + p_b, p_a, p_b, self.cost(design)), strict=True))


def _exceeds(mean: float, spread: float, bar: float, df: float) -> float:
    """P(an estimate exceeds the bar), in standard errors; the bar varies as the estimated error does, with `df`."""
    if spread == 0:
        return float(mean > bar)
    square = 2 / df * gammaincinv(df / 2, CENTRES) if df < LARGE else np.ones(1)  # the estimated error's, of the true
    return float(ndtr((mean - bar * np.sqrt(square)) / spread).mean())


def _posterior(pilot: Pilot) -> Iterator[tuple[float, float, float]]:
    """Normal parts (weight, mean, variance) of what the pilot says of the true difference, one for each scale."""
    z, square = pilot.difference / pilot.error, SCALES**2
    weights = np.exp(-(z**2) / 2 * (1 / (1 + square) - 1 / (1 + square.max()))) / np.sqrt(1 + square)
    keep = square / (1 + square)
    yield from zip(weights / weights.sum(), keep * pilot.difference, keep * pilot.error**2, strict=True)


def plan(
    pilot: "Scores | Comparison | Result",
    a: str | None = None,
    b: str | None = None,
    *,
    n_items: int | None = None,
    n_annotators: int | None = None,
    n_clusters: int | None = None,
    n_replicates: int | None = None,
    groups: Groups | None = None,
    clusters: Groups | None = None,
    annotations: Annotations | None = None,
    certainty: float = 0.95,
    power: float = 0.8,
    width: float | None = None,
    costs: Mapping[str, float] | None = None,
    difference: float | None = None,
    keep: bool = False,
) -> Plan:
    r"""What a study will show, from a pilot: how wide its interval will be and how likely it is to decide.

    Formula: a design of N items in C clusters with m annotators an item and r replicates has the variance V_clusters
    (1 + v^2)/C + (V_items + V_annotation/m + V_replicate/r)/N + V_shared/U, v the coefficient of variation of the
    clusters' sizes and U the annotators (or replicates) behind many items, which more items do not lower; the parts
    come from the pilot. The interval is that of a t, stretched as the pilot's own is by skewness. The chance to decide
    averages the power of the t over what the pilot says of the true difference, with a prior that is normal around 0 at
    seven scales, from half the pilot's error to 32 of it, each as likely.

    Arguments: `pilot` is what `score`, `evaluate` or `compare` returned; `a` and `b` name two models, by default the
    two leaders. `n_items`, `n_annotators`, `n_clusters` and `n_replicates` are the study's, by default as in the pilot.
    `groups` and `clusters` as in `compare`. `annotations` are those behind the scores (a result has its own). The study
    decides if P(a better) or P(b better) is above `certainty`. `costs` gives the price of an `item`, an `annotation`, a
    `cluster` and a `replicate` (of one item); then the plan includes the cheapest design that decides with
    probability `power`, or whose expected interval is no wider than `width`. `difference` is a true difference to plan
    for instead of the pilot's. With `keep` the study's items include the pilot's.

    Returns: a `Plan`; its `table()` has the pilot repeated, the study, twice as much of each, and the cheapest.

    Errors: `InputError` for counts below 1, a count of something that the pilot does not have, a result whose groups,
    clusters, weights or expert labels its scores do not carry, one of folds, and one annotator or seed alone behind all
    items; `PosteriorError` for a pilot without spread.

    Source: O'Hagan, Stevens and Campbell 2005, "Assurance in clinical trial design", doi:10.1002/pst.175.

    >>> import numpy as np, probtruth as pt
    >>> loss = np.random.default_rng(0).normal([0.5, 0.56], 0.3, (60, 2))
    >>> rows = {"item": [*range(60)] * 2, "model": ["x"] * 60 + ["y"] * 60, "score": loss.T.ravel()}
    >>> made = pt.plan(pt.Scores.from_frame(rows, higher_is_better=False), n_items=400, costs={"item": 2})
    >>> [row["design"] for row in made.table().iter_rows(named=True)]
    ['pilot again', 'study', 'items x 2', 'cheapest']
    """
    check.own_threads()
    known = pilot_of(pilot, a, b, groups, clusters, annotations)
    share = "a number between {} and 1"
    aim = Aim(
        known,
        not getattr(pilot, "higher_is_better", getattr(getattr(pilot, "scores", None), "higher_is_better", False)),
        check.number(certainty, "certainty", "For 95% write 0.95.", above=0.5, below=1, wanted=share.format(0.5)),
        check.number(power, "power", "For 80% write 0.8.", above=0, below=1, wanted=share.format(0)),
        None if width is None else check.number(width, "width", "Give it in units of the score.", above=0),
        None if costs is None else _costs(costs),
        None if difference is None else check.number(difference, "difference", "Give a minus b."),
        bool(keep) and difference is None,
    )
    study = _study(known, n_items, n_annotators, n_clusters, n_replicates)
    if not aim.possible(study):
        raise InputError("a study that is smaller than the pilot it keeps", "one that adds to it", "Leave out keep.")
    rows = [aim.row("pilot again", known.design), aim.row("study", study)]
    rows += [aim.row(name, design) for name, design in _doubled(known, study)]
    warnings = [*_warnings(aim)]
    if aim.costs is not None:
        best = _cheapest(aim, study)
        if best is None:
            warnings.append(f"no design of up to {MOST:,} items reaches that")
        else:
            rows.append(aim.row("cheapest", best))
    names = ("clusters", "items", "annotation", "replicate", "shared")
    return Plan(
        known.a, known.b, known.difference, known.error, {name: getattr(known, name) for name in names},
        aim.certainty, aim.power, aim.width, rows,
        [aim.row("items", one) for one in _sizes(study) if aim.possible(one)], tuple(warnings),
    )  # fmt: skip


def _warnings(aim: Aim) -> Iterator[str]:
    """Warnings for the reader."""
    pilot = aim.pilot
    if pilot.error == 0:
        yield "the same difference on every item of the pilot: no spread to plan with"
    elif aim.difference is None and float(stdtr(pilot.df, abs(pilot.difference) / pilot.error)) < aim.certainty:
        yield (
            "the pilot does not decide: the probability that the study will is an average over all differences that "
            "the pilot leaves open; name the smallest difference that matters (difference=, --difference)"
        )
    if pilot.design.n_units < FEW_UNITS:
        yield f"the pilot has {pilot.design.n_units:.0f} independent units: its spread is a rough guide"


def _study(pilot: Pilot, n_items: object, n_annotators: object, n_clusters: object, n_replicates: object) -> Design:
    """The design of the study; counts that the caller leaves out are as in the pilot."""
    was = pilot.design
    for wanted, known, what in (
        (n_annotators, pilot.annotation, "annotators"),
        (n_clusters, was.n_clusters, "clusters"),
        (n_replicates, pilot.replicate, "replicates"),
    ):
        if wanted is not None and known is None:
            raise InputError(
                f"n_{what} with a pilot that says nothing of {what}", f"a pilot whose {what} are known",
                f"Plan from Scores that have {what}, or leave n_{what} out.",
            )  # fmt: skip
    items = None if n_items is None else float(check.whole(n_items, 2, "n_items"))
    clusters = None if n_clusters is None else float(check.whole(n_clusters, 2, "n_clusters"))
    if was.n_clusters is not None:
        each = was.n_items / was.n_clusters
        items, clusters = items or (clusters or was.n_clusters) * each, clusters or (items or was.n_items) / each
    annotators = was.n_annotators if n_annotators is None else check.whole(n_annotators, 1, "n_annotators")
    replicates = was.n_replicates if n_replicates is None else check.whole(n_replicates, 1, "n_replicates")
    if pilot.shared is not None and (annotators if pilot.shared_by == "annotator" else replicates) == 1:
        raise InputError(
            f"one {pilot.shared_by} behind all items", "at least two, so that their biases show",
            f"Plan with n_{pilot.shared_by}s=2 or more.",
        )  # fmt: skip
    return Design(items or was.n_items, annotators, clusters, replicates)


def _costs(prices: object) -> Mapping[str, float]:
    if not isinstance(prices, Mapping) or not prices:
        raise InputError(f"costs {check.quote(prices)}", "prices by name", "costs={'item': 1, 'annotation': 0.1}.")
    for name in prices:
        check.one_of(name, RESOURCES, "cost")
    known = {
        name: check.number(prices.get(name, 0.0), f"{name} cost", "Check the price.", least=0) for name in RESOURCES
    }
    if max(known.values()) == 0:
        raise InputError(f"costs {check.quote(prices)}", "prices of at least 0, some above", "Check the prices.")
    return known


def _doubled(pilot: Pilot, study: Design) -> Iterator[tuple[str, Design]]:
    """The study with twice as much of each thing that the pilot has."""
    if pilot.items > 0 or pilot.annotation or pilot.replicate:  # more items average out the noise of answers too
        yield "items x 2", replace(study, n_items=2 * study.n_items)
    if study.n_clusters is not None:
        yield "clusters x 2", replace(study, n_items=2 * study.n_items, n_clusters=2 * study.n_clusters)
    if pilot.annotation is not None and study.n_annotators is not None:
        yield "annotators x 2", replace(study, n_annotators=2 * study.n_annotators)
    if pilot.replicate is not None:
        yield "replicates x 2", replace(study, n_replicates=2 * study.n_replicates)


def _sizes(study: Design) -> Iterator[Design]:
    """The study with other numbers of items, from a tenth to ten times as many."""
    each = None if study.n_clusters is None else study.n_items / study.n_clusters
    for n in np.unique(np.geomspace(max(study.n_items / 10, 4), study.n_items * 10, 41).round()).tolist():
        yield replace(study, n_items=n, n_clusters=None if each is None else max(round(n / each), 2))


def _cheapest(aim: Aim, study: Design) -> Design | None:
    """The cheapest sufficient design: the fewest items for every number of the other things."""
    pilot = aim.pilot
    least = 2 if pilot.shared is not None else 1  # one annotator alone shows no bias
    annotators = TRIED[least - 1 :] if pilot.annotation is not None else (study.n_annotators,)
    replicates = TRIED[least - 1 :] if pilot.replicate is not None else (study.n_replicates,)
    each = (None,) if study.n_clusters is None else TRIED if pilot.items > 0 else (study.n_items / study.n_clusters,)
    found = [_smallest(aim, m, r, k) for m, r, k in product(annotators, replicates, each)]
    return min((one for one in found if one is not None), key=lambda one: aim.cost(one) or 0.0, default=None)


def _smallest(aim: Aim, m: float | None, r: float, k: float | None) -> Design | None:
    """The sufficient design with the fewest units."""

    def of(units: int) -> Design:
        return Design(units, m, None, r) if k is None else Design(units * k, m, units, r)

    low, high = 1, 2
    while not aim.enough(of(high)):
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if aim.enough(of(middle)) else (middle, high)
    return of(high)
