"""How far annotators agree, how good each is, and which answer like copies of each other."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from probtruth.check import as_float
from probtruth.errors import InputError
from probtruth.line.labelled import Labelled
from probtruth.truth.annotators.agreement import Agreement, AgreementMeasure, agreement
from probtruth.truth.annotators.pairs import annotator_pairs
from probtruth.truth.annotators.quality import skill_columns
from probtruth.types import Annotations, Truth
from probtruth.types.comparison import Row

MEASURES: tuple[AgreementMeasure, ...] = ("krippendorff", "percentage")
"""The measures of agreement."""
RESAMPLES = 500
"""Bootstrap resamples of the interval of the agreement."""
CHECKED = ("agreement", "agreement_spread")
"""The statistics of annotations that truth methods replicate."""


@dataclass(frozen=True, eq=False)
class AnnotatorAnalysis:
    """`agreement` by each measure; `rows` on single annotators, best first, by the method of `truth`; `copies`, pairs
    that agree more than their skill explains; `replicated`, the agreement beside that of replicated annotations.

    What nothing is known of is empty. `truth` is the one asked for if its method says how accurate annotators
    are, else that of the other estimand.
    """

    truth: Truth | None
    agreement: Sequence[Agreement]
    rows: Sequence[Row]
    copies: Sequence[Row]
    replicated: Sequence[Row]


def annotators_of(labelled: Labelled | None) -> AnnotatorAnalysis:
    """What is known of the annotators behind a result."""
    if labelled is None:
        return AnnotatorAnalysis(None, (), (), (), ())
    truths = [labelled.truth] + ([] if labelled.other is None else [labelled.other.truth])
    truth = next((truth for truth in truths if "accuracy" in truth.annotator_results), None)
    return AnnotatorAnalysis(
        truth,
        _agreement(labelled.annotations),
        () if truth is None else annotator_rows(truth),
        () if truth is None else _copies(labelled.annotations, truth),
        _replicated(labelled.truth),
    )


def annotator_rows(truth: Truth) -> list[Row]:
    """The rows of `truth.annotators()`, best first, with skill and flag also where the method does not have them."""
    table = truth.annotators().to_dict(as_series=False)
    unknown = {name: [None] * len(table["annotator"]) for name in ("skill", "skill_low", "skill_high")}
    skill = {name: values.tolist() for name, values in skill_columns(truth).items()}
    columns = {**unknown, "flag": [""] * len(table["annotator"]), **table, **skill}
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return sorted(rows, key=_worst_last)


def _worst_last(row: Row) -> float:
    """The most skilled first, those of unknown skill last."""
    skill = as_float(row["skill"])
    return np.inf if skill is None else -skill


def _agreement(annotations: Annotations | None) -> list[Agreement]:
    """By each measure; nothing where no item has two annotations."""
    if annotations is None or int(annotations.counts().sum(1).max(initial=0)) < 2:
        return []
    return [agreement(annotations, measure, bootstrap=RESAMPLES) for measure in MEASURES]


def _copies(annotations: Annotations | None, truth: Truth) -> list[Row]:
    if annotations is None or truth.confusion is None:
        return []
    try:
        return [*annotator_pairs(annotations, truth).filter("copies").to_dicts()]
    except InputError:  # the truth is of other items or annotators: nothing can be said of pairs
        return []


def _replicated(truth: Truth) -> list[Row]:
    """The agreement of annotators beside that of replicated annotations, where the truth was sampled."""
    rows: list[Row] = []
    for name in CHECKED:
        if name in truth.sampled and f"p_{name}" in truth.diagnostics:
            low, high = np.quantile(truth.sampled[name], [0.025, 0.975])
            seen = {"observed": truth.diagnostics[name], "p": truth.diagnostics[f"p_{name}"]}
            rows.append({"statistic": name, "low": float(low), "high": float(high), **seen})
    return rows
