"""`validate`: how the default comparison does in studies that are drawn from the user's own items."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import brentq

from probtruth import check, frames
from probtruth.comparison.compare import compare
from probtruth.comparison.estimation.design import Design
from probtruth.comparison.options import checked_options
from probtruth.comparison.sources import of_scores
from probtruth.errors import InputError, PosteriorError
from probtruth.kernels.shapes import GroupInts, ItemInts, UnitFloats
from probtruth.study.pilot import scores_of
from probtruth.types import Comparison, Partition, Scores
from probtruth.types.arguments import Groups
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars

    from probtruth.line.result import Result

StudyFloats = Float[np.ndarray, " study"]
MEASURES = ("coverage", "width", "decides", "wrong_sign", "exaggeration")
COLUMNS = ("truth", "difference", *(name for one in MEASURES for name in (one, f"{one}_error")))
REPLICATIONS = 400  # By default; a share of 0.95 then has a standard error of 0.011
STEEPEST = 8.0  # The largest logarithm of unequal chances, per standard deviation of a unit
LOW_COVERAGE, SIGNIFICANT = 0.94, 2.0  # A coverage that is below this by so many standard errors gives a warning


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Brief):
    """How the default comparison did in studies drawn from the user's own items; `rows` are those of `table()`.

    `note` says what such studies cannot show.
    """

    a: str
    b: str
    n_items: int
    n_units: int
    difference: float
    replications: int
    seed: int
    rows: Sequence[Mapping[str, float | str | None]]
    note: str
    warnings: tuple[str, ...] = ()

    def table(self) -> "polars.DataFrame":
        """One row for each true difference: none, half of the requested one, and that.

        `coverage` and `width` are those of the 95% interval; `decides` is how often it excludes 0, `wrong_sign` how
        often it is then on the wrong side (type S) and `exaggeration` the factor by which the estimate is then too
        large (type M). Columns that end in `_error` are Monte Carlo standard errors.
        """
        return frames.from_rows(self.rows, COLUMNS)

    def to_dict(self) -> dict[str, object]:
        """All of it, as plain values."""
        plain = dict(vars(self))
        plain["table"] = [dict(row) for row in plain.pop("rows")]
        plain["warnings"] = list(plain.pop("warnings"))
        return plain


def validate(
    source: "Scores | Comparison | Result",
    a: str | None = None,
    b: str | None = None,
    *,
    n_items: int | None = None,
    groups: Groups | None = None,
    clusters: Groups | None = None,
    difference: float | None = None,
    replications: int = REPLICATIONS,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> Validation:
    r"""How far to trust an answer on a design like this: coverage, and errors of sign and size.

    Studies are drawn from the user's own items, with replacement: whole clusters, within each group; each is compared
    as `compare` does. For another true difference $\delta$ than that of the data, units are drawn with chances
    proportional to $\exp(\lambda (T_j - \delta n_j))$, T the unit's total difference and n its items.

    Arguments:
        source: what `score`, `evaluate` or `compare` returned.
        a, b: name two models, by default the two leaders.
        n_items: the size of the studies (by default the number of items), `groups` and `clusters` as in `compare`.
        groups: as in `compare`.
        clusters: as in `compare`.
        difference: the true difference a minus b to test (by default that of the data).
        replications: the studies at each true difference.
        seed: of everything random: the same seed gives the same numbers.
        on_progress: called as they finish.

    Returns: a `Validation`; its `table()` has a row for each true difference, with Monte Carlo standard errors.

    Errors: `InputError` for a difference that the scores cannot have, and a result with weights or expert labels;
    `PosteriorError` if an infinite score, a single unit or the same difference
    everywhere leaves nothing to draw from.

    Source: Gelman and Carlin 2014, "Beyond power calculations: assessing type S (sign) and type M (magnitude) errors",
    doi:10.1177/1745691614551642; Efron 1981, "Nonparametric standard errors and confidence intervals",
    doi:10.2307/3314608 (the unequal chances).

    >>> import numpy as np, probtruth as pt
    >>> loss = np.random.default_rng(0).normal([0.5, 0.56], 0.3, (60, 2))
    >>> rows = {"item": [*range(60)] * 2, "model": ["x"] * 60 + ["y"] * 60, "score": loss.T.ravel()}
    >>> validation = pt.validate(pt.Scores.from_frame(rows, higher_is_better=False), replications=50)
    >>> 0.8 < validation.rows[0]["coverage"] <= 1
    True
    """
    check.own_threads()
    scores, _, grouping = scores_of(source, a, b, groups, clusters)
    n = len(scores.items)
    values = scores.values
    if scores.influence is not None:  # what an item moves through fitted weights belongs to its spread
        about_mean = scores.influence - scores.influence.mean(1, keepdims=True)
        values = values + scores.sign * about_mean
    pair = replace(
        scores,
        values=values,
        labels=None,
        replicates=None,
        influence=None,
        item_rows=None,
        groups=grouping.groups,
        clusters=grouping.clusters,
    )
    target = n if n_items is None else check.whole(n_items, 2, "n_items")
    (total,) = grouping.unit_totals(pair.values[:1] - pair.values[1:])
    order = np.arange(n) if grouping.unit is None else np.argsort(grouping.unit, kind="stable")
    items_of_unit = np.split(order, np.cumsum(grouping.unit_sizes)[:-1])
    units = Units(grouping, total, items_of_unit)
    of_groups = np.round(grouping.group_units * target / n)
    drawn = np.maximum(of_groups, 1).astype(int)
    if grouping.n_units == 1 or drawn.max() < 2:
        raise PosteriorError("got studies of one unit, expected at least two. Hint: ask for more items.")
    observed = units.mean(np.ones(grouping.n_units))
    residual = total - observed * grouping.unit_sizes
    if not np.abs(residual).max() > 1e-12 * np.abs(pair.values).max():
        raise PosteriorError("got the same difference everywhere, expected some spread to draw from. Hint: add items.")
    wanted = observed if difference is None else check.number(difference, "difference", "Give a minus b.")
    count = check.whole(replications, 2, "replications")
    rng = np.random.default_rng(check.whole(seed, 0, "seed"))
    targets = {"none": 0.0, "half": wanted / 2, "given": wanted}
    chances = {name: units.chances(to, observed) for name, to in targets.items()}
    if chances["given"] is None:
        problem = f"a true difference of {wanted:g}, which these scores cannot have"
        raise InputError(problem, "one between those of single items", "Name a smaller difference.")
    reached = {name: chance for name, chance in chances.items() if chance is not None}
    found: list[dict[str, Any]] = []
    for at, (name, chance) in enumerate(reached.items()):
        studies = np.empty((count, 3))
        for run in range(count):
            picks = units.drawn(chance, drawn, rng)
            studies[run] = _study(pair, units, picks)
            if on_progress is not None and (run + 1) % 10 == 0:
                on_progress(at * count + run + 1, len(reached) * count)
        measures = _measures(targets[name], *studies.T)
        found.append({"truth": name, "difference": targets[name], **measures})
    note = (
        f"Outcomes that are not among these {n:,} items are not in these studies: what is rarer than 1 in {n:,} cannot "
        "be seen here."
    )
    warnings = [*scores.cautions]
    shared = of_scores(scores, grouping, checked_options(engine="exact"), None).shared
    if shared is not None:
        warnings.append(
            f"all studies have the {shared} of the data: for new ones differences are less sure, as in compare"
        )
    if len(reached) < len(targets):
        hidden = "one model is hardly ever the worse one: these items cannot show studies of a smaller true difference"
        warnings.append(hidden)
    covered, error = min((row["coverage"], row["coverage_error"]) for row in found)
    if covered + SIGNIFICANT * error < LOW_COVERAGE:
        warnings.append(f"95% intervals hold the true difference in {covered:.3f} of such studies only")
    first, second = pair.models
    return Validation(first, second, target, int(drawn.sum()), wanted, count, seed, found, note, tuple(warnings))


@dataclass(frozen=True, eq=False)
class Units:
    """Items or clusters: the total difference and the items of each."""

    plan: Design
    total: UnitFloats
    items: Sequence[ItemInts]

    def mean(self, chance: UnitFloats) -> float:
        """The mean difference if units are drawn with these chances, each group with its share of the items."""
        plan = self.plan
        total, size = plan.group_totals(chance * np.stack([self.total, plan.unit_sizes]))
        share = plan.group_sizes / plan.n_items
        return float(share @ (total / size))

    def chances(self, to: float, observed: float) -> UnitFloats | None:
        """Chances under which the mean difference is `to`; None if there are none that are not too unequal."""
        if to == observed:
            return np.ones(len(self.total))
        group = self.plan.of_unit()
        residual = self.total - to * self.plan.unit_sizes
        residual /= np.sqrt(np.square(residual).mean())

        def tilted(steepness: float) -> UnitFloats:
            power = steepness * residual
            top = np.full(self.plan.n_groups, -np.inf)
            np.maximum.at(top, group, power)
            return np.exp(power - top[group])

        def excess(steepness: float) -> float:
            return self.mean(tilted(steepness)) - to

        if not excess(-STEEPEST) <= 0 <= excess(STEEPEST):
            return None
        return tilted(float(brentq(excess, -STEEPEST, STEEPEST, xtol=1e-12)))

    def drawn(self, chance: UnitFloats, counts: GroupInts, rng: np.random.Generator) -> Int[np.ndarray, " drawn"]:
        """So many units of each group."""
        picked = []
        for group, count in enumerate(counts.tolist()):
            members = np.flatnonzero(self.plan.of_unit() == group)
            of_member = chance[members]
            picked.append(rng.choice(members, count, p=of_member / of_member.sum()))
        return np.concatenate(picked)


def _study(pair: Scores, units: Units, picks: Int[np.ndarray, " drawn"]) -> tuple[float, float, float]:
    """The difference of one study of these units and its interval."""
    items = np.concatenate([units.items[unit] for unit in picks])
    names = tuple(map(str, range(len(items))))
    clusters = None
    if pair.clusters is not None:
        of_item = np.repeat(np.arange(len(picks)), units.plan.unit_sizes[picks])
        clusters = Partition(of_item, names[: len(picks)])
    study = pair.part(np.arange(2), items)
    study = replace(study, items=names, clusters=clusters)
    row = compare(study, engine="exact").pair(*pair.models)
    difference = row.difference or 0.0
    if row.low is None or row.high is None:
        return difference, -math.inf, math.inf
    return difference, row.low, row.high


def _measures(truth: float, mean: StudyFloats, low: StudyFloats, high: StudyFloats) -> dict[str, float | None]:
    """Coverage, width and verdicts; a type-S error is a verdict for the wrong model, type M is exaggeration."""
    decided = (low > 0) | (high < 0)
    real = decided & (truth != 0)
    covered = (low <= truth) & (truth <= high)
    wrong = (low > 0) != (truth > 0)
    exaggeration = np.abs(mean[real]) / abs(truth or 1.0)
    of_studies = (covered, high - low, decided, wrong[real], exaggeration)
    measures = {}
    for name, values in zip(MEASURES, of_studies, strict=True):
        n = len(values)
        error = None
        if values.dtype == bool and n:  # Agresti and Coull's, so that it is never 0
            p = (int(values.sum()) + 2) / (n + 4)
            error = math.sqrt(p * (1 - p) / (n + 4))
        elif n > 1:
            error = float(values.std(ddof=1)) / math.sqrt(n)
        measures[name] = float(values.mean()) if n else None
        measures[f"{name}_error"] = error
    return measures
