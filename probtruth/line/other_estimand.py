"""The verdict under the estimand that was not asked for, so that a reader sees whether the choice matters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from probtruth.check import as_float
from probtruth.comparison.compare import compare
from probtruth.line.informed_truth import informed_by, score_on_evidence
from probtruth.scoring.align import Aligned
from probtruth.scoring.score import score_aligned
from probtruth.streaming.compare_files import ScoringOptions
from probtruth.truth.fit import INDEPENDENT
from probtruth.truth.flat import LARGEST_CONFUSION, confusion_cells
from probtruth.truth.infer import infer_truth
from probtruth.types import Annotations, Comparison, Truth
from probtruth.types.shown import Brief

QUICK = 1 << 20
"""Cells of confusion matrices up to which `ability` takes seconds."""

NO_ROOM = "the verdict under the estimand 'class' is left out: confusion matrices of so many labels have no room"
"""Said where annotators are known and yet there is no other verdict."""

DECIDED = 0.975
"""A pair counts as decided where P(one is better) is at least this."""


@dataclass(frozen=True, eq=False, repr=False)
class OtherEstimand(Brief):
    """The same models under the other estimand, and the pairs whose verdict is another there.

    `changes` has rows of a, b, p_a_better (as asked) and p_a_better_other: pairs of which the mean difference has the
    other sign and one of the two answers is decided.
    """

    truth: Truth
    comparison: Comparison
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
            f"the choice of estimand matters: under {self.truth.estimand!r} ({self.truth.method}) the order of "
            f"{_pairs_of(self.changes)} is the reverse"
        )


def other_estimand(
    annotations: Annotations, aligned: Aligned, comparison: Comparison, scoring: ScoringOptions, seed: int
) -> OtherEstimand | None:
    """The comparison under the other estimand, by quadrature.

    None where classes cannot be inferred: without annotators, or where their confusion matrices would be too large.

    Arguments: `aligned` are the predictions beside the truth of `comparison`.
    """
    truth = other_truth(annotations, aligned.estimand, seed)
    if truth is None:
        return None
    several = len(aligned.models) > 1
    evidence = "annotators-and-models" if truth.estimand == "class" and several else "annotators"
    return _again(truth, aligned, comparison, evidence, scoring, seed)


def other_method(
    aligned: Aligned, truth: Truth, comparison: Comparison, evidence: str, scoring: ScoringOptions, seed: int
) -> OtherEstimand | None:
    """The comparison under another method of the estimand `class`: errors that annotators make independently.

    None where the method has no such view beside its own (`pooled` has), or there is one model.

    Arguments: `truth` is that of the annotators, before any forecast informed it.
    """
    if INDEPENDENT not in truth.evidence or len(aligned.models) < 2:
        return None
    second = replace(truth, probs=truth.evidence[INDEPENDENT], method="ability", draws=None, evidence={})
    return _again(second, aligned, comparison, evidence, scoring, seed)


def by_counts_alone(
    annotations: Annotations, aligned: Aligned, comparison: Comparison, scoring: ScoringOptions, seed: int
) -> str | None:
    """A warning where the label that most votes name, taken as the class, would turn the order; None elsewhere.

    Without annotators the class of an item cannot be inferred, and so a reversal cannot be excluded either.
    """
    winning = infer_truth(annotations, method="majority", draws=0, seed=seed)
    rows = _again(winning, aligned, comparison, "annotators", scoring, seed).changes
    if not rows:
        return None
    return (
        "a reversal under the estimand 'class' cannot be excluded: counts without annotators do not tell the class of "
        f"an item, and against the label that most votes name the order of {_pairs_of(rows)} is the reverse"
    )


def by_annotators_alone(
    aligned: Aligned, truth: Truth, comparison: Comparison, scoring: ScoringOptions, seed: int
) -> str | None:
    """A warning where one model's own forecasts, as evidence of the classes, would move its score off the interval.

    A single model does not inform the classes that judge it. Where annotators leave a class open its loss counts every
    label, also if the forecast knows better: the score of a good model is then too high, on every item.
    """
    informed = informed_by(truth, aligned.on_host(), seed)
    if informed is None:
        return None
    scores = score_aligned(aligned.against(informed.truth), scoring.rule, scoring.floor)
    again = compare(scores, scoring.groups, scoring.clusters, weights=scoring.weights, seed=seed, engine="exact")
    (row,), (other,) = comparison.ranks, again.ranks
    low, high, moved = (as_float(value) for value in (row["low"], row["high"], other["score"]))
    if low is None or high is None or moved is None or low <= moved <= high:
        return None
    return (
        "the classes come from annotators alone, who leave them open on some items, where the loss counts every label: "
        f"with the forecasts of {row['model']!r} as evidence of the classes its score would be {moved:.3g}, outside "
        "its interval; a second model, or expert labels (command line: --gold), would tell"
    )


def _again(
    truth: Truth, aligned: Aligned, comparison: Comparison, evidence: str, scoring: ScoringOptions, seed: int
) -> OtherEstimand:
    """What the same comparison says under another truth."""
    scored = score_on_evidence(truth, aligned.against(truth), evidence, scoring.rule, scoring.floor, seed)
    again = compare(scored.scores, scoring.groups, scoring.clusters, weights=scoring.weights, seed=seed, engine="exact")
    return changed(scored.truth, comparison, again)


def _pairs_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """The first three pairs, and how many more there are."""
    pairs = ", ".join(f"{row['a']!r} and {row['b']!r}" for row in rows[:3])
    return pairs + (f" and {len(rows) - 3} more pairs" if len(rows) > 3 else "")


def other_truth(annotations: Annotations, estimand: str, seed: int) -> Truth | None:
    """The truth under the estimand that was not asked for, by the quickest method that is not far from its default."""
    if estimand == "class":
        return infer_truth(annotations, method="vote-share", draws=0, seed=seed)
    cells = confusion_cells(annotations)
    if annotations.annotator is None or cells > LARGEST_CONFUSION:
        return None
    return infer_truth(annotations, method="ability" if cells <= QUICK else "one-coin", draws=0, seed=seed)


def changed(truth: Truth, comparison: Comparison, other: Comparison) -> OtherEstimand:
    """What `other`, the comparison under the other truth, says that the one asked for does not."""
    rows = []
    for one, two in zip(comparison.pairs, other.pairs, strict=True):
        p, q = as_float(one["p_a_better"]), as_float(two["p_a_better"])
        if p is not None and q is not None and (p - 0.5) * (q - 0.5) < 0 and max(p, q, 1 - p, 1 - q) >= DECIDED:
            rows.append({"a": one["a"], "b": one["b"], "p_a_better": p, "p_a_better_other": q})
    return OtherEstimand(truth, other, tuple(rows))
