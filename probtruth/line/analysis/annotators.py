"""How far annotators agree, and how good each is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from probtruth.check import as_float
from probtruth.line.labelled import Labelled
from probtruth.truth.agreement.krippendorff import Agreement, krippendorff_alpha
from probtruth.truth.annotators import skill_columns
from probtruth.types import Truth
from probtruth.types.comparison import Row


@dataclass(frozen=True, eq=False)
class AnnotatorAnalysis:
    truth: Truth | None = None  # as asked for if its method knows annotators' accuracy, else the other estimand's
    agreement: Agreement | None = None  # None where no item has two annotations
    rows: Sequence[Row] = ()  # on single annotators, best first, by the truth
    # the share of agreeing pairs in annotations replicated from the truth's draws: 95% interval, and the observed one
    replicated: tuple[float, float, float] | None = None


def annotators_of(labelled: Labelled | None) -> AnnotatorAnalysis:
    if labelled is None:
        return AnnotatorAnalysis()
    truths = [labelled.truth, *([] if labelled.other is None else [labelled.other.truth])]
    truth = next((truth for truth in truths if "accuracy" in truth.annotator_results), None)
    known = labelled.annotations
    several = known is not None and int(known.counts().sum(1).max(initial=0)) > 1
    replicated = None
    if "agreement" in labelled.truth.sampled:
        low, high = np.quantile(labelled.truth.sampled["agreement"], [0.025, 0.975])
        replicated = float(low), float(high), float(str(labelled.truth.diagnostics["agreement"]))
    return AnnotatorAnalysis(
        truth,
        krippendorff_alpha(known) if known is not None and several else None,
        () if truth is None else annotator_rows(truth),
        replicated,
    )


def annotator_rows(truth: Truth) -> list[Row]:
    """The rows of `truth.annotators()`, best first, with skill and flag also where the method does not have them."""
    table = truth.annotators().to_dict(as_series=False)
    n = len(table["annotator"])
    unknown = {**dict.fromkeys(("skill", "skill_low", "skill_high"), [None] * n), "flag": [""] * n}
    columns = {**unknown, **table, **{name: values.tolist() for name, values in skill_columns(truth).items()}}
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return sorted(rows, key=lambda row: math.inf if (skill := as_float(row["skill"])) is None else -skill)
