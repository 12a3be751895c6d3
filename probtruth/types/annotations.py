"""Annotations: one label from one annotator for one item, as flat integer arrays."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Int

from probtruth import check, check_arrays, frames
from probtruth.check import MaybeText, Source, Texts, one_of, quote, shortlist
from probtruth.errors import InputError
from probtruth.kernels.arrays import reordered, to_host, widened
from probtruth.kernels.shapes import LabelInts, SomeInts
from probtruth.types.arguments import Frame, GivenNames, Numbers
from probtruth.types.index import Index, as_names, in_order, named_table, no_repeats, positions, sort_names
from probtruth.types.shown import Brief

VoteCounts = Int[np.ndarray, "item label"]
AnnotationInts = Int[np.ndarray, " annotation"]


@dataclass(frozen=True, eq=False, repr=False)
class Annotations(Brief):
    """Who gave which label to which item.

    `item`, `annotator` and `label` are positions in `index`. Annotations made from counts have no annotators;
    `multiplicity` then says how many annotators gave that label to that item (in long form it is 1). `excluded` are the
    annotators that `without_annotators` left out; `notes` say how a table was read where that was not asked for.
    """

    item: AnnotationInts
    label: AnnotationInts
    annotator: AnnotationInts | None
    multiplicity: AnnotationInts
    index: Index
    excluded: Texts = ()
    notes: Texts = ()

    def __repr__(self) -> str:
        """The sizes and the labels."""
        by = "" if self.n_annotators is None else f" by {check.count(self.n_annotators, 'annotator')}"
        what = "counts of " if self.annotator is None else ""
        n = check.count(int(self.counts().sum()), "annotation")
        labels = shortlist(self.index.labels, 6)
        return f"Annotations: {what}{n} of {check.count(self.n_items, 'item')}{by}; labels {labels}"

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.index.items)

    @property
    def n_labels(self) -> int:
        """Number of labels that an item can have."""
        return len(self.index.labels)

    @property
    def n_annotators(self) -> int | None:
        """Number of annotators; None if only counts are known."""
        return None if self.annotator is None else len(self.index.annotators)

    def counts(self) -> VoteCounts:
        """The number of annotations of each item with each label."""
        cell = self.item * self.n_labels + self.label
        votes = np.bincount(cell, self.multiplicity, self.n_items * self.n_labels)  # exact: they sum to less than 2^53
        return votes.astype(np.int64).reshape(self.n_items, self.n_labels)

    def with_labels(self, labels: Index) -> "Annotations":
        """The same annotations with the larger set of labels of an index (labels that nobody used have no votes).

        Arguments:
            labels: the names of the labels, in the order of the columns.

        Errors: `InputError` if a used label is not among them.
        """
        index = replace(self.index, labels=labels.labels, label_columns=labels.label_columns)
        if labels.labels == self.index.labels:
            return replace(self, index=index)
        absent = set(self.index.labels) - set(labels.labels)
        if absent:
            one_of(min(absent), labels.labels, "label")
        return self._placed(index, np.arange(self.n_items), positions(labels.labels, self.index.labels))

    def named_by(self, other: Index, what: str) -> "Annotations":
        """The same annotations; if they have no names, with the names of another index, in its caller's order.

        Arguments:
            other: the index that has the names.
            what: what error messages call the other side.
        """
        index, rows, columns = self.index.named_by(other, what)
        return self._placed(index, rows, np.argsort(columns))

    def annotated(self) -> tuple["Annotations", Texts]:
        """The annotations without items that nobody annotated, and the names of those items."""
        seen = self.counts().any(1)
        if seen.all():
            return self, ()
        gone = tuple(self.index.items[row] for row in np.flatnonzero(~seen).tolist())
        return self.of_items(np.flatnonzero(seen)), gone

    def of_items(self, rows: SomeInts) -> "Annotations":
        """The annotations of some items, by their positions in rising order.

        Arguments:
            rows: positions of items, ascending.
        """
        return self._placed(self.index.with_items(rows), rows, np.arange(self.n_labels))

    def _placed(self, index: Index, rows: SomeInts, labels: LabelInts) -> "Annotations":
        """The annotations of the items at these positions, in this order, each label at its place in the index."""
        place = np.full(self.n_items, -1)
        place[rows] = np.arange(len(rows))
        rest = self._of_rows(place[self.item] >= 0)
        return replace(rest, item=place[rest.item], label=labels[rest.label], index=index)

    def without_annotators(self, annotators: Iterable[object]) -> "Annotations":
        """The annotations of all other annotators; items that nobody else annotated stay, without annotations.

        Arguments:
            annotators: their names.

        Errors: `InputError` for annotations without annotators, a name that is not an annotator's, or all names.

        >>> import probtruth as pt
        >>> rows = {"item": ["a", "a", "b"], "annotator": ["ann", "bot", "ann"], "label": ["yes", "no", "no"]}
        >>> pt.Annotations.from_long(rows).without_annotators(["bot"]).counts().tolist()
        [[0, 1], [1, 0]]
        """
        listed = check.listed(annotators, "annotators")
        if self.annotator is None:
            raise InputError(
                f"annotator {shortlist(listed, 3)} to leave out of counts",
                "annotations that name their annotators",
                "Give the long form (item, annotator, label).",
            )
        names = {frames.one_name(name, self.index.annotators, "annotator") for name in listed}
        stay = [name for name in self.index.annotators if name not in names]
        if not stay:
            raise InputError(f"all {len(names)} annotators to leave out", "fewer", "Somebody has to stay.")
        place = np.full(len(self.index.annotators), -1)
        place[positions(self.index.annotators, stay)] = np.arange(len(stay))
        annotator = place[self.annotator]
        rest = self._of_rows(annotator >= 0)
        index = replace(self.index, annotators=tuple(stay))
        excluded = sort_names({*self.excluded, *names})
        return replace(rest, annotator=annotator[annotator >= 0], index=index, excluded=excluded)

    def _of_rows(self, rows: Bool[np.ndarray, " annotation"]) -> "Annotations":
        """Some of the annotations."""
        who = None if self.annotator is None else self.annotator[rows]
        count = self.multiplicity[rows]
        return replace(self, item=self.item[rows], label=self.label[rows], annotator=who, multiplicity=count)

    @classmethod
    def from_long(
        cls,
        frame: Frame,
        item: str = "item",
        annotator: str = "annotator",
        label: str = "label",
        replicate: MaybeText = "replicate",
        labels: GivenNames = None,
        source: Source | None = None,
    ) -> "Annotations":
        """Annotations from a table with one row for each annotation.

        Arguments:
            frame: any dataframe or a dict of columns.
            item, annotator, label: name its columns.
            replicate: names the column that distinguishes repeated answers of one annotator to one item (used if it
                exists); None for none.
            labels: all the labels an item can have, if some were never used.
            source: what error messages call the table.

        Errors: `InputError` for a missing column, a blank cell, or a repeated (item, annotator) pair.
        """
        source = source or Source()
        table = frames.with_index(frame)
        if table.height == 0:
            raise InputError("no rows", "at least one annotation", "Check the file.", source.name)
        items = frames.encode(table, item, source, "item")
        annotators = frames.encode(table, annotator, source, "annotator")
        repeat = np.zeros(table.height, np.int64)
        if replicate is not None and replicate in table.columns:
            repeat, _ = frames.encode(table, replicate, source, "replicate")
        coded = [items, frames.encode(table, label, source, "label"), annotators]
        no_repeats({"item": items, "annotator": annotators}, repeat, source)
        (of, of_items), (given, of_labels), (by, of_annotators) = (in_order(*own) for own in coded)
        made = cls(of, given, by, np.ones(table.height, np.int64), Index(of_items, of_labels, of_annotators))
        return made if labels is None else made.with_labels(index_of_labels(labels))

    @classmethod
    def from_counts(cls, counts: Numbers, items: GivenNames = None, labels: GivenNames = None) -> "Annotations":
        """Annotations from the number of votes of each item (row) for each label (column).

        Arguments:
            counts: the number of votes for each item (row) and label (column).
            items: the names of the rows, in their order.
            labels: the names of the labels, in the order of the columns.

        Errors: `InputError` for negative, fractional or non-numeric counts, repeated names, and wrong lengths.
        """
        source = Source("counts")
        table = named_table(counts, items, labels, "counts")
        array = check_arrays.as_floats(table.values, "item label", "counts").astype(np.float64)
        items, names = table.items, table.labels
        if array.size == 0:
            raise InputError(
                "an empty table of counts", "at least one item and one label", "Check the file.", source.name
            )
        bad = np.argwhere(~((array >= 0) & (array == np.floor(array)) & (array < 2**53)))
        if len(bad):
            row, column = bad[0].tolist()
            name = str(column) if names is None else names[column]
            raise InputError(
                f"count {array[row, column]}", "a non-negative integer", "Check that cell.", source.at(row, name)
            )
        others = array.sum(1, keepdims=True) - array
        for at, name in enumerate(names if names is not None and len(names) > 2 else ()):
            if array[:, at].any() and (array == others)[:, at].all() and check_arrays.may_be_total(name, len(array)):
                raise InputError(
                    f"the column {quote(name)}, the sum of the others",
                    "votes by label",
                    "Drop it, or read the table: read_annotations(table, format='counts') leaves sums out.",
                )
        return Counts.of(array.astype(np.int64), items, names, source)


@dataclass(frozen=True, eq=False, repr=False)
class Counts(Annotations):
    """Annotations of which only the votes for each label are known; the flat arrays are made where they are needed."""

    item: AnnotationInts = field(init=False)
    label: AnnotationInts = field(init=False)
    annotator: None = field(init=False, default=None)
    multiplicity: AnnotationInts = field(init=False)
    votes: VoteCounts = field(kw_only=True)

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in ("item", "label", "multiplicity"):
            raise AttributeError(name)
        item, label = np.nonzero(self.votes)
        made = {"item": item, "label": label, "multiplicity": self.votes[item, label]}
        vars(self).update(made)
        return made[name]

    @classmethod
    def of(cls, votes: VoteCounts, items: GivenNames, labels: GivenNames, source: Source) -> "Counts":
        """From numbers that were checked one by one."""
        total = votes.sum(dtype=np.float64)
        if total >= 2.0**53:
            raise InputError(
                f"counts that sum to {total:.4g}", "a sum below 2^53", "Check the largest counts.", source.name
            )
        index, rows, columns = Index.of_array(votes.shape, items, labels)
        return cls(index=index, votes=to_host(reordered(votes, rows, columns)))

    def counts(self) -> VoteCounts:
        return self.votes

    def _placed(self, index: Index, rows: SomeInts, labels: LabelInts) -> "Counts":
        votes = to_host(widened(self.votes, rows, labels, len(index.labels)))
        return replace(self, index=index, votes=votes)


def index_of_labels(labels: Iterable[object]) -> Index:
    """All labels that an item can have, sorted, with the caller's order."""
    names = as_names(labels, "labels") or ()
    return Index.of_array((0, len(names)), (), names)[0]
