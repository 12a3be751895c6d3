"""`validate`: how well the default comparison and the monitor work on the user's own design.

The result of `validate`: how far to trust the answers on this design.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from probtruth import check, frames
from probtruth.comparison.evidence.crossed import annotator_cells, excess, wider
from probtruth.comparison.evidence.design import design
from probtruth.comparison.evidence.evidence import check_size
from probtruth.comparison.evidence.from_scores import reach_of
from probtruth.comparison.evidence.moments import Moments, combine, means_of
from probtruth.errors import InputError, PosteriorError
from probtruth.study.monitor import LEVEL, finite_range, known_bounds, known_number
from probtruth.study.pilot import HasScores, as_compared, two_names
from probtruth.study.simulated_worlds import World
from probtruth.study.trials import SURE, Streams, Trials
from probtruth.types import Annotations, Scores
from probtruth.types.arguments import Groups
from probtruth.types.shown import Shown

if TYPE_CHECKING:
    import polars


Row = Mapping[str, object]
MEASURES = ("coverage", "width", "decides", "wrong_sign", "exaggeration")
COLUMNS = ("truth", "difference", *(name for one in MEASURES for name in (one, f"{one}_error")))
BINS = ("p_a_better", "a_was_better", "studies")


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Shown):
    """How well the default comparison and the monitor did in studies drawn from the user's own items.

    `rows` are those of `table()`, `bins` those of `curve()`. `calibration` holds the expected calibration error of P(a
    better) (`error`; `by_chance` is the error of perfect probabilities), how often P is above 0.975 for one of the
    models (`sure`) and how often it is then wrong (`wrong_when_sure`); `monitor` holds the false alarms of a monitor
    that looks after every unit, how often it decides at the true difference and after how many items (the median, None
    if fewer than half of the streams end in a decision). Every key that ends in `_error` is a Monte Carlo standard
    error.
    """

    a: str
    b: str
    n_items: int
    n_units: int
    n_groups: int
    clustered: bool
    difference: float
    standard_error: float
    replications: int
    seed: int
    rows: Sequence[Row]
    calibration: Mapping[str, float | None]
    bins: Sequence[Row]
    monitor: Mapping[str, object]
    warnings: tuple[str, ...] = ()

    def table(self) -> "polars.DataFrame":
        """One row for each true difference: none, half of the requested one, the requested one, and some drawn from
        N(0, (2 SE)^2).

        `coverage` and `width` are those of the 95% interval; `decides` is how often it excludes 0, `wrong_sign` how
        often it is then on the wrong side (type S) and `exaggeration` the factor by which the estimate is then too
        large (type M).
        """
        return frames.from_rows(self.rows, COLUMNS)

    def curve(self) -> "polars.DataFrame":
        """The calibration of P(a better): mean probability and frequency, in up to ten bins."""
        return frames.from_rows(self.bins, BINS)

    def to_dict(self) -> dict[str, object]:
        """All of it, as plain values."""
        names = ("a", "b", "n_items", "n_units", "n_groups", "clustered", "difference", "standard_error")
        rows = {"table": [dict(row) for row in self.rows], "calibration": dict(self.calibration)}
        more = {"curve": [dict(row) for row in self.bins], "monitor": dict(self.monitor)}
        facts = {name: getattr(self, name) for name in (*names, "replications", "seed")}
        return {**facts, **rows, **more, "warnings": list(self.warnings)}


NUMBERS, FEWEST, MOST = 40_000_000, 400, 4000
"""Scores drawn at each true difference, and the default range of the number of studies.

With 4,000 a share of 0.95 has a standard error of 0.0034.
"""
TRUTHS = 40
"""Number of true differences that represent N(0, (2 SE)^2)."""
SPREAD = 2.0
"""Standard deviation of those, in standard errors."""
WATCHED = 1000, 10_000
"""Units that a monitor sees, at least and at most."""
FEW_UNITS, FEW_ANNOTATORS, LOW_COVERAGE = 30, 5, 0.94
"""Fewer than these give a warning."""
SIGNIFICANT = 2.0
"""A share that misses its target by this many Monte Carlo standard errors gives a warning."""


@check.checks_itself
def validate(
    source: Scores | HasScores,
    a: str | None = None,
    b: str | None = None,
    *,
    n_items: int | None = None,
    groups: Groups | None = None,
    clusters: Groups | None = None,
    difference: float | None = None,
    bounds: tuple[float, float] | None = None,
    alpha: float | None = None,
    annotations: Annotations | None = None,
    replications: int | None = None,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> Validation:
    r"""How far to trust an answer on a design like this: coverage, errors of sign and size, calibration, false alarms.

    Studies are drawn from the user's own items, with replacement: whole clusters, within each group; with
    `annotations`, annotators too. Their true difference is known. If differences are unbounded and few of them are
    ties, a shift sets it; otherwise units are drawn with chances proportional to $\exp(\lambda (T_j - \delta n_j))$, T
    the unit's total difference and n its items, so that ties stay ties and bounds hold. Each study is compared as
    `compare` does by default, in closed form.

    Arguments: `source` is what `score` or `evaluate` returned, or `Scores.from_frame`; `a` and `b` name two models if
    there are more. `n_items` is the size of the studies (by default the number of items), `groups` and `clusters` as
    in `compare`. `difference` is the true difference a minus b to test (by default that of the data), `bounds` the
    smallest and the largest score (known for `Scores` of a bounded rule; without them the monitor is the asymptotic
    one) and `alpha` the monitor's level (0.05). `annotations` are those behind the scores, if the same few annotators
    judged all items. `replications` are the studies at each true difference (4,000, fewer beyond 10,000 items).
    `on_progress(done, total)` is called as they finish.

    Returns: a `Validation`; its `table()` has a row for each true difference, with Monte Carlo standard errors.

    Errors: `InputError` for a difference that the scores cannot have, and a result whose groups, clusters, weights or
    expert labels its scores do not carry; `PosteriorError` if an infinite score, a single unit or the same difference
    everywhere leaves nothing to draw from.

    Source: Gelman and Carlin 2014, "Beyond power calculations: assessing type S (sign) and type M (magnitude) errors",
    doi:10.1177/1745691614551642; Efron 1981, "Nonparametric standard errors and confidence intervals",
    doi:10.2307/3314608 (the unequal chances).

    >>> import numpy as np, probtruth as pt
    >>> loss = np.random.default_rng(0).normal([0.5, 0.56], 0.3, (60, 2))
    >>> rows = {"item": [*range(60)] * 2, "model": ["x"] * 60 + ["y"] * 60, "score": loss.T.ravel()}
    >>> validation = pt.validate(pt.Scores.from_frame(rows, higher_is_better=False), replications=400)
    >>> 0.9 < validation.rows[0]["coverage"] <= 1, validation.monitor["false_alarms"] < 0.1
    (True, True)
    """
    check.own_threads()
    scores = source if isinstance(source, Scores) else getattr(source, "scores", None)
    if not isinstance(scores, Scores):
        raise InputError(type(source).__name__, "Scores or a Result", "Give what score or evaluate returned.")
    first, second = two_names(scores.models, a, b)
    chosen = check.whole(seed, 0, "seed")
    level = LEVEL if alpha is None else known_number(alpha, "alpha", "a number between 0 and 1", 1e-12, 1 - 1e-12)
    limits = _limits(scores, bounds)
    world, error = _world(scores, (first, second), groups, clusters, limits, annotations)
    plan = design(scores, groups, clusters, None)
    as_compared(source, plan, first, second, world.mean, groups is not None or clusters is not None)
    if n_items is not None:
        target = check.whole(n_items, 2, "n_items")
        error, world = error * (len(world.values) / target) ** 0.5, world.scaled(target)
    if world.drawn.max() < 2:
        raise PosteriorError("got studies of one unit, expected at least two. Hint: ask for more items.")
    count = _replications(replications, world.n_items)
    wanted = world.mean if difference is None else known_number(difference, "difference", "a number", -1e75, 1e75)
    named, far = {"none": 0.0, "half": wanted / 2, "given": wanted}, world.furthest()
    prior = np.clip(SPREAD * error * ndtri((np.arange(TRUTHS) + 0.5) / TRUTHS), -far, far).tolist()
    world = world.ready_for(*named.values(), prior[0], prior[-1])
    world.moved(wanted)  # raises where that cannot be
    n_watched = min(max(world.n_units, WATCHED[0]), WATCHED[1])
    total, done = 5 * count + count // TRUTHS * TRUTHS, 0

    def tick(more: int) -> None:
        nonlocal done
        done += more
        if on_progress is not None:
            on_progress(done, total)

    rng = np.random.default_rng(chosen)
    tried = {name: Trials.run(world, to, rng, count, tick) for name, to in named.items()}
    drawn = Trials.joined([Trials.run(world, to, rng, count // TRUTHS, tick) for to in prior])
    rows: list[Row] = [{"truth": name, "difference": named[name], **one.row()} for name, one in tried.items()]
    rows.append({"truth": "drawn", "difference": None, **drawn.row()})
    calibration, bins = drawn.calibration(chosen)
    flat = world.alone(n_watched)
    reach = world.reach or None if limits is None else limits[1] - limits[0]
    null, real = (Streams.run(flat.moved(to), reach, level, rng, count, tick) for to in (0.0, wanted))
    watch = {
        "method": "asymptotic" if reach is None else "betting",
        "alpha": level,
        "n_items": round(n_watched * float(world.size.mean())),
        **null.alarms(),
        **real.findings(wanted),
    }
    return Validation(
        first, second, world.n_items, world.n_units, len(world.weights), world.clustered, wanted, error, count, chosen,
        rows, calibration, bins, watch, tuple(_warnings(world, rows, calibration, watch)),
    )  # fmt: skip


def _replications(requested: object, n_items: int) -> int:
    return (
        int(np.clip(NUMBERS // n_items, FEWEST, MOST))
        if requested is None
        else check.whole(requested, TRUTHS, "replications")
    )


def _limits(scores: Scores, bounds: object) -> tuple[float, float] | None:
    """The finite bounds of a loss; None without."""
    if bounds is not None:
        low, high = known_bounds(bounds)
        low, high = (-high, -low) if scores.higher_is_better else (low, high)
        if scores.values.min() < low or scores.values.max() > high:
            raise InputError(
                f"scores outside the bounds {check.quote(bounds)}", "scores within them", "Give wider bounds."
            )
        return low, high
    return finite_range(scores)


def _world(
    scores: Scores,
    names: tuple[str, str],
    groups: object,
    clusters: object,
    limits: tuple[float, float] | None,
    annotations: object,
) -> tuple[World, float]:
    """The population, and the standard error of its mean in a study like the user's."""
    plan = design(scores, groups, clusters, None)
    rows = [scores.models.index(name) for name in names]
    pair = scores.values[rows]
    if not np.isfinite(pair).all():
        raise PosteriorError("got an infinite score, expected finite ones. Hint: score with a floor.")
    difference, within = pair[0] - pair[1], plan.structure
    largest, reach = float(np.abs(pair).max()), reach_of(scores)
    check_size(largest)
    means = means_of(difference[None], np.array([largest]), within, None)
    parts = Moments.of(within, means, means)
    if not parts.df.any():
        raise PosteriorError("got one unit in all, expected at least two to draw from. Hint: add items.")
    location, cells = combine(parts, means, plan.weights), None
    if annotations is not None:
        by_annotator = annotator_cells(scores, annotations)
        cells = by_annotator.of(rows[0]) - by_annotator.of(rows[1])
        location = wider(location, [(excess(cells, plan.item_weights()),)])
    variance = float(location.variance[0])
    if not variance > 0:
        raise PosteriorError("got the same difference everywhere, expected some spread to draw from. Hint: add items.")
    return World.of(difference, within, plan.weights, largest, reach, limits is not None, cells), variance**0.5


def _warnings(
    world: World,
    rows: Sequence[Row],
    calibration: Mapping[str, float | None],
    watch: Mapping[str, object],
) -> Iterator[str]:
    """Warnings for the reader."""
    n_seen = len(world.size) // (2 if world.mirrored else 1)
    if n_seen < FEW_UNITS:
        units = "clusters" if world.clustered else "items"
        yield f"{n_seen} {units} to draw from: what is rarer than they show cannot be seen here"
    if world.cells is not None and world.cells.shape[1] < FEW_ANNOTATORS:
        yield (
            f"{world.cells.shape[1]} annotators to draw from: many studies draw one of them twice and cannot see how "
            "annotators differ, so that coverage here is lower than in studies with new ones"
        )
    if world.mirrored:
        yield "one model is hardly ever the worse one: items with the models exchanged were added to draw from"
    low = [row for row in rows if _surely_below(row, "coverage", LOW_COVERAGE)]
    if low:
        least = min(float(str(row["coverage"])) for row in low)
        yield f"95% intervals hold the true difference in {least:.3f} of such studies only"
    if _surely_above(calibration, "wrong_when_sure", 1 - SURE):
        yield f"where one model is better with P above {SURE}, that is wrong in {calibration['wrong_when_sure']:.3f}"
    if _surely_above(watch, "false_alarms", float(str(watch["alpha"]))):
        yield f"the monitor raises a false alarm in {watch['false_alarms']:.3f} of such streams"


def _surely_below(row: Mapping[str, object], name: str, level: float) -> bool:
    value, error = row[name], row[f"{name}_error"]
    return value is not None and float(str(value)) + SIGNIFICANT * float(str(error)) < level


def _surely_above(row: Mapping[str, object], name: str, level: float) -> bool:
    value, error = row[name], row[f"{name}_error"]
    return value is not None and float(str(value)) - SIGNIFICANT * float(str(error)) > level
