"""Scores by item and annotator: predictions against each annotator's own label."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.frames import as_series
from probtruth.io.predictions import opened_models
from probtruth.io.table import Table, joined
from probtruth.kernels.arrays import to_host, widened
from probtruth.line.inputs import Models
from probtruth.scoring.align import align_all
from probtruth.scoring.rules import ScoringRule
from probtruth.scoring.score import score_aligned
from probtruth.truth.infer import infer_truth
from probtruth.types import Annotations, Index, Predictions, Replicates, RuleFacts, Scores, Truth
from probtruth.types.index import positions

ANNOTATOR = "annotator"  # The column of a model's table that says whose label each row predicts

# Reads tables whose items stand in this column (None: found by its values) and are those of the index.
Reader = Callable[[Any, str | None, Index], Predictions]
CellInts = Int[np.ndarray, " cell"]
Votes = Int[np.ndarray, "cell label"]
Losses = dict[str, Float[np.ndarray, " cell"]]  # by model, NaN where it predicts nothing


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
