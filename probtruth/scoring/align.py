"""Predictions and truth side by side, by the names of items and labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from probtruth.errors import InputError
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
    """

    log_probs: Float[np.ndarray, "model item label"]
    truth: Float[np.ndarray, "item label"]
    shares: Float[np.ndarray, "item label"] | None
    n_votes: Int[np.ndarray, " item"] | None
    models: tuple[str, ...]
    items: tuple[str, ...]
    labels: tuple[str, ...]
    rows: Int[np.ndarray, " item"]
    columns: Int[np.ndarray, " known"]
    audit: Audit
    estimand: str
    item_rows: Int[np.ndarray, " item"] | None = None

    @property
    def probs(self) -> Float[np.ndarray, "model item label"]:
        """The probabilities of the predictions."""
        return np.exp(self.log_probs)

    def against(self, truth: Truth) -> "Aligned":
        """The same predictions against another truth about the same items and labels."""
        return replace(self, **_reference(truth, self.rows, self.columns, len(self.labels)))

    def subset(self, items: Int[np.ndarray, " some"], models: Sequence[str]) -> "Aligned":
        """Some of the items, by their positions here, and some of the models."""
        rows_of_models = [self.models.index(model) for model in models]
        log_probs = self.log_probs[rows_of_models]
        shares = None if self.shares is None else self.shares[items]
        return replace(
            self,
            log_probs=log_probs if _whole(items, len(self.items)) else log_probs[:, items],
            truth=shares if shares is not None and self.truth is self.shares else self.truth[items],
            shares=shares,
            n_votes=None if self.n_votes is None else self.n_votes[items],
            models=tuple(models),
            items=tuple(self.items[item] for item in items),
            rows=self.rows[items],
            item_rows=None,
        )

    def of_truth(self, table: Float[np.ndarray, "*draw given known"]) -> Float[np.ndarray, "*draw item label"]:
        """A table in the order of the truth (its draws, say) on the common items and the labels of the predictions."""
        return widened(table, self.rows, self.columns, len(self.labels))


def align(predictions: object, truth: object) -> Aligned:
    """Both sides on the items that both have and the labels that the predictions have.

    Errors: `InputError` where no item is in common, or the predictions lack a label of the truth.
    """
    if not isinstance(predictions, Predictions):
        raise InputError(
            f"predictions of type {type(predictions).__name__}",
            "a probtruth.Predictions",
            "Make it with Predictions.from_probs({'a': probs, ...}); the predictions come first, then the truth.",
        )
    if not isinstance(truth, Truth):
        raise InputError(
            f"truth of type {type(truth).__name__}",
            "a probtruth.Truth",
            "Make it with infer_truth(annotations), Truth.from_probs(probs) or Truth.from_labels(labels, n_labels=K).",
        )
    ours, theirs = truth.index, predictions.index
    items, rows, their_rows = match_items(ours, theirs, "the predictions")
    labels, columns, their_columns = match_labels(ours, theirs, "the predictions")
    return Aligned(
        log_probs=reordered(predictions.log_probs, their_rows, their_columns),
        models=predictions.models,
        items=items,
        labels=labels,
        rows=rows,
        columns=columns,
        audit=predictions.audit + _audit(ours, theirs, predictions),
        item_rows=_written(ours, theirs, rows, their_rows),
        **_reference(truth, rows, columns, len(labels)),
    )


def _reference(truth: Truth, rows: np.ndarray, columns: np.ndarray, n_labels: int) -> dict[str, Any]:
    """What the truth says of the common items, under the labels of the predictions."""
    shares = None if truth.shares is None else widened(truth.shares, rows, columns, n_labels)
    voted = truth.estimand != "class" and shares is not None
    return {
        "truth": shares if voted else widened(truth.probs, rows, columns, n_labels),
        "shares": shares,
        "n_votes": None if truth.n_votes is None else truth.n_votes[rows],
        "estimand": truth.estimand,
    }


def reordered(
    table: Float[np.ndarray, "model row column"], rows: Int[np.ndarray, " item"], columns: Int[np.ndarray, " label"]
) -> Float[np.ndarray, "model item label"]:
    """The rows and columns of a table in this order; the table itself where that is its own."""
    chosen = table if _whole(rows, table.shape[1]) else table[:, rows]
    return chosen if _whole(columns, table.shape[2]) else np.ascontiguousarray(chosen[:, :, columns])


def _written(
    ours: Index, theirs: Index, rows: Int[np.ndarray, " item"], their_rows: Int[np.ndarray, " item"]
) -> Int[np.ndarray, " item"] | None:
    """The caller's order of the items, from the side that has one."""
    if ours.positional_items:
        return ranks(rows)
    if ours.item_rows is not None:
        return ranks(ours.item_rows[rows])
    if theirs.positional_items:
        return ranks(their_rows)
    return None if theirs.item_rows is None else ranks(theirs.item_rows[their_rows])


def _whole(places: np.ndarray, size: int) -> bool:
    return len(places) == size and bool((places == np.arange(size)).all())


def widened(table: np.ndarray, rows: np.ndarray, columns: np.ndarray, n_labels: int) -> np.ndarray:
    """The rows and columns of a table at their places; labels that the table does not know get 0."""
    if _whole(rows, table.shape[-2]) and _whole(columns, n_labels):
        return table
    wide = np.zeros((*table.shape[:-2], len(rows), n_labels), table.dtype)
    wide[..., columns] = table[..., rows, :]
    return wide


def _audit(ours: Index, theirs: Index, predictions: Predictions) -> Audit:
    """What one side has and the other lacks, except what the audit of the predictions counts already."""
    if ours.positional_items or theirs.positional_items or ours.items == theirs.items:
        return Audit()
    counted = set(predictions.audit.missing) | set(predictions.audit.extra)
    theirs_or_counted, known = set(theirs.items) | counted, set(ours.items) | counted
    missing = tuple(name for name in ours.items if name not in theirs_or_counted)
    extra = tuple(name for name in theirs.items if name not in known)
    return Audit(missing, extra, tuple((model, len(missing), len(extra)) for model in predictions.models))
