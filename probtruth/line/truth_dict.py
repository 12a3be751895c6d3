"""A truth as plain values: what `probtruth truth --json` prints."""

from typing import TYPE_CHECKING, Any

from probtruth.kernels.arrays import to_host
from probtruth.types import Truth

if TYPE_CHECKING:
    import polars


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
        "method": truth.method,
        "estimand": truth.estimand,
        "n_items": truth.n_items,
        "n_annotators": len(annotators) or None,
        "n_labels": len(labels),
        "marginals": dict(zip(labels, shares.tolist(), strict=True)),
        "annotators": of_annotator,
        "confusion": confusion,
        "diagnostics": dict(truth.diagnostics),
    }
