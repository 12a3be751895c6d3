"""`plan`: what a study of a given size will show, the cheapest study that shows enough, and what to buy next."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from scipy.special import gammaincinv, ndtr, stdtr, stdtrit

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.study.pilot import Design, Pilot, pilot_of
from probtruth.types import Annotations, Comparison, Scores, Votes
from probtruth.types.arguments import Groups
from probtruth.types.shown import Reported

if TYPE_CHECKING:
    import polars

    from probtruth.line.result import Result

Row = Mapping[str, Any]
COUNTS = ("n_items", "n_annotators", "n_clusters", "n_replicates", "n_panel")
COLUMNS = ("design", *COUNTS, "width", "p_certain", "p_a", "p_b", "cost")
RESOURCES = ("item", "annotation", "cluster", "replicate")
SAME_DESIGN = "same design"  # The name of a study of new items that is as large as the pilot
ANSWERS = {"annotation": "annotator", "replicate": "replicate"}  # What one answer is called, and who gives it
# Numbers of annotators, replicates and items of a cluster that the search for the cheapest design tries.
TRIED = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 100)
FURTHEST = 3  # It tries answers an item, and items a cluster, up to so many times those of the pilot
MOST = 10**8  # The largest number of items of a design
ENOUGH = "enough items"  # The design that reaches the aim where nothing has a price
FEW_UNITS = 30  # A pilot of fewer independent units gives a warning
CENTRES = (np.arange(20) + 0.5) / 20  # Probabilities at which its distribution is evaluated
# Before the pilot the true difference is normal around 0, with a standard deviation of so many of the pilot's errors,
# each as likely: a flat prior promises too much where true differences are often small.
SCALES = 2.0 ** np.arange(-1, 6)[:, None]
PerError = Float[np.ndarray, "error 1 1"]
Scales = Float[np.ndarray, "error scale 1"]


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Reported):
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
        """One row for each design: the same, the study, twice as much of each thing, and with costs the cheapest.

        `width` is the expected width of the 95% interval in units of the score; `p_certain` the probability that the
        study says "a is better" (`p_a`) or "b is better" (`p_b`) with the chosen certainty.
        """
        return frames.from_rows(self.designs, COLUMNS)

    def curve(self) -> "polars.DataFrame":
        """The same for growing numbers of items, with all else as in the study."""
        return frames.from_rows(self.sizes, COLUMNS)

    def to_dict(self) -> dict[str, object]:
        """All of it, as plain values."""
        plain = dict(vars(self))
        plain["designs"] = [dict(row) for row in self.designs]
        plain["curve"] = [dict(row) for row in plain.pop("sizes")]
        plain["warnings"] = list(plain.pop("warnings"))
        return plain


@dataclass(frozen=True)
class Aim:
    """How designs are judged."""

    pilot: Pilot
    certainty: float
    power: float
    width: float | None
    costs: Mapping[str, float] | None
    difference: float | None
    keep: bool

    def row(self, name: str, design: Design) -> Row:
        """The row of a table of designs."""
        pilot = self.pilot
        answers = round(design.n_answers, 9)
        annotators = answers if pilot.answer == "annotator" else None
        replicates = answers if pilot.answer == "replicate" else 1
        p_a = self._chance(design, -1)
        p_b = self._chance(design, 1)
        if pilot.higher_is_better:
            p_a, p_b = p_b, p_a
        cost = None
        if self.costs is not None:
            of_item = self.costs.get("item", 0.0)
            of_item += self.costs.get("annotation", 0.0) * (annotators or 0)
            of_item += self.costs.get("replicate", 0.0) * replicates
            cost = design.n_items * of_item + self.costs.get("cluster", 0.0) * (design.n_clusters or 0)
        return {
            "design": name,
            "n_items": design.n_items,
            "n_annotators": annotators,
            "n_clusters": design.n_clusters,
            "n_replicates": replicates,
            "n_panel": None if design.n_panel is None else round(design.n_panel, 9),
            "width": 2 * pilot.half_width(design),
            "p_certain": p_a + p_b,
            "p_a": p_a,
            "p_b": p_b,
            "cost": cost,
        }

    def _chance(self, design: Design, sign: int) -> float:
        """P(the study decides that the difference has this sign), over what the pilot leaves open."""
        pilot = self.pilot
        error, df = pilot.error_of(design)
        if error == 0:
            difference = pilot.difference if self.difference is None else self.difference
            return float(sign * difference > 0)
        bar = pilot.stretch_of(design) * stdtrit(df, self.certainty)
        reused = 0.0
        if self.keep:  # the pilot's weight among the study's items
            reused = min((error / pilot.error) ** 2, 1.0)
        if reused == 1:
            return float(sign * pilot.difference / error > bar)
        # true errors, relative to the estimated one, that the pilot's few units leave equally plausible
        _, known = pilot.error_of(design, pilot.design)
        true = 1 / _relative_error(known)[:, None, None]
        weights = np.ones_like(true)
        centre = np.full_like(true, self.difference)
        variance = np.zeros(1)
        if self.difference is None:
            weights, centre, variance = self._true_difference(reused, true)
        spread = np.sqrt(variance / (error * true) ** 2 + 1 - reused)
        z = (sign * centre / error / true - bar * _relative_error(df)) / spread  # true error, prior, estimated error
        passed = weights * ndtr(z).mean(2, keepdims=True)
        return float(passed.sum() / weights.sum())

    def _true_difference(self, reused: float, true: PerError) -> tuple[Scales, Scales, Scales]:
        """A normal posterior of the true difference for each true error and scale of the prior."""
        pilot = self.pilot
        square_error = (pilot.error * true) ** 2
        prior = (pilot.error * SCALES) ** 2
        total = square_error + prior
        exponent = -(pilot.difference**2) / 2 / total
        weights = np.exp(exponent - exponent.max()) / np.sqrt(total)
        shrinkage = prior / total
        new = 1 - reused
        centre = (reused + new * shrinkage) * pilot.difference
        return weights, centre, new**2 * square_error * shrinkage

    def possible(self, design: Design) -> bool:
        """Whether a design has space for the pilot's items, where it keeps them."""
        pilot = self.pilot
        return not self.keep or (
            pilot.error_of(design)[0] <= pilot.error * (1 + 1e-9)
            and design.n_items >= pilot.design.n_items * (1 - 1e-9)
        )

    def enough(self, design: Design) -> bool:
        """Whether a design is possible and reaches the power, or the width if there is one."""
        if not self.possible(design):
            return False
        if self.width is not None:
            return 2 * self.pilot.half_width(design) <= self.width
        return self._chance(design, -1) + self._chance(design, 1) >= self.power


def _relative_error(df: float) -> Float[np.ndarray, " error"]:
    """Estimated errors relative to the true one, equally likely with so many degrees of freedom."""
    return np.sqrt(gammaincinv(df / 2, CENTRES) / (df / 2))


def plan(
    pilot: "Scores | Votes | Comparison | Result",
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
    averages the power of the t over what the pilot says of its own error, and of the true difference, with a prior that
    is normal around 0 at seven scales, from half the pilot's error to 32 of it, each as likely.

    Arguments:
        pilot: what `score`, `evaluate` or `compare` returned, or votes: their items are prompts, `n_annotators` the
            votes on each, and differences and widths are in shares of votes.
        a, b: name two models, by default the two leaders.
        n_items, n_annotators, n_clusters, n_replicates: the study's, by default as in the pilot.
        groups, clusters: as in `compare`.
        annotations: those behind the scores (a result has its own). The study decides if P(a better) or P(b better) is
            above `certainty`.
        certainty: the probability from which on a study decides.
        power: the power of the mean.
        width: the width of the interval that the cheapest study must reach.
        costs: gives the price of an `item`, an `annotation`, a `cluster` and a `replicate` (of one item). Then the plan
            includes the cheapest design that decides with probability `power`, or whose expected interval is no wider
            than `width`. Annotators and replicates of an item vary where they have a price, items of a cluster where
            both have one. What has none stays as in the study.
        difference: a true difference to plan for instead of the pilot's, without `keep`.
        keep: counts the pilot's items as part of the study.

    Returns: a `Plan`; its `table()` has the pilot repeated, the study, twice as much of each, and the cheapest.

    Errors: `InputError` for counts below 1, a count or a price of something that the pilot does not have, `keep` with
    `difference`, a result with weights or expert labels, one of folds, and one annotator or seed alone behind all
    items; `PosteriorError` for a single item.

    Source: O'Hagan, Stevens and Campbell 2005, "Assurance in clinical trial design", doi:10.1002/pst.175.

    >>> import numpy as np, probtruth as pt
    >>> loss = np.random.default_rng(0).normal([0.5, 0.56], 0.3, (60, 2))
    >>> rows = {"item": [*range(60)] * 2, "model": ["x"] * 60 + ["y"] * 60, "score": loss.T.ravel()}
    >>> made = pt.plan(pt.Scores.from_frame(rows, higher_is_better=False), n_items=400, costs={"item": 2})
    >>> [row["design"] for row in made.table().iter_rows(named=True)]
    ['same design', 'study', 'items x 2', 'cheapest']
    """
    check.own_threads()
    measured = pilot_of(pilot, a, b, groups, clusters, annotations)
    share = "a number between {} and 1"
    aim = Aim(
        pilot=measured,
        certainty=check.number(
            certainty, "certainty", "For 95% write 0.95.", above=0.5, below=1, wanted=share.format(0.5)
        ),
        power=check.number(power, "power", "For 80% write 0.8.", above=0, below=1, wanted=share.format(0)),
        width=None if width is None else check.number(width, "width", "Give it in units of the score.", above=0),
        costs=None if costs is None else _costs(costs, measured),
        difference=None if difference is None else check.number(difference, "difference", "Give a minus b."),
        keep=bool(keep),
    )
    if aim.keep and difference is not None:
        hint = "Leave keep out: at a true difference the pilot's items are as new ones."
        raise InputError("keep with a difference", "one of the two", hint)
    answers = {"annotator": n_annotators, "replicate": n_replicates}
    study = _study(measured, n_items, n_clusters, answers)
    if not aim.possible(study):
        raise InputError("a study that is smaller than the pilot it keeps", "one that adds to it", "Leave out keep.")
    rows = [aim.row(SAME_DESIGN, measured.design), aim.row("study", study)]
    rows += [aim.row(name, design) for name, design in _doubled(measured, study)]
    warnings = [*measured.cautions, *_warnings(aim)]
    found = [*_sufficient(aim, study)]
    if not found:
        wanted = "power" if aim.width is None else "width"
        warnings.append(f"no design of up to {MOST:,} items reaches the wanted {wanted}")
    elif aim.costs is None:
        rows.append({**found[0], "design": ENOUGH})
    else:
        rows.append(min(found, key=lambda row: row["cost"]))
    noise = {name: measured.noise if measured.answer == who else None for name, who in ANSWERS.items()}
    return Plan(
        a=measured.a,
        b=measured.b,
        difference=measured.difference,
        error=measured.error,
        variance={"clusters": measured.clusters, "items": measured.items, **noise, "shared": measured.shared},
        certainty=aim.certainty,
        power=aim.power,
        width=aim.width,
        designs=rows,
        sizes=_sizes(aim, study),
        warnings=tuple(warnings),
    )


def _sizes(aim: Aim, study: Design) -> Sequence[Row]:
    """The study with fewer and more items, all else as it is."""
    least = max(study.n_items / 10, 4)
    sizes = []
    for n_items in np.unique(np.geomspace(least, study.n_items * 10, 41).round()).tolist():
        n_clusters = study.n_clusters
        if n_clusters is not None:
            n_clusters = max(round(n_items / study.n_items * n_clusters), 2)
        design = replace(study, n_items=n_items, n_clusters=n_clusters)
        if aim.possible(design):
            sizes.append(aim.row("items", design))
    return sizes


def _warnings(aim: Aim) -> Iterator[str]:
    """Warnings for the reader."""
    pilot = aim.pilot
    _, df = pilot.error_of(pilot.design)
    if pilot.error == 0:
        yield "the same difference on every item of the pilot: no spread to plan with"
    elif aim.difference is None and stdtr(df, abs(pilot.difference) / pilot.error) < aim.certainty:
        yield (
            "the pilot does not decide: the probability that the study will is an average over all differences that "
            "the pilot leaves open; name the smallest difference that matters (difference=, --difference)"
        )
    if pilot.design.n_units < FEW_UNITS:
        yield f"the pilot has {pilot.design.n_units:.0f} independent units: its spread is a rough guide"
    if pilot.error > 0 and pilot.items == 0 and pilot.noise:
        yield (
            f"the pilot's {pilot.answer}s explain all of its spread, as few items do by chance: what items add is "
            "taken for 0, so buy at least as many items as the pilot had"
        )


def _study(pilot: Pilot, n_items: object, n_clusters: object, n_answers: Mapping[str, object]) -> Design:
    """The design of the study; counts that the caller leaves out are as in the pilot."""
    was = pilot.design
    answer = "" if pilot.noise is None else pilot.answer
    asked = {"clusters": n_clusters, **{f"{who}s": count for who, count in n_answers.items()}}
    for what, count in asked.items():
        known = was.n_clusters is not None if what == "clusters" else what == f"{answer}s"
        if count is not None and not known:
            problem = f"n_{what} with a pilot that says nothing of {what}"
            hint = f"Plan from Scores that have {what}, or leave n_{what} out."
            raise InputError(problem, f"a pilot whose {what} are known", hint)
    wanted = n_answers.get(answer)
    study = was if wanted is None else was.with_answers(check.whole(wanted, 1, f"n_{answer}s"))
    if study.n_panel is not None and study.n_answers == 1 < was.n_answers:
        hint = f"Plan with n_{answer}s=2 or more."
        raise InputError(f"one {answer} behind all items", "at least two, so that their biases show", hint)
    items = None if n_items is None else float(check.whole(n_items, 2, "n_items"))
    if was.n_clusters is None:
        return replace(study, n_items=items or was.n_items)
    clusters = None if n_clusters is None else float(check.whole(n_clusters, 2, "n_clusters"))
    each = was.n_items / was.n_clusters
    n_items_in_all = items or (clusters or was.n_clusters) * each
    return replace(study, n_items=n_items_in_all, n_clusters=clusters or n_items_in_all / each)


def _costs(prices: object, pilot: Pilot) -> Mapping[str, float]:
    if not isinstance(prices, Mapping) or not prices:
        raise InputError(f"costs {check.quote(prices)}", "prices by name", "costs={'item': 1, 'annotation': 0.1}.")
    unknown = {"annotation": pilot.answer != "annotator", "cluster": pilot.design.n_clusters is None}
    for name in prices:
        what = check.one_of(name, RESOURCES, "cost")
        if unknown.get(what):
            an = f"an {what}" if what == "annotation" else f"a {what}"
            raise InputError(f"a price of {an} with a pilot that has none", "prices of what it has", "Leave it out.")
    return {name: check.number(price, f"{name} cost", "Check the price.", least=0) for name, price in prices.items()}


def _doubled(pilot: Pilot, study: Design) -> Iterator[tuple[str, Design]]:
    """The study with twice as much of each thing that the pilot has."""
    if pilot.items > 0 or pilot.noise:  # more items average out the noise of answers too
        yield "items x 2", replace(study, n_items=2 * study.n_items)
    if study.n_clusters is not None:
        larger = replace(study, n_items=2 * study.n_items)
        yield "clusters x 2", replace(larger, n_clusters=2 * study.n_clusters)
    if pilot.noise is not None:
        yield f"{pilot.answer}s x 2", study.with_answers(2 * study.n_answers)
    if pilot.shared and study.n_panel is not None and (study.again or study.n_panel >= 2 * study.n_answers):
        yield "panel x 2", replace(study, n_panel=2 * study.n_panel)


def _sufficient(aim: Aim, study: Design) -> Iterator[Row]:
    """The sufficient designs with the fewest units, for all numbers of answers and sizes of clusters with a price."""
    pilot = aim.pilot
    costs = aim.costs or {}
    priced = {what for what, price in costs.items() if price > 0}
    priced_answers = [who for what, who in ANSWERS.items() if what in priced]
    answers = [study.n_answers]
    if pilot.noise is not None and pilot.answer in priced_answers:
        fewest = 1 if pilot.shared is None or study.n_answers <= 1 else 2  # one annotator alone shows no bias
        answers = _tried(study.n_answers, fewest)
    sizes: list[float | None] = [None]
    if study.n_clusters is not None:
        each = study.n_items / study.n_clusters
        sizes = [each]
        if pilot.items > 0 and priced >= {"item", "cluster"}:
            sizes = [*_tried(each, 1)]
    for n_answers, size in product(answers, sizes):
        found = _fewest(aim, study.with_answers(n_answers), size)
        if found is not None:
            yield aim.row("cheapest", found)


def _tried(was: float, fewest: int) -> list[float]:
    """What the search tries: a pilot of few answers says little of what many times as many would do."""
    return [float(one) for one in TRIED if fewest <= one <= max(FURTHEST * was, fewest)]


def _fewest(aim: Aim, design: Design, size: float | None) -> Design | None:
    """The design with the fewest items, or clusters of a size, that is enough; None if there is none."""

    def of(units: int) -> Design:
        if size is None:
            return replace(design, n_items=units)
        return replace(design, n_items=units * size, n_clusters=units)

    sizes = range(2, MOST + 1)
    place = bisect_left(sizes, True, key=lambda units: aim.enough(of(units)))
    return None if place == len(sizes) else of(sizes[place])
