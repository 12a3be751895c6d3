"""What a result knows because its items have labels; and what other questions, methods and rules say of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from probtruth import frames
from probtruth.check import Strings, Texts, count, shortlist
from probtruth.comparison.compare import compare
from probtruth.io.gold import ExpertAnswers
from probtruth.kernels.arrays import to_host
from probtruth.line.informed_truth import informed_by, on_evidence
from probtruth.scoring.align import Aligned
from probtruth.scoring.rules import RULES, ScoringRule
from probtruth.scoring.score import score_aligned
from probtruth.truth.fit import INDEPENDENT
from probtruth.truth.flat import LARGEST_CONFUSION, confusion_cells, plurality
from probtruth.truth.infer import infer_truth
from probtruth.types import Annotations, Comparison, Scores, Truth
from probtruth.types.arguments import QUESTIONS, ClassEvidence, MethodName, method_in_words
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars


DECIDED = 0.975  # A pair counts as decided where P(one is better) is at least this
LOST = 0.05  # The share of items below which `one-coin` has perhaps lost a label that votes name three times as often
SHARED_ERRORS = (
    "votes alone cannot show errors that annotators share; 40 expert labels can: probtruth choose-gold --items 40 "
    "(in Python: Result.choose_gold, then gold=)"
)  # Said of classes that are inferred from annotations, where no expert labels are given
SHARED_GAIN = 3.0  # Nats by which hard items explain annotations better than independent errors, for a warning
QUICK = 1 << 20  # Cells of confusion matrices up to which `ability` takes seconds
# Said where annotators are known and yet there is no other verdict.
NO_ROOM = "the verdict under the estimand 'class' is left out: confusion matrices of so many labels have no room"
# Methods whose chains may need to be longer than they are by default.
SAMPLED = "dawid-skene", "hierarchical-dawid-skene"


@dataclass(frozen=True, eq=False)
class Options:
    """The options of `evaluate` that verdicts under other questions share; `groups` and `clusters` are by item."""

    rule: ScoringRule
    evidence: ClassEvidence = "auto"
    floor: float | None = None
    groups: object = None
    clusters: object = None
    weights: object = None
    gold: ExpertAnswers | None = None
    seed: int = 0


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


@dataclass(frozen=True, eq=False, repr=False)
class Labelled(Brief):
    """The standard that the models were scored against, and their probabilities beside it.

    What other questions, methods and rules say of the same models is computed when it is first read.
    """

    truth: Truth
    inferred: Truth  # the same before forecasts informed it
    aligned: Aligned  # predictions and truth on the items that were compared
    scores: Scores
    comparison: Comparison
    options: Options

    @property
    def annotations(self) -> Annotations | None:
        """Those that the truth was inferred from."""
        return self.truth.annotations

    @property
    def excluded(self) -> Texts:
        """The annotators that were left out as the caller wished."""
        names: Any = self.truth.diagnostics.get("excluded_annotators", ())
        return tuple(names)

    def about(self) -> dict[str, object]:
        """What `result.json` says of the truth."""
        truth = self.truth
        weights: Any = truth.diagnostics.get("model_weights")
        named = None
        if weights is not None:
            named = [{"model": name, "weight": weight} for name, weight in weights.items()]
        return {
            **facts_of(truth, self.aligned.labels),
            "evidence": truth.diagnostics.get("evidence", "given" if truth.method == "given" else "annotators"),
            "model_weights": named,
        }

    def warnings(self) -> list[str]:
        """Warnings about how the truth was inferred, and about labels that were probably meant to be one."""
        truth = self.truth
        lines = unsettled(truth)
        if truth.method == "majority":
            lines = [
                "majority vote takes every winning label as certain: it can reverse a ranking that soft labels keep"
            ]
        if truth.diagnostics.get("label_switching"):
            lines.append(f"{truth.method} found classes that agree better with the labels under other names")
        lines += [*drifts(truth), *shared_errors(truth)]
        if self.excluded:
            lines.append(f"{count(len(self.excluded), 'annotator')} left out as asked ({shortlist(self.excluded, 5)})")
        lacking = self.aligned.lacking.any(0)
        if lacking.all():
            lines.append("no item that all models have: accuracy and calibration are left out")
        elif lacking.any():
            n = len(lacking) - int(lacking.sum())
            lines.append(f"accuracy and calibration are those on the {count(n, 'item')} that all models have")
        return [*lines, *frames.lookalikes(self.aligned.labels, "label")]

    @property
    def computed(self) -> bool:
        """Whether all of them were computed before, or nothing is there to compute them from."""
        return self.inferred.annotations is None or {"other", "method", "doubt"} <= self.__dict__.keys()

    @property
    def no_room(self) -> bool:
        """Whether annotators are known and yet too many, or their labels, for the estimand `class`."""
        annotations = self.inferred.annotations
        if annotations is None or annotations.annotator is None or self.inferred.estimand == "class":
            return False
        return confusion_cells(annotations) > LARGEST_CONFUSION

    @cached_property
    def other(self) -> OtherEstimand | None:
        """The comparison under the estimand that was not asked for, by the quickest method near its default."""
        annotations, options = self.inferred.annotations, self.options
        if annotations is None or options.rule.of_shares:  # classes have no shares of votes
            return None
        if self.no_room or not annotations.counts().any(1).all():
            return None
        method: MethodName = "vote-share"
        if self.inferred.estimand != "class":
            if annotations.annotator is None:
                return None
            method = "ability" if confusion_cells(annotations) <= QUICK else "one-coin"
        return self._under(infer_truth(annotations, method=method, draws=0, seed=options.seed), "auto")

    @cached_property
    def method(self) -> OtherEstimand | None:
        """The comparison under another method of the estimand `class`: errors that annotators make independently."""
        truth, options = self.inferred, self.options
        if truth.annotations is None or INDEPENDENT not in truth.evidence or len(self.aligned.models) < 2:
            return None
        if options.gold is not None:  # experts decide, whatever a method infers
            return None
        second = replace(truth, probs=truth.evidence[INDEPENDENT], method="ability", draws=None, evidence={})
        return self._under(second, options.evidence)

    @cached_property
    def doubt(self) -> str | None:
        """A warning of what the annotations cannot exclude."""
        annotations, options = self.inferred.annotations, self.options
        if annotations is None or options.rule.of_shares:
            return None
        several = len(self.aligned.models) > 1
        if self.inferred.estimand == "class":
            return None if several or options.gold is not None else self._annotators_alone()
        return self._counts_alone() if several and annotations.annotator is None else None

    @cached_property
    def bounded(self) -> Comparison | None:
        """The comparison under the Brier score, which no single item can decide, where a loss is infinite."""
        if len(self.aligned.models) == 1 or not self.scores.n_infinite.any():
            return None
        used = on_evidence(self.inferred, self.aligned, self.options.evidence, self.options.seed)
        return self._compared(used.scores(RULES["brier"], None))

    def other_warnings(self) -> list[str]:
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
        assert aligned.shares is not None
        against = replace(aligned.on_host(), truth=plurality(aligned.shares), estimand="class")
        compared = self._compared(score_aligned(against, options.rule, options.floor))
        changes = changed(self.inferred, self.comparison, compared).changes
        if not changes:
            return None
        turned = [(row["a"], row["b"]) for row in changes]
        return (
            "a reversal under the estimand 'class' cannot be excluded: counts without annotators do not tell the class "
            f"of an item, and against the label that most votes name the order of {pairs_of(turned)} is the reverse"
        )

    def _annotators_alone(self) -> str | None:
        """A warning where the one model's forecasts, as evidence of the classes, move its score off the interval."""
        informed = informed_by(self.inferred, self.aligned, self.options.seed)
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


def unsettled(truth: Truth) -> list[str]:
    """A warning of what of a truth did not converge."""
    if truth.diagnostics.get("converged") is not False:
        return []
    steps, rhat = (truth.diagnostics.get(name) for name in ("n_iterations", "max_rhat"))
    line = f"{truth.method} did not converge" + (f" in {steps} iterations" if steps is not None else "")
    if truth.method in SAMPLED:
        line += f" (R-hat {rhat:.3g}): do not rely on its classes; take more samples and warmup, or 'pooled'"
    return [line]


def shared_errors(truth: Truth) -> list[str]:
    """A warning that items which are hard for everybody explain the annotations better than independent errors."""
    gain = truth.diagnostics.get("shared_errors")
    if not isinstance(gain, float) or gain < SHARED_GAIN:
        return []
    return [
        "these annotators may share errors: items that are hard for all of them explain their annotations better than "
        f"independent errors do, and on such an item they may agree and be wrong; {SHARED_ERRORS}"
    ]


def drifts(truth: Truth) -> list[str]:
    """Warnings about labels that a truth holds of far more, or far fewer, items than the votes suggest."""
    lines = []
    drifted: Any = truth.diagnostics.get("drifted_labels")
    if drifted:
        named = [f"{name!r} for {share:.0%} of the items ({voted:.0%})" for name, (share, voted) in drifted.items()]
        shares = ", ".join(named)
        lines.append(
            f"the classes of {truth.method} are far from those that most votes name (in brackets): {shares}; a rare "
            "label can absorb items on which annotators disagree: compare another method, or give known answers as gold"
        )
    if truth.method == "one-coin" and truth.marginals is not None and truth.shares is not None:
        votes = np.nanmean(truth.shares, 0)
        lost = np.flatnonzero((truth.marginals < LOST) & (votes > 3 * truth.marginals)).tolist()
        lines += [
            f"one-coin holds {truth.index.labels[label]!r} of {truth.marginals[label]:.1%} of the items and it has "
            f"{votes[label]:.1%} of the votes: with one accuracy an annotator for all labels, labels may have switched "
            "or one may have absorbed another; compare another method"
            for label in lost
        ]
    return lines


def facts_of(truth: Truth, labels: Strings) -> dict[str, Any]:
    """How a truth was made, and of how many items, annotators and labels."""
    return {
        "method": truth.method,
        "estimand": truth.estimand,
        "n_items": truth.n_items,
        "n_annotators": len(truth.index.annotators) or None,
        "n_labels": len(labels),
    }


def truth_dict(truth: Truth, quality: "polars.DataFrame | None" = None) -> dict[str, Any]:
    """Method, estimand, marginals by label, quality (`with_others`) and confusion by annotator, for `--json`."""
    labels, annotators = truth.index.labels, truth.index.annotators
    shares = to_host(truth.probs).mean(0) if truth.marginals is None else truth.marginals
    confusion: dict[str, dict[str, dict[str, float]]] | None = None  # P(answer | class) by annotator, class and answer
    if truth.confusion is not None:
        confusion = {}
        for name, rows in zip(annotators, truth.confusion.tolist(), strict=True):
            answers = [dict(zip(labels, row, strict=True)) for row in rows]
            confusion[name] = dict(zip(labels, answers, strict=True))
    of_annotator = None
    if quality is not None:
        of_annotator = {row.pop("annotator"): row for row in quality.fill_nan(None).iter_rows(named=True)}
    return {
        **facts_of(truth, labels),
        "marginals": dict(zip(labels, shares.tolist(), strict=True)),
        "annotators": of_annotator,
        "confusion": confusion,
        "diagnostics": dict(truth.diagnostics),
    }
