"""Scores of predictions against soft labels."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.addresses import fetched_once, shown
from probtruth.io.formats import LabelReading
from probtruth.io.predictions import opened_models
from probtruth.line.each_annotation import score_each
from probtruth.line.informed_truth import on_evidence
from probtruth.line.inputs import Models, Reference, predictions_of, reference_of
from probtruth.scoring.align import align_all
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.types import Annotations, Index, Predictions, Scores
from probtruth.types.arguments import ClassEvidence, RuleName, ScoredUnit


@fetched_once()
def score(
    predictions: Models,
    truth: Reference,
    rule: RuleName | ScoringRule = "log",
    floor: float | None = None,
    order: Sequence[object] | None = None,
    *,
    each: ScoredUnit = "item",
    evidence: ClassEvidence = "auto",
    item: str | None = None,
    labels: Sequence[object] | None = None,
    memory: float | None = None,
) -> Scores:
    """The expected loss of every model on every item when the label is drawn from the truth.

    Formula: sum_k t_k loss(p, k). Under the estimand `distribution` t is the unsmoothed vote share of the item where
    there are votes (unbiased, whatever the number of votes), else the given probabilities; under `class` it is the
    posterior probability of each class, with the models' forecasts as evidence too where the truth was inferred from
    annotations and there are several models (see `evidence` in `evaluate`). `compare` of the scores then says what
    `evaluate` says of the same annotations. Items are matched by name; the audit counts those that one side lacks. The
    score of an item that a model lacks is NaN.

    Arguments:
        predictions: may be {model: array, dataframe or path}, and `truth` soft labels or labels in the same forms, as
            `evaluate` takes them (`item`, `labels`, `memory`).
        truth: the reference, as `infer_truth` or `Truth.from_probs` makes it.
        rule: a name (see `probtruth.rules.RULES`) or a `ScoringRule`.
        floor: replaces every probability below it, which makes infinite losses finite and the rule improper: the result
            then says `proper=False`.
        order: lists the labels from low to high for "ranked-probability" (numbers are ordered by value).
        each: "item", or "annotation": every model's loss on the label that each annotator gave each item, where `truth`
            is annotations. A model's table may have a column `annotator` beside `item`, and so a row for each of both.
            `compare` then answers for new items and new annotators, and takes `annotator_groups`.
        evidence: as in `evaluate`.
        item: the column of items.
        labels: the names of the labels, in the order of the columns.
        memory: bytes from which on tables lie in temporary files instead of in memory; half of what is free by default.

    Arrays of JAX are scored on their devices in their own type: float32 losses are off by less than K eps times the
    size of their terms (eps = 6e-8, K labels). All else is computed in float64.

    Returns: `Scores`, lower is better, in units of the rule (nats for "log"); infinite losses stay infinite.

    Errors: `InputError` for an unknown rule, a floor outside (0, 1/K), no item in common, or labels that are text
    where the rule needs their order.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.6, 0.4]], "b": [[0.9, 0.1]]})
    >>> pt.score(pred, pt.Truth.from_probs([[0.7, 0.3]])).values.round(4).tolist()
    [[0.6325], [0.7645]]
    """
    check.own_threads()
    predictions = opened_models(predictions)
    known = reference_of(truth, predictions, LabelReading(item), None, labels, memory)
    if check.literal(each, ScoredUnit, "each") == "annotation":
        if evidence != "auto":
            raise InputError(f"evidence={evidence!r} with each='annotation'", "one of the two", "Leave evidence out.")

        def read(tables: Models, column: str | None, index: Index) -> Predictions:
            return predictions_of(tables, column, labels, index, memory)

        return score_each(predictions, known, get_rule(rule, order), floor, read, item)
    if isinstance(known, Annotations):
        raise InputError(
            "annotations as the truth",
            "soft labels, or a probtruth.Truth",
            "Make it with infer_truth(annotations) (command line: probtruth truth FILE --out soft.parquet), or score "
            "against each annotator's label: each='annotation' (command line: --each annotation).",
            shown(truth) if isinstance(truth, str | Path) else None,
        )
    aligned = align_all(predictions_of(predictions, item, labels, known.index, memory), known)
    undrawn = replace(known, draws=None)  # which scores do not need
    return on_evidence(undrawn, aligned, evidence, 0).scores(get_rule(rule, order), floor)
