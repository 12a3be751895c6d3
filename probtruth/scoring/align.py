"""Predictions and truth side by side, by the names of items and labels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels.arrays import Table, on_device, reordered, some_items, to_host, together, widened
from probtruth.kernels.shapes import ItemInts, ItemLabel, ModelItemLabel
from probtruth.types.annotations import Annotations
from probtruth.types.index import Audit, Index, match_items, match_labels, ranks
from probtruth.types.predictions import Predictions
from probtruth.types.shown import Brief
from probtruth.types.truth import Truth


@dataclass(frozen=True, eq=False, repr=False)
class Aligned(Brief):
    """The same items and labels on both sides.

    `truth` is the centre of every score: the unsmoothed vote shares where the estimand is a distribution of
    opinions and there are votes, else the probabilities of the truth. `rows` are the rows of the truth's items, and
    `columns` are where the truth's labels stand; labels that the truth does not know have probability 0. `item_rows` is
    the order in which the caller gave the items (see `Index`), of the truth if it has one, else of the predictions.
    `annotations` are those that the truth was inferred from, under its own names.

    `log_probs` and `truth` lie where the predictions do (`on_host` has them on the host); all else is on the host.
    Where a model lacks an item its log-probabilities are NaN; `common` has the items that all models have.
    """

    log_probs: Float[Table, "model item label"]
    truth: Float[Table, "item label"]
    shares: ItemLabel | None
    n_votes: ItemInts | None
    models: tuple[str, ...]
    items: Sequence[str]
    labels: tuple[str, ...]
    rows: ItemInts
    columns: Int[np.ndarray, " known"]
    audit: Audit
    estimand: str
    item_rows: ItemInts | None = None
    annotations: Annotations | None = None

    def tables(self) -> Iterator[tuple[str, ItemLabel]]:
        """Each model's name and log-probabilities, which come to the host one at a time."""
        for model, table in zip(self.models, self.log_probs, strict=True):
            yield model, to_host(table)

    @property
    def lacking(self) -> Bool[np.ndarray, "model item"]:
        """Where a model has no forecast."""
        if on_device(self.log_probs) or not any(missing for _, missing, _ in self.audit.by_model):
            return np.zeros(self.log_probs.shape[:2], bool)
        return np.isnan(self.log_probs[..., 0])

    def common(self) -> "Aligned":
        """The items that all models have."""
        lacking = self.lacking.any(0)
        if not lacking.any():
            return self
        if lacking.all():
            raise InputError(
                "no item that all models have", "some items in common", "Compare by a scoring rule, or fewer models."
            )
        there = np.flatnonzero(~lacking)
        dropped = tuple([self.items[item] for item in np.flatnonzero(lacking).tolist()])
        rows = None if self.item_rows is None else ranks(self.item_rows[there])
        return replace(self.subset(there, self.models), item_rows=rows, audit=self.audit + Audit(missing=dropped))

    @property
    def by_votes(self) -> bool:
        """Whether the truth is the unsmoothed vote shares."""
        return self.shares is not None and self.estimand != "class"

    def on_host(self) -> "AlignedOnHost":
        """The same, for what is computed on the host; arrays that lie there row by row are not copied.

        One layout, because sums over another one may differ in the last bit.
        """
        shares = self.shares
        truth = shares if shares is not None and self.by_votes else to_host(self.truth)
        log_probs = np.ascontiguousarray(to_host(self.log_probs))
        in_float64 = np.ascontiguousarray(truth, np.float64)  # running sums of float32 would lose their digits
        return AlignedOnHost(**{**vars(self), "log_probs": log_probs, "truth": in_float64})

    def against(self, truth: Truth) -> "Aligned":
        """The same predictions against another truth about the same items and labels."""
        return replace(self, **_reference(truth, self.log_probs, self.rows, self.columns))

    def subset(self, items: Int[np.ndarray, " some"], models: Sequence[str]) -> "AlignedOnHost":
        """Some of the items, by their positions here, and some of the models, on the host."""
        chosen = replace(
            self,
            log_probs=some_items(self.log_probs, items)[[self.models.index(model) for model in models]],
            truth=some_items(self.truth, items),
            shares=None if self.shares is None else self.shares[items],
            n_votes=None if self.n_votes is None else self.n_votes[items],
            models=tuple(models),
            items=tuple([self.items[item] for item in items.tolist()]),
            rows=self.rows[items],
            item_rows=None,
        )
        return chosen.on_host()

    def of_truth(self, table: Float[np.ndarray, "*draw given known"]) -> Float[np.ndarray, "*draw item label"]:
        """A table in the order of the truth (its draws, say) on the common items and the labels of the predictions."""
        return to_host(widened(table, self.rows, self.columns, len(self.labels)))


@dataclass(frozen=True, eq=False, repr=False)
class AlignedOnHost(Aligned):
    """Both sides on the host."""

    log_probs: ModelItemLabel
    truth: ItemLabel


def align(predictions: object, truth: object) -> Aligned:
    """`align_all` on the items that all models have."""
    return align_all(predictions, truth).common()


def align_all(predictions: object, truth: object) -> Aligned:
    """Both sides on the items that both have and the labels that the predictions have; these where they are aligned."""
    if isinstance(predictions, Aligned):
        return predictions
    if isinstance(predictions, Mapping) and predictions:
        predictions = Predictions.from_probs(predictions)
    predictions = check.instance(predictions, Predictions, "Predictions.from_probs or read_predictions")
    truth = check.instance(truth, Truth, "infer_truth, Truth.from_probs or Truth.from_labels")
    ours, theirs = truth.index, predictions.index
    items, rows, their_rows = match_items(ours, theirs, "the predictions")
    labels, columns, their_columns = match_labels(ours, theirs, "the predictions")
    log_probs = reordered(predictions.log_probs, their_rows, their_columns)
    aligned = Aligned(
        log_probs=log_probs,
        models=predictions.models,
        items=items,
        labels=tuple(labels),
        rows=rows,
        columns=columns,
        audit=_audit(ours, theirs, predictions.models, predictions.audit),
        item_rows=_written((ours, rows), (theirs, their_rows)),
        **_reference(truth, log_probs, rows, columns),
    )
    for model, lacking in zip(aligned.models, aligned.lacking, strict=True):
        if lacking.all():
            problem = f"model {check.quote(model)} without any of the items that have labels"
            raise InputError(problem, "the same item names in both", check.AS_TEXT)
    return aligned


def _reference(truth: Truth, log_probs: Table, rows: np.ndarray, columns: np.ndarray) -> dict[str, Any]:
    """What the truth says of the common items, under the labels of the predictions and where these lie."""
    n_labels = log_probs.shape[-1]
    shares = None if truth.shares is None else widened(truth.shares, rows, columns, n_labels)
    voted = truth.estimand != "class" and shares is not None
    centre = shares
    if centre is None or not voted:
        centre = widened(truth.probs, rows, columns, n_labels)
    return {
        "truth": together([log_probs, centre])[1] if on_device(log_probs) else to_host(centre),
        "shares": shares,
        "n_votes": None if truth.n_votes is None else truth.n_votes[rows],
        "estimand": truth.estimand,
        "annotations": truth.annotations,
    }


def _written(*sides: tuple[Index, ItemInts]) -> ItemInts | None:
    """The caller's order of the items, from the side that has one."""
    for index, rows in sides:
        if index.positional_items:
            return ranks(rows)
        if index.item_rows is not None:
            return ranks(index.item_rows[rows])
    return None


def _audit(ours: Index, theirs: Index, models: Sequence[str], audit: Audit) -> Audit:
    """The predictions' audit with what else one side has and the other lacks."""
    if ours.positional_items or theirs.positional_items or ours.items == theirs.items:
        return audit
    counted = {*audit.missing, *audit.extra}
    in_predictions = counted.union(theirs.items)
    in_truth = counted.union(ours.items)
    missing = tuple([name for name in ours.items if name not in in_predictions])
    extra = tuple([name for name in theirs.items if name not in in_truth])
    by_model = tuple([(model, len(missing), len(extra)) for model in models])
    return audit + Audit(missing, extra, by_model)
