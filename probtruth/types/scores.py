"""Scores: one number for each model and item, as given, with its orientation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from probtruth import check, frames
from probtruth.check import MaybeNumber, MaybeText, Source, Texts
from probtruth.errors import InputError
from probtruth.kernels.arrays import LabelTable, Table
from probtruth.kernels.host import empty_array
from probtruth.kernels.shapes import ChosenInts, ItemInts, ItemLabel, ModelInts, ModelItem, TheseInts
from probtruth.types.annotations import Annotations
from probtruth.types.arguments import Frame
from probtruth.types.index import Audit, no_repeats, order_of, ranks, rows_of
from probtruth.types.orientation import upward
from probtruth.types.score_rows import (
    Partition,
    Parts,
    Replicates,
    by_replicate,
    cautions_of_folds,
    coded_columns,
    partition_of,
    unit_of,
)
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars

LabelLosses = Float[Table, "model item label"]


@dataclass(frozen=True)
class RuleFacts:
    """What is known of the rule behind the scores; all of it where labels were scored, nothing of another metric.

    `floor` is what lower probabilities were raised to; `label_order` is the labels from low to high where the rule
    needs that; `range` bounds a loss; `entropy` is the mean generalised entropy
    of the labels, which no model can go below, and `baseline` the mean score of the labels' own frequencies as a
    forecast.
    """

    floor: MaybeNumber = None
    label_order: Texts | None = None
    range: tuple[float, float] | None = None
    proper: bool | None = None
    entropy: MaybeNumber = None
    baseline: MaybeNumber = None


MOST_ITEMS = 10_000  # Items up to which all are looked at one by one, and
MOST_CELLS = 1_000_000  # the same for items times labels

LossesOf = Callable[[Table], Table]  # The loss if the label were k, from log-probabilities


def sampled_items(n_items: int, n_labels: int, seed: int) -> Int[np.ndarray, " sampled"]:
    """Positions of the items that are looked at one by one, in order: all, or a random sample of many."""
    most = min(MOST_ITEMS, max(1, MOST_CELLS // n_labels))
    if n_items <= most:
        return np.arange(n_items)
    chosen = np.random.default_rng(seed).choice(n_items, most, replace=False)
    return np.sort(chosen)


@dataclass(frozen=True, eq=False, repr=False)
class LabelsBehind(Brief):
    """The labels that were scored against, from which the variance due to labels follows.

    `label_losses` are the losses if the label were k, or how they follow from `log_probs`: they take as much memory,
    and are then made when `losses` is read. `truth` is the distribution over labels that the scores average over,
    under `estimand`; `shares` and `n_votes` are the vote shares and votes behind it, where there are any.
    `log_probs` are the forecasts. `losses`, `truth` and `log_probs` lie where the predictions do. `annotations` are
    those that the truth was inferred from; None where it was not.
    """

    label_losses: LabelLosses | LossesOf
    truth: LabelTable
    estimand: str
    shares: ItemLabel | None = None
    n_votes: ItemInts | None = None
    log_probs: LabelLosses | None = None
    annotations: Annotations | None = None

    @property
    def named_annotations(self) -> Annotations | None:
        """The annotations whose annotators add to the variance: those behind vote shares, where they have names."""
        annotations = self.annotations
        if annotations is None or annotations.annotator is None or self.shares is None:
            return None
        return annotations if self.estimand == "distribution" else None

    @cached_property
    def losses(self) -> LabelLosses:
        """The loss if the label were k."""
        return self.losses_of()

    def losses_of(self, models: Any = slice(None), items: Any = slice(None)) -> Float[Table, "some these label"]:
        """The same of some models and items."""
        if not callable(self.label_losses):
            return self.label_losses[:, items][models]
        if self.log_probs is None:
            raise ValueError("losses that follow from forecasts which are not there")
        return self.label_losses(self.log_probs[:, items][models])

    def part(self, models: ChosenInts, items: TheseInts) -> "LabelsBehind":
        """The labels of some items, behind the scores of some models."""
        of_items: dict[str, Any] = {"truth": self.truth, "shares": self.shares, "n_votes": self.n_votes}
        return replace(
            self,
            label_losses=self.label_losses if callable(self.label_losses) else self.label_losses[:, items][models],
            **{name: array[items] for name, array in of_items.items() if array is not None},
            log_probs=None if self.log_probs is None else self.log_probs[:, items][models],
        )


def _part(whole: Any, *which: Any) -> Any:
    """What belongs to some of the models or items, where there is any of it."""
    return None if whole is None else whole.part(*which)


@dataclass(frozen=True, eq=False, repr=False)
class ExpertScores(Brief):
    """The losses under experts' answers on some of the items, at these positions, in all `n_answers`.

    `probability` is that with which each of these items was chosen; None for a uniform sample. `labels` are the answers
    of each label, in the order of `LabelsBehind`; None where experts gave scores.
    """

    items: Int[np.ndarray, " answered"]
    losses: Float[np.ndarray, "model answered"]
    probability: Float[np.ndarray, " answered"] | None
    n_answers: int
    labels: Mapping[str, float] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Brief):
    """Per-item scores of every model on the same items; NaN where a model was not scored.

    `values` are as given, and `higher_is_better` says which way they count. `rule` names the rule or metric, of which
    `known` says more. What else there is stands in parts that are there or not: the `labels` that were scored
    against, `influence` (what each item moves a model's mean loss by, times the items, through weights that were
    fitted on all of them: it counts in the spread, and its mean is 0), `groups` and `clusters` of the items,
    `replicates`, and the experts' answers on a few items (`gold`), by which a comparison corrects the others.
    `item_rows` is the caller's row of each item (None: as `items` stand); without `item_order` the caller gave the
    items in none, and a list by item matches nothing. `notes` say how a file was read where that was not asked for;
    `cautions` say what the scores do not know, for every comparison of them to repeat. `by_proper_rule` are the scores
    of the same predictions by the proper rule of the kind of an improper official score.
    """

    values: ModelItem
    models: Texts
    items: Sequence[Any]
    rule: str
    higher_is_better: bool = False
    known: RuleFacts = RuleFacts()
    labels: LabelsBehind | None = None
    influence: ModelItem | None = None
    groups: Partition | None = None
    clusters: Partition | None = None
    replicates: Replicates | None = None
    gold: ExpertScores | None = None
    audit: Audit = field(default_factory=Audit)
    item_rows: ItemInts | None = None
    item_order: bool = True
    notes: Texts = ()
    cautions: Texts = ()
    by_proper_rule: "Scores | None" = None

    def __repr__(self) -> str:
        """The models, the size and the rule."""
        way = "higher is better" if self.higher_is_better else "lower is better"
        models = f"{check.count(len(self.models), 'model')} ({check.shortlist(self.models, 4)})"
        text = f"Scores: {check.quote(self.rule)}, {way}; {models} on {check.count(len(self.items), 'item')}"
        if self.groups is not None:
            text += f", {len(self.groups.names):,} groups"
        if self.clusters is not None:
            text += f", {len(self.clusters.names):,} clusters"
        return text

    @property
    def losses(self) -> ModelItem:
        """The scores as losses: lower is better."""
        return -self.values if self.higher_is_better else self.values

    @property
    def sign(self) -> float:
        """What a score is multiplied by to be a loss: -1 where higher is better, else 1."""
        return -1.0 if self.higher_is_better else 1.0

    @property
    def label_values(self) -> LabelLosses | None:
        """The loss if the label were k; None for scores without labels behind them."""
        return None if self.labels is None else self.labels.losses

    @property
    def shares(self) -> ItemLabel | None:
        """The unsmoothed vote shares behind the scores, where there are any."""
        return None if self.labels is None else self.labels.shares

    @property
    def n_votes(self) -> ItemInts | None:
        """The votes behind each item's shares, where there are any."""
        return None if self.labels is None else self.labels.n_votes

    @property
    def n_replicates(self) -> int:
        """The largest number of replicates of an item that some model has."""
        return 1 if self.replicates is None else int(self.replicates.counts(len(self.items)).max())

    @property
    def n_infinite(self) -> ModelInts:
        """How many items have an infinite score, for each model."""
        return np.isinf(self.values).sum(1)

    def differences(self, a: str, b: str) -> "polars.DataFrame":
        """The differences of two models item by item, a minus b in the score's own units, for a model of your own.

        Items that one of them lacks are left out.

        Arguments:
            a: the model that comes first.
            b: the model that is subtracted.

        Returns: columns `item`, `difference`, and `group` and `cluster` where the scores have them.

        Errors: `InputError` for a name that is no model's.

        >>> table = {"item": ["p", "q"] * 2, "model": ["a", "a", "b", "b"], "score": [1.0, 2.0, 4.0, 2.5]}
        >>> scores = Scores.from_frame(table, higher_is_better=False)
        >>> scores.differences("a", "b").rows()
        [('p', -3.0), ('q', -0.5)]
        """
        first, second = (self.values[self.models.index(check.one_of(name, self.models, "model"))] for name in (a, b))
        with np.errstate(invalid="ignore"):
            columns: dict[str, Any] = {"item": self.items, "difference": first - second}
        for what, part in (("group", self.groups), ("cluster", self.clusters)):
            if part is not None:
                columns[what] = np.array(part.names, object)[part.codes]
        both = ~(np.isnan(first) | np.isnan(second))
        return frames.as_polars(columns).filter(both)

    def common(self) -> "Scores":
        """The items that every model was scored on, for an answer from complete items alone."""
        return self.part(np.arange(len(self.models)), np.flatnonzero(~np.isnan(self.values).any(0)))

    def part(self, models: ChosenInts, items: TheseInts) -> "Scores":
        """The scores of some models on some items.

        Arguments:
            models: the places of the models.
            items: the places of the items.
        """
        return replace(
            self,
            values=self.values[np.ix_(models, items)],
            models=tuple([self.models[at] for at in models.tolist()]),
            items=tuple([self.items[at] for at in items.tolist()]),
            labels=_part(self.labels, models, items),
            influence=None if self.influence is None else self.influence[np.ix_(models, items)],
            replicates=_part(self.replicates, models, items, len(self.items)),
            by_proper_rule=_part(self.by_proper_rule, models, items),
            groups=_part(self.groups, items),
            clusters=_part(self.clusters, items),
            item_rows=None if self.item_rows is None else ranks(self.item_rows[items]),
        )

    def in_order(self, listed: Sequence[Any], what: str) -> Sequence[Any]:
        """What is listed by item in the caller's order, in the order of `items`.

        Arguments:
            listed: names by item, or in the order of the items.
            what: what error messages call them.

        Errors: `InputError` for another number of items, or where the caller gave the items in no order.
        """
        check.length(len(listed), len(self.items), what)
        if not self.item_order:
            raise InputError(
                f"{what} as a list, for items in no order (a long table, or files in different orders)",
                f"{what} by name",
                f"Pass a dict {{item: {what.rstrip('s')}}}.",
            )
        if self.item_rows is not None:
            rows_of(self.items, self.item_rows, "items", what)
        return listed if self.item_rows is None else [listed[row] for row in self.item_rows.tolist()]

    @classmethod
    def from_frame(
        cls,
        frame: Frame,
        item: str = "item",
        model: str = "model",
        score: str = "score",
        group: MaybeText = None,
        cluster: MaybeText = None,
        replicate: MaybeText = None,
        source: Source | None = None,
        *,
        annotator: MaybeText = None,
        higher_is_better: bool | None,
    ) -> "Scores":
        """Scores from a table with one row for each item and model (and replicate): any per-item metric.

        Replicates (seeds, epochs, repeated answers) of an item are averaged within the item. A model may lack items
        (absent rows): `compare` uses every score, and `common()` keeps the items that all have. `higher_is_better` has
        no default: None goes by the name of the score's column, if it is that of a known metric (accuracy, loss, ...).

        Arguments:
            frame: a dataframe, or a dict of columns.
            item: the column of items.
            model: the column of models.
            score: the column of scores.
            group: the column of groups.
            cluster: the column of clusters.
            replicate: the column of replicates.
            source: what error messages call the table.
            annotator: the column of annotators, where each score is against one annotator's own label: the answer is
                then about new items and new annotators.
            higher_is_better: whether a higher score is better.

        Errors: `InputError` for missing columns, blanks, NaN, the same item and model twice without `replicate`, an
        item that stands in two groups or clusters, or a score of which nothing says which way it counts.
        """
        source = source or Source()
        table = frames.with_index(frame)
        named = {"item": item, "model": model, "group": group, "cluster": cluster, "replicate": replicate}
        named["annotator"] = annotator
        check.need_columns(table.columns, {**named, "score": score}, source.name)
        higher_is_better = upward(score, higher_is_better, source.name)
        columns = {option: column for option, column in named.items() if column is not None}
        return cls.from_parts([(table, source)], columns, score, higher_is_better)

    @classmethod
    def from_parts(
        cls,
        parts: Parts,
        columns: Mapping[str, str],
        score: str,
        higher_is_better: bool,
        on_disk: bool = False,
        missing: Sequence[str] = (),
    ) -> "Scores":
        """`from_frame` of rows that come some at a time; blank scores, and those that are `missing`, are none.

        Arguments:
            parts: tables of scores, one after the other.
            columns: the names of the columns, as in `from_frame`.
            score: the column of scores.
            higher_is_better: whether a higher score is better.
            on_disk: keeps the scores in a temporary file.
            missing: scores that are none.
        """
        coded, numbers, source = coded_columns(parts, columns, score, missing)
        (of_item, items), (of_model, models) = coded["item"], coded["model"]
        unit = unit_of(coded)
        repeat, repeats = coded.get(unit, (np.zeros_like(of_item), ("",)))
        of_cell = np.bincount(of_model.astype(np.int64) * len(items) + of_item, minlength=len(models) * len(items))
        if of_cell.max() > 1:
            no_repeats({what: coded[what] for what in ("item", "model")}, repeat, source)
        count = of_cell.reshape(len(models), len(items))
        notes = source.notes
        empty = np.flatnonzero((count == 0).all(1))
        if len(empty):
            notes += (f"left out, without any score: {check.shortlist([models[at] for at in empty.tolist()])}",)
            of_model = (np.cumsum((count > 0).any(1)) - 1)[of_model]
            models = [model for at, model in enumerate(models) if at not in empty]
            count = np.delete(count, empty, axis=0)
        order = order_of(frames.compact(frames.as_series(items))).astype(np.int64)
        scored = (count > 0).any(0)[order]
        stays = order[scored]
        without_scores = tuple([items[row] for row in order[~scored].tolist()])
        lacks = zip(models, (count == 0).sum(1).tolist(), [0] * len(models), strict=True)
        place = np.full(len(items), -1)
        place[stays] = np.arange(len(stays))
        cell = of_model.astype(np.int64) * len(stays) + place[of_item]
        values = empty_array((len(models), len(stays)), on_disk)
        values[:] = np.nan
        values.reshape(-1)[cell] = numbers
        replicates = by_replicate(cell, numbers, count[:, stays], repeat, repeats, unit) if unit in coded else None
        if replicates is not None:
            values[:] = replicates.means(len(stays))
            undefined = (np.isnan(values) & (count[:, stays] > 0)).any(0)
            if undefined.any():
                item = items[stays[undefined.argmax()]]
                raise InputError(
                    "replicates of inf and of -inf",
                    "replicates that have a mean",
                    "Check the scores of that item.",
                    f"{source.name}, item {check.quote(item)}",
                )
        line = of_model.astype(np.int64) * len(repeats) + repeat
        rows = np.argsort(line, kind="stable")
        in_order = bool(((np.diff(of_item[rows]) > 0) | (np.diff(line[rows]) > 0)).all())
        return cls(
            values,
            tuple(models),
            tuple([items[row] for row in stays.tolist()]),
            rule=score,
            higher_is_better=higher_is_better,
            groups=partition_of("group", coded, stays, source, columns),
            clusters=partition_of("cluster", coded, stays, source, columns),
            replicates=replicates,
            audit=Audit(without_scores, (), tuple(lacks)),
            item_rows=ranks(stays) if in_order else None,
            item_order=in_order,
            notes=notes,
            cautions=cautions_of_folds(coded, columns),
        )
