"""Tables that gzip packed are read as those that it packed."""

import gzip
from pathlib import Path

import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.io import addresses
from probtruth.io.table import opened
from probtruth.io.tools import tool_of

LABELS = "item,annotator,label\nx,ann,cat\nx,bob,dog\ny,ann,cat\n"


def packed(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_a_packed_table_is_the_table(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(LABELS)
    plain = pt.read_annotations(tmp_path / "labels.csv")
    read = pt.read_annotations(packed(tmp_path / "labels.csv.gz", LABELS))
    assert (read.counts() == plain.counts()).all()
    assert read.index == plain.index


def test_messages_name_the_packed_file(tmp_path: Path) -> None:
    path = packed(tmp_path / "labels.csv.gz", LABELS + "z,,cat\n")
    with pytest.raises(InputError, match=r"labels\.csv\.gz, line 5, column 'annotator'"):
        pt.read_annotations(path)


def test_patterns_and_logs(tmp_path: Path) -> None:
    for name in ("a", "b"):
        packed(tmp_path / f"{name}.csv.gz", "item,n\n1,2\n")
    frame, source = opened(tmp_path / "*.csv.gz").whole
    assert frame.height == 2
    assert source.at(1, "n") == f"{tmp_path / 'b.csv.gz'}, line 2, column 'n'"
    assert tool_of(packed(tmp_path / "c.jsonl.gz", '{"label_counter": {"e": 1}, "uid": "x"}\n')) == "chaosnli"


def test_a_file_that_changes_is_read_anew(tmp_path: Path) -> None:
    path = packed(tmp_path / "t.csv.gz", "item,n\n1,2\n")
    assert opened(path).whole[0].height == 1
    packed(path, "item,n\n1,2\n3,4\n")
    assert opened(path).whole[0].height == 2


CUT_SHORT = gzip.compress(LABELS.encode(), mtime=0)[:-12]


@pytest.mark.parametrize("data", [b"item,n\n", CUT_SHORT, b""], ids=["plain text", "cut short", "empty"])
def test_damaged(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "t.csv.gz").write_bytes(data)
    with pytest.raises(InputError, match=r"t\.csv\.gz: got"):
        _ = opened(tmp_path / "t.csv.gz").whole


def test_a_small_file_that_grows_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "LARGEST", 1 << 20)
    with pytest.raises(InputError, match="more than"):
        _ = opened(packed(tmp_path / "t.csv.gz", "item,n\n" + "1,2\n" * 1_000_000)).whole
