"""Annotations: the same from any table, in any order."""

import re

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.types import Annotations
from probtruth.types.annotations import index_of_labels

LONG = {"item": ["b", "a", "b", "c"], "annotator": [2, 1, 1, 2], "label": ["no", "yes", "no", "yes"]}

ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2)),
    min_size=1,
    max_size=20,
    unique_by=lambda r: r[:2],
)


class TestLong:
    def test_arrays_point_into_the_sorted_index(self) -> None:
        ann = Annotations.from_long(LONG)
        assert ann.index.items == ("a", "b", "c")
        assert ann.index.annotators == ("1", "2")
        assert ann.index.labels == ("no", "yes")
        assert ann.item.tolist() == [1, 0, 1, 2]
        assert ann.annotator.tolist() == [1, 0, 0, 1]
        assert ann.label.tolist() == [0, 1, 0, 1]
        assert ann.multiplicity.tolist() == [1, 1, 1, 1]
        assert (ann.n_items, ann.n_annotators, ann.n_labels) == (3, 2, 2)
        assert ann.counts().tolist() == [[0, 1], [2, 0], [0, 1]]

    @settings(max_examples=50, deadline=None, derandomize=True)
    @given(rows=ROWS, data=st.data())
    def test_the_order_of_rows_and_the_type_of_names_change_nothing(
        self, rows: list[tuple[int, int, int]], data: st.DataObject
    ) -> None:
        names = ("item", "annotator", "label")
        shuffled = data.draw(st.permutations(rows))
        as_text = polars.DataFrame(rows, schema=list(names), orient="row").cast(polars.String)
        one = Annotations.from_long(as_text)
        other = Annotations.from_long({name: [row[place] for row in shuffled] for place, name in enumerate(names)})
        assert one.index == other.index
        assert (one.counts() == other.counts()).all()
        expected = np.zeros((5, 3), int)
        for item, _, label in rows:
            expected[item, label] += 1
        used = expected[[int(name) for name in one.index.items]][:, [int(name) for name in one.index.labels]]
        assert (one.counts() == used).all()

    def test_replicates_are_told_apart(self) -> None:
        table = {"item": ["a", "a"], "annotator": ["x", "x"], "label": ["1", "2"], "replicate": [1, 2]}
        assert Annotations.from_long(table).counts().tolist() == [[1, 1]]
        with pytest.raises(InputError, match=re.escape("row 2: got item 'a', annotator 'x' twice (1 such row)")):
            Annotations.from_long(table, replicate="time")
        with pytest.raises(InputError, match=r"row 2: got item 'a', annotator 'x' twice"):
            Annotations.from_long({**table, "replicate": [1, 1]})

    @pytest.mark.parametrize(
        ("table", "options", "message"),
        [
            ({"item": [], "annotator": [], "label": []}, {}, "the table: got no rows"),
            ({"item": ["a"], "label": ["x"]}, {}, "no column 'annotator' (columns: 'item', 'label')"),
            ({**LONG, "label": ["no", None, "no", "no"]}, {}, "row 2, column 'label': got a blank cell"),
            ({**LONG, "item": ["a", "b", "c", " "]}, {}, "row 4, column 'item': got a blank cell"),
            ({**LONG, "annotator": [1.0, float("nan"), 2.0, 3.0]}, {}, "row 2, column 'annotator': got a blank cell"),
            ({**LONG, "item": ["a\0", "b", "c", "d"]}, {}, "row 1, column 'item': got a NUL character"),
            (LONG, {"labels": ["yes", "nope"]}, "label 'no', expected one of 'nope', 'yes'"),
            (LONG, {"source": Source("f.csv", 2), "item": "itm"}, "f.csv: got no column 'itm'"),
        ],
    )
    def test_errors(self, table: dict[str, list[object]], options: dict[str, object], message: str) -> None:
        with pytest.raises(InputError, match=re.escape(message)):
            Annotations.from_long(table, **options)


class TestCounts:
    def test_names_bring_their_rows_along(self) -> None:
        ann = Annotations.from_counts([[0, 3], [2, 1]], items=["b", "a"], labels=["y", "x"])
        assert ann.counts().tolist() == [[1, 2], [3, 0]]
        assert ann.n_annotators is None
        assert ann.multiplicity.sum() == 6

    def test_without_names_they_are_positions(self) -> None:
        ann = Annotations.from_counts(np.array([[1, 0], [0, 0]]))
        assert ann.index.items == ("0", "1")
        assert ann.index.positional_items

    def test_items_that_nobody_annotated(self) -> None:
        kept, gone = Annotations.from_counts([[0, 0], [1, 2], [0, 0]], items=["a", "b", "c"]).annotated()
        assert (kept.index.items, gone) == (("b",), ("a", "c"))
        assert kept.counts().tolist() == [[1, 2]]
        same, none = kept.annotated()
        assert same is kept
        assert none == ()

    @pytest.mark.parametrize(
        ("counts", "options", "message"),
        [
            ([[1, -1]], {}, "counts, row 1, column '1': got count -1.0, expected a non-negative integer"),
            ([[1, 0.5]], {"labels": ["x", "y"]}, "counts, row 1, column 'y': got count 0.5"),
            ([[1, np.nan]], {}, "got count nan"),
            ([[1, np.inf]], {}, "got count inf"),
            ([[1, 2.0**53]], {}, "got count 9007199254740992.0"),
            ([[1], [1, 2]], {}, "counts that are not numbers"),
            ([["a"]], {}, "counts that are not numbers"),
            ([[1 + 2j]], {}, "counts that are not numbers"),
            ([1, 2], {}, "counts with shape (2,), expected 2 axes (item label)"),
            ([[]], {}, "an empty table of counts"),
            ([[1, 2]], {"items": ["a", "b"]}, "1 items, expected 2"),
            ([[1, 2]], {"labels": ["a", "a"]}, "label 'a' more than once"),
        ],
    )
    def test_errors(self, counts: object, options: dict[str, object], message: str) -> None:
        with pytest.raises(InputError, match=re.escape(message)):
            Annotations.from_counts(counts, **options)


def test_larger_sets_of_labels_only() -> None:
    ann = Annotations.from_long(LONG)
    assert ann.with_labels(ann.index).index == ann.index
    assert ann.with_labels(index_of_labels(["no", "yes", "perhaps"])).counts().tolist() == [
        [0, 0, 1],
        [2, 0, 0],
        [0, 0, 1],
    ]
    with pytest.raises(InputError, match="label 'no', expected one of 'yes'"):
        ann.with_labels(index_of_labels(["yes"]))


BY_THREE = {"item": list("aabbc"), "annotator": ["ann", "bot", "ann", "cy", "bot"], "label": list("xyxyy")}


class TestWithoutAnnotators:
    def test_their_answers_are_left_out_and_named(self) -> None:
        rest = Annotations.from_long(BY_THREE).without_annotators(["bot"])
        assert rest.index.annotators == ("ann", "cy")
        assert rest.counts().tolist() == [[1, 0], [1, 1], [0, 0]]
        assert rest.excluded == ("bot",)
        kept, gone = rest.annotated()
        assert (gone, kept.excluded) == (("c",), ("bot",))

    @pytest.mark.parametrize(
        ("names", "message"),
        [(["bob"], "annotator 'bob', expected one of"), (["ann", "bot", "cy"], "all 3 annotators to leave out")],
    )
    def test_errors(self, names: list[str], message: str) -> None:
        with pytest.raises(InputError, match=message):
            Annotations.from_long(BY_THREE).without_annotators(names)

    def test_counts_have_no_annotators(self) -> None:
        with pytest.raises(InputError, match="to leave out of counts"):
            Annotations.from_counts([[1, 2]]).without_annotators(["ann"])
