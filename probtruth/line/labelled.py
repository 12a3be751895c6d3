"""What a result knows because its items have labels."""

import unicodedata
from dataclasses import dataclass
from typing import Any

import numpy as np

from probtruth import frames
from probtruth.check import Strings, Texts, count, shortlist
from probtruth.line.other_estimand import OtherEstimand, OtherVerdicts
from probtruth.scoring.align import Aligned
from probtruth.scoring.rules import ScoringRule
from probtruth.types import Annotations, Truth
from probtruth.types.shown import Brief

LOST = 0.05  # The share of items below which `one-coin` has perhaps lost a label that votes name three times as often

SHARED_ERRORS = (
    "votes alone cannot show errors that annotators share; 40 expert labels can: probtruth choose-gold --items 40 "
    "(in Python: Result.choose_gold, then gold=)"
)  # Said of classes that are inferred from annotations, where no expert labels are given

SHARED_GAIN = 3.0  # Nats by which hard items explain annotations better than independent errors, for a warning

# Methods whose chains may need to be longer than they are by default.
SAMPLED = "dawid-skene", "hierarchical-dawid-skene"


@dataclass(frozen=True, eq=False, repr=False)
class Labelled(Brief):
    """The standard that the models were scored against, and their probabilities beside it."""

    truth: Truth
    aligned: Aligned  # predictions and truth on the items that were compared
    rule: ScoringRule
    verdicts: OtherVerdicts | None = None  # under other questions and methods

    @property
    def annotations(self) -> Annotations | None:
        """Those that the truth was inferred from."""
        return self.truth.annotations

    @property
    def other(self) -> OtherEstimand | None:
        """The verdict under the other estimand."""
        return None if self.verdicts is None else self.verdicts.other

    @property
    def method(self) -> OtherEstimand | None:
        """The verdict under another method of the same estimand."""
        return None if self.verdicts is None else self.verdicts.method

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
            "method": truth.method,
            "estimand": truth.estimand,
            "n_items": truth.n_items,
            "n_annotators": len(truth.index.annotators) or None,
            "n_labels": len(self.aligned.labels),
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
        return [*lines, *alike_labels(self.aligned.labels)]


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


def alike_labels(labels: Strings) -> list[str]:
    """Warnings about labels that were probably meant to be one."""
    alike: dict[str, list[str]] = {}
    for name in labels:
        plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
        (named,) = frames.by_value(frames.polars_names([plain]))
        alike.setdefault(named, []).append(name)
    apart = "labels that differ only in spaces, case, Unicode form or the decimals of a number are counted apart"
    return [f"{apart}: {', '.join(map(ascii, names))}" for names in alike.values() if len(names) > 1]
