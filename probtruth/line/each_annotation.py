"""Scores by item and annotator: predictions against each annotator's own label."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from probtruth.scoring.align import align
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.scoring.score import expected_losses, rule_and_floor
from probtruth.truth.infer import infer_truth
from probtruth.types import Annotations, Index, Predictions, Replicates, RuleFacts, Scores, Truth
from probtruth.types.index import positions

ANNOTATOR = "annotator"  # The column of a model's table that says whose label each row predicts

# Reads tables whose items stand in this column (None: found by its values) and are those of the index.
Reader = Callable[[Any, str | None, Index], Predictions]
# Predictions, the annotations whose items are theirs, and the row of each cell among these.
Predicted = tuple[Predictions, Annotations, Int[np.ndarray, " cell"]]


@dataclass(frozen=True, eq=False)
class Cells:
    """The items and annotators that go together, and what the annotator voted (mostly once) on the item."""

    index: Index
    item: Int[np.ndarray, " cell"]
    annotator: Int[np.ndarray, " cell"]
    votes: Int[np.ndarray, "cell label"]

    @classmethod
    def of(cls, annotations: Annotations | None) -> "Cells":
        if annotations is None or annotations.annotator is None:
            got = "labels without annotators, with each='annotation'"
            raise InputError(got, "annotations with annotators", "Give one row for each item and annotator.")
        index = annotations.index
        n_annotators = len(index.annotators)
        n_labels = len(index.labels)
        pair, cell = np.unique(annotations.item * n_annotators + annotations.annotator, return_inverse=True)
        votes = np.bincount(cell * n_labels + annotations.label, minlength=len(pair) * n_labels)
        return cls(index, pair // n_annotators, pair % n_annotators, votes.reshape(-1, n_labels))

    def names(self) -> list[str]:
        """Item and annotator together, as a table whose items stand in these two columns has them."""
        items = as_series(self.index.items)[self.item]
        annotators = as_series(self.index.annotators)[self.annotator]
        return joined([items, annotators]).to_list()

    def losses(
        self,
        predictions: Predictions,
        source: Annotations,
        row: Int[np.ndarray, " cell"],
        rule: ScoringRule,
        floor: object,
    ) -> dict[str, Float[np.ndarray, " cell"]]:
        """Each model's loss in every cell, NaN where it predicts nothing; `row` is the cell's row in the source."""
        aligned = align(predictions, infer_truth(source, method="vote-share", draws=0))
        chosen, least = rule_and_floor(rule, floor, aligned.labels)
        place = np.full(source.n_items, -1)
        place[aligned.rows] = np.arange(len(aligned.rows))
        predicted = place[row]
        there = np.flatnonzero(predicted >= 0)
        votes = to_host(widened(self.votes.astype(np.float64), there, aligned.columns, len(aligned.labels)))
        shares = votes / votes.sum(1, keepdims=True)
        found: dict[str, Float[np.ndarray, " cell"]] = {}
        for model, table in aligned.tables():
            found[model] = np.full(len(row), np.nan)
            found[model][there] = expected_losses(chosen, least, table[predicted[there]], shares)
        return found

    def scores(
        self, predicted: Sequence[Predicted], models: tuple[str, ...], rule: ScoringRule, floor: float | None
    ) -> Scores:
        """Those of all models, which were read in one or two parts."""
        losses: dict[str, Float[np.ndarray, " cell"]] = {}
        for part in predicted:
            losses |= self.losses(*part, rule, floor)
        values = np.stack([losses[model] for model in models])
        scored = np.flatnonzero(~np.isnan(values).all(0))
        items, item_of = np.unique(self.item[scored], return_inverse=True)
        annotators, annotator_of = np.unique(self.annotator[scored], return_inverse=True)
        who = tuple([self.index.annotators[at] for at in annotators.tolist()])
        by_annotator = Replicates(item_of, annotator_of, values[:, scored], who, "annotator")
        n_absent = len(self.item) - len(scored)
        return Scores(
            by_annotator.means(len(items)),
            models,
            tuple([self.index.items[at] for at in items.tolist()]),
            rule.name,
            known=RuleFacts(floor=floor, label_order=rule.order, proper=rule.proper and floor is None),
            replicates=by_annotator,
            item_order=False,
            cautions=(f"{check.count(n_absent, 'annotation')} without a prediction left out",) if n_absent else (),
        )


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
    cells = Cells.of(annotations)
    assert annotations is not None
    index = cells.index
    tables = opened_models(predictions)
    by_annotation: dict[str, Table] = {}
    by_item = tables
    models = tables.models if isinstance(tables, Predictions) else tuple(tables)
    if not isinstance(tables, Predictions):
        by_annotation = {model: table for model, table in tables.items() if _names_annotators(table)}
        by_item = {model: table for model, table in tables.items() if model not in by_annotation}
    predicted: list[Predicted] = []
    if by_item:
        predicted.append((read(by_item, item, index), annotations, cells.item))
    if by_annotation:
        names = cells.names()
        source = Annotations.from_counts(cells.votes, names, index.labels)
        of_both = read(by_annotation, f"{item or 'item'},{ANNOTATOR}", source.index)
        predicted.append((of_both, source, positions(source.index.items, names)))
    scores = cells.scores(predicted, models, rule, floor)
    if not rule.of_shares:
        return scores
    kin = get_rule(rule.proper_kin, rule.order)
    return replace(scores, by_proper_rule=cells.scores(predicted, models, kin, floor))


def _names_annotators(table: object) -> bool:
    return isinstance(table, Table) and ANNOTATOR in table.columns
