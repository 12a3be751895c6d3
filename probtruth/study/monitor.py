"""`monitor`: adds scores to a monitor, batch by batch, each item once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Bool, Float, UInt64

from probtruth import check, frame_numbers, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.study.monitor_state import Monitor
from probtruth.types import Scores, orientation
from probtruth.types.arguments import Frame

if TYPE_CHECKING:
    import polars

LARGEST = 1e60  # The largest absolute score without bounds


@dataclass(frozen=True, eq=False)
class Batch:
    """Scores of two models on items in order; `waiting` counts items that only one of them has."""

    items: Sequence[str]
    a: Float[np.ndarray, " item"]
    b: Float[np.ndarray, " item"]
    clusters: Sequence[str] | None
    waiting: int = 0


def monitor(
    batch: Frame | Scores,
    earlier: Monitor | None = None,
    *,
    a: str | None = None,
    b: str | None = None,
    bounds: tuple[float, float] | None = None,
    method: Literal["betting", "asymptotic"] | None = None,
    alpha: float | None = None,
    rope: float | None = None,
    higher_is_better: bool | None = None,
    item: str = "item",
    model: str = "model",
    score: str = "score",
    cluster: str | None = None,
    largest_cluster: int | None = None,
    close: bool = False,
    source: Source | None = None,
) -> Monitor:
    r"""Which of two models is better, with an answer that you may look at after every item.

    Formula: capital of gamblers who bet that the mean difference is above 0 (and others below), K_t = sum_j w_j prod (1
    + c_j d_i/R) for differences d_i in [-R, R]: an e-process, above 2/alpha at some time with probability alpha/2 at
    most if the mean difference is 0. The confidence sequence contains every mean that has not been rejected so.

    Arguments: `batch` is a table with one row for each item and model, in order, or `Scores`; `earlier` is the monitor
    so far, whose options stay: it skips items that it knows, so that a growing file can be passed again and again, and
    the batches do not change the result; an item counts from the batch on that holds both its scores. `a` and `b` name
    the models if there are more than two. `bounds` are the smallest and largest possible score (known for `Scores` of a
    bounded rule); without bounds, `method` "asymptotic" uses a central limit theorem for the whole path from the 100th
    unit on. `alpha` is the level (0.05), `rope` the largest difference that does not matter, `higher_is_better` the
    orientation (not needed if the score's column has the name of a known metric, such as accuracy or loss). `item`,
    `model`, `score` and `cluster` are columns; the items of a cluster follow each other, `largest_cluster` is the most
    items that one can have; a cluster counts once the next one begins, or with `close`. `source` names the table in
    errors.

    Returns: a `Monitor` with the confidence sequence, e-values, an anytime p-value and the decision so far; its `save`
    writes it to a file, for `read_monitor`.

    Errors: `InputError` for scores outside the bounds, an item that returns with another score, clusters in pieces, or
    options that differ from the earlier monitor's.

    Source: Waudby-Smith and Ramdas 2024, doi:10.1093/jrsssb/qkad009; Ramdas, Grünwald, Vovk and Shafer 2023, "Game-
    theoretic statistics and safe anytime-valid inference", doi:10.1214/23-STS894.

    >>> import probtruth as pt
    >>> right = [1, 1, 0, 1, 1, 1, 1, 0, 1, 1] * 4
    >>> rows = {"item": [*range(40)] * 2, "model": ["new"] * 40 + ["old"] * 40, "score": right + [0] * 40}
    >>> watch = pt.monitor(rows, bounds=(0, 1), higher_is_better=True)
    >>> watch.decision, watch.difference, watch.p_value < 0.001
    ('a', 0.8, True)
    """
    check.own_threads()
    source = source or Source()
    if isinstance(batch, Scores):
        higher_is_better = batch.higher_is_better if higher_is_better is None else higher_is_better
        if bounds is None and method is None and earlier is None:
            known = batch.known.range
            bounds = known if known is not None and all(map(math.isfinite, known)) else None
    options = {
        "a": None if a is None else str(a),
        "b": None if b is None else str(b),
        "bounds": None if bounds is None else _bounds(bounds),
        "method": None if method is None else check.one_of(method, ("betting", "asymptotic"), "method"),
        "alpha": None if alpha is None else check.number(alpha, "alpha", least=1e-12, below=1),
        "rope": None if rope is None else check.number(rope, "rope", least=0),
        "higher_is_better": higher_is_better,
        "largest_cluster": None if largest_cluster is None else check.whole(largest_cluster, 1, "largest_cluster"),
    }
    named = {name: value for name, value in options.items() if value is not None}
    if earlier is None:
        if isinstance(batch, Scores):
            models: Sequence[str] = batch.models
        else:
            models = frames.encode(frames.as_polars(batch), model, source, "model")[1]
        watch = _new(named, models, score, source)
    else:
        watch = check.instance(earlier, Monitor, "monitor or read_monitor")
        for name, value in named.items():
            if value != getattr(watch, name):
                raise InputError(
                    f"{name} {check.quote(value)} with a monitor that has {check.quote(getattr(watch, name))}",
                    "the options of the first batch", "Leave it out, or start a new monitor (a new state file).",
                )  # fmt: skip
    if isinstance(batch, Scores):
        taken = _of_scores(batch, watch)
    else:
        taken = _of_table(frames.as_polars(batch), watch, (item, model, score), cluster, source)
    if taken.items and len(watch.items) and (taken.clusters is None) != (watch.clusters is None):
        problem = "clusters in some batches only"
        raise InputError(problem, "clusters in all batches or in none", "Name the cluster column each time.")
    if taken.clusters is not None and watch.clusters is None and largest_cluster is None:
        raise InputError(
            "clusters without their largest size", "the most items that a cluster can have",
            "Give largest_cluster=... (command line: --largest-cluster); it limits how much is bet on one of them.",
        )  # fmt: skip
    fed = _fed(watch, taken)
    return replace(fed, closed=True) if close and fed.clusters is not None else fed


def two_names(models: Sequence[str], a: object, b: object) -> tuple[str, str]:
    """The names of the models to compare: those that the caller names, else the only two, by name."""
    if a is None and b is None and len(models) == 2:
        first, second = sorted(models)
        return first, second
    for name, what in ((a, "a"), (b, "b")):
        if name is None:
            raise InputError(
                f"{len(models)} models ({check.shortlist(models)}) and no {what}", "the names of two of them",
                "Say which two: a=..., b=... (command line: --a, --b).",
            )  # fmt: skip
    if str(a) == str(b):
        raise InputError(f"model {check.quote(a)} twice", "two different models", "Name another one.")
    return str(a), str(b)


def _bounds(value: object) -> tuple[float, float]:
    pair = value if isinstance(value, tuple | list | np.ndarray) else ()
    if len(pair) != 2:
        raise InputError(f"bounds {check.quote(value)}", "two numbers, (low, high)", "For accuracy: bounds=(0, 1).")
    low, high = (check.number(end, "bound", least=-LARGEST, most=LARGEST) for end in pair)
    if not low < high:
        raise InputError(f"bounds {low:g} and {high:g}", "the lower one first", "Exchange them.")
    return low, high


def _new(named: dict[str, Any], models: Sequence[str], score: str, source: Source) -> Monitor:
    """A monitor that has seen nothing."""
    first, second = two_names(models, named.pop("a", None), named.pop("b", None))
    method = named.pop("method", None)
    if "bounds" not in named and method != "asymptotic":
        raise InputError(
            "scores without bounds", "the least and the largest score that there can be",
            "Give bounds=(low, high) (command line: --bounds LOW HIGH), or method='asymptotic' where there are none.",
        )  # fmt: skip
    if "bounds" in named and method == "asymptotic":
        raise InputError("bounds with method 'asymptotic'", "one of the two", "Leave the method out to use the bounds.")
    upward = orientation.upward(score, named.get("higher_is_better"), source.name)
    return Monitor(first, second, **{"bounds": None} | named | {"higher_is_better": upward})


def _of_scores(scores: Scores, watch: Monitor) -> Batch:
    """The items of scores, in the order of the scores."""
    rows = [scores.models.index(check.one_of(name, scores.models, "model")) for name in (watch.a, watch.b)]
    clusters = None
    if scores.clusters is not None:
        clusters = [scores.clusters.names[code] for code in scores.clusters.codes.tolist()]
    return Batch(scores.items, scores.values[rows[0]], scores.values[rows[1]], clusters)


def _of_table(
    table: "polars.DataFrame", watch: Monitor, columns: Sequence[str], cluster: str | None, source: Source
) -> Batch:
    """The rows of a table in their order: an item counts from the second of its two scores on."""
    item, model, score = columns
    codes, names = frames.encode(table, item, source, "item")
    models, model_names = frames.encode(table, model, source, "model")
    values = frame_numbers.numbers(table, score, source, "score")
    where = np.full((2, len(names)), -1)
    for side, name in enumerate((watch.a, watch.b)):
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
    clusters = None
    if cluster is not None:
        of_row, cluster_names = frames.encode(table, cluster, source, "cluster")
        clash = of_row[where[0, both]] != of_row[where[1, both]]
        if clash.any():
            at = both[int(clash.argmax())]
            raise InputError(
                f"item {check.quote(names[at])} in two clusters", "one cluster for each item",
                "Check the cluster column.", source.at(int(where[1, at]), cluster),
            )  # fmt: skip
        clusters = [cluster_names[code] for code in of_row[where[0, both]].tolist()]
    waiting = int((where >= 0).any(0).sum()) - len(both)
    named = [names[code] for code in both.tolist()]
    return Batch(named, values[where[0, both]], values[where[1, both]], clusters, waiting)


def _key(name: str) -> int:
    """A 64-bit number that stands for a name."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _fed(watch: Monitor, batch: Batch) -> Monitor:
    """The monitor with the new items of a batch."""
    low, high = (-LARGEST, LARGEST) if watch.bounds is None else watch.bounds
    for name, scores in ((watch.a, batch.a), (watch.b, batch.b)):
        bad = ~((scores >= low) & (scores <= high))
        if bad.any():
            position = int(bad.argmax())
            raise InputError(
                f"score {scores[position]:g}", f"a number from {low:g} to {high:g}",
                "Check it, or start with wider bounds=... (command line: --bounds LOW HIGH).",
                f"model {check.quote(name)}, item {check.quote(batch.items[position])}",
            )  # fmt: skip
    differences = np.asarray(batch.a - batch.b, np.float64)
    keys = np.array([_key(name) for name in batch.items], np.uint64)
    fresh = _fresh(watch, batch, keys, differences)
    clusters = watch.clusters
    if batch.clusters is not None:
        clusters = _clusters(watch, [batch.clusters[position] for position in np.nonzero(fresh)[0].tolist()])
    return replace(
        watch,
        differences=np.concatenate([watch.differences, differences[fresh]]),
        items=np.concatenate([watch.items, keys[fresh]]),
        clusters=clusters,
        closed=watch.closed and not fresh.any(),
        skipped=int((~fresh).sum()),
        waiting=batch.waiting,
    )


def _fresh(
    watch: Monitor, batch: Batch, keys: UInt64[np.ndarray, " item"], differences: Float[np.ndarray, " item"]
) -> Bool[np.ndarray, " item"]:
    """Which items of the batch are new; an item that returns must have the same difference."""
    known = dict(zip(watch.items.tolist(), watch.differences.tolist(), strict=True))
    before = [known.get(key) for key in keys.tolist()]
    for name, was, now in zip(batch.items, before, differences.tolist(), strict=True):
        if was is not None and was != now:
            raise InputError(
                f"item {check.quote(name)} again, with another difference", "each item once, or again as it was",
                "Start a new monitor, or give the item a name of its own.",
            )  # fmt: skip
    return np.array([was is None for was in before], bool)


def _clusters(watch: Monitor, names: Sequence[str]) -> UInt64[np.ndarray, " item"]:
    """The clusters so far and the new ones; raises if one is in pieces or too large."""
    every = [] if watch.clusters is None else watch.clusters.tolist()
    sizes = dict[int, int]()
    for key in every:
        sizes[key] = sizes.get(key, 0) + 1
    last = None if watch.closed or not every else every[-1]
    for name in names:
        key = _key(name)
        if key in sizes and key != last:
            raise InputError(
                f"items of cluster {check.quote(name)} after another cluster had begun or it was closed",
                "the items of a cluster one after the other", "Feed clusters that are complete, one by one.",
            )  # fmt: skip
        sizes[key], last = sizes.get(key, 0) + 1, key
        if sizes[key] > watch.largest_cluster:
            raise InputError(
                f"cluster {check.quote(name)} with more than {watch.largest_cluster} items",
                f"at most {watch.largest_cluster}",
                "Start with a larger largest_cluster=... (command line: --largest-cluster).",
            )  # fmt: skip
        every.append(key)
    return np.array(every, np.uint64)
