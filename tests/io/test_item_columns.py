"""Groups and clusters from a column of a file.

What the items are: texts and images from a column of a file, and what is refused.
"""

import base64
import re
from pathlib import Path

import pytest

from probtruth.errors import InputError
from probtruth.io import item_columns
from probtruth.io.item_columns import read_content, read_groups

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


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)  # One pixel


@pytest.fixture
def table_of_item_content(tmp_path):
    def write(rows, column="text"):
        (tmp_path / "items.csv").write_text("item," + column + "\n" + "\n".join(rows) + "\n", encoding="utf-8")
        return f"{tmp_path / 'items.csv'}:{column}"

    return write


def test_texts_are_those_of_the_items_asked_for(table_of_item_content):
    spec = table_of_item_content(["a,<b>bold</b>", "b,two", "b,two", "c,", "d,four"])
    assert read_content(spec, ("a", "b", "c")) == ({"a": "<b>bold</b>", "b": "two"}, {})


def test_images_become_data_uris_from_beside_the_table(table_of_item_content, tmp_path):
    (tmp_path / "one.png").write_bytes(PNG)
    spec = table_of_item_content(["a,one.png"], "path")
    (uri,) = read_content(spec, ("a",))[1].values()
    kind, _, content = uri.partition(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(content) == PNG


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("https://example.org/a.png", "no such file"),
        ("missing.png", "no such file"),
        ("folder.png", "a folder"),
        ("drawing.png", "no image"),
        ("large.png", "at most 1 MiB"),
    ],
)
def test_anything_but_a_small_local_image_is_refused(table_of_item_content, tmp_path, path, said):
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "drawing.png").write_text("<svg onload='alert(1)'/>")
    (tmp_path / "large.png").write_bytes(PNG + bytes(item_columns.LARGEST_IMAGE))
    with pytest.raises(InputError, match=said):
        read_content(table_of_item_content([f'a,"{path}"'], "path"), ("a",))


@pytest.mark.parametrize("path", ["../secret.png", "sub/../../secret.png", "{}/secret.png", "link.png"])
def test_an_image_outside_the_folder_of_the_table_is_refused(tmp_path, path):
    (tmp_path / "secret.png").write_bytes(PNG)
    folder = tmp_path / "data"
    (folder / "sub").mkdir(parents=True)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "items.csv").write_text(f"item,path\na,{path.format(tmp_path)}\n")
    with pytest.raises(InputError, match="an image in the folder of the table"):
        read_content(f"{folder / 'items.csv'}:path", ("a",))


@pytest.mark.parametrize(
    ("spec", "said"), [("items.csv", "FILE:COLUMN"), ("{}:other", "no column 'other'"), ("{}:text", "a second text")]
)
def test_a_column_that_cannot_be_read_is_known_before_long_work(table_of_item_content, spec, said):
    known = table_of_item_content(["a,one", "a,two"])
    with pytest.raises(InputError, match=said):
        read_content(spec.format(known.rpartition(":")[0]), None)


def test_too_much_and_nothing_are_refused(table_of_item_content, monkeypatch):
    with pytest.raises(InputError, match="no text of any item"):
        read_content(table_of_item_content(["a,one"]), ("z",))
    monkeypatch.setattr(item_columns, "LARGEST_TOTAL", 5)
    with pytest.raises(InputError, match="in a page"):
        read_content(table_of_item_content(["a,one", "b,two"]), ("a", "b"))
