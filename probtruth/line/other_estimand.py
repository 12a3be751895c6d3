"""The verdict under the estimand that was not asked for, so that a reader sees whether the choice matters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from probtruth.comparison.compare import compare
from probtruth.line.informed_truth import informed_by, score_on_evidence
from probtruth.line.options import Options
from probtruth.scoring.align import Aligned
from probtruth.scoring.rules import RULES
from probtruth.scoring.score import score_aligned
from probtruth.truth.fit import INDEPENDENT
from probtruth.truth.flat import LARGEST_CONFUSION, confusion_cells, plurality
from probtruth.truth.infer import infer_truth
from probtruth.types import Annotations, Comparison, Scores, Truth
from probtruth.types.arguments import QUESTIONS, method_in_words
from probtruth.types.shown import Brief

ENOUGH = 20_000  # Items that show whether the label that most votes name would turn the order
QUICK = 1 << 20  # Cells of confusion matrices up to which `ability` takes seconds

# Said where annotators are known and yet there is no other verdict.
NO_ROOM = "the verdict under the estimand 'class' is left out: confusion matrices of so many labels have no room"

DECIDED = 0.975  # A pair counts as decided where P(one is better) is at least this


@dataclass(frozen=True, eq=False, repr=False)
class OtherEstimand(Brief):
    """The same models under the other estimand, and the pairs whose verdict is another there."""

    truth: Truth
    comparison: Comparison
    # a, b, p_a_better (as asked), p_a_better_other: pairs with another sign there, of which one answer is decided
    changes: tuple[dict[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `result.json`."""
        keys = ("model", "score", "p_best")
        return {
            "estimand": self.truth.estimand,
            "method": self.truth.method,
            "models": [{key: row[key] for key in keys} for row in self.comparison.ranks],
            "changes": [dict(row) for row in self.changes],
        }

    def warning(self) -> str | None:
        """The changes in words; None where there are none."""
        if not self.changes:
            return None
        return (
            f"the choice of estimand matters: for {QUESTIONS[self.truth.estimand]} ({self.truth.estimand!r}), by "
            f"{method_in_words(self.truth.method)}, the order of {_pairs_of(self.changes)} is the reverse"
        )


@dataclass(frozen=True, eq=False, repr=False)
class OtherVerdicts(Brief):
    """What other questions, methods and rules say of the same models; each is computed when it is first read."""

    truth: Truth  # as inferred, before forecasts informed it
    aligned: Aligned
    scores: Scores
    comparison: Comparison
    options: Options

    @property
    def n_models(self) -> int:
        """How many models are judged."""
        return len(self.aligned.models)

    @property
    def computed(self) -> bool:
        """Whether all of them were computed before, or nothing is there to compute them from."""
        return self.truth.annotations is None or {"other", "method", "doubt"} <= self.__dict__.keys()

    @property
    def no_room(self) -> bool:
        """Whether annotators are known and yet too many, or their labels, for the estimand `class`."""
        annotations = self.truth.annotations
        if annotations is None or annotations.annotator is None or self.truth.estimand == "class":
            return False
        return confusion_cells(annotations) > LARGEST_CONFUSION

    @cached_property
    def other(self) -> OtherEstimand | None:
        """The comparison under the estimand that was not asked for, by quadrature."""
        annotations = self.truth.annotations
        if annotations is None or self.options.rule.of_shares:  # classes have no shares of votes
            return None
        if self.no_room or not annotations.counts().any(1).all():
            return None
        truth = other_truth(annotations, self.truth.estimand, self.options.seed)
        return None if truth is None else self._under(truth, "auto")

    @cached_property
    def method(self) -> OtherEstimand | None:
        """The comparison under another method of the estimand `class`: errors that annotators make independently."""
        if self.truth.annotations is None or INDEPENDENT not in self.truth.evidence or self.n_models < 2:
            return None
        if self.options.gold is not None:  # experts decide, whatever a method infers
            return None
        independent = self.truth.evidence[INDEPENDENT]
        second = replace(self.truth, probs=independent, method="ability", draws=None, evidence={})
        return self._under(second, self.options.evidence)

    @cached_property
    def doubt(self) -> str | None:
        """A warning of what the annotations cannot exclude."""
        annotations = self.truth.annotations
        if annotations is None or self.options.rule.of_shares:
            return None
        if self.truth.estimand == "class":
            if self.n_models > 1 or self.options.gold is not None:
                return None
            return by_annotators_alone(self.aligned, self.truth, self.comparison, self.options)
        if annotations.annotator is not None or self.n_models == 1:
            return None
        return by_counts_alone(self.truth, self.aligned, self.comparison, self.options)

    @cached_property
    def bounded(self) -> Comparison | None:
        """The comparison under the Brier score, which no single item can decide, where a loss is infinite."""
        if self.n_models == 1 or not self.scores.n_infinite.any():
            return None
        options = self.options
        scored = score_on_evidence(self.truth, self.aligned, options.evidence, RULES["brier"], None, options.seed)
        return _compared(scored.scores, options)

    def warnings(self) -> list[str]:
        """Those that other verdicts give, which are computed for them."""
        reversal = None if self.other is None else self.other.warning()
        return [line for line in (reversal, self.doubt) if line is not None]

    def _under(self, truth: Truth, evidence: str) -> OtherEstimand:
        """What the same comparison says under another truth."""
        options = self.options
        aligned = self.aligned.against(truth)
        scored = score_on_evidence(truth, aligned, evidence, options.rule, options.floor, options.seed)
        return changed(scored.truth, self.comparison, _compared(scored.scores, options))


def by_counts_alone(truth: Truth, aligned: Aligned, comparison: Comparison, options: Options) -> str | None:
    """A warning where the label that most votes name, taken as the class, would turn the order; None elsewhere."""
    few = len(aligned.items) <= ENOUGH or options.groups is not None or options.clusters is not None
    rows = np.linspace(0, len(aligned.items) - 1, ENOUGH).astype(np.int64)
    some = aligned.on_host() if few else aligned.subset(rows, aligned.models)
    assert some.shares is not None
    scores = score_aligned(replace(some, truth=plurality(some.shares), estimand="class"), options.rule, options.floor)
    changes = changed(truth, comparison, _compared(scores, options)).changes
    changes = tuple(row for row in changes if few or abs(row["p_a_better_other"] - 0.5) >= DECIDED - 0.5)
    if not changes:
        return None
    return (
        "a reversal under the estimand 'class' cannot be excluded: counts without annotators do not tell the class of "
        f"an item, and against the label that most votes name the order of {_pairs_of(changes)} is the reverse"
    )


def by_annotators_alone(aligned: Aligned, truth: Truth, comparison: Comparison, options: Options) -> str | None:
    """A warning where one model's own forecasts, as evidence of the classes, would move its score off the interval."""
    informed = informed_by(truth, aligned.on_host(), options.seed)
    if informed is None:
        return None
    again = _compared(score_aligned(aligned.against(informed.truth), options.rule, options.floor), options)
    (row,) = comparison.ranks
    (other,) = again.ranks
    if row.low is None or row.high is None or other.score is None or row.low <= other.score <= row.high:
        return None
    return (
        "the classes come from annotators alone, who leave them open on some items, where the loss counts every label: "
        f"with the forecasts of {row.model!r} as evidence of the classes its score would be {other.score:.3g}, outside "
        "its interval; a second model, or expert labels (command line: --gold), would tell"
    )


def _compared(scores: Scores, options: Options) -> Comparison:
    groups, clusters = options.groups, options.clusters
    return compare(scores, groups, clusters, weights=options.weights, seed=options.seed, engine="exact")


def _pairs_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """The first three pairs, and how many more there are."""
    pairs = ", ".join(f"{row['a']!r} and {row['b']!r}" for row in rows[:3])
    return pairs + (f" and {len(rows) - 3} more pairs" if len(rows) > 3 else "")


def other_truth(annotations: Annotations, estimand: str, seed: int) -> Truth | None:
    """The truth under the estimand that was not asked for, by the quickest method that is not far from its default."""
    if estimand == "class":
        return infer_truth(annotations, method="vote-share", draws=0, seed=seed)
    if annotations.annotator is None:
        return None
    quick = confusion_cells(annotations) <= QUICK
    return infer_truth(annotations, method="ability" if quick else "one-coin", draws=0, seed=seed)


def changed(truth: Truth, comparison: Comparison, other: Comparison) -> OtherEstimand:
    """What `other`, the comparison under the other truth, says that the one asked for does not."""
    rows = []
    for one, two in zip(comparison.pairs, other.pairs, strict=True):
        p = one.p_a_better
        q = two.p_a_better
        if p is not None and q is not None and (p - 0.5) * (q - 0.5) < 0 and max(p, q, 1 - p, 1 - q) >= DECIDED:
            rows.append({"a": one.a, "b": one.b, "p_a_better": p, "p_a_better_other": q})
    return OtherEstimand(truth, other, tuple(rows))
