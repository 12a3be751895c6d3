"""A truth as plain values: what `probtruth truth --json` prints."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from probtruth.kernels.arrays import to_host
from probtruth.types import Truth

if TYPE_CHECKING:
    import polars


def truth_dict(truth: Truth, quality: "polars.DataFrame | None" = None) -> dict[str, Any]:
    """Method, estimand, marginals by label, quality (`with_others`) and confusion by annotator, for `--json`."""
    labels, annotators = truth.index.labels, truth.index.annotators
    shares = to_host(truth.probs).mean(0) if truth.marginals is None else truth.marginals
    of_annotator = None
    if quality is not None:
        of_annotator = {row.pop("annotator"): row for row in quality.fill_nan(None).iter_rows(named=True)}
    return {
        "method": truth.method,
        "estimand": truth.estimand,
        "n_items": truth.n_items,
        "n_annotators": len(annotators) or None,
        "n_labels": len(labels),
        "marginals": _by_label(labels, shares),
        "annotators": of_annotator,
        "confusion": _confusion(truth),
        "diagnostics": dict(truth.diagnostics),
    }


def _by_label(labels: Sequence[str], values: Float[np.ndarray, " label"]) -> dict[str, float]:
    return dict(zip(labels, values.tolist(), strict=True))


def _confusion(truth: Truth) -> dict[str, dict[str, dict[str, float]]] | None:
    """P(answer | class) by annotator, class and answer."""
    if truth.confusion is None:
        return None
    labels = truth.index.labels
    by_annotator = {}
    for name, rows in zip(truth.index.annotators, truth.confusion, strict=True):
        answers = [_by_label(labels, row) for row in rows]
        by_annotator[name] = dict(zip(labels, answers, strict=True))
    return by_annotator
