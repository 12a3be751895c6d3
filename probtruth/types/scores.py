"""Scores: one loss for each model and item, always lower is better."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from probtruth import check, frame_numbers, frames
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.kernels.arrays import Table, some_items, to_host
from probtruth.kernels.later import as_held, made_later
from probtruth.types import orientation
from probtruth.types.arguments import Frame
from probtruth.types.index import Audit, no_repeats, one_each, positions, ranks, sort_names
from probtruth.types.shown import Brief, Shown

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class RuleFacts:
    """What is known of the rule behind the scores; all of it where labels were scored, nothing of another metric.

    `floor` is what lower probabilities were raised to; `label_order` is the labels from low to high where the rule
    needs that; `range` bounds a loss; `entropy` is the mean generalised entropy
    of the labels, which no model can go below, and `baseline` the mean score of the labels' own frequencies as a
    forecast.
    """

    floor: float | None = None
    label_order: tuple[str, ...] | None = None
    range: tuple[float, float] | None = None
    proper: bool | None = None
    entropy: float | None = None
    baseline: float | None = None


LossesOf = Callable[[Table], Table]
"""The loss if the label were k, from log-probabilities."""


@made_later("log_probs")
@dataclass(frozen=True, eq=False, repr=False)
class LabelsBehind(Brief):
    """The labels that were scored against, from which the variance due to labels follows.

    `given` are the losses if the label were k, or how they follow from `log_probs`: they take as much memory, and are
    then made when `losses` is asked for. `truth` is the distribution over labels that the scores average over, under
    `estimand`; `shares` and `n_votes` are the vote shares and votes behind it, where there are any; `forecast` is the
    models' average prediction, for items with a single vote. `influence` is what each item moves a model's mean by,
    times the items, through weights that were fitted on all of them: a comparison adds it to the losses, so that it
    counts in the spread (the mean is 0). `log_probs` are the forecasts; `sampled` are positions of the items that stand
    for all where labels are looked at one by one. `losses`, `truth` and `log_probs` lie where the predictions do.
    """

    given: Float[Table, "model item label"] | LossesOf
    truth: Float[Table, "item label"]
    estimand: str
    shares: Float[np.ndarray, "item label"] | None = None
    n_votes: Int[np.ndarray, " item"] | None = None
    forecast: Float[np.ndarray, "item label"] | None = None
    influence: Float[np.ndarray, "model item"] | None = None
    log_probs: Float[Table, "model item label"] | None = None
    sampled: Int[np.ndarray, " sampled"] | None = None

    @cached_property
    def losses(self) -> Float[Table, "model item label"]:
        """The loss if the label were k."""
        return self.given(self._logs) if callable(self.given) else self.given

    def some_losses(self, items: Int[np.ndarray, " some"]) -> Float[np.ndarray, "model some label"]:
        """The same of some items, on the host."""
        if not callable(self.given):
            return some_items(self.given, items)
        return to_host(self.given(some_items(as_held(self, "log_probs"), items)))

    @property
    def _logs(self) -> Float[Table, "model item label"]:
        if self.log_probs is None:
            raise ValueError("losses that follow from forecasts which are not there")
        return self.log_probs


@dataclass(frozen=True, eq=False, repr=False)
class Partition(Brief):
    """Which of some named groups or clusters each item lies in; `codes` are positions in `names`."""

    codes: Int[np.ndarray, " item"]
    names: tuple[str, ...]

    @classmethod
    def of_used(cls, codes: Int[np.ndarray, " item"], names: Sequence[str]) -> "Partition":
        """From positions in names of which some may not be used: the others, sorted."""
        used, inverse = np.unique(codes, return_inverse=True)
        names_used = [names[code] for code in used.tolist()]
        ordered = sort_names(names_used)
        return cls(positions(ordered, names_used)[inverse], ordered)


@dataclass(frozen=True, eq=False, repr=False)
class Replicates(Brief):
    """The losses before replicates were averaged (NaN where there is none), at most `most` of an item.

    `names` are those of the replicates where items share them, else empty.
    """

    values: Float[np.ndarray, "model item replicate"]
    names: tuple[str, ...]
    most: int


@dataclass(frozen=True, eq=False, repr=False)
class ExpertScores(Brief):
    """The losses under experts' answers on some of the items, at these positions, in all `n_answers`.

    `probability` is that with which each of these items was chosen; None for a uniform sample.
    """

    items: Int[np.ndarray, " answered"]
    losses: Float[np.ndarray, "model answered"]
    probability: Float[np.ndarray, " answered"] | None
    n_answers: int


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Shown):
    """Per-item losses of every model on the same items.

    `values` is lower-is-better; scores given as higher-is-better are negated on the way in and `higher_is_better`
    records it. `rule` names the rule or metric, of which `known` says more. What else there is stands in parts that are
    there or not: the `labels` that were scored against, `groups` and `clusters` of the items, `replicates`, and the
    experts' answers on a few items (`gold`), by which a comparison corrects the others.
    `item_rows` is the caller's row of each item (None: as `items` stand); without `item_order` the caller gave the
    items in none, and a list by item matches nothing.
    """

    values: Float[np.ndarray, "model item"]
    models: tuple[str, ...]
    items: tuple[str, ...]
    rule: str
    higher_is_better: bool = False
    known: RuleFacts = RuleFacts()
    labels: LabelsBehind | None = None
    groups: Partition | None = None
    clusters: Partition | None = None
    replicates: Replicates | None = None
    gold: ExpertScores | None = None
    audit: Audit = field(default_factory=Audit)
    item_rows: Int[np.ndarray, " item"] | None = None
    item_order: bool = True

    def __repr__(self) -> str:
        """The models, the size and the rule."""
        way = "higher is better" if self.higher_is_better else "lower is better"
        parts = {"groups": self.groups, "clusters": self.clusters}
        known = "".join(f", {len(part.names):,} {what}" for what, part in parts.items() if part is not None)
        models = f"{len(self.models)} models ({check.shortlist(self.models, 4)})"
        return f"Scores: {check.quote(self.rule)}, {way}; {models} on {len(self.items):,} items{known}"

    @property
    def label_values(self) -> Float[Table, "model item label"] | None:
        """The loss if the label were k; None for scores without labels behind them."""
        return None if self.labels is None else self.labels.losses

    @property
    def shares(self) -> Float[np.ndarray, "item label"] | None:
        """The unsmoothed vote shares behind the scores, where there are any."""
        return None if self.labels is None else self.labels.shares

    @property
    def n_votes(self) -> Int[np.ndarray, " item"] | None:
        """The votes behind each item's shares, where there are any."""
        return None if self.labels is None else self.labels.n_votes

    @property
    def n_replicates(self) -> int:
        """The largest number of replicates of an item that some model has."""
        return 1 if self.replicates is None else self.replicates.most

    @property
    def n_infinite(self) -> Int[np.ndarray, " model"]:
        """How many items have an infinite loss, for each model."""
        return np.isinf(self.values).sum(1)

    def in_order(self, listed: Sequence[Any], what: str) -> Sequence[Any]:
        """What is listed by item in the caller's order, in the order of `items`.

        Errors: `InputError` for another number of items, or where the caller gave the items in no order.
        """
        check.length(len(listed), len(self.items), what)
        if not self.item_order:
            raise InputError(
                f"{what} as a list, for items that came in no order (a long table, or files in different orders)",
                f"{what} by name",
                f"Pass a dict {{item: {what.rstrip('s')}}}.",
            )
        return listed if self.item_rows is None else [listed[row] for row in self.item_rows.tolist()]

    @classmethod
    @check.checks_itself
    def from_frame(
        cls,
        frame: Frame,
        item: str = "item",
        model: str = "model",
        score: str = "score",
        group: str | None = None,
        cluster: str | None = None,
        replicate: str | None = None,
        source: Source | None = None,
        *,
        higher_is_better: bool | None,
    ) -> "Scores":
        """Scores from a table with one row for each item and model (and replicate): any per-item metric.

        Replicates (seeds, epochs, repeated answers) of an item are averaged within the item. Items that some model
        lacks are dropped for all models and counted in `audit`. `higher_is_better` has no default: None goes by the
        name of the score's column, if it is that of a known metric (accuracy, loss, ...).

        Errors: `InputError` for missing columns, blanks, NaN, the same item and model twice without `replicate`, no
        item in common, an item that stands in two groups or clusters, or a score of which nothing says which way it
        counts.
        """
        source = source or Source()
        table = frames.as_polars(frame)
        named: dict[str, str | None] = {"item": item, "model": model, "score": score}
        named |= {"group": group, "cluster": cluster, "replicate": replicate}
        frames.need_columns(table.columns, named, source.name)
        higher_is_better = orientation.upward(score, higher_is_better, source.name)
        if table.height == 0:
            raise InputError("no rows", "at least one score", "Check the file.", source.name)
        items, item_names = frames.encode(table, item, source, "item")
        models, model_names = frames.encode(table, model, source, "model")
        values = frame_numbers.numbers(table, score, source, "score")
        if np.isnan(values).any():
            raise InputError(
                "NaN",
                "a number",
                "Remove the item or give its score.",
                source.at(int(np.isnan(values).argmax()), score),
            )
        repeat, repeat_names = (
            frames.encode(table, replicate, source, "replicate")
            if replicate is not None
            else (np.zeros_like(items), [""])
        )
        no_repeats({"item": (items, item_names), "model": (models, model_names)}, repeat, source)
        ordered = sort_names(item_names)
        rows = positions(ordered, item_names)[items]
        cell = models * len(ordered) + rows
        shape = (len(model_names), len(ordered))
        count = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
        with np.errstate(invalid="ignore"):
            mean = np.bincount(cell, values, shape[0] * shape[1]).reshape(shape) / np.maximum(count, 1)
        keep = (count > 0).all(0)
        if not keep.any():
            raise InputError(
                "no item in common",
                "items that every model has",
                "Names are compared as text ('007' is not '7').",
                source.name,
            )
        clash = keep & np.isnan(mean).any(0)
        if clash.any():
            raise InputError(
                "replicates of inf and of -inf",
                "replicates that have a mean",
                "Check the scores of that item.",
                f"{source.name}, item {check.quote(ordered[int(clash.argmax())])}",
            )
        missing = tuple(name for name, present in zip(ordered, keep, strict=True) if not present)
        audit = Audit(
            missing, (), tuple((name, int((count[row] == 0).sum()), 0) for row, name in enumerate(model_names))
        )
        replicates = _by_replicate(cell, -values if higher_is_better else values, count, repeat, list(repeat_names))
        rows_given = positions(item_names, ordered)[keep] if _in_one_order(items, models, repeat) else None
        return cls(
            (-mean if higher_is_better else mean)[:, keep],
            tuple(model_names),
            tuple(name for name, present in zip(ordered, keep, strict=True) if present),
            rule=score,
            higher_is_better=higher_is_better,
            groups=_per_item(table, group, rows, keep, ordered, source, "group"),
            clusters=_per_item(table, cluster, rows, keep, ordered, source, "cluster"),
            replicates=None if replicates is None else replace(replicates, values=replicates.values[:, keep]),
            audit=audit,
            item_rows=None if rows_given is None else ranks(rows_given),
            item_order=rows_given is not None,
        )


def _in_one_order(items: np.ndarray, models: np.ndarray, repeat: np.ndarray) -> bool:
    """Whether every model (and replicate) has its rows in the order in which the items first appear."""
    rows = np.lexsort((repeat, models))
    same = (np.diff(models[rows]) == 0) & (np.diff(repeat[rows]) == 0)
    return bool((np.diff(items[rows])[same] > 0).all())


MOST_EMPTY = 4
"""Replicates count as shared by items while the table of items by replicates is filled to at least a quarter."""


def _by_replicate(
    cell: np.ndarray, values: np.ndarray, count: np.ndarray, repeat: np.ndarray, names: list[str]
) -> Replicates | None:
    """The values of each model, item and replicate, where there are replicates; names only where items share them."""
    if count.max() < 2:
        return None
    ordered = sort_names(names)
    if count.size * len(names) <= MOST_EMPTY * len(values):
        position, width = positions(ordered, names)[repeat], len(names)
    else:  # every item has replicates of its own: counted within the item
        rows = np.lexsort((values, cell))
        first = np.r_[True, np.diff(cell[rows]) != 0]
        position, width, ordered = np.empty(len(rows), np.int64), int(count.max()), ()
        position[rows] = np.arange(len(rows)) - np.maximum.accumulate(np.where(first, np.arange(len(rows)), 0))
    table = np.full((count.size, width), np.nan)
    table[cell, position] = values
    return Replicates(table.reshape(*count.shape, width), tuple(ordered), int(count.max()))


def _per_item(
    table: "polars.DataFrame",
    column: str | None,
    rows: np.ndarray,
    keep: np.ndarray,
    names: tuple[str, ...],
    source: Source,
    what: str,
) -> Partition | None:
    if column is None:
        return None
    codes, names_of = frames.encode(table, column, source, what)
    of_item = np.full(len(names), -1)
    one_each(of_item, rows, codes, names, what, lambda row: source.at(row, column))
    return Partition.of_used(of_item[keep], names_of)
