"""Items that a reader should look at: where labels disagree most, and where the two leading models differ most."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from probtruth.report.interface import ResultLike
from probtruth.report.words.verdict import leaders
from probtruth.types import Index, Scores, Truth
from probtruth.types.index import match_items, match_labels

MOST = 10
Share = tuple[str, float]


@dataclass(frozen=True)
class Disputed:
    """An item, its labels with their shares (largest first; `votes` where they are known), and their entropy (nats)."""

    item: str
    shares: tuple[Share, ...]
    votes: int | None
    entropy: float


@dataclass(frozen=True)
class Divided:
    """An item, the two models' scores as given, the label each finds most probable, and the reference's labels."""

    item: str
    scores: tuple[float, float]
    says: tuple[Share, Share] | None
    shares: tuple[Share, ...]


def disputed(result: ResultLike, most: int = MOST) -> list[Disputed]:
    """The items of highest entropy of the labels; those on which all agree are left out."""
    truth = result.truth
    if truth is None:
        return []
    shares = _shares(truth)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(shares > 0, shares * np.log(shares), 0.0).sum(1)
    names = {row: name for name, row in _rows(result)[0].items()}
    labels = _label_names(result)[0]
    order = [row for row in np.argsort(-entropy, kind="stable").tolist() if row in names]
    return [
        Disputed(
            names[row],
            _largest(shares[row], labels),
            None if truth.n_votes is None else int(truth.n_votes[row]),
            float(entropy[row]),
        )
        for row in order[:most]
        if entropy[row] > 0
    ]


def divided(result: ResultLike, most: int = MOST) -> tuple[tuple[str, str], list[Divided]]:
    """The two models of highest P(best), and the items on which their scores differ most."""
    scores = result.scores
    first, second = (str(row["model"]) for row in leaders(result.comparison.ranks)[:2])
    if not isinstance(scores, Scores):  # of files that were streamed
        return (first, second), []
    a, b = scores.models.index(first), scores.models.index(second)
    with np.errstate(invalid="ignore"):
        gap = np.nan_to_num(np.abs(scores.values[a] - scores.values[b]), nan=0.0, posinf=np.inf)
    order = [int(row) for row in np.argsort(-gap, kind="stable")[:most] if gap[row] > 0]
    says, labels = _says(result, first, second), _labels(result)
    sign = -1.0 if scores.higher_is_better else 1.0
    found = []
    for row in order:
        name = scores.items[row]
        values = (sign * float(scores.values[a, row]), sign * float(scores.values[b, row]))
        found.append(Divided(name, values, says(name), labels(name)))
    return (first, second), found


def _says(result: ResultLike, first: str, second: str) -> Callable[[str], tuple[Share, Share] | None]:
    """What both models find most probable for an item; None where their predictions are not known."""
    predictions = result.predictions
    if predictions is None:
        return lambda item: None
    place, names = _rows(result)[1], _label_names(result)[1]
    a, b = predictions.models.index(first), predictions.models.index(second)

    def says(item: str) -> tuple[Share, Share] | None:
        if item not in place:
            return None
        top = np.exp(predictions.log_probs[:, place[item]])
        return _largest(top[a], names)[0], _largest(top[b], names)[0]

    return says


def _labels(result: ResultLike) -> Callable[[str], tuple[Share, ...]]:
    """The labels of an item with their shares; empty where they are not known."""
    truth = result.truth
    if truth is None:
        return lambda item: ()
    place, names, shares = _rows(result)[0], _label_names(result)[0], _shares(truth)
    return lambda item: _largest(shares[place[item]], names) if item in place else ()


def _rows(result: ResultLike) -> tuple[dict[str, int], dict[str, int]]:
    """The row of each item of the comparison in the truth, and in the predictions."""
    names, ours, theirs = match_items(*_sides(result), "the predictions")
    return dict(zip(names, ours.tolist(), strict=True)), dict(zip(names, theirs.tolist(), strict=True))


def _label_names(result: ResultLike) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the truth's labels, and of the predictions', as they stand in each."""
    names, ours, theirs = match_labels(*_sides(result), "the predictions")
    return tuple(names[column] for column in ours.tolist()), tuple(names[column] for column in np.argsort(theirs))


def _sides(result: ResultLike) -> tuple[Index, Index]:
    """The names of the truth and of the predictions; each stands for the other where that is not known."""
    known = [side.index for side in (result.truth, result.predictions) if side is not None]
    return known[0], known[-1]


def _shares(truth: Truth) -> Float[np.ndarray, "item label"]:
    return truth.probs if truth.shares is None else truth.shares


def _largest(row: Float[np.ndarray, " label"], labels: tuple[str, ...]) -> tuple[Share, ...]:
    order = np.argsort(-row, kind="stable")
    return tuple((labels[place], float(row[place])) for place in order if row[place] > 0)[:4]
