"""The verdict under the estimand that was not asked for, so that a reader sees whether the choice matters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from probtruth.comparison.compare import compare
from probtruth.line.informed_truth import informed_by, on_evidence
from probtruth.line.options import Options
from probtruth.scoring.align import Aligned
from probtruth.scoring.rules import RULES
from probtruth.scoring.score import score_aligned
from probtruth.truth.fit import INDEPENDENT
from probtruth.truth.flat import LARGEST_CONFUSION, confusion_cells, plurality
from probtruth.truth.infer import infer_truth
from probtruth.types import Comparison, Scores, Truth
from probtruth.types.arguments import QUESTIONS, MethodName, method_in_words
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
        turned = pairs_of([(row["a"], row["b"]) for row in self.changes])
        return (
            f"the choice of estimand matters: for {QUESTIONS[self.truth.estimand]} ({self.truth.estimand!r}), by "
            f"{method_in_words(self.truth.method)}, the order of {turned} is the reverse"
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
        """The comparison under the estimand that was not asked for, by the quickest method near its default."""
        annotations, options = self.truth.annotations, self.options
        if annotations is None or options.rule.of_shares:  # classes have no shares of votes
            return None
        if self.no_room or not annotations.counts().any(1).all():
            return None
        method: MethodName = "vote-share"
        if self.truth.estimand != "class":
            if annotations.annotator is None:
                return None
            method = "ability" if confusion_cells(annotations) <= QUICK else "one-coin"
        return self._under(infer_truth(annotations, method=method, draws=0, seed=options.seed), "auto")

    @cached_property
    def method(self) -> OtherEstimand | None:
        """The comparison under another method of the estimand `class`: errors that annotators make independently."""
        truth, options = self.truth, self.options
        if truth.annotations is None or INDEPENDENT not in truth.evidence or len(self.aligned.models) < 2:
            return None
        if options.gold is not None:  # experts decide, whatever a method infers
            return None
        second = replace(truth, probs=truth.evidence[INDEPENDENT], method="ability", draws=None, evidence={})
        return self._under(second, options.evidence)

    @cached_property
    def doubt(self) -> str | None:
        """A warning of what the annotations cannot exclude."""
        annotations, options = self.truth.annotations, self.options
        if annotations is None or options.rule.of_shares:
            return None
        several = len(self.aligned.models) > 1
        if self.truth.estimand == "class":
            return None if several or options.gold is not None else self._annotators_alone()
        return self._counts_alone() if several and annotations.annotator is None else None

    @cached_property
    def bounded(self) -> Comparison | None:
        """The comparison under the Brier score, which no single item can decide, where a loss is infinite."""
        if len(self.aligned.models) == 1 or not self.scores.n_infinite.any():
            return None
        used = on_evidence(self.truth, self.aligned, self.options.evidence, self.options.seed)
        return self._compared(used.scores(RULES["brier"], None))

    def warnings(self) -> list[str]:
        """Those that other verdicts give, which are computed for them."""
        reversal = None if self.other is None else self.other.warning()
        return [line for line in (reversal, self.doubt) if line is not None]

    def _compared(self, scores: Scores) -> Comparison:
        options = self.options
        return compare(
            scores, options.groups, options.clusters, weights=options.weights, seed=options.seed, engine="exact"
        )

    def _under(self, truth: Truth, evidence: str) -> OtherEstimand:
        """What the same comparison says under another truth."""
        used = on_evidence(truth, self.aligned.against(truth), evidence, self.options.seed)
        other = self._compared(used.scores(self.options.rule, self.options.floor))
        return changed(used.truth, self.comparison, other)

    def _counts_alone(self) -> str | None:
        """A warning where the label that most votes name, taken as the class, would turn the order; None elsewhere."""
        aligned, options = self.aligned, self.options
        few = len(aligned.items) <= ENOUGH or options.groups is not None or options.clusters is not None
        rows = np.linspace(0, len(aligned.items) - 1, ENOUGH).astype(np.int64)
        some = aligned.on_host() if few else aligned.subset(rows, aligned.models)
        assert some.shares is not None
        against = replace(some, truth=plurality(some.shares), estimand="class")
        turned = []
        compared = self._compared(score_aligned(against, options.rule, options.floor))
        for row in changed(self.truth, self.comparison, compared).changes:
            if few or abs(row["p_a_better_other"] - 0.5) >= DECIDED - 0.5:
                turned.append((row["a"], row["b"]))
        if not turned:
            return None
        return (
            "a reversal under the estimand 'class' cannot be excluded: counts without annotators do not tell the class "
            f"of an item, and against the label that most votes name the order of {pairs_of(turned)} is the reverse"
        )

    def _annotators_alone(self) -> str | None:
        """A warning where the one model's forecasts, as evidence of the classes, move its score off the interval."""
        informed = informed_by(self.truth, self.aligned, self.options.seed)
        if informed is None:
            return None
        again = self._compared(score_aligned(informed.aligned, self.options.rule, self.options.floor))
        (row,) = self.comparison.ranks
        (other,) = again.ranks
        if row.low is None or row.high is None or other.score is None or row.low <= other.score <= row.high:
            return None
        return (
            "the classes come from annotators alone, who leave them open on some items, where the loss counts every "
            f"label: with the forecasts of {row.model!r} as evidence of the classes its score would be "
            f"{other.score:.3g}, outside its interval; a second model, or expert labels (command line: --gold), would "
            "tell"
        )


def pairs_of(listed: Sequence[tuple[str, str]]) -> str:
    """The first three pairs, and how many more there are."""
    pairs = ", ".join([f"{a!r} and {b!r}" for a, b in listed[:3]])
    return pairs + (f" and {len(listed) - 3} more pairs" if len(listed) > 3 else "")


def changed(truth: Truth, comparison: Comparison, other: Comparison) -> OtherEstimand:
    """What `other`, the comparison under the other truth, says that the one asked for does not."""
    rows = []
    for one, two in zip(comparison.pairs, other.pairs, strict=True):
        p = one.p_a_better
        q = two.p_a_better
        if p is not None and q is not None and (p - 0.5) * (q - 0.5) < 0 and max(p, q, 1 - p, 1 - q) >= DECIDED:
            rows.append({"a": one.a, "b": one.b, "p_a_better": p, "p_a_better_other": q})
    return OtherEstimand(truth, other, tuple(rows))
