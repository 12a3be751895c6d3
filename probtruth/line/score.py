"""Scores of predictions against soft labels, or against each annotator's own label."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.frames import as_series
from probtruth.io.addresses import fetched_once, is_path, shown
from probtruth.io.formats import LabelReading
from probtruth.io.predictions import opened_models
from probtruth.io.table import Table, joined
from probtruth.kernels.arrays import to_host, widened
from probtruth.line.informed_truth import on_evidence
from probtruth.line.inputs import Models, Reference, predictions_of, reference_of
from probtruth.scoring.align import align_all
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.scoring.score import score_aligned
from probtruth.truth.infer import infer_truth
from probtruth.types import Annotations, Index, Predictions, Replicates, RuleFacts, Scores, Truth
from probtruth.types.arguments import ClassEvidence, RuleName, ScoredUnit
from probtruth.types.index import positions

ANNOTATOR = "annotator"  # The column of a model's table that says whose label each row predicts
# Reads tables whose items stand in this column (None: found by its values) and are those of the index.
Reader = Callable[[Any, str | None, Index], Predictions]
CellInts = Int[np.ndarray, " cell"]
Votes = Int[np.ndarray, "cell label"]
Losses = dict[str, Float[np.ndarray, " cell"]]  # by model, NaN where it predicts nothing


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
            shown(truth) if is_path(truth) else None,
        )
    known = replace(known.uninformed or known, draws=None)  # forecasts count once; scores need no draws
    aligned = align_all(predictions_of(predictions, item, labels, known.index, memory), known)
    return on_evidence(known, aligned, evidence, 0).scores(get_rule(rule, order), floor)


def score_each(
    predictions: Models,
    reference: Annotations | Truth,
    rule: ScoringRule,
    floor: float | None,
    read: Reader,
    item: str | None = None,
) -> Scores:
    """The loss of every model on every annotation; an annotator who labelled an item again counts once."""
    annotations = reference if isinstance(reference, Annotations) else reference.annotations
    if annotations is None or annotations.annotator is None:
        got = "labels without annotators, with each='annotation'"
        raise InputError(got, "annotations with annotators", "Give one row for each item and annotator.")
    index = annotations.index
    n_annotators, n_labels = len(index.annotators), len(index.labels)
    pair, cell = np.unique(annotations.item * n_annotators + annotations.annotator, return_inverse=True)
    item_of, annotator_of = np.divmod(pair, n_annotators)
    n_answers = np.bincount(cell * n_labels + annotations.label, minlength=len(pair) * n_labels)
    votes = n_answers.reshape(-1, n_labels)
    tables = opened_models(predictions)
    by_item = tables
    by_annotation: dict[str, Table] = {}
    models = tables.models if isinstance(tables, Predictions) else tuple(tables)
    if not isinstance(tables, Predictions):
        for model, table in tables.items():
            if isinstance(table, Table) and ANNOTATOR in table.columns:
                by_annotation[model] = table
        by_item = {model: table for model, table in tables.items() if model not in by_annotation}
    losses: Losses = {}
    proper: Losses = {}
    if by_item:
        _score(read(by_item, item, index), annotations, item_of, votes, (rule, floor), losses, proper)
    if by_annotation:
        names = joined([as_series(index.items)[item_of], as_series(index.annotators)[annotator_of]]).to_list()
        cells = Annotations.from_counts(votes, names, index.labels)
        of_both = read(by_annotation, f"{item or 'item'},{ANNOTATOR}", cells.index)
        _score(of_both, cells, positions(cells.index.items, names), votes, (rule, floor), losses, proper)
    known = RuleFacts(floor=floor, label_order=rule.order, proper=rule.proper and floor is None)
    scores = _averaged({model: losses[model] for model in models}, item_of, annotator_of, index, rule.name, known)
    if not rule.of_shares:
        return scores
    known = replace(known, proper=floor is None)
    of_kin = {model: proper[model] for model in models}
    kin = _averaged(of_kin, item_of, annotator_of, index, str(rule.proper_kin), known)
    return replace(scores, by_proper_rule=kin)


def _score(
    predictions: Predictions,
    source: Annotations,
    row: CellInts,
    votes: Votes,
    by: tuple[ScoringRule, float | None],
    losses: Losses,
    proper: Losses,
) -> None:
    """Adds each model's loss in every cell, and that by the proper rule; `row` is the cell's row in the source."""
    aligned = align_all(predictions, infer_truth(source, method="vote-share", draws=0))
    place = np.full(source.n_items, -1)
    place[aligned.rows] = np.arange(len(aligned.rows))
    there = np.flatnonzero(place[row] >= 0)
    of_cells = aligned.subset(place[row[there]], aligned.models)
    counts = to_host(widened(votes.astype(np.float64), there, aligned.columns, len(aligned.labels)))
    shares = counts / counts.sum(1, keepdims=True)
    scores = score_aligned(replace(of_cells, truth=shares, shares=shares), *by)
    for scored, found in ((scores, losses), (scores.by_proper_rule, proper)):
        if scored is not None:
            for model, values in zip(scored.models, scored.values, strict=True):
                found[model] = np.full(len(row), np.nan)
                found[model][there] = values


def _averaged(
    losses: Mapping[str, np.ndarray],
    item_of: CellInts,
    annotator_of: CellInts,
    index: Index,
    rule: str,
    known: RuleFacts,
) -> Scores:
    """The scores of items, with those of their cells."""
    values = np.stack(list(losses.values()))
    scored = np.flatnonzero(~np.isnan(values).all(0))
    items, item = np.unique(item_of[scored], return_inverse=True)
    annotators, annotator = np.unique(annotator_of[scored], return_inverse=True)
    who = tuple([index.annotators[at] for at in annotators.tolist()])
    cells = Replicates(item, annotator, values[:, scored], who, "annotator")
    n_absent = len(item_of) - len(scored)
    return Scores(
        cells.means(len(items)),
        tuple(losses),
        tuple([index.items[at] for at in items.tolist()]),
        rule,
        known=known,
        replicates=cells,
        item_order=False,
        cautions=(f"{check.count(n_absent, 'annotation')} without a prediction left out",) if n_absent else (),
    )
