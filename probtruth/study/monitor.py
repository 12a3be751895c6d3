"""`monitor`: adds scores to a monitor, batch by batch, each item once."""

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float, UInt64

from probtruth import check, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.study.arrivals import Arrivals, digest, from_scores, from_table, two_models
from probtruth.study.monitored import Monitor
from probtruth.types import Scores, orientation
from probtruth.types.arguments import Frame

METHODS = ("betting", "asymptotic")
LARGEST = 1e60
"""The largest absolute score without bounds."""
LEVEL = 0.05


@check.checks_itself
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

    Formula: capital of gamblers who bet on "b is better" (and others on "a is better"), K_t = sum_j w_j prod (1 + c_j
    d_i/R) for differences d_i in [-R, R]: an e-process, above 2/alpha at some time with probability alpha/2 at most if
    the mean difference is 0. The confidence sequence contains every mean that has not been rejected in this way.

    Arguments: `batch` is a table with one row for each item and model, in order of arrival, or `Scores`; `earlier` is
    the monitor so far, whose options stay: it skips items that it knows, so you can pass a growing file again and
    again, and the batches do not change the result; an item counts from the batch on that holds both its scores, so do
    not split these over two batches. `a` and `b` name the models if there are more than two. `bounds`
    are the smallest and largest possible score (known for `Scores` of a bounded rule); without bounds, `method`
    "asymptotic" uses a central limit theorem for the whole path from the 100th unit on. `alpha` is the level (0.05),
    `rope` the largest difference that does not matter, `higher_is_better` the orientation (you can leave it out if the
    score's column has the name of a known metric, such as accuracy or loss). `item`, `model`, `score` and `cluster`
    are columns; the items of a cluster arrive together, `largest_cluster` is the most items that one can have; a
    cluster counts once the next one begins, or with `close`. `source` names the table in errors.

    Returns: a `Monitor` with the confidence sequence, e-values, an anytime p-value and the decision so far.

    Errors: `InputError` for scores outside the bounds, an item that returns with another score, clusters in pieces, or
    options that differ from the earlier monitor's.

    Source: Waudby-Smith and Ramdas 2024, doi:10.1093/jrsssb/qkad009; Ramdas, Grünwald, Vovk and Shafer 2023, "Game-
    theoretic statistics and safe anytime-valid inference", doi:10.1214/23-STS894.

    >>> import probtruth as pt
    >>> right = [1, 1, 0, 1, 1, 1, 1, 0, 1, 1] * 4
    >>> rows = {"item": [*range(40)] * 2, "model": ["new"] * 40 + ["old"] * 40, "score": right + [0] * 40}
    >>> watch = pt.monitor(rows, bounds=(0, 1), higher_is_better=True)
    >>> watch.decision, watch.difference, watch.p_value < 0.001
    ('a', -0.8, True)
    """
    check.own_threads()
    source = source or Source()
    if earlier is not None and not isinstance(earlier, Monitor):
        raise InputError(type(earlier).__name__, "a Monitor", "Give what monitor() or read_monitor() returned.")
    if isinstance(batch, Scores):
        bounds = bounds if bounds is not None or method == "asymptotic" or earlier is not None else finite_range(batch)
        higher_is_better = batch.higher_is_better if higher_is_better is None else higher_is_better
    if earlier is None:
        if isinstance(batch, Scores):
            known = list(batch.models)
        else:
            known = frames.encode(frames.as_polars(batch), model, source, "model")[1]
        first, second = two_models(known, a, b)
        watch = Monitor(first, second, **_options(bounds, method, alpha, rope, largest_cluster))
        upward = orientation.upward(score, higher_is_better, source.name)
        watch = replace(watch, higher_is_better=upward)
    else:
        watch = earlier
        _unchanged(watch, a, b, bounds, method, alpha, rope, higher_is_better, largest_cluster)
    if isinstance(batch, Scores):
        taken = from_scores(batch, watch.a, watch.b)
    else:
        taken = from_table(batch, watch.a, watch.b, (item, model, score), cluster, source)
    fed = _fed(watch, taken, largest_cluster is not None)
    return replace(fed, closed=True) if close and fed.clusters is not None else fed


def finite_range(scores: Scores) -> tuple[float, float] | None:
    """The least and the largest score of the rule; None without both."""
    known = scores.known.range
    return known if known is not None and all(map(math.isfinite, known)) else None


def _options(bounds: object, method: object, alpha: object, rope: object, largest_cluster: object) -> dict[str, Any]:
    chosen = None if method is None else check.one_of(method, METHODS, "method")
    if bounds is None and chosen != "asymptotic":
        raise InputError(
            "scores without bounds", "the least and the largest score that there can be",
            "Give bounds=(low, high) (command line: --bounds LOW HIGH), or method='asymptotic' where there are none.",
        )  # fmt: skip
    if bounds is not None and chosen == "asymptotic":
        raise InputError("bounds with method 'asymptotic'", "one of the two", "Leave the method out to use the bounds.")
    return {
        "bounds": None if bounds is None else known_bounds(bounds),
        "alpha": LEVEL if alpha is None else known_number(alpha, "alpha", "a number between 0 and 1", 1e-12, 1 - 1e-12),
        "rope": None if rope is None else known_number(rope, "rope", "a finite number of at least 0", 0.0, LARGEST),
        "largest_cluster": 1 if largest_cluster is None else check.whole(largest_cluster, 1, "largest_cluster"),
    }


def known_number(value: object, what: str, expected: str, least: float, most: float) -> float:
    """A number from the least to the most."""
    sound = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not sound or not least <= float(value) <= most:  # type: ignore[arg-type]
        raise InputError(f"{what} {check.quote(value)}", expected, "Leave it out for the default.")
    return float(value)  # type: ignore[arg-type]


def known_bounds(value: object) -> tuple[float, float]:
    """The least and the largest score."""
    pair = value if isinstance(value, tuple | list | np.ndarray) else ()
    if len(pair) != 2:
        raise InputError(f"bounds {check.quote(value)}", "two numbers, (low, high)", "For accuracy: bounds=(0, 1).")
    low, high = (known_number(end, "bound", f"a number of size up to {LARGEST:g}", -LARGEST, LARGEST) for end in pair)
    if not low < high:
        raise InputError(f"bounds {low:g} and {high:g}", "the lower one first", "Exchange them.")
    return low, high


def _unchanged(watch: Monitor, a: object, b: object, bounds: object, method: object, *rest: object) -> None:
    """Raises if an option differs from the earlier monitor's."""
    alpha, rope, higher_is_better, largest_cluster = rest
    options = {
        "a": None if a is None else str(a),
        "b": None if b is None else str(b),
        "bounds": None if bounds is None else known_bounds(bounds),
        "method": method,
        "alpha": alpha,
        "rope": rope,
        "higher_is_better": higher_is_better,
        "largest_cluster": largest_cluster,
    }
    for name, value in options.items():
        if value is not None and value != getattr(watch, name):
            raise InputError(
                f"{name} {check.quote(value)} with a monitor that has {check.quote(getattr(watch, name))}",
                "the options of the first batch", "Leave it out, or start a new monitor (a new state file).",
            )  # fmt: skip


def _fed(watch: Monitor, batch: Arrivals, sized: bool) -> Monitor:
    """The monitor with the new items of a batch."""
    if batch.items and len(watch.items) and (batch.clusters is None) != (watch.clusters is None):
        raise InputError(
            "clusters in some batches only", "clusters in all batches or in none", "Name the cluster column each time."
        )
    if batch.clusters is not None and watch.clusters is None and not sized:
        raise InputError(
            "clusters without their largest size", "the most items that a cluster can have",
            "Give largest_cluster=... (command line: --largest-cluster); it limits how much is bet on one of them.",
        )  # fmt: skip
    differences, keys = _differences(watch, batch), np.array([digest(name) for name in batch.items], np.uint64)
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


def _differences(watch: Monitor, batch: Arrivals) -> Float[np.ndarray, " item"]:
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
    sign = -1.0 if watch.higher_is_better else 1.0
    return np.asarray(sign * (batch.a - batch.b) + 0.0, np.float64)


def _fresh(
    watch: Monitor, batch: Arrivals, keys: UInt64[np.ndarray, " item"], differences: Float[np.ndarray, " item"]
) -> Bool[np.ndarray, " item"]:
    """Which items of the batch are new; an item that returns must have the same difference."""
    known = dict(zip(watch.items.tolist(), watch.differences.tolist(), strict=True))
    fresh = np.array([key not in known for key in keys.tolist()], bool)
    for position in np.nonzero(~fresh)[0].tolist():
        if known[int(keys[position])] != differences[position]:
            raise InputError(
                f"item {check.quote(batch.items[position])} again, with another difference",
                "each item once, or again as it was", "Start a new monitor, or give the item a name of its own.",
            )  # fmt: skip
    return fresh


def _clusters(watch: Monitor, names: list[str]) -> UInt64[np.ndarray, " item"]:
    """The clusters so far and the new ones; raises if one is in pieces or too large."""
    old = watch.clusters if watch.clusters is not None else np.zeros(0, np.uint64)
    keys = {name: digest(name) for name in set(names)}
    every = np.concatenate([old, np.array([keys[name] for name in names], np.uint64)])
    starts = np.concatenate([[True], every[1:] != every[:-1]])[: len(every)]
    position = np.nonzero(starts)[0]
    words = {key: name for name, key in keys.items()}
    _, first = np.unique(every[position], return_index=True)
    again = np.setdiff1d(np.arange(len(position)), first)
    if len(again):
        raise _scattered(words[int(every[position[again[0]]])])
    if watch.closed and names and int(old[-1]) == keys[names[0]]:
        raise _scattered(names[0])
    sizes = np.diff(np.append(position, len(every)))
    if len(sizes) and sizes.max() > watch.largest_cluster:
        name = words[int(every[position[int(sizes.argmax())]])]
        raise InputError(
            f"cluster {check.quote(name)} with {sizes.max()} items", f"at most {watch.largest_cluster}",
            "Start with a larger largest_cluster=... (command line: --largest-cluster).",
        )  # fmt: skip
    return every


def _scattered(name: str) -> InputError:
    return InputError(
        f"items of cluster {check.quote(name)} after another cluster had begun or it was closed",
        "the items of a cluster one after the other", "Feed clusters that are complete, one by one.",
    )  # fmt: skip
