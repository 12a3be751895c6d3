"""What a result knows because its items have labels."""

from collections.abc import Sequence
from dataclasses import dataclass

from probtruth.line.other_estimand import OtherEstimand
from probtruth.scoring.align import Aligned
from probtruth.scoring.rules import ScoringRule
from probtruth.types import Annotations, Truth
from probtruth.types.index import look_alikes
from probtruth.types.shown import Brief


@dataclass(frozen=True, eq=False, repr=False)
class Labelled(Brief):
    """The standard that the models were scored against, and their probabilities beside it.

    `aligned` are the predictions and the truth on the items that were compared; of predictions that were streamed, on a
    random sample of these (on all, if they are few). `annotations` are those that the truth was inferred from, where
    memory holds them beside the predictions, and `other` is the verdict under the other estimand, where they allow it.
    """

    truth: Truth
    aligned: Aligned
    rule: ScoringRule
    annotations: Annotations | None = None
    other: OtherEstimand | None = None

    def about(self) -> dict[str, object]:
        """What `result.json` says of the truth."""
        truth = self.truth
        weights = truth.diagnostics.get("model_weights")
        named = weights.items() if isinstance(weights, dict) else None
        return {
            "method": truth.method,
            "estimand": truth.estimand,
            "n_items": truth.n_items,
            "n_annotators": len(truth.index.annotators) or None,
            "n_labels": len(truth.index.labels),
            "evidence": truth.diagnostics.get("evidence", "given" if truth.method == "given" else "annotators"),
            "model_weights": None if named is None else [{"model": name, "weight": weight} for name, weight in named],
        }

    def warnings(self) -> list[str]:
        """Warnings about how the truth was inferred, and about labels that were probably meant to be one."""
        truth, lines = self.truth, []
        if truth.method == "majority":
            lines.append(
                "majority vote takes every winning label as certain: it can reverse a ranking that soft labels keep"
            )
        if truth.diagnostics.get("converged") is False:
            steps = truth.diagnostics.get("n_iterations")
            lines.append(f"{truth.method} did not converge" + (f" in {steps} iterations" if steps is not None else ""))
        if truth.diagnostics.get("label_switching"):
            lines.append(f"{truth.method} found classes that agree better with the labels under other names")
        return [*lines, *alike_labels(self.aligned.labels)]


def alike_labels(labels: Sequence[str]) -> list[str]:
    """Warnings about labels that were probably meant to be one."""
    return [
        f"labels that differ only in spaces, case or Unicode form are counted apart: {', '.join(map(ascii, names))}"
        for names in look_alikes(labels)
    ]
