"""What a pilot says about the mean difference of two models: its value, and the parts of its variance."""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from probtruth import check
from probtruth.comparison.compare import compare, conclude, need_spread, need_two
from probtruth.comparison.estimation.design import Design as Grouping
from probtruth.comparison.estimation.design import design as grouping_of
from probtruth.comparison.estimation.design import design_of, pair_rows_of
from probtruth.comparison.estimation.estimate import Estimate, Part, joined_df
from probtruth.comparison.estimation.fixed_items import fixed_variance
from probtruth.comparison.options import checked_options
from probtruth.comparison.posterior.margin import margins
from probtruth.comparison.posterior.posterior import Posterior
from probtruth.comparison.results.rows import pair_rows
from probtruth.comparison.sources import of_scores
from probtruth.comparison.votes.votes import estimate_of_votes
from probtruth.errors import InputError, PosteriorError
from probtruth.kernels.shapes import ItemFloats, ItemInts
from probtruth.types import Comparison, Scores, Votes
from probtruth.types.comparison import leading_pair


@dataclass(frozen=True)
class Design:
    """Items, answers for each item (annotations or replicates) and clusters (None: none) of a study.

    `n_panel` are the annotators or replicates that many items share; None where nobody knows them.
    """

    n_items: float
    n_answers: float = 1
    n_clusters: float | None = None
    n_panel: float | None = None
    again: bool = False  # whether people answer an item several times, as votes on its pairs are

    @property
    def n_units(self) -> float:
        """Independent units."""
        return self.n_items if self.n_clusters is None else self.n_clusters

    def with_answers(self, n_answers: float) -> "Design":
        """The same with so many answers an item, from the same people: more only where an item needs them.

        Where all answer every item, they are as many as the answers; where they answer it again, they stay as many.
        """
        panel = self.n_panel
        if panel is None or self.again:
            return replace(self, n_answers=n_answers)
        if n_answers > self.n_answers:
            panel = max(panel, n_answers)
        elif n_answers < self.n_answers:
            panel = max(panel - self.n_answers, 0.0) + n_answers
        return replace(self, n_answers=n_answers, n_panel=panel)


@dataclass(frozen=True)
class Pilot:
    """The mean difference a minus b, its standard error, and the parts of the variance.

    `clusters`, `items` and `noise` are variances of one cluster, item and answer (of an `answer`, "annotator" or
    "replicate"); `shared` is that of one annotator or replicate that stands behind many items, and `chance` what single
    answers on one item seem to add to it. `stretch` is the width of the pilot's interval over that of its t.
    """

    a: str
    b: str
    higher_is_better: bool
    design: Design
    difference: float
    error: float
    items: float
    stretch: float = 1.0
    clusters: float | None = None
    uneven: float = 0.0
    answer: str = ""
    noise: float | None = None
    shared: float | None = None
    chance: float = 0.0
    cautions: tuple[str, ...] = ()

    def error_of(self, design: Design, known: Design | None = None) -> tuple[float, float]:
        """The standard error of the mean difference under a design, and its degrees of freedom.

        These are of its own units, or of those of the design from which the variance is `known`.
        """
        units = known or design
        of_answers = (self.noise or 0.0) / design.n_answers / design.n_items
        of_items = self.items / design.n_items + of_answers
        if self.clusters is not None and design.n_clusters is not None:
            of_items += self.clusters * (1 + self.uneven) / design.n_clusters
        df = max(units.n_units - 1.0, 1.0)
        if self.shared is None or design.n_panel is None or units.n_panel is None:
            return math.sqrt(of_items), df
        of_panel = self.shared / design.n_panel
        panel_df = max(units.n_panel - 1.0, 1.0)
        # what noise gives the units counts for the degrees of freedom too, as in `compare`
        of_chance = self.chance / design.n_answers / design.n_items
        rows = np.array([[of_items], [df], [of_panel], [of_panel + of_chance], [panel_df]])
        (joined,) = joined_df(*rows)
        return math.sqrt(of_items + of_panel), float(joined)

    def stretch_of(self, design: Design) -> float:
        """How much wider than that of a t the interval is for skewness, which falls with more units."""
        return 1 + (self.stretch - 1) * math.sqrt(self.design.n_units / design.n_units)

    def half_width(self, design: Design) -> float:
        """Half the width of the 95% interval."""
        error, df = self.error_of(design)
        return float(stdtrit(df, 0.975)) * error * self.stretch_of(design)


def two_models(models: tuple[str, ...], a: object, b: object) -> tuple[str, str]:
    """The names of the models to compare: those that the caller names, else the only two, by name."""
    if a is None or b is None:
        need_two(models)
        if a is b and len(models) == 2:
            first, second = sorted(models)
            return first, second
        missing = "a" if a is None else "b"
        hint = "Say which two: a=..., b=... (command line: --a, --b)."
        raise InputError(f"{len(models)} models ({check.shortlist(models)}) and no {missing}", "two of them", hint)
    if str(a) == str(b):
        raise InputError(f"model {check.quote(a)} twice", "two different models", "Name another one.")
    return str(a), str(b)


def scores_of(
    value: object, a: str | None, b: str | None, groups: object, clusters: object
) -> tuple[Scores, Comparison | None, Grouping]:
    """The scores of the two models (else of the leaders), the comparison of all, and which items belong together."""
    comparison = getattr(value, "comparison", value)  # that of a result
    scores = value
    if isinstance(comparison, Comparison):
        scores = comparison.scored
    else:
        comparison = None
    if not isinstance(scores, Scores):
        got = type(value).__name__ if comparison is None else "a comparison of sums, of votes or of a metric"
        hint = "Give what score or compare of Scores returned."
        raise InputError(got, "Scores, a Comparison or a Result", hint)
    every = grouping_of(scores, groups, clusters, None)
    scores = replace(scores, groups=every.groups, clusters=every.clusters)
    models = scores.models
    if a is None and b is None and len(models) > 2:
        of_all = comparison or compare(scores, engine="exact")
        models = leading_pair(of_all.ranks)
    names = two_models(models, a, b)
    rows = np.array([scores.models.index(check.one_of(name, scores.models, "model")) for name in names])
    # a plan and a trial are about the items that both models have
    on_both = np.flatnonzero(~np.isnan(scores.values[rows]).any(0))
    notes = []
    if len(on_both) < len(scores.items):
        notes.append(
            f"this is about the {len(on_both):,} of {len(scores.items):,} items that both models have; the difference "
            "of a comparison uses the others too"
        )
    two = replace(scores.part(rows, on_both), gold=None, cautions=tuple(notes))
    if not np.isfinite(two.values).all():
        raise PosteriorError(f"got an infinite score of {names[0]!r} or {names[1]!r}. Hint: use a floor.")
    if len(on_both) < len(scores.items):
        comparison = None
    if comparison is not None:
        difference = two.values[0] - two.values[1]
        _of_new_items(comparison, names, float(difference.mean()))
    return two, comparison, grouping_of(two, None, None, None)


def _of_new_items(comparison: Comparison, names: tuple[str, str], mean: float) -> None:
    """Raises where a comparison is about something else than the plain mean over new items."""
    if comparison.settings["replicates_are"] == "folds" or comparison.settings["population"] != "new-items":
        got = "a comparison of folds that share training data, or of these very items"
        raise InputError(got, "one of new items", "Plan from the scores (result.scores).")
    compared = comparison.pair(*names).difference or 0.0
    if not math.isclose(abs(compared), abs(mean), rel_tol=1e-6, abs_tol=1e-12):
        problem = f"a result whose difference is {compared:g}, where its scores alone give {mean:g}"
        wanted = "a comparison of these scores, without weights or expert labels"
        raise InputError(problem, wanted, "Use result.scores to leave them out.")


def pilot_of(value: object, a: str | None, b: str | None, groups: object, clusters: object, votes: object) -> Pilot:
    """What scores, a result or a comparison say about two of their models."""
    found = getattr(value, "comparison", value)
    if isinstance(found, Comparison):
        found = found.scored
    if isinstance(found, Votes):
        for what, given in {"clusters": clusters, "annotations": votes}.items():
            if given is not None:
                raise InputError(f"votes with {what}", "scores, or votes alone", "Leave it out.")
        return _of_votes(found, a, b, design_of(found.items, groups, None, None, found.groups))
    scores, comparison, grouping = scores_of(value, a, b, groups, clusters)
    need_spread(grouping, scores.audit)
    estimate = _estimate(scores, comparison, grouping, votes)
    over_groups = estimate.over_groups()
    of_items = replace(over_groups, parts={"items": over_groups.items})
    row = pair_rows(of_items, Posterior(of_items, margins(of_items)), checked_options())[0]
    variance = float(of_items.items.variance[-1, 0])
    n_items = len(scores.items)
    first, second = scores.models
    pilot = Pilot(
        a=first,
        b=second,
        higher_is_better=scores.higher_is_better,
        design=Design(n_items),
        difference=float((scores.values[0] - scores.values[1]).mean()),
        error=math.sqrt(variance),
        items=variance * n_items,
        cautions=scores.cautions,
    )
    values = estimate.about.values
    if grouping.unit is not None and values is not None:
        pilot = _with_clusters(pilot, values[0] - values[1], grouping.unit)
    if row.low is not None and row.high is not None and variance > 0:
        pilot = replace(pilot, stretch=(row.high - row.low) / (2 * pilot.half_width(pilot.design)))
    pilot = _with_answers(pilot, scores)
    of_new = estimate.of_new
    if estimate.shared is None or of_new is None or not of_new.with_chance[-1, 0] > 0:
        return pilot
    pilot = _with_panel(pilot, estimate.shared.removesuffix("s"), of_new.of(slice(-1, None)))
    error = math.sqrt(estimate.total().variance[-1, 0])
    noise = (pilot.noise or 0.0) - (pilot.shared or 0.0)
    return replace(pilot, error=error, noise=max(noise, 0.0))


def _of_votes(votes: Votes, a: str | None, b: str | None, grouping: Grouping) -> Pilot:
    """What votes say of two models, in shares of their votes: prompts are items, votes on them the answers."""
    estimate, fit, _ = estimate_of_votes(votes, grouping)
    comparison = conclude(estimate, checked_options(engine="exact"))
    if a is None and b is None and estimate.n_models > 2:
        a, b = leading_pair(comparison.ranks)
    names = two_models(estimate.names, a, b)
    pair = sorted([estimate.names.index(check.one_of(name, estimate.names, "model")) for name in names])
    row = estimate.n_models + pair_rows_of(np.array([pair]), estimate.n_models)
    found = comparison.pair(*names)
    log_odds = np.array([found.difference, found.low, found.high], np.float64)
    share, low, high = fit.preference.at(log_odds).tolist()
    if math.isnan(share):
        problem = f"{names[0]!r} and {names[1]!r}: {estimate.about.unknown}"
        raise InputError(problem, "two that votes connect", "Name others.")
    slope = fit.preference.slope(log_odds[0])  # from log-odds to shares of votes
    chance = estimate.within["votes"](*pair) or 0.0
    n_items = len(votes.items)
    items = estimate.over_groups().items.of(row)
    pilot = Pilot(
        *names,
        higher_is_better=True,
        design=Design(n_items, again=True),
        difference=share - 0.5,
        error=slope * math.sqrt(estimate.total().variance[row].item()),
        items=slope**2 * items.variance.item() * n_items,
    )
    pilot = _with_noise(pilot, "annotator", slope**2 * chance, len(votes.outcome) / n_items)
    annotators = estimate.parts.get("annotators")
    if annotators is not None and annotators.variance[row].item() > 0:
        pilot = _with_panel(pilot, "annotator", annotators.of(row), slope)
    return replace(pilot, stretch=(high - low) / (2 * pilot.half_width(pilot.design)))


def _estimate(scores: Scores, comparison: Comparison | None, grouping: Grouping, votes: object) -> Estimate:
    """The parts of the variance, as a comparison of the two models has them."""
    kind = None if comparison is None else comparison.settings["replicates_are"]
    if scores.replicates is not None and scores.replicates.what == "annotator":
        kind = None
    estimate = of_scores(scores, grouping, checked_options(engine="exact", replicates=kind), votes)
    if comparison is not None and estimate.shared is None and comparison.uncertainty.get("annotators"):
        problem = "a comparison of the same annotators on many items, without their annotations"
        raise InputError(problem, "the annotations, whose biases more items do not average out", "annotations=...")
    return estimate


def _with_clusters(pilot: Pilot, difference: ItemFloats, unit: ItemInts) -> Pilot:
    """The pilot with the variance of clusters apart from that of items within them."""
    sizes = np.bincount(unit)
    n_items = len(difference)
    n_units = len(sizes)
    variance = pilot.error**2
    uneven = float(sizes.var() / sizes.mean() ** 2)
    mean = np.bincount(unit, difference) / sizes
    within = difference - mean[unit]
    of_item = float(within @ within) / max(n_items - n_units, 1)
    between = (variance - of_item / n_items) * n_units / (1 + uneven)
    if between < 0:
        between = 0.0
        of_item = variance * n_items
    return replace(pilot, design=Design(n_items, 1, n_units), clusters=between, items=of_item, uneven=uneven)


def _with_answers(pilot: Pilot, scores: Scores) -> Pilot:
    """The pilot with the variance of one answer apart from that of the items, where items have two or more."""
    n_items = len(scores.items)
    labels = scores.labels
    repeated = scores.replicates
    counts = scores.n_votes
    if repeated is not None:
        counts = repeated.counts(n_items)
    elif labels is None or labels.shares is None or labels.estimand != "distribution":
        return pilot
    variance = fixed_variance(scores, np.full(n_items, 1 / n_items), None, 0, 1)
    if counts is None or not (counts > 1).any() or variance is None:
        return pilot
    shares = 1 / np.maximum(counts, 1)
    answer = "annotator" if repeated is None else "replicate"
    return _with_noise(pilot, answer, variance, 1 / float(shares.mean()))


def _with_noise(pilot: Pilot, answer: str, variance: float, n_answers: float) -> Pilot:
    """The pilot with the variance that so many answers an item leave the mean taken off that of the items."""
    noise = min(variance * pilot.design.n_items, pilot.items)
    design = replace(pilot.design, n_answers=n_answers)
    return replace(pilot, design=design, answer=answer, noise=noise * n_answers, items=pilot.items - noise)


def _with_panel(pilot: Pilot, answer: str, part: Part, slope: float = 1.0) -> Pilot:
    """The pilot with the part of annotators or replicates that stand behind many items."""
    panel = part.df.item() + 1.0
    design = replace(pilot.design, n_panel=panel)
    variance = slope**2 * part.variance.item()
    by_chance = slope**2 * part.with_chance.item() - variance
    chance = by_chance * design.n_items * design.n_answers
    return replace(pilot, design=design, answer=answer, shared=variance * panel, chance=chance)
