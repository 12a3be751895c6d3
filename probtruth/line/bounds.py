"""How far errors that annotators share could move a comparison that rests on their votes alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from probtruth.check import as_float
from probtruth.comparison.evidence.design import Design, design
from probtruth.kernels.arrays import to_host
from probtruth.kernels.exact_sums import exact_sum, exact_totals, weighted_mean
from probtruth.line.informed_truth import ScoredTruth
from probtruth.scoring.log_pool import LOWEST, posterior
from probtruth.scoring.score import expectations
from probtruth.streaming.compare_files import ScoringOptions
from probtruth.truth.shared_errors import Lure
from probtruth.types import Annotations, Comparison
from probtruth.types.comparison import leaders
from probtruth.types.shown import Brief

ONE_VOTE = "one vote an item: nothing tells how far annotators err together"
STREAMED = "predictions that are streamed are not scored again for it"
"""Why there are no bounds."""
MOST_MODELS = 30
"""Of more models only those most likely the best have bounds on all their pairs; the others on that with the first."""


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(Brief):
    """What lures, on as many items as the votes leave room for, could make of every difference.

    `share` is that largest share of items; None with the `reason`. `pairs` has rows of a, b, `lowest` and `highest`,
    the ends of the difference itself, and `low` and `high` with the 95% interval around them; None where the difference
    or its interval is unknown or infinite.
    `could_be_best` are the models that no other beats at every dependence.
    """

    share: float | None
    pairs: Sequence[Mapping[str, object]] = ()
    could_be_best: tuple[str, ...] = ()
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `result.json`."""
        return {
            "share": self.share,
            "reason": self.reason,
            "pairs": [dict(row) for row in self.pairs],
            "could_be_best": list(self.could_be_best),
        }

    def of(self, model: str, other: str) -> tuple[float, float] | None:
        """From the lowest to the highest difference, model minus other; None where unknown."""
        for row in self.pairs:
            if {row["a"], row["b"]} == {model, other}:
                lowest, highest = as_float(row["lowest"]), as_float(row["highest"])
                if lowest is None or highest is None:
                    return None
                return (lowest, highest) if row["a"] == model else (-highest, -lowest)
        return None


def bounds(
    annotations: Annotations, scored: ScoredTruth, comparison: Comparison, scoring: ScoringOptions
) -> Bounds | None:
    """The bounds of a comparison under the estimand `class`; None under another one, and for one model or one label.

    An item has a lure with the probability that its votes leave it (`Lure`). If it has one, its loss is anything
    between three: that of the class that was inferred; that of the class from the votes behind the lure, where the
    models were drawn too; and that of the latter joined with the models' equal pool, where they were not. All lures
    move a difference the same way.
    """
    aligned = scored.aligned.on_host()
    few = len(aligned.models) < 2 or len(aligned.labels) < 2
    if aligned.estimand != "class" or few or scored.scores.labels is None:
        return None
    counts = np.rint(aligned.of_truth(annotations.counts().astype(np.float64))).astype(np.int64)
    lure = Lure.of(counts)
    if lure is None:
        return Bounds(None, reason=ONE_VOTE)
    pooled = np.maximum(aligned.log_probs.astype(np.float64), LOWEST).mean(0)
    losses = to_host(scored.scores.labels.losses)
    behind = [lure.classes, posterior(lure.classes, np.exp(pooled))]
    told = [scored.scores.values, *(np.stack([expectations(one, classes) for one in losses]) for classes in behind)]
    influence = scored.scores.labels.influence
    case = _Case(
        design(scored.scores, scoring.groups, scoring.clusters, scoring.weights),
        np.stack(told),
        lure.p_lured(),
        np.zeros_like(told[0]) if influence is None else influence,
        {name: row for row, name in enumerate(scored.scores.models)},
    )
    first, *others = (str(row["model"]) for row in leaders(comparison.ranks))
    near = {first, *others[: MOST_MODELS - 1]}
    rows = [case.row(row) for row in comparison.pairs if first in (row["a"], row["b"]) or near >= {row["a"], row["b"]}]
    return Bounds(lure.share, rows, _could_be_best(comparison.models, rows))


@dataclass(frozen=True, eq=False)
class _Case:
    """The losses as inferred, and the two behind a lure; how probable that is; and which items belong together."""

    plan: Design
    losses: Float[np.ndarray, "view model item"]
    p_lured: Float[np.ndarray, " item"]
    influence: Float[np.ndarray, "model item"]
    position: Mapping[str, int]

    def row(self, pair: Mapping[str, object]) -> dict[str, object]:
        """Both ends of a pair: the shift of its mean, and its interval widened as the spread between units grows."""
        a, b = (self.position[str(pair[name])] for name in ("a", "b"))
        ends: dict[str, object] = {"lowest": None, "highest": None, "low": None, "high": None}
        difference, *margin = (as_float(pair[name]) for name in ("difference", "low", "high"))
        if difference is not None and np.isfinite(difference):
            with np.errstate(invalid="ignore"):
                views = self.losses[:, a] - self.losses[:, b]
            moved = self.influence[a] - self.influence[b]
            usual = self._spread(views[0] + moved)
            for key, end, now, sign in (("lowest", "low", margin[0], -1.0), ("highest", "high", margin[1], 1.0)):
                furthest = sign * np.where(np.isnan(views), np.inf, sign * views).max(0)
                with np.errstate(invalid="ignore"):
                    shift = np.where(self.p_lured > 0, self.p_lured * (furthest - views[0]), 0.0)
                ends[key] = moving = difference + weighted_mean(shift, self.plan.item_weights())
                if not np.isfinite(moving):
                    ends[end] = moving
                elif now is not None and usual > 0:
                    ends[end] = moving + (now - difference) * self._spread(views[0] + shift + moved) / usual
        return {"a": pair["a"], "b": pair["b"], **ends}

    def _spread(self, values: Float[np.ndarray, " item"]) -> float:
        """The root of the sum of the units' squared weighted deviations from their groups' means."""
        if not np.isfinite(values).all():
            return float("nan")
        structure, weights = self.plan.structure, self.plan.item_weights()
        means = exact_totals(values[None], structure.of_item(), structure.n_groups) / structure.n_items
        units = structure.unit_totals(weights * (values - means[:, structure.of_item()]))
        return float(np.sqrt(exact_sum(units[0] ** 2)))


def _could_be_best(models: Sequence[str], rows: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """The models that no other one beats wherever the errors lie; an unknown pair beats nobody."""
    beaten = set()
    for row in rows:
        lowest, highest = as_float(row["lowest"]), as_float(row["highest"])
        if lowest is not None and highest is not None and lowest * highest > 0:
            beaten.add(str(row["b"] if highest < 0 else row["a"]))
    return tuple(model for model in models if model not in beaten)
