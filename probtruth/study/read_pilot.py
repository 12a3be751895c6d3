"""A pilot from scores, a result or a comparison: the parts of the variance of a difference of two models."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from probtruth import check
from probtruth.comparison.evidence.design import design
from probtruth.comparison.evidence.label_variance import label_variance
from probtruth.comparison.evidence.moments import Moments, combine, means_of
from probtruth.comparison.evidence.structure import Structure
from probtruth.errors import InputError, PosteriorError
from probtruth.study.pilot import Pilot, Study
from probtruth.types import Comparison, Scores


class HasScores(Protocol):
    """What carries scores: the result of `evaluate`."""

    @property
    def scores(self) -> object:
        """The scores."""


def pilot_of(given: object, a: object, b: object, groups: object, clusters: object, seed: int) -> Pilot:
    """What scores, a result or a comparison say about two of their models."""
    scores = given if isinstance(given, Scores) else getattr(given, "scores", None)
    if isinstance(scores, Scores):
        return _of_scores(scores, *two_names(scores.models, a, b), groups, clusters, seed)
    if isinstance(given, Comparison):
        if groups is not None or clusters is not None:
            raise InputError("groups or clusters with a comparison", "its own", "Plan from Scores to change them.")
        return _of_comparison(given, *two_names(given.models, a, b))
    raise InputError(type(given).__name__, "Scores, a Comparison or a Result", "Give what score or compare returned.")


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


def _of_scores(scores: Scores, a: str, b: str, groups: object, clusters: object, seed: int) -> Pilot:
    plan = design(scores, groups, clusters, None)
    first, second = scores.models.index(a), scores.models.index(b)
    if not np.isfinite(scores.values[[first, second]]).all():
        raise PosteriorError(f"got an infinite score of {a!r} or {b!r}, expected a finite spread. Hint: use a floor.")
    difference = scores.values[first] - scores.values[second]
    within = plan.structure
    largest = np.abs(scores.values[[first, second]]).max()
    means = means_of(difference[None], largest[None], within, None)
    parts = Moments(within.n_items, within.n_units, means, means)
    if not parts.df.any():
        raise PosteriorError("got one unit in all, expected at least two to see a spread. Hint: add to the pilot.")
    location = combine(parts, means, plan.weights)
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
    return _without_noise(pilot, scores, first, second, plan.item_weights())


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
    noise = label_variance(scores, first, second, item_weights)
    labels = None
    behind = scores.labels
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
    return replace(pilot, study=study, items=each, labels=labels, replicates=replicates)


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
