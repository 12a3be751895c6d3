"""Groups and clusters from a column of a file."""

import re
from pathlib import Path

import pytest

from probtruth.errors import InputError
from probtruth.io.item_columns import read_groups

TABLE = "item,topic,n,blank\na,x,1,u\nb,=y,2,\na,x,3,u\nc,x,4,u\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "with:colon.csv"
    path.write_text(TABLE)
    return path


def test_groups_of_the_items_asked_for(table: Path) -> None:
    assert read_groups(f"{table}:topic", ["b", "a"]) == {"b": "=y", "a": "x"}
    assert read_groups(f"{table}:item", ["1", "4"], item="n", what="cluster") == {"1": "a", "4": "c"}


@pytest.mark.parametrize("spec", ["topic", ":topic", "x.csv:", ""])
def test_what_is_not_file_and_column(spec: str) -> None:
    with pytest.raises(InputError, match=r"expected FILE:COLUMN.*--groups table\.csv:column"):
        read_groups(spec, ["a"])


@pytest.mark.parametrize(
    ("column", "items", "message"),
    [
        ("n", ["a"], "line 4, column 'n': got a second group of item 'a'"),
        ("topc", ["a"], "no column 'topc' (columns: 'item', 'topic', 'n', 'blank'), expected a column of that name"),
        ("topic", ["a", "d", "e"], "column 'topic': got no group for 2 of 3 items ('d', 'e')"),
        ("blank", ["a"], "line 3, column 'blank': got a blank cell, expected the name of the group"),
    ],
)
def test_errors(table: Path, column: str, items: list[str], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_groups(f"{table}:{column}", items)
