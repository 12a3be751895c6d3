"""What a pilot says about the mean difference of two models: its value, and why it varies.

A pilot from scores, a result or a comparison: the parts of the variance of a difference of two models.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from probtruth import check
from probtruth.comparison.evidence.crossed import Cells, joined_df
from probtruth.comparison.evidence.design import Design, Structure, design
from probtruth.comparison.evidence.evidence import check_size, single_votes_only
from probtruth.comparison.evidence.label_variance import label_variance
from probtruth.comparison.evidence.moments import Moments, combine, means_of
from probtruth.comparison.posterior.margins import FEWEST
from probtruth.errors import InputError, PosteriorError
from probtruth.study.leanings import Leanings, cells_behind, leanings_of
from probtruth.study.studies import Studies, Study, of_uneven
from probtruth.types import Comparison, Scores

RESAMPLED = 2000
"""The width of an interval is simulated up to this many units; beyond, the effect of skewness falls with their
root."""
NUMBERS, RUNS = 400_000, (200, 1000)
"""Numbers drawn for one size of studies, and their smallest and largest number."""
GRID = 1.5
"""Studies are simulated at sizes that differ by this factor; between them their results are interpolated."""


@dataclass(frozen=True, eq=False)
class Pilot:
    """The mean difference a minus b, its standard error, and the parts of the variance of one item's difference.

    `between` is the variance of clusters, `items` that of items within them, `labels` what a single vote adds and
    `replicates` what a single replicate adds (None if unknown); `uneven` is the squared coefficient of variation of
    the clusters' sizes. `totals` are the units' centred totals and `sizes` their items. `leanings` is what annotators
    or replicates that stand behind all items add.
    """

    a: str
    b: str
    study: Study
    difference: float
    error: float
    df: float
    between: float
    items: float
    labels: float | None
    replicates: float | None
    uneven: float = 0.0
    totals: Float[np.ndarray, " unit"] | None = None
    sizes: Float[np.ndarray, " unit"] | None = None
    stretch: float = 1.0
    seed: int = 0
    drawn: dict[int, Studies] = field(default_factory=dict)
    single_votes: bool = False
    leanings: Leanings | None = None

    def error_of(self, study: Study) -> float:
        """The standard error of the mean difference under a design."""
        shared = 0.0 if self.leanings is None else self.leanings.part(self.units_an_item(study))
        return math.sqrt(self.variance_of_items(study) + shared)

    def units_an_item(self, study: Study) -> float:
        """Those of the units that stand behind all items which an item has."""
        seen_by = self.leanings is not None and self.leanings.what == "annotator"
        return float((study.n_annotators or 1) if seen_by else study.n_replicates)

    def variance_of_items(self, study: Study) -> float:
        """The variance of the mean difference under a design, without what stands behind all items."""
        each = self.items
        each += 0.0 if self.labels is None else self.labels / (study.n_annotators or 1)
        each += 0.0 if self.replicates is None else self.replicates / study.n_replicates
        shared = 0.0 if study.n_clusters is None else self.between * (1 + self.uneven) / study.n_clusters
        return shared + each / study.n_items

    def judged(self, study: Study) -> list[tuple[float, Studies]]:
        """Studies of a design as `compare` judges them, of the two nearest sizes with their shares."""
        drawn = self.studies(study.n_units)
        return drawn if self.leanings is None else [(share, self._joined(some, study)) for share, some in drawn]

    def _joined(self, studies: Studies, study: Study) -> Studies:
        """Studies of items with the units that stand behind all of them, in standard errors of both."""
        assert self.leanings is not None
        own, whole = math.sqrt(self.variance_of_items(study)), self.error_of(study)
        third = studies.skewness * (own * studies.error) ** 3
        of_items = own * studies.mean, (own * studies.error) ** 2, third, studies.df
        found = self.leanings.joined(*of_items, self.units_an_item(study), study.n_items)
        varies = found.variance > 0
        bent = np.where(varies, found.third / np.where(varies, found.variance, 1.0) ** 1.5, 0.0)
        return Studies(found.mean / whole, np.sqrt(found.variance) / whole, bent, found.df)

    def half_width(self, n_units: float | int) -> float:
        """The expected half-width of the 95% interval, in standard errors."""
        n = max(float(n_units), 2.0)
        if self.totals is None:  # the t, and what skewness added in the pilot
            more = (self.stretch - 1) * math.sqrt(self.study.n_units / n)
            return float(stdtrit(n - 1, 0.975)) * (1 + more)
        if n > RESAMPLED:
            return 1.959964 + (self._studies(RESAMPLED).half_width() - 1.959964) * math.sqrt(RESAMPLED / n)
        return sum(share * studies.half_width() for share, studies in self.studies(n))

    def studies(self, n_units: float | int) -> list[tuple[float, Studies]]:
        """Studies of about so many units, those of the two nearest sizes with their shares."""
        n = max(float(n_units), 2.0)
        if n > RESAMPLED:
            return [(1.0, self._studies(RESAMPLED).larger(n / RESAMPLED))]
        step = math.log(n / 2) / math.log(GRID)
        below = math.floor(step)
        ends = [min(round(2 * GRID**at), RESAMPLED) for at in (below, below + 1)]
        share = 0.0 if ends[0] == ends[1] else (n - ends[0]) / (ends[1] - ends[0])
        return [(1 - share, self._studies(ends[0])), (share, self._studies(ends[1]))]

    def _studies(self, n: int) -> Studies:
        """Samples of n of the pilot's units."""
        if n not in self.drawn:
            self.drawn[n] = self._draw(n)
        return self.drawn[n]

    def _draw(self, n: int) -> Studies:
        totals, sizes = self.totals, self.sizes
        assert totals is not None
        assert sizes is not None
        spread = float(np.sqrt(np.square(totals).mean() / n)) / float(sizes.mean())
        if spread == 0:
            return Studies(np.zeros(1), np.ones(1), np.zeros(1), n - 1.0)
        rng = np.random.default_rng([self.seed, n])
        runs = int(np.clip(NUMBERS // n, *RUNS))
        chosen = rng.integers(len(totals), size=(runs, n))
        if self.uneven > 0:
            return of_uneven(totals[chosen], sizes[chosen], spread, FEWEST)
        rows = totals[chosen] / sizes.mean()
        within = Structure.of(np.zeros(n, np.int64), None)
        means = means_of(rows, np.abs(rows).max(1), within, None)
        location = combine(Moments.of(within, means, means), means, np.ones(1))
        varies = location.variance > 0
        variance = np.where(varies, location.variance, 1.0)
        skewness = np.where(varies & (n >= FEWEST), location.third / variance**1.5, 0.0)
        mean = location.mean / spread
        return Studies(mean - mean.mean(), np.sqrt(location.variance) / spread, skewness, n - 1.0)


@runtime_checkable
class HasScores(Protocol):
    """What carries scores: the result of `evaluate`."""

    @property
    def scores(self) -> object:
        """The scores."""


def pilot_of(
    value: object, a: object, b: object, groups: object, clusters: object, seed: int, annotations: object = None
) -> Pilot:
    """What scores, a result or a comparison say about two of their models."""
    scores = value if isinstance(value, Scores) else getattr(value, "scores", None)
    whole = value if isinstance(value, Comparison) else getattr(value, "comparison", None)
    comparison = whole if isinstance(whole, Comparison) else None
    if comparison is not None and comparison.settings.get("crossed") and scores is None:
        scores = comparison.scored
    if isinstance(scores, Scores):
        held = getattr(value, "annotations", None)
        cells = cells_behind(scores, comparison, annotations, held)
        return _of_scores(scores, *two_names(scores.models, a, b), groups, clusters, seed, comparison, cells)
    if annotations is not None:
        raise InputError("annotations without scores", "the scores behind a comparison", "Plan from Scores.")
    if isinstance(value, Comparison):
        _items_decide(value)
        if groups is not None or clusters is not None:
            raise InputError("groups or clusters with a comparison", "its own", "Plan from Scores to change them.")
        return _of_comparison(value, *two_names(value.models, a, b))
    raise InputError(type(value).__name__, "Scores, a Comparison or a Result", "Give what score or compare returned.")


def two_names(models: tuple[str, ...], a: object, b: object) -> tuple[str, str]:
    """The two models that the caller names, or the only two by name."""
    if a is None and b is None and len(models) == 2:
        first, second = sorted(models)
        return first, second
    for name, what in ((a, "a"), (b, "b")):
        if name is None:
            raise InputError(
                f"{len(models)} models and no {what}", "the names of two of them",
                f"Give {what}=... (command line: --{what}). The models are {check.shortlist(models)}.",
            )  # fmt: skip
        check.one_of(name, models, "model")
    if a == b:
        raise InputError(f"model {check.quote(a)} twice", "two different models", "Name another one.")
    return str(a), str(b)


def as_compared(value: object, plan: Design, a: str, b: str, mean: float, named: bool) -> None:
    """Raises where the scores of a result do not say what its comparison rests on: another design, or other means.

    Arguments: `named` says whether the caller names groups or clusters; `mean` is the scores' own mean difference.
    """
    comparison = value if isinstance(value, Comparison) else getattr(value, "comparison", None)
    if not isinstance(comparison, Comparison):
        return
    for what, here in (("groups", plan.n_groups if plan.grouped else None), ("clusters", plan.n_clusters)):
        known = comparison.settings.get(what)
        if not named and known != here:
            raise InputError(
                f"a result with {known or 'no'} {what}, of which its scores do not say which items they hold",
                f"{what} by item", f"Name them again: {what}=...",
            )  # fmt: skip
    row = next((row for row in comparison.pairs if {row["a"], row["b"]} == {a, b}), {"difference": None})
    if isinstance(was := row["difference"], float) and not math.isclose(
        abs(was), abs(mean), rel_tol=1e-6, abs_tol=1e-12
    ):
        raise InputError(
            f"a result whose difference is {was:g}, where its scores alone give {mean:g}",
            "a comparison of these scores, without weights or expert labels", "Use result.scores to leave them out.",
        )  # fmt: skip


def _items_decide(comparison: Comparison) -> None:
    """Raises where a part of the variance does not fall with the number of items."""
    of = comparison.settings
    shared = f"the same {of.get('crossed')}s on many items" if of.get("crossed") else None
    shared = "folds that share training data" if of.get("replicates_are") == "folds" else shared
    if shared:
        raise InputError(
            f"a comparison of {shared}", "one whose uncertainty falls with the number of items",
            "Plan from the scores (result.scores) for what more items alone would bring.",
        )  # fmt: skip


def _of_scores(
    scores: Scores, a: str, b: str, groups: object, clusters: object, seed: int,
    comparison: Comparison | None, cells: Cells | None,
) -> Pilot:  # fmt: skip
    plan = design(scores, groups, clusters, None)
    first, second = scores.models.index(a), scores.models.index(b)
    if not np.isfinite(scores.values[[first, second]]).all():
        raise PosteriorError(f"got an infinite score of {a!r} or {b!r}, expected a finite spread. Hint: use a floor.")
    difference = scores.values[first] - scores.values[second]
    within = plan.structure
    largest = np.abs(scores.values[[first, second]]).max()
    check_size(float(largest))
    means = means_of(difference[None], largest[None], within, None)
    parts = Moments.of(within, means, means)
    if not parts.df.any():
        raise PosteriorError("got one unit in all, expected at least two to see a spread. Hint: add to the pilot.")
    location = combine(parts, means, plan.weights)
    as_compared(comparison, plan, a, b, float(location.mean[0]), groups is not None or clusters is not None)
    variance, n = float(location.variance[0]), len(difference)
    totals, sizes = _units(difference, within)
    study = Study(n, None, None if within.unit is None else len(sizes), scores.n_replicates)
    between, each, uneven = 0.0, variance * n, 0.0
    if within.unit is not None:
        uneven = float(sizes.var() / sizes.mean() ** 2)
        inner = difference - (np.bincount(within.unit, difference) / sizes)[within.unit]
        each = float(np.square(inner).sum() / max(n - len(sizes), 1))
        between = (variance - each / n) * len(sizes) / (1 + uneven)
        if between < 0 or n == len(sizes):
            between, each = (0.0, variance * n) if n > len(sizes) else (variance * n, 0.0)
    pilot = Pilot(a, b, study, float(location.mean[0]), math.sqrt(variance), float(location.df[0]), between, each,
                  None, None, uneven, totals, sizes, seed=seed)  # fmt: skip
    if cells is not None:
        return _beside(pilot, leanings_of(cells, first, second, plan.item_weights(), seed))
    return _without_noise(pilot, scores, first, second, plan.item_weights())


def _beside(pilot: Pilot, leanings: Leanings) -> Pilot:
    """The pilot with what units behind all items add; what one of them adds to a single item is not the items'."""
    noise = min(leanings.rest / leanings.per_item, pilot.items)
    own = pilot.error**2
    df = (
        joined_df(np.array(own), np.array(pilot.df), np.array(leanings.raw), leanings.df)
        if leanings.raw > 0
        else pilot.df
    )
    known = replace(
        pilot, error=math.sqrt(own + leanings.extra), df=float(df), items=pilot.items - noise, leanings=leanings
    )
    each = noise * leanings.per_item
    if leanings.what == "annotator":
        return replace(known, labels=each, study=replace(pilot.study, n_annotators=leanings.per_item))
    return replace(known, replicates=each, study=replace(pilot.study, n_replicates=leanings.per_item))


def _units(difference: Float[np.ndarray, " item"], within: Structure) -> tuple[np.ndarray, np.ndarray]:
    """Centred totals and sizes of the units."""
    group = within.of_item()
    mean = np.bincount(group, difference) / np.bincount(group)
    residual = difference - mean[group]
    if within.unit is None:
        return residual, np.ones(len(residual))
    return np.bincount(within.unit, residual), np.bincount(within.unit).astype(np.float64)


def _without_noise(
    pilot: Pilot, scores: Scores, first: int, second: int, item_weights: Float[np.ndarray, " item"]
) -> Pilot:
    """The pilot, with the variance due to few votes and few replicates removed from the items'."""
    n, each, study = pilot.study.n_items, pilot.items, pilot.study
    labels = None
    behind = scores.labels
    alone = behind is not None and single_votes_only(behind.estimand, behind.n_votes)
    noise = None if alone else label_variance(scores, first, second, item_weights)
    if noise is not None and behind is not None and behind.n_votes is not None and behind.estimand != "class":
        one = float(np.mean(1 / np.maximum(behind.n_votes, 1)))  # the variance falls with the votes of each item
        study = replace(study, n_annotators=1 / one)
        labels = min(noise * n, each) / one
        each -= labels * one
    again = _replicate_variance(scores, first, second)
    replicates = None
    if again is not None:
        share, n_replicates = again
        study = replace(study, n_replicates=n_replicates)
        replicates = min(share / n_replicates, each) * n_replicates
        each -= replicates / n_replicates
    return replace(pilot, study=study, items=each, labels=labels, replicates=replicates, single_votes=alone)


def _replicate_variance(scores: Scores, first: int, second: int) -> tuple[float, float] | None:
    """The variance that a single replicate adds to an item's difference, and how many an item has."""
    if scores.replicates is None:
        return None
    cells = scores.replicates.values
    counts = [(~np.isnan(cells[row])).sum(1) for row in (first, second)]
    if any((count < 2).all() for count in counts):
        return None
    total, shares = 0.0, 0.0
    for row, count in zip((first, second), counts, strict=True):
        rest = cells[row] - np.where(count > 0, np.nansum(cells[row], 1) / np.maximum(count, 1), 0.0)[:, None]
        df = int(np.maximum(count - 1, 0).sum())
        total += float(np.nansum(rest**2) / df)
        shares += float(np.mean(1 / np.maximum(count, 1))) / 2
    return total, 1 / shares


def _of_comparison(comparison: Comparison, a: str, b: str) -> Pilot:
    """A t from the draws of the joint posterior; `stretch` is what skewness adds to the interval."""
    n_items, n_clusters = (comparison.settings.get(name) for name in ("n_items", "clusters"))
    row = next(row for row in comparison.pairs if {row["a"], row["b"]} == {a, b})
    if comparison.settings.get("population") != "new-items" or not isinstance(n_items, int):
        raise InputError("a comparison of these very items", "one of new items", "Compare with population='new-items'.")
    ends = [float(str(row[end])) for end in ("difference", "low", "high")]
    if not np.isfinite(ends).all() or "posterior" not in comparison.datatree.children:
        raise PosteriorError(f"got no finite difference of {a!r} and {b!r}. Hint: score with a floor.")
    contrast = comparison.datatree["posterior"]["contrast"].sel(model_name=[a, b]).to_numpy()
    groups = comparison.settings.get("groups")
    units = n_clusters if isinstance(n_clusters, int) else n_items
    df = units - (groups if isinstance(groups, int) else 1)
    if df < 3:
        raise PosteriorError(f"got {units} independent units, expected at least four to plan. Hint: plan from Scores.")
    plain = _plain_error(comparison, row)
    error = float((contrast[..., 0] - contrast[..., 1]).std()) * math.sqrt((df - 2) / df) if plain is None else plain
    stretch = (ends[2] - ends[1]) / (2 * float(stdtrit(df, 0.975)) * error) if error > 0 else 1.0
    sign = 1.0 if row["a"] == a else -1.0
    study = Study(n_items, None, n_clusters if isinstance(n_clusters, int) else None)
    shared = study.n_clusters is not None  # how much items of a cluster share is not known: more clusters only
    return Pilot(a, b, study, sign * ends[0], error, float(df), error**2 * units if shared else 0.0,
                 0.0 if shared else error**2 * n_items, None, None, stretch=max(stretch, 1.0))  # fmt: skip


def _plain_error(comparison: Comparison, row: Mapping[str, object]) -> float | None:
    """The standard error behind the t of a pair, if only items vary: draws of a skewed posterior spread further."""
    if (
        comparison.settings.get("groups") is not None
        or comparison.settings.get("crossed")
        or comparison.uncertainty.get("labels")
    ):
        return None
    test = next((test for test in comparison.companions if (test["a"], test["b"]) == (row["a"], row["b"])), {})
    t = test.get("t")
    return float(str(row["difference"])) / t if isinstance(t, float) and t != 0 and math.isfinite(t) else None
