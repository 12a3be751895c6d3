"""`monitor`: adds scores to a monitor, batch by batch, each item once."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from probtruth import check, frame_numbers, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.io.addresses import is_path
from probtruth.io.scores import as_table
from probtruth.io.table import opened
from probtruth.study.monitor_state import Monitor, read_monitor
from probtruth.study.pilot import two_models
from probtruth.types import Scores, orientation
from probtruth.types.arguments import Frame, StrPath

LARGEST = 1e60  # The largest absolute score without bounds


def monitor(
    batch: Frame | StrPath | Scores | None = None,
    earlier: Monitor | StrPath | None = None,
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
) -> Monitor:
    r"""Which of two models is better, with an answer that you may look at after every item.

    Formula: capital of gamblers who bet that the mean difference is above 0 (and others below), K_t = sum_j w_j prod (1
    + c_j d_i/R) for differences d_i in [-R, R]: an e-process, above 2/alpha at some time with probability alpha/2 at
    most if the mean difference is 0. The confidence sequence contains every mean that has not been rejected so.

    Arguments:
        batch: a table or file with one row for each item and model, in order, or `Scores` (whose order is that of the
            names).
        earlier: the monitor so far, or the file that its `save` wrote, whose options stay (alone it is returned as it
            is): it skips items that it knows, so that a growing file can be passed again and again, and the batches do
            not change the result. An item counts from the batch on that holds both its scores.
        a, b: name the models if there are more than two.
        bounds: the smallest and largest possible score (known for `Scores` of a bounded rule). Without bounds, `method`
            "asymptotic" uses a central limit theorem for the whole path from the 100th unit on.
        method: how the confidence sequence is made, "asymptotic" or for scores within `bounds`.
        alpha: the level (0.05), `rope` the largest difference that does not matter, `higher_is_better` the orientation
            (not needed if the score's column has the name of a known metric, such as accuracy or loss).
        rope: the largest difference that does not matter.
        higher_is_better: whether a higher score is better.
        item, model, score, cluster: columns. The items of a cluster follow each other, `largest_cluster` is the most
            items that one can have. A cluster counts once the next one begins, or with `close`.
        largest_cluster: the largest number of items that a cluster may have.
        close: counts the last cluster too, which no more items will join.

    Returns: a `Monitor` with the confidence sequence, e-values, an anytime p-value and the decision so far; its `save`
    writes it to a file.

    Errors: `InputError` for scores outside the bounds, an item that returns with another score, clusters in pieces,
    options that differ from the earlier monitor's, or a damaged file.

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
    earlier = read_monitor(earlier) if is_path(earlier) else earlier
    if batch is None:
        return check.instance(earlier, Monitor, "monitor")
    shared_labels = False
    if isinstance(batch, Scores):
        annotated = batch.labels is not None and batch.labels.named_annotations is not None
        shared_labels = annotated or batch.influence is not None
        higher_is_better = batch.higher_is_better if higher_is_better is None else higher_is_better
        of_rule = batch.known.range
        if earlier is None and method is None and bounds is None and of_rule is not None:
            bounds = of_rule if math.isfinite(of_rule[1] - of_rule[0]) else None
        item = "item"
        model = "model"
        score = "score"
        cluster = None if batch.clusters is None else "cluster"
        batch = as_table(batch)
    table, source = opened(batch).whole
    if earlier is None and not table.height:
        raise InputError("no rows", "at least one score", "Check the table.", source.name)
    named = {
        "a": a,
        "b": b,
        "bounds": None if bounds is None else _bounds(bounds),
        "method": None if method is None else check.one_of(method, ("betting", "asymptotic"), "method"),
        "alpha": None if alpha is None else check.number(alpha, "alpha", least=1e-12, below=1),
        "rope": None if rope is None else check.number(rope, "rope", least=0),
        "higher_is_better": higher_is_better,
        "largest_cluster": None if largest_cluster is None else check.whole(largest_cluster, 1, "largest_cluster"),
    }
    named = {name: value for name, value in named.items() if value is not None}
    models = frames.names(table, model, source, "model")
    if earlier is None:
        watch = _new(named, tuple(models.unique().sort()), score, source)
    else:
        watch = check.instance(earlier, Monitor, "monitor")
        for name, value in named.items():
            if value != getattr(watch, name):
                problem = f"{name} {check.quote(value)} with a monitor that has {check.quote(getattr(watch, name))}"
                raise InputError(problem, "the options of the first batch", "Leave it out, or start a new monitor.")
    if len(watch.items) and (cluster is None) != (watch.clusters is None):
        problem = "clusters in some batches only"
        raise InputError(problem, "clusters in all batches or in none", "Name the cluster column each time.")
    if cluster is not None and watch.clusters is None and largest_cluster is None:
        hint = "Give largest_cluster=... (command line: --largest-cluster); it limits how much is bet on one of them."
        raise InputError("clusters without their largest size", "the most items that a cluster can have", hint)
    items = frames.names(table, item, source, "item").to_list()
    scores = frame_numbers.numbers(table, score, source, "score").tolist()
    clusters = [None] * len(items) if cluster is None else frames.names(table, cluster, source, "cluster").to_list()
    watch = replace(watch, shared_labels=watch.shared_labels or shared_labels)
    fed = _fed(watch, zip(items, models.to_list(), scores, clusters, strict=True), source)
    return replace(fed, closed=True) if close and fed.clusters is not None else fed


def _bounds(value: object) -> tuple[float, float]:
    pair = value if isinstance(value, tuple | list | np.ndarray) else ()
    if len(pair) != 2:
        raise InputError(f"bounds {check.quote(value)}", "two numbers, (low, high)", "For accuracy: bounds=(0, 1).")
    low = check.number(pair[0], "bound", least=-LARGEST, most=LARGEST)
    high = check.number(pair[1], "bound", least=-LARGEST, most=LARGEST)
    if not low < high:
        raise InputError(f"bounds {low:g} and {high:g}", "the lower one first", "Exchange them.")
    return low, high


def _new(named: dict[str, Any], models: tuple[str, ...], score: str, source: Source) -> Monitor:
    """A monitor that has seen nothing."""
    first, second = two_models(models, named.pop("a", None), named.pop("b", None))
    if ("bounds" in named) == (named.pop("method", None) == "asymptotic"):
        raise InputError(
            "bounds with method 'asymptotic'" if "bounds" in named else "scores without bounds",
            "the least and the largest score that there can be, or method 'asymptotic'",
            "Give bounds=(low, high) (command line: --bounds LOW HIGH), or where there are none method='asymptotic' "
            "(--method asymptotic).",
        )
    upward = orientation.upward(score, named.get("higher_is_better"), source.name)
    return Monitor(first, second, **{"bounds": None} | named | {"higher_is_better": upward})


def _fed(watch: Monitor, rows: Iterable[tuple[str, str, float, str | None]], source: Source) -> Monitor:
    """The monitor with the new items of rows (item, model, score, cluster), each from its second score on."""
    low, high = watch.bounds or (-LARGEST, LARGEST)
    difference_of = dict(zip(watch.items, watch.differences, strict=True))
    skipped = 0
    items = [*watch.items]
    differences = [*watch.differences]
    clusters = [*(watch.clusters or ())]
    sizes = Counter(clusters)
    last = clusters[-1] if clusters and not watch.closed else None
    seen: dict[str, dict[str, float]] = {watch.a: {}, watch.b: {}}
    home: dict[str, str | None] = {}
    for row, (item, model, score, cluster) in enumerate(rows):
        if model not in seen:
            continue
        name = f"item {check.quote(item)}"
        where = source.at(row)
        if item in seen[model]:
            problem = f"{name}, model {check.quote(model)} twice"
            raise InputError(problem, "one score for each item and model", "Average repeats of an item first.", where)
        if home.setdefault(item, cluster) != cluster:
            hint = "Check the cluster column."
            raise InputError(f"{name} in two clusters", "one cluster for each item", hint, where)
        if not low <= score <= high:
            problem = f"score {score:g} of model {check.quote(model)} on {name}"
            hint = "Check it, or start with wider bounds=... (command line: --bounds LOW HIGH)."
            raise InputError(problem, f"a number from {low:g} to {high:g}", hint, where)
        seen[model][item] = score
        if not all(item in side for side in seen.values()):
            continue
        difference = seen[watch.a][item] - seen[watch.b][item]
        if item in difference_of:
            if difference_of[item] != difference:
                hint = "Start a new monitor, or give the item a name of its own."
                raise InputError(f"{name} again, with another difference", "each item as it was", hint, where)
            skipped += 1
            continue
        items.append(item)
        differences.append(difference)
        if cluster is None:
            continue
        if cluster in sizes and cluster != last:
            problem = f"items of cluster {check.quote(cluster)} after another cluster had begun or it was closed"
            hint = "Feed clusters that are complete, one by one."
            raise InputError(problem, "the items of a cluster one after the other", hint, where)
        clusters.append(cluster)
        last = cluster
        sizes[cluster] += 1
        if sizes[cluster] > watch.largest_cluster:
            problem = f"cluster {check.quote(cluster)} with more than {watch.largest_cluster} items"
            hint = "Start with a larger largest_cluster=... (command line: --largest-cluster)."
            raise InputError(problem, f"at most {watch.largest_cluster}", hint, where)
    clustered = watch.clusters is not None or any(name is not None for name in home.values())
    return replace(
        watch,
        items=items,
        differences=differences,
        clusters=clusters if clustered else None,
        skipped=skipped,
        closed=watch.closed and len(items) == len(watch.items),
        waiting=len(seen[watch.a].keys() ^ seen[watch.b].keys()),
    )
