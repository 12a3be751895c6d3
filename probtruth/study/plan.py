"""`plan`: what a study of a given size will show, the cheapest study that shows enough, and what to buy next."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.study.designs import COLUMNS, MOST, RESOURCES, Aim, Row, cheapest, doubled, sizes
from probtruth.study.pilot import HasScores, Pilot, pilot_of
from probtruth.study.studies import Study
from probtruth.types import Annotations, Comparison, Scores
from probtruth.types.arguments import Groups
from probtruth.types.shown import Shown

if TYPE_CHECKING:
    import polars

UNEVEN, SKEWED = 0.25, 1.05
"""Squared coefficient of variation of clusters' sizes, and widening by skewness, from which a warning names them."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Shown):
    """What designs would show. `designs` are the rows of `table()`.

    `variance` holds the parts of the variance of one item's difference (`clusters`, `items`, one `annotation`, one
    `replicate`; None if unknown), and `leaning`, that of one annotator or replicate that stands behind all items (None
    if none does); `difference` and `error` are the pilot's estimate.
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
    grow: Callable[[], Sequence[Row]]
    warnings: tuple[str, ...] = ()

    @cached_property
    def sizes(self) -> Sequence[Row]:
        """The rows of `curve()`, computed on first use."""
        return self.grow()

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


@check.checks_itself
def plan(
    pilot: Scores | Comparison | HasScores,
    a: str | None = None,
    b: str | None = None,
    *,
    n_items: int | None = None,
    n_annotators: float | None = None,
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
    seed: int = 0,
) -> Plan:
    r"""What a study will show, from a pilot: how wide its interval will be and how likely it is to decide.

    Formula: a design of N items in C clusters with m annotators an item and r replicates has the variance V_clusters
    (1 + v^2)/C + (V_items + V_annotations/m + V_replicates/r)/N, v the coefficient of variation of the clusters'
    sizes; the parts come from the pilot. Where the same few annotators (or seeds) stand behind all items, their
    leanings add V_leaning/m (or /r), which more items do not lower; those of others are taken to be normal. The
    interval's width is that variance's root times the width of intervals of resampled pilot units, and the chance to
    decide is that of such studies, so that skewness counts: it helps one side and not the other, and studies of few
    units differ in their spread. The study's estimate varies around the pilot's
    by both their errors: before the pilot, every difference counts as equally likely. Where true differences are small
    beside the pilot's error, a study decides less often than that (in a simulation, 17 of 100 times where 59 were
    predicted); a pilot that does not decide gives a warning, and `difference` is the answer.

    Arguments: `pilot` is what `score`, `evaluate` or `compare` returned (a comparison alone does not know annotations
    and replicates); `a` and `b` name two models if there are more. `n_items`, `n_annotators`, `n_clusters` and
    `n_replicates` are the study's, by default as in the pilot. `groups` and `clusters` as in `compare`. `annotations`
    are those behind the scores, if the same few annotators judged all items (a result has its own). The study decides
    if P(a better) or P(b better) is above `certainty`. `costs` gives the price of an `item`, an `annotation`, a
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
    known = pilot_of(pilot, a, b, groups, clusters, check.whole(seed, 0, "seed"), annotations)
    aim = Aim(
        known,
        _share(certainty, "certainty", 0.5),
        _share(power, "power", 0.0),
        None if width is None else _positive(width, "width"),
        None if costs is None else _costs(costs),
        None if difference is None else _finite(difference),
        bool(keep),
    )
    study = _study(known, n_items, n_annotators, n_clusters, n_replicates)
    if not aim.possible(study):
        raise InputError("a study that is smaller than the pilot it keeps", "one that adds to it", "Leave out keep.")
    designs = [("pilot again", known.study), ("study", study), *doubled(known, study)]
    rows, warnings = [aim.row(name, one) for name, one in designs], []
    if known.error == 0:
        warnings.append("the same difference on every item of the pilot: no spread to plan with")
    if known.study.n_units < 30:
        warnings.append(f"the pilot has {known.study.n_units:.0f} independent units: its spread is a rough guide")
    if known.uneven > UNEVEN and known.study.n_units < 30:
        warnings.append(
            "the clusters of the pilot differ in size, and so few show no very large one: a larger study may have an "
            "interval wider by a third"
        )
    if known.totals is None and known.stretch > SKEWED:
        warnings.append(
            "differences are skewed, and a comparison alone does not say to which side: plan from the scores for the "
            "chances of a and of b"
        )
    if known.single_votes:
        warnings.append(
            "one vote an item: what a further vote would bring cannot be told; ask for a second vote on some items of "
            "the pilot, then plan again"
        )
    if known.leanings is not None and known.leanings.df < 9:
        warnings.append(
            f"how much {known.leanings.what}s lean is known from {known.leanings.df + 1:.0f} of them: a rough guide"
        )
    if (undecided := _undecided(aim, study)) is not None:
        warnings.append(undecided)
    if aim.costs is not None:
        best = cheapest(aim, study)
        if best is None:
            warnings.append(f"no design of up to {MOST:,} items reaches that")
        else:
            rows.append(aim.row("cheapest", best))
    return Plan(
        known.a, known.b, known.difference, known.error,
        {"clusters": None if study.n_clusters is None else known.between, "items": known.items,
         "annotation": known.labels, "replicate": known.replicates,
         "leaning": None if known.leanings is None else known.leanings.variance},
        aim.certainty, aim.power, aim.width, rows,
        lambda: [aim.row("items", one) for one in sizes(study) if aim.possible(one)], tuple(warnings),
    )  # fmt: skip


def _undecided(aim: Aim, study: Study) -> str | None:
    """What to say of `p_certain` where it is averaged over differences of which the pilot knows little; None else."""
    pilot = aim.pilot
    if aim.difference is not None or pilot.error == 0:
        return None
    p_a = float(stdtr(pilot.df, -pilot.difference / pilot.error))
    if max(p_a, 1 - p_a) > aim.certainty:
        return None
    half = ""
    if not aim.keep:
        chance = sum(replace(aim, difference=pilot.difference / 2).chances(study))
        half = f"; it is {chance:.2f} if the models differ by half as much"
    return (
        f"the pilot does not decide (P(a better) = {p_a:.2f}): the probability that the study will is an average over "
        "every difference that the pilot leaves open, large ones too, and is too high where true differences are "
        f"small{half}; name the smallest difference that matters (difference=, --difference)"
    )


def _study(pilot: Pilot, n_items: object, n_annotators: object, n_clusters: object, n_replicates: object) -> Study:
    """The design of the study; counts that the caller leaves out are as in the pilot."""
    was = pilot.study
    for wanted, known, what in (
        (n_annotators, pilot.labels, "annotators"),
        (n_clusters, was.n_clusters, "clusters"),
        (n_replicates, pilot.replicates, "replicates"),
    ):
        if wanted is not None and known is None:
            raise InputError(
                f"n_{what} with a pilot that says nothing of {what}", f"a pilot whose {what} are known",
                f"Plan from Scores that have {what}, or leave n_{what} out.",
            )  # fmt: skip
    each = None if was.n_clusters is None else was.n_items / was.n_clusters
    items = None if n_items is None else float(check.whole(n_items, 2, "n_items"))
    clusters = None if n_clusters is None else float(check.whole(n_clusters, 2, "n_clusters"))
    if each is not None:
        items, clusters = (
            items or (clusters * each if clusters else was.n_items),
            clusters or (items / each if items else was.n_clusters),
        )
    annotators = was.n_annotators if n_annotators is None else float(check.whole(n_annotators, 1, "n_annotators"))
    replicates = was.n_replicates if n_replicates is None else float(check.whole(n_replicates, 1, "n_replicates"))
    if pilot.leanings is not None and (annotators if pilot.leanings.what == "annotator" else replicates) == 1:
        raise InputError(
            f"one {pilot.leanings.what} behind all items", "at least two, so that their leanings show",
            f"Plan with n_{pilot.leanings.what}s=2 or more.",
        )  # fmt: skip
    return Study(
        items or was.n_items,
        annotators,
        clusters,
        replicates,
    )


def _number(value: object, what: str, expected: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not math.isfinite(float(value)):
        raise InputError(f"{what} {check.quote(value)}", expected, "Leave it out for the default.")
    return float(value)


def _share(value_given: object, what: str, least: float) -> float:
    value = _number(value_given, what, f"a number between {least:g} and 1")
    if not least < value < 1:
        raise InputError(f"{what} {value:g}", f"a number between {least:g} and 1", "For 95% write 0.95.")
    return value


def _positive(value: object, what: str) -> float:
    value = _number(value, what, "a number above 0")
    if value <= 0:
        raise InputError(f"{what} {value:g}", "a number above 0", "Give it in units of the score.")
    return value


def _finite(value: object) -> float:
    return _number(value, "difference", "a finite number, a minus b")


def _costs(prices_given: object) -> Mapping[str, float]:
    if not isinstance(prices_given, Mapping) or not prices_given:
        raise InputError(
            f"costs {check.quote(prices_given)}", "prices by name", "costs={'item': 1, 'annotation': 0.1}."
        )
    for name in prices_given:
        check.one_of(name, RESOURCES, "cost")
    prices = {
        name: _number(prices_given.get(name, 0.0), f"{name} cost", "a number of at least 0") for name in RESOURCES
    }
    if min(prices.values()) < 0 or max(prices.values()) <= 0:
        raise InputError(f"costs {check.quote(prices_given)}", "prices of at least 0, some above", "Check the prices.")
    return prices
