"""Items that a reader should look at: where labels disagree most, and where the two leading models differ most."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from probtruth.kernels.arrays import some_items, to_host
from probtruth.line.labelled import Labelled
from probtruth.scoring.align import Aligned, AlignedOnHost
from probtruth.scoring.calibration.binning import events
from probtruth.streaming.compare_files import Streamed
from probtruth.types import Comparison, Scores
from probtruth.types.comparison import leaders, leading_pair

MOST = 10
"""Items of either kind."""
MOST_LISTED, MOST_TELLING = 20_000, 2_000
"""Items up to which all are listed; of more, so many on which the two leading models differ most."""
MOST_CELLS = 1_000_000
"""Probabilities that the list holds; where all items have more, the most telling ones are listed."""
MOST_MODELS, MOST_LISTED_LABELS = 8, 20
"""Models that are listed, the best first, and labels of an item, the most probable first."""
MOST_LABELS = 4
"""Labels of an item that are named."""
Share = tuple[str, float]


@dataclass(frozen=True)
class DisputedItem:
    """An item, its labels with their shares (largest first; `votes` where they are known), and their entropy (nats)."""

    item: str
    shares: tuple[Share, ...]
    votes: int | None
    entropy: float


@dataclass(frozen=True)
class DividedItem:
    """An item, two models' scores in their own orientation, the label each finds most probable, and the labels."""

    item: str
    scores: tuple[float, float]
    top_labels: tuple[Share, Share] | None
    shares: tuple[Share, ...]


@dataclass(frozen=True, eq=False)
class ListedItems:
    """Items in the order of the scores (`n_all` in all), with each model's score in the user's orientation.

    With labels: `votes` are counts (None where no votes are known), `shares` what the labels are taken to be, `probs`
    the models' probabilities, and `columns` which labels of `labels` an item's entries are for, the same for all items
    if these are few.
    """

    items: tuple[str, ...]
    n_all: int
    models: tuple[str, ...]
    scores: Float[np.ndarray, "model item"]
    labels: tuple[str, ...] = ()
    columns: Int[np.ndarray, "item entry"] | None = None
    votes: Int[np.ndarray, "item entry"] | None = None
    shares: Float[np.ndarray, "item entry"] | None = None
    probs: Float[np.ndarray, "model item entry"] | None = None


def listed_items(scores: Scores | Streamed, comparison: Comparison, labelled: Labelled | None) -> ListedItems | None:
    """The items that a reader can look through; None where scores were streamed."""
    if not isinstance(scores, Scores):
        return None
    models = tuple(str(row["model"]) for row in leaders(comparison.ranks)[:MOST_MODELS])
    order = [scores.models.index(model) for model in models]
    n_all = len(scores.items)
    entries = 0 if labelled is None else min(len(labelled.aligned.labels), MOST_LISTED_LABELS) * len(models)
    rows = np.arange(n_all)
    if n_all > MOST_LISTED or n_all * entries > MOST_CELLS:
        telling = _gap(scores, *order[:2]) if len(order) > 1 else scores.values[order[0]]
        rows = np.sort(np.argsort(-telling, kind="stable")[:MOST_TELLING])
    own = (-1.0 if scores.higher_is_better else 1.0) * scores.values[order][:, rows]
    plain = ListedItems(tuple(str(scores.items[row]) for row in rows), n_all, models, own)
    return plain if labelled is None else _with_labels(plain, labelled.aligned, rows)


def _with_labels(listed: ListedItems, aligned: Aligned, rows: Int[np.ndarray, " item"]) -> ListedItems:
    at = np.array([aligned.models.index(model) for model in listed.models])
    shares, probs = _shares(aligned)[rows], np.exp(some_items(aligned.log_probs, rows)[at])
    columns = np.broadcast_to(np.arange(shares.shape[1]), shares.shape)
    if shares.shape[1] > MOST_LISTED_LABELS:
        weight = np.maximum(shares, probs.max(0))
        columns = np.sort(np.argsort(-weight, axis=1, kind="stable")[:, :MOST_LISTED_LABELS], axis=1)
        shares = np.take_along_axis(shares, columns, 1)
        probs = np.take_along_axis(probs, columns[None], 2)
    votes = None
    if aligned.shares is not None and aligned.n_votes is not None:
        votes = np.rint(shares * aligned.n_votes[rows, None]).astype(int)
    return replace(listed, labels=aligned.labels, columns=columns, votes=votes, shares=shares, probs=probs)


def expected_accuracy(labelled: Labelled) -> dict[str, float]:
    """How often each model's most probable label is right, expected under the labels; ties share the choice."""
    aligned = labelled.aligned
    truth = aligned.truth if aligned.shares is None else aligned.shares
    accuracy = {}
    for model, logs in zip(aligned.models, aligned.log_probs, strict=True):
        ((_, _, right),) = events(logs, truth, aligned.labels, "top-label")
        accuracy[model] = float(right.mean())
    return accuracy


def disputed_items(labelled: Labelled) -> list[DisputedItem]:
    """The items of highest entropy of the labels; those on which all agree are left out."""
    aligned, shares = labelled.aligned, _shares(labelled.aligned)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(shares > 0, shares * np.log(shares), 0.0).sum(1)
    return [
        DisputedItem(
            aligned.items[row],
            _largest(shares[row], aligned.labels),
            None if aligned.n_votes is None else int(aligned.n_votes[row]),
            float(entropy[row]),
        )
        for row in np.argsort(-entropy, kind="stable")[:MOST]
        if entropy[row] > 0
    ]


def divided_items(scores: Scores | Streamed, comparison: Comparison, labelled: Labelled | None) -> list[DividedItem]:
    """The items on which the scores of the two leading models differ most; none of one model, or of streamed scores."""
    if not isinstance(scores, Scores) or len(scores.models) < 2:
        return []
    a, b = (scores.models.index(model) for model in leading_pair(comparison.ranks))
    gap = _gap(scores, a, b)
    sign = -1.0 if scores.higher_is_better else 1.0
    rows = [int(row) for row in np.argsort(-gap, kind="stable")[:MOST] if gap[row] > 0]
    pair = [scores.models[a], scores.models[b]]
    seen = None if labelled is None else labelled.aligned.subset(np.array(rows, np.int64), pair)
    return [
        DividedItem(
            str(scores.items[row]),
            (sign * float(scores.values[a, row]), sign * float(scores.values[b, row])),
            None if seen is None else _top_labels(seen, at),
            () if seen is None else _largest(_shares(seen)[at], seen.labels),
        )
        for at, row in enumerate(rows)
    ]


def _gap(scores: Scores, a: int, b: int) -> Float[np.ndarray, " item"]:
    """How far two models' scores are apart on each item."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(np.abs(scores.values[a] - scores.values[b]), nan=0.0, posinf=np.inf))


def _top_labels(two: AlignedOnHost, row: int) -> tuple[Share, Share]:
    """What two models find most probable for an item."""
    first, second = (_largest(np.exp(logs[row]), two.labels)[0] for logs in two.log_probs)
    return first, second


def _shares(aligned: Aligned) -> Float[np.ndarray, "item label"]:
    return to_host(aligned.truth) if aligned.shares is None else aligned.shares


def _largest(row: Float[np.ndarray, " label"], labels: tuple[str, ...]) -> tuple[Share, ...]:
    order = np.argsort(-row, kind="stable")
    return tuple((labels[label], float(row[label])) for label in order if row[label] > 0)[:MOST_LABELS]
