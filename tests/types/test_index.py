"""Names along the axes: their order, and how two tables are put side by side."""

import numpy as np
import pandas as pd
import pytest

from probtruth.errors import InputError
from probtruth.types import Audit, Index
from probtruth.types.index import match_items, match_labels, sort_names


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["10", "9", "-1", "0"], ("-1", "0", "9", "10")),
        (["10", "9", "x"], ("10", "9", "x")),
        (["10", "9", "007"], ("007", "10", "9")),
        (["10", "9", "-0"], ("-0", "10", "9")),
        (["10", "9.0"], ("10", "9.0")),
        (["b", "B", "é", "a"], ("B", "a", "b", "é")),
        (["9" * 5000, "10", "9"], ("10", "9", "9" * 5000)),
        ([], ()),
    ],
)
def test_integers_by_value_and_all_else_by_code_point(names: list[str], expected: tuple[str, ...]) -> None:
    assert sort_names(names) == expected


class TestOfArray:
    def test_arrays_without_names_keep_their_order(self) -> None:
        index, rows, columns = Index.of_array((11, 2))
        assert index.items == tuple(map(str, range(11)))
        assert (index.positional_items, index.positional_labels) == (True, True)
        assert rows.tolist() == list(range(11))
        assert columns.tolist() == [0, 1]

    @pytest.mark.parametrize("many", [1, 100])
    def test_row_numbers_are_the_same_names_in_a_column(self, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
        monkeypatch.setattr("probtruth.types.index.MANY", many)
        positions = Index.of_array((3, 1))[0]
        assert list(positions.items) == ["0", "1", "2"]
        in_order = Index.of_array((3, 1), [0, 1, 2])[0]
        assert positions.items == in_order.items
        assert match_items(in_order, positions, "m")[2].tolist() == [0, 1, 2]
        for names, message in (([1, 0, 2], "items called 0, 1, ... in another order"), (["a", "b"], "got 3 items")):
            with pytest.raises(InputError, match=message):
                match_items(Index.of_array((len(names), 1), names)[0], positions, "m")

    def test_names_of_any_type(self) -> None:
        index, rows, columns = Index.of_array((2, 2), np.array([10, 9]), [True, 2.5])
        assert (index.items, index.labels) == (("9", "10"), ("2.5", "true"))
        assert (index.positional_items, index.positional_labels) == (False, False)
        assert (rows.tolist(), columns.tolist()) == ([1, 0], [1, 0])

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            (["a"], "got 2 items, expected 1"),
            (["a", "a"], "item 'a' more than once"),
            ([1, "1"], "item '1' more than once"),
            (["a", None], "a blank name for item 1"),
            (["a", float("nan")], "a blank name for item 1"),
            ([pd.NA, "b"], "a blank name for item 0"),
            (5, "items as a int"),
            (np.array("ab"), "items as a ndarray"),
            ([" ", "a"], "a blank name for item 0"),
            ("ab", "items as a str, expected a list of items"),
            ({"a", "b"}, "items as a set, expected a list of items"),
        ],
    )
    def test_errors(self, names: list[object], message: str) -> None:
        with pytest.raises(InputError, match=message):
            Index.of_array((2, 1), names)


class TestSideBySide:
    AB = Index(("a", "b"), ("x", "y"))
    POSITIONAL = Index(("0", "1"), ("0", "1"), (), True, True)

    def test_items_in_the_order_of_the_reference(self) -> None:
        names, ours, theirs = match_items(self.AB, Index(("b", "c", "a"), ()), "m")
        assert (names, ours.tolist(), theirs.tolist()) == (("a", "b"), [0, 1], [2, 0])
        assert match_items(self.AB, self.AB, "m")[0] == ("a", "b")

    def test_positional_names_follow_the_order_of_the_caller(self) -> None:
        turned, _, _ = Index.of_array((2, 2), ["b", "a"], ["y", "x"])
        for match, sorted_names in ((match_items, ("a", "b")), (match_labels, ("x", "y"))):
            names, ours, theirs = match(turned, self.POSITIONAL, "m")
            assert (names, ours.tolist(), theirs.tolist()) == (sorted_names, [0, 1], [1, 0])
            names, ours, theirs = match(self.POSITIONAL, turned, "m")
            assert (names, ours.tolist(), theirs.tolist()) == (sorted_names, [1, 0], [0, 1])
        with pytest.raises(InputError, match="1 items in m, expected 2"):
            match_items(self.POSITIONAL, Index(("a",), ()), "m")
        with pytest.raises(InputError, match="3 labels in m, expected 2"):
            match_labels(self.POSITIONAL, Index((), ("a", "b", "c")), "m")

    def test_positional_names_need_an_order_or_numbers_of_rows(self) -> None:
        with pytest.raises(InputError, match=r"m without names of items, against .* no order \('a', 'b'\)"):
            match_items(self.AB, self.POSITIONAL, "m")
        with pytest.raises(InputError, match=r"reference without names of labels.*Pass labels=\[...\]"):
            match_labels(self.POSITIONAL, self.AB, "m")
        numbers = Index(("0", "1"), ("0", "1"))
        assert match_items(numbers, self.POSITIONAL, "m")[0] == ("0", "1")

    def test_some_of_the_items_keep_their_order(self) -> None:
        index, _, _ = Index.of_array((3, 1), ["c", "a", "b"])
        kept = index.with_items(np.array([0, 2]))
        assert (kept.items, kept.written("items", "m")) == (("a", "c"), ("c", "a"))

    def test_no_item_in_common(self) -> None:
        with pytest.raises(InputError, match=r"no item in common: 'a', 'b' against '007' in m.*'007' is not '7'"):
            match_items(self.AB, Index(("007",), ()), "m")

    def test_labels_of_the_reference_must_be_there(self) -> None:
        names, ours, theirs = match_labels(self.AB, Index((), ("w", "x", "y")), "m")
        assert (names, ours.tolist(), theirs.tolist()) == (("w", "x", "y"), [1, 2], [0, 1, 2])
        with pytest.raises(
            InputError, match=r"label 'yes' in the reference, but m has only 'x', 'yse'.*Did you mean 'yse'"
        ):
            match_labels(Index((), ("x", "yes")), Index((), ("x", "yse")), "m")
        with pytest.raises(InputError, match=r"label 'y' in the reference.*The options are: 'x', 'q'"):
            match_labels(self.AB, Index((), ("x", "q")), "m")


def test_the_sum_of_two_audits() -> None:
    one = Audit(("10", "9"), (), (("m", 2, 0), ("n", 0, 0)))
    other = Audit(("9",), ("8",), (("m", 1, 1), ("o", 0, 3)))
    assert one + other == Audit(("9", "10"), ("8",), (("m", 3, 1), ("n", 0, 0), ("o", 0, 3)))
    assert (one + other).dropped == 3
