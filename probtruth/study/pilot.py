"""What a pilot says about the mean difference of two models: its value, and the parts of its variance."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from probtruth import check
from probtruth.comparison.compare import compare
from probtruth.comparison.design import Design as Grouping
from probtruth.comparison.design import design as grouping_of
from probtruth.comparison.fixed_items import fixed_variance
from probtruth.comparison.shared_units import Shared, of_annotators, of_replicates
from probtruth.errors import InputError, PosteriorError
from probtruth.types import Annotations, Comparison, Scores
from probtruth.types.comparison import leading_pair

Rows = tuple[int, int]  # Where the two models stand among those of the scores


@dataclass(frozen=True)
class Design:
    """Items, annotators for each item (None: unknown), clusters (None: none) and replicates of a study."""

    n_items: float
    n_annotators: float | None = None
    n_clusters: float | None = None
    n_replicates: float = 1

    @property
    def n_units(self) -> float:
        """Independent units."""
        return self.n_items if self.n_clusters is None else self.n_clusters


@dataclass(frozen=True)
class Pilot:
    """The mean difference a minus b, its standard error with its degrees of freedom, and the parts of the variance.

    `clusters`, `items`, `annotation` and `replicate` are variances of one of each; `shared` is that of one annotator
    or replicate (`shared_by`) that judges many items, of whom `per_label` stand behind each answer of an item.
    `stretch` is the width of the pilot's interval over that of its t.
    """

    a: str
    b: str
    design: Design
    difference: float
    error: float
    df: float
    clusters: float | None
    items: float
    annotation: float | None = None
    replicate: float | None = None
    uneven: float = 0.0
    shared: float | None = None
    shared_by: str = ""
    per_label: float = 1.0
    stretch: float = 1.0

    def _parts(self, design: Design) -> tuple[float, float, float]:
        """The variance from items and clusters, that from shared units, and how many of those there are."""
        each = self.items + (self.annotation or 0.0) / (design.n_annotators or 1)
        each += (self.replicate or 0.0) / design.n_replicates
        own = each / design.n_items + (self.clusters or 0.0) * (1 + self.uneven) / (design.n_clusters or 1)
        per_item = design.n_annotators if self.shared_by == "annotator" else design.n_replicates
        units = (per_item or 1) * self.per_label
        return own, (self.shared or 0.0) / units, units

    def error_of(self, design: Design) -> float:
        """The standard error of the mean difference under a design."""
        own, shared, _ = self._parts(design)
        return math.sqrt(own + shared)

    def df_of(self, design: Design) -> float:
        """Its degrees of freedom."""
        own, shared, units = self._parts(design)
        return _joined_df(own, max(design.n_units - 1, 1), shared, max(units - 1, 1))

    def half_width(self, design: Design) -> float:
        """Half the width of the 95% interval: of a t, and what skewness adds to it, which falls with more units."""
        more = (self.stretch - 1) * math.sqrt(self.design.n_units / design.n_units)
        return float(stdtrit(self.df_of(design), 0.975)) * self.error_of(design) * (1 + more)


def _joined_df(own: float, df: float, shared: float, shared_df: float) -> float:
    """Welch's and Satterthwaite's degrees of freedom of the sum of two variances."""
    return (own + shared) ** 2 / (own**2 / df + shared**2 / shared_df) if shared > 0 else df


def scores_of(
    value: object, a: str | None, b: str | None, groups: object, clusters: object
) -> tuple[Scores, Comparison | None, str, str, Grouping]:
    """The scores, the comparison, the two models (the leaders, if none are named), and which items belong together."""
    comparison = value if isinstance(value, Comparison) else getattr(value, "comparison", None)
    scores = value if isinstance(value, Scores) else getattr(value, "scores", getattr(value, "scored", None))
    if not isinstance(scores, Scores):
        got = "a comparison of sums" if isinstance(comparison, Comparison) else type(value).__name__
        raise InputError(got, "Scores, a Comparison or a Result", "Give what score or compare of Scores returned.")
    whole = comparison if isinstance(comparison, Comparison) else None
    first, second = _two(scores.models, whole or scores, a, b)
    grouping = grouping_of(scores, groups, clusters, None)
    if not np.isfinite(scores.values[[scores.models.index(first), scores.models.index(second)]]).all():
        raise PosteriorError(
            f"got an infinite score of {first!r} or {second!r}, expected a finite spread. Hint: use a floor."
        )
    if whole is not None:
        _as_compared(scores, whole, grouping, first, second, groups is not None or clusters is not None)
    return scores, whole, first, second, grouping


def _two(models: tuple[str, ...], known: Scores | Comparison, a: str | None, b: str | None) -> tuple[str, str]:
    """The two models that the caller names, else the only two or the two leaders, by name."""
    if a is None and b is None and len(models) >= 2:
        if len(models) > 2:
            models = leading_pair((known if isinstance(known, Comparison) else compare(known, engine="exact")).ranks)
        first, second = sorted(models)
        return first, second
    for name, what in ((a, "a"), (b, "b")):
        if name is None:
            raise InputError(f"{len(models)} models and no {what}", "the names of two of them", f"Give {what}=...")
        check.one_of(name, models, "model")
    if a == b:
        raise InputError(f"model {check.quote(a)} twice", "two different models", "Name another one.")
    return str(a), str(b)


def _as_compared(scores: Scores, whole: Comparison, grouping: Grouping, a: str, b: str, named: bool) -> None:
    """Raises where scores do not say what their comparison rests on: another design, or other means."""
    if whole.settings.get("replicates_are") == "folds":
        raise InputError(
            "a comparison of folds that share training data", "one whose uncertainty falls with the number of items",
            "Plan from the scores (result.scores) for what more items alone would bring.",
        )  # fmt: skip
    if whole.settings.get("population") != "new-items":
        raise InputError("a comparison of these very items", "one of new items", "Compare with population='new-items'.")
    for what, here in (("groups", grouping.n_groups if grouping.grouped else None), ("clusters", grouping.n_clusters)):
        if not named and (known := whole.settings.get(what)) != here:
            raise InputError(
                f"a result with {known or 'no'} {what}, of which its scores do not say which items they hold",
                f"{what} by item", f"Name them again: {what}=...",
            )  # fmt: skip
    mean = float((scores.values[scores.models.index(a)] - scores.values[scores.models.index(b)]).mean())
    was = next((row["difference"] for row in whole.pairs if {row["a"], row["b"]} == {a, b}), None)
    if isinstance(was, float) and not math.isclose(abs(was), abs(mean), rel_tol=1e-6, abs_tol=1e-12):
        raise InputError(
            f"a result whose difference is {was:g}, where its scores alone give {mean:g}",
            "a comparison of these scores, without weights or expert labels", "Use result.scores to leave them out.",
        )  # fmt: skip


def pilot_of(value: object, a: str | None, b: str | None, groups: object, clusters: object, votes: object) -> Pilot:
    """What scores, a result or a comparison say about two of their models."""
    scores, comparison, first, second, grouping = scores_of(value, a, b, groups, clusters)
    rows = scores.models.index(first), scores.models.index(second)
    pilot = _of_items(scores, rows, grouping)
    pair = replace(
        scores, values=scores.values[list(rows)], models=(first, second), labels=None, replicates=None, gold=None
    )
    row = compare(pair, groups, clusters, engine="exact").pairs[0]
    width = 2 * float(stdtrit(pilot.df, 0.975)) * pilot.error
    pilot = replace(pilot, stretch=(row["high"] - row["low"]) / width if width > 0 else 1.0)
    named = votes is not None
    votes = votes if named else getattr(value, "annotations", None)
    labels = scores.labels
    of_votes = labels is not None and labels.shares is not None and labels.estimand == "distribution"
    if named and not (isinstance(votes, Annotations) and votes.annotator is not None and of_votes):
        raise InputError(
            "annotations with scores that are not against vote shares" if isinstance(votes, Annotations) else
            f"annotations of type {type(votes).__name__}", "annotators' labels and the scores against them",
            "Score against infer_truth(annotations, method='vote-share'), or leave annotations out.",
        )  # fmt: skip
    if of_votes:
        pilot = _with_labels(pilot, scores, rows)
        if isinstance(votes, Annotations) and votes.annotator is not None:
            pilot = _with_shared(pilot, of_annotators(scores, votes, np.array(rows), grouping), rows)
    if scores.replicates is not None:
        pilot = _with_replicates(pilot, scores, rows)
        if comparison is not None and comparison.settings.get("replicates_are") == "crossed":
            pilot = _with_shared(pilot, of_replicates(scores, np.array(rows), grouping), rows)
    if not isinstance(votes, Annotations) and comparison is not None and comparison.uncertainty.get("annotators"):
        raise InputError(
            "a comparison of the same annotators on many items, without their annotations",
            "the annotations, whose biases more items do not average out", "Give annotations=...",
        )  # fmt: skip
    return pilot


def _of_items(scores: Scores, rows: Rows, grouping: Grouping) -> Pilot:
    """The variance within groups of items, or of clusters and of items within them."""
    difference = scores.values[rows[0]] - scores.values[rows[1]]
    n, group = len(difference), grouping.of_item()
    residual = difference - (np.bincount(group, difference) / np.bincount(group))[group]
    unit = np.arange(n) if grouping.unit is None else grouping.unit
    sizes, totals = np.bincount(unit), np.bincount(unit, residual)
    n_units = len(sizes)
    of_unit = grouping.of_unit()
    counts = np.bincount(of_unit)
    if n_units - len(counts) < 1:
        raise PosteriorError("got one unit in all, expected at least two to see a spread. Hint: add to the pilot.")
    factor = counts / np.maximum(counts - 1, 1)  # a group of one unit says nothing of its spread
    variance = float((factor * np.bincount(of_unit, totals**2)).sum()) / n**2
    known = Pilot(
        scores.models[rows[0]], scores.models[rows[1]], Design(n, n_replicates=scores.n_replicates),
        float(difference.mean()), math.sqrt(variance), n_units - len(counts), None, variance * n,
    )  # fmt: skip
    if grouping.unit is None:
        return known
    uneven = float(sizes.var() / sizes.mean() ** 2)
    inner = difference - (np.bincount(unit, difference) / sizes)[unit]
    each = float(np.square(inner).sum() / max(n - n_units, 1))
    between = (variance - each / n) * n_units / (1 + uneven)
    if n == n_units:
        between, each = variance * n, 0.0
    elif between < 0:
        between, each = 0.0, variance * n
    design = replace(known.design, n_clusters=n_units)
    return replace(known, design=design, clusters=between, items=each, uneven=uneven)


def _with_labels(pilot: Pilot, scores: Scores, rows: Rows) -> Pilot:
    """The pilot with the variance of one annotation, where items have two or more."""
    n, votes = len(scores.items), None if scores.labels is None else scores.labels.n_votes
    variance = fixed_variance(scores, np.full(n, 1 / n), None, *rows)
    if votes is None or not (votes > 1).any() or variance is None:
        return pilot
    inverse = float(np.mean(1 / np.maximum(votes, 1)))
    return _without(pilot, "annotation", variance * n / inverse, inverse)


def _with_replicates(pilot: Pilot, scores: Scores, rows: Rows) -> Pilot:
    """The pilot with the variance of one replicate of both models, from the items that have two or more."""
    assert scores.replicates is not None
    each, inverse = 0.0, 0.0
    for cells in scores.replicates.values[list(rows)]:
        count = (~np.isnan(cells)).sum(1)
        df = int(np.maximum(count - 1, 0).sum())
        if df == 0:
            return pilot
        rest = cells - (np.nansum(cells, 1) / np.maximum(count, 1))[:, None]
        each, inverse = each + float(np.nansum(rest**2)) / df, inverse + float(np.mean(1 / np.maximum(count, 1))) / 2
    return _without(pilot, "replicate", each, inverse)


def _without(pilot: Pilot, what: str, each: float, inverse: float) -> Pilot:
    """The pilot with what one answer adds to an item's variance, 1/`inverse` answers an item, apart from the items."""
    each = min(each, pilot.items / inverse)
    counts: dict[str, Any] = {f"n_{what}s" if what == "replicate" else "n_annotators": 1 / inverse}
    parts: dict[str, Any] = {what: each, "items": pilot.items - each * inverse}
    return replace(pilot, design=replace(pilot.design, **counts), **parts)


def _with_shared(pilot: Pilot, shared: Shared, rows: Rows) -> Pilot:
    """The pilot with the two-way variance: of annotators or replicates that stand behind many items."""
    first, second = np.array(rows)[:, None]
    parts = [one for one in shared.parts(first, second) if one.raw.any()]
    if not parts:
        return pilot
    extra, units = shared.extra(*rows), sum(one.df + 1 for one in parts) / len(parts)
    own, each = pilot.error**2, extra * units
    answer, n_answers = ("annotation", "n_annotators") if shared.what == "annotator" else ("replicate", "n_replicates")
    noise: dict[str, Any] = {answer: max((getattr(pilot, answer) or 0.0) - each, 0.0)}
    df, per_label = _joined_df(own, pilot.df, extra, units - 1), units / (getattr(pilot.design, n_answers) or 1.0)
    error = math.sqrt(own + extra)
    return replace(pilot, error=error, df=df, shared=each, shared_by=shared.what, per_label=per_label, **noise)
