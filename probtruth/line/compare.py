"""Comparison of scores, in memory or in a table of any size."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probtruth import check
from probtruth.comparison.compare import compare as compare_in_memory
from probtruth.comparison.compare import need_two
from probtruth.comparison.options import Options, checked_options
from probtruth.errors import InputError
from probtruth.frames import as_polars, need_columns
from probtruth.io.gold import gold_table, probabilities
from probtruth.io.loaders.wide_tables import read_wide_scores
from probtruth.io.scores import notes_in, read_scores, refuse_wide
from probtruth.io.tables.batches import LEAST, open_table
from probtruth.line.gold import with_expert_scores
from probtruth.line.larger_than_memory import Room
from probtruth.streaming.bare_scores import Columns, streamed_scores
from probtruth.streaming.compare_files import Streamed
from probtruth.streaming.prepared import scratch as scratch_store
from probtruth.types import Annotations, Comparison, Scores
from probtruth.types.arguments import Engine, Frame, Groups, ItemPopulation, LikelihoodName, ReplicateKind, StrPath

if TYPE_CHECKING:
    import distributed

BYTES = 1_000
"""Memory that a row takes while its batch is worked on: names, codes, and the one read ahead."""
MOST = 1 << 20
"""Rows of a batch, whatever the memory."""

type ColumnNames = dict[str, Any]
"""The arguments that say how a table is read: `item`, `model` and so on, each a column unless it says otherwise."""


def compare(
    scores: Scores | StrPath | Frame,
    groups: Groups | None = None,
    clusters: Groups | None = None,
    replicates: ReplicateKind | None = None,
    *,
    likelihood: LikelihoodName = "auto",
    annotations: Annotations | None = None,
    fold_correlation: float | None = None,
    engine: Engine = "nuts",
    population: ItemPopulation = "new-items",
    weights: Mapping[str, float] | Sequence[float] | None = None,
    gold: Scores | StrPath | Frame | None = None,
    rope: float | str | None = None,
    draws: int = 2500,
    seed: int = 0,
    strict: bool = False,
    item: str = "item",
    model: str = "model",
    models: Sequence[str] | None = None,
    score: str = "score",
    group: str | None = None,
    cluster: str | None = None,
    replicate: str | None = None,
    higher_is_better: bool | None = None,
    client: "distributed.Client | None" = None,
    memory: float | None = None,
    scratch: str | Path | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Which model has the lower mean score, for all pairs jointly, and how sure that is.

    The estimand is the mean paired difference over new items like these; with `groups`, of these groups, each with
    weight `weights` (a dict by name, or a list in the order in which your items come to the groups; default: its share
    of the items). Every pair's margin is the outer skew-t, which is the paired t where differences are not skewed (with
    groups, Satterthwaite's; with clusters, the cluster-robust one); P(best), ranks and regret come from one joint
    posterior with these margins. With groups, `group_results` adds the population of groups and one new group, with
    partial pooling.

    Arguments: `groups` and `clusters` are names in the order of `scores.items`, or a mapping item to name; items of a
    cluster are dependent (a passage, a patient), clusters lie inside groups. `replicates` says what the repeated scores
    of an item are: "independent" (answers asked again; the default: they are averaged within the item, whose spread
    holds their noise), "crossed" (the same training seeds on every item: their own variance is added, so that the
    answer is about new seeds too) or "folds" (items, or replicates of items, are folds that share training data, with
    `fold_correlation`, 1/k for k folds, as Nadeau and Bengio correct for it). `annotations` are those behind the
    scores: where the same few annotators labelled every item, their leanings are added in the same way.

    `likelihood` is "auto", or one of "normal", "student-t", "skew-t", "tie-spike" and "two-component", fitted to
    each pair's differences by NUTS: the mean stays what is reported, with a warning where it and the fit part.
    `engine` is "nuts" or "exact". `population` "these-items" holds the items fixed, so that only the labels (few
    votes, an uncertain class) leave the difference unsure. `rope` is the largest difference that does not matter: a
    number in units of the score, "2%" of the best mean score, or "5% of range", the range from the entropy of the
    labels to the score of their frequencies. `draws` is per chain, of four chains. `strict` raises `PosteriorError`
    where a diagnostic fails. `on_progress(done, total)` hears of the sampling.

    `gold` are better scores of the same models on a few of the items (people's, where the others are a judge's), as
    `Scores` or a table with the same columns: the answer is then about these, and the others take part as far as they
    go with them. A column `probability` says with which probability each item was chosen; without it they count as a
    uniform sample.

    `scores` may be a table with one row for each item and model: a dataframe, a dict of columns, a file, or a folder of
    Parquet or Arrow files. `item`, `model`, `score`, `group`, `cluster`, `replicate` and `higher_is_better` then name
    its columns and orientation; `models` are the columns of a table with one for each model (`score` then is the name
    of the metric). A file that does not fit into `memory` (bytes, half of what is free unless you say) is read some
    rows at a time; with `client`, a `dask.distributed.Client`, workers that see the same path read it and keep the
    scores. Scores are meanwhile in the folder `scratch`, as in `evaluate`. The result is the same, bit for bit.
    Replicates, another likelihood, `annotations`, `population`, `weights`, `gold`, and `groups` and `clusters` other
    than columns need the scores in memory.

    Returns: a `Comparison`; differences are a minus b, negative favours a, in units of the score. `Result.of_scores`
    makes what a report takes.

    Errors: `InputError` for fewer than two models, NaN scores or unusable options; `PosteriorError` where a single item
    (or cluster) leaves the spread unknown.

    >>> import probtruth as pt
    >>> losses = {"item": [1, 2, 3, 1, 2, 3], "model": ["a"] * 3 + ["b"] * 3, "score": [0.1, 0.3, 0.2, 0.5, 0.4, 0.6]}
    >>> scores = pt.Scores.from_frame(losses, higher_is_better=False)
    >>> pair = pt.compare(scores, engine="exact").pairwise().row(0, named=True)
    >>> round(pair["difference"], 3), pair["p_a_better"] > 0.9
    (-0.3, True)
    """
    check.own_threads()
    columns: ColumnNames = {
        "item": item,
        "model": model,
        "models": models,
        "score": score,
        "group": group,
        "cluster": cluster,
        "replicate": replicate,
        "higher_is_better": higher_is_better,
    }
    if isinstance(scores, Scores):
        _refuse_columns(columns)
    if isinstance(scores, str | Path):
        unusual = (groups, clusters, replicates, annotations, fold_correlation, weights, gold, models, replicate)
        whole = any(one is not None for one in unusual) or (likelihood, population) != ("auto", "new-items")
        room = Room(memory, client, scratch)
        if not whole and room.streams_scores(scores):
            options = checked_options(engine, population, rope, draws, seed, strict)
            streamed = _streamed(scores, room, columns, options, on_progress)
            return replace(streamed.comparison, scored=streamed)
        if client is not None:
            raise InputError(
                "client= for scores that are compared in memory",
                "a table in Parquet or Arrow, or a folder of such files, without replicates and another likelihood",
                "Leave client out.",
            )
    elif client is not None:
        what = "scores" if isinstance(scores, Scores) else "a table"
        raise InputError(f"client= for {what} in memory", "the path of a table", "Leave client out.")
    held = scores if isinstance(scores, Scores) else _held(scores, columns)
    need_two(held.models)
    return compare_in_memory(
        held if gold is None else _with_gold(held, gold, columns),
        groups,
        clusters,
        replicates,
        likelihood=likelihood,
        annotations=annotations,
        fold_correlation=fold_correlation,
        engine=engine,
        population=population,
        weights=weights,
        rope=rope,
        draws=draws,
        seed=seed,
        strict=strict,
        on_progress=on_progress,
    )


def _refuse_columns(columns: ColumnNames) -> None:
    """Raises where a column is named of scores that are no table."""
    for name in ("models", "group", "cluster", "replicate", "higher_is_better"):
        if columns[name] is not None:
            raise InputError(
                f"{name}={check.quote(columns[name])} with Scores, which have no columns",
                "a table, or Scores alone",
                "Name it where the scores are made (Scores.from_frame), or pass groups= or clusters= by item.",
            )


def _held(table: StrPath | Frame, columns: ColumnNames) -> Scores:
    """The scores of a file or dataframe that memory holds."""
    named = {name: value for name, value in columns.items() if name != "models"}
    if columns["models"] is not None:
        if named.pop("replicate") is not None:
            raise InputError(
                "replicate= with a column for each model", "one row for each item", "Give the table in long form."
            )
        del named["model"]
        return read_wide_scores(table, columns["models"], rule=named.pop("score"), **named)
    if isinstance(table, str | Path):
        return read_scores(table, **named)
    refuse_wide(as_polars(table), named)
    return Scores.from_frame(table, **named)


def _with_gold(scores: Scores, gold: Scores | StrPath | Frame, columns: ColumnNames) -> Scores:
    """The scores with the better ones on a few items; tables are read as the scores were."""
    if isinstance(gold, Scores):
        return with_expert_scores(scores, gold, None)
    table, source = gold_table(gold)
    known = {**columns, **dict.fromkeys(("group", "cluster", "replicate")), "higher_is_better": scores.higher_is_better}
    if known["score"] not in table.columns and scores.rule in table.columns:
        known["score"] = scores.rule
    return with_expert_scores(scores, _held(table, known), probabilities(table, known["item"], source))


def _streamed(
    path: str | Path,
    room: Room,
    columns: ColumnNames,
    options: Options,
    on_progress: Callable[[int, int], None] | None,
) -> Streamed:
    """The comparison of a table that is read some rows at a time."""
    table = open_table(path)
    named = {name: columns[name] for name in ("item", "model", "score", "group", "cluster")}
    need_columns(table.columns, named, table.name)
    known = notes_in(table.files[0], named["score"], columns["higher_is_better"])
    named |= {name: known.column(named[name], name, table.columns) for name in ("group", "cluster")}
    read = Columns(**named, higher_is_better=known.higher_is_better, rule=known.rule, known=known.facts)
    size = min(max(int(room.n_bytes / BYTES), LEAST), MOST)
    with scratch_store(room.scratch, room.client) as store:
        return streamed_scores(table, read, options, store("scores"), size, on_progress)
