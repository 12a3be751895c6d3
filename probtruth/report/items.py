"""Items that a reader should look at: where labels disagree most, and where the two leading models differ most."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probtruth.report.interface import ResultLike
from probtruth.report.verdict import leaders
from probtruth.types import Truth

MOST = 10


@dataclass(frozen=True)
class Disputed:
    """An item, its labels with their shares (largest first; `votes` where they are known), and their entropy (nats)."""

    item: str
    shares: tuple[tuple[str, float], ...]
    votes: int | None
    entropy: float


@dataclass(frozen=True)
class Divided:
    """An item, the two models' scores as given, the label each finds most probable, and the reference's labels."""

    item: str
    scores: tuple[float, float]
    says: tuple[tuple[str, float], tuple[str, float]] | None
    shares: tuple[tuple[str, float], ...]


def disputed(result: ResultLike, most: int = MOST) -> list[Disputed]:
    """The items of highest entropy of the labels; those on which all agree are left out."""
    truth = result.truth
    if truth is None:
        return []
    shares = _shares(truth)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(shares > 0, shares * np.log(shares), 0.0).sum(1)
    kept = set(result.scores.items)
    order = [row for row in np.argsort(-entropy, kind="stable") if truth.index.items[row] in kept]
    return [
        Disputed(
            truth.index.items[row],
            _largest(shares[row], truth.index.labels),
            None if truth.n_votes is None else int(truth.n_votes[row]),
            float(entropy[row]),
        )
        for row in order[:most]
        if entropy[row] > 0
    ]


def divided(result: ResultLike, most: int = MOST) -> tuple[tuple[str, str], list[Divided]]:
    """The two models of highest P(best), and the items on which their scores differ most."""
    scores, predictions, truth = result.scores, result.predictions, result.truth
    pair = tuple(str(row["model"]) for row in leaders(result.comparison.ranks)[:2])
    a, b = (scores.models.index(name) for name in pair)
    with np.errstate(invalid="ignore"):
        gap = np.nan_to_num(np.abs(scores.values[a] - scores.values[b]), nan=0.0, posinf=np.inf)
    order = [row for row in np.argsort(-gap, kind="stable")[:most] if gap[row] > 0]
    names = [scores.items[row] for row in order]
    sign = -1.0 if scores.higher_is_better else 1.0
    predicted = _rows_of(names, predictions.index.items) if predictions is not None else None
    known = _rows_of(names, truth.index.items) if truth is not None else None
    found = []
    for place, (row, name) in enumerate(zip(order, names, strict=True)):
        says = None
        if predictions is not None and predicted is not None and predicted[place] >= 0:
            says = tuple(
                _top(predictions.probs[predictions.models.index(model), predicted[place]], predictions.index.labels)
                for model in pair
            )
        shares: tuple[tuple[str, float], ...] = ()
        if truth is not None and known is not None and known[place] >= 0:
            shares = _largest(_shares(truth)[known[place]], truth.index.labels)
        values = (sign * float(scores.values[a, row]), sign * float(scores.values[b, row]))
        found.append(Divided(name, values, says, shares))  # type: ignore[arg-type]
    return pair, found  # type: ignore[return-value]


def _shares(truth: Truth) -> Float[np.ndarray, "item label"]:
    return truth.probs if truth.shares is None else truth.shares


def _largest(row: Float[np.ndarray, " label"], labels: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    order = np.argsort(-row, kind="stable")
    return tuple((labels[place], float(row[place])) for place in order if row[place] > 0)[:4]


def _top(row: Float[np.ndarray, " label"], labels: tuple[str, ...]) -> tuple[str, float]:
    return labels[int(row.argmax())], float(row.max())


def _rows_of(names: Iterable[str], index: tuple[str, ...]) -> Int[np.ndarray, " name"]:
    place = {name: row for row, name in enumerate(index)}
    return np.array([place.get(name, -1) for name in names], np.int64)
