"""Items that a reader should look at: where labels disagree most, and where the two leading models differ most."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from probtruth.report.interface import ResultLike
from probtruth.report.words.verdict import leaders
from probtruth.types import Index, Scores, Truth

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
    names, kept = _items(truth.index, result), set(result.scores.items)
    order = [row for row in np.argsort(-entropy, kind="stable") if names[row] in kept]
    return [
        Disputed(
            names[row],
            _largest(shares[row], truth.index.labels),
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
    place = {name: row for row, name in enumerate(_items(predictions.index, result))}
    names = predictions.index.labels
    if predictions.index.positional_labels and result.truth is not None:
        names = result.truth.index.labels
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
    place = {name: row for row, name in enumerate(_items(truth.index, result))}
    return lambda item: _largest(_shares(truth)[place[item]], truth.index.labels) if item in place else ()


def _items(index: Index, result: ResultLike) -> tuple[str, ...]:
    """Names of the items; those of the scores where the index has only positions."""
    same = index.positional_items and len(index.items) == len(result.scores.items)
    return tuple(map(str, result.scores.items)) if same else tuple(index.items)


def _shares(truth: Truth) -> Float[np.ndarray, "item label"]:
    return truth.probs if truth.shares is None else truth.shares


def _largest(row: Float[np.ndarray, " label"], labels: tuple[str, ...]) -> tuple[Share, ...]:
    order = np.argsort(-row, kind="stable")
    return tuple((labels[place], float(row[place])) for place in order if row[place] > 0)[:4]
