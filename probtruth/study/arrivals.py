"""The input of a monitor: the differences of two models in their order of arrival, and the complete units."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from jaxtyping import Float

from probtruth import check, frame_numbers, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.types import Scores


@dataclass(frozen=True, eq=False)
class Units:
    """Independent units in their order: the total difference and number of items of each, and their largest size."""

    total: Float[np.ndarray, " unit"]
    size: Float[np.ndarray, " unit"]
    largest: int

    def flipped(self) -> "Units":
        """The same of b minus a."""
        return Units(-self.total, self.size, self.largest)

    def first(self, n_units: int) -> "Units":
        """The first of them."""
        return Units(self.total[:n_units], self.size[:n_units], self.largest)


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Scores of two models on items in their order of arrival; `waiting` counts items that only one of them has."""

    items: tuple[str, ...]
    a: Float[np.ndarray, " item"]
    b: Float[np.ndarray, " item"]
    clusters: tuple[str, ...] | None
    waiting: int = 0


def digest(name: str) -> int:
    """A 64-bit number that represents a name."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def two_models(known: Sequence[str], a: object, b: object) -> tuple[str, str]:
    """The names of the models to compare: those that the caller names, else the only two, in the order of their
    names."""
    if a is None and b is None:
        if len(known) != 2:
            raise InputError(
                f"{len(known)} models ({check.shortlist(known)})", "two, or a and b that name two of them",
                "Say which two: a=..., b=... (command line: --a, --b).",
            )  # fmt: skip
        first, second = sorted(known)
        return first, second
    for name, what in ((a, "a"), (b, "b")):
        if name is None:
            raise InputError(f"no {what}", "the names of both models", f"Give {what}=... (command line: --{what}).")
    if str(a) == str(b):
        raise InputError(f"model {check.quote(a)} twice", "two different models", "Name another one.")
    return str(a), str(b)


def from_scores(scores: Scores, a: str, b: str) -> Arrivals:
    """The items of scores, in the order of the scores."""
    rows = [scores.models.index(check.one_of(name, scores.models, "model")) for name in (a, b)]
    sign = -1.0 if scores.higher_is_better else 1.0
    clusters = None
    if scores.clusters is not None:
        clusters = tuple(scores.clusters.names[code] for code in scores.clusters.codes.tolist())
    return Arrivals(scores.items, sign * scores.values[rows[0]], sign * scores.values[rows[1]], clusters)


def from_table(frame: object, a: str, b: str, columns: Sequence[str], cluster: str | None, source: Source) -> Arrivals:
    """The rows of a table (item, model, score) in their order: an item arrives with the second of its two scores."""
    table = frames.as_polars(frame)
    item, model, score = columns
    codes, names = frames.encode(table, item, source, "item")
    models, model_names = frames.encode(table, model, source, "model")
    values = frame_numbers.numbers(table, score, source, "score")
    where = np.full((2, len(names)), -1)
    for side, name in enumerate((a, b)):
        rows = np.nonzero(models == (model_names.index(name) if name in model_names else -1))[0]
        first, again = np.unique(codes[rows], return_index=True)
        if len(first) < len(rows):
            row = int(np.setdiff1d(rows, rows[again])[0])
            raise InputError(
                f"item {check.quote(names[codes[row]])}, model {check.quote(name)} twice",
                "one score for each item and model", "Remove the row; average repeats of an item first.",
                source.at(row),
            )  # fmt: skip
        where[side, codes[rows]] = rows
    both = np.nonzero((where >= 0).all(0))[0]
    both = both[np.argsort(where[:, both].max(0), kind="stable")]
    of_cluster = None
    if cluster is not None:
        groups, group_names = frames.encode(table, cluster, source, "cluster")
        clash = groups[where[0, both]] != groups[where[1, both]]
        if clash.any():
            at = both[int(clash.argmax())]
            raise InputError(
                f"item {check.quote(names[at])} in two clusters", "one cluster for each item",
                "Check the cluster column.", source.at(int(where[1, at]), cluster),
            )  # fmt: skip
        of_cluster = tuple(group_names[code] for code in groups[where[0, both]].tolist())
    waiting = int((where >= 0).any(0).sum()) - len(both)
    named = tuple(names[code] for code in both.tolist())
    return Arrivals(named, values[where[0, both]], values[where[1, both]], of_cluster, waiting)
