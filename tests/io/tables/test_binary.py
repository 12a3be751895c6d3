import polars
import pytest

from probtruth.errors import InputError
from probtruth.io.tables import binary, decoding
from probtruth.io.tables.read import read_table


def repeated_rows(path, rows: int):
    polars.select(item=polars.repeat("q", rows), a=polars.repeat(0.5, rows), b=polars.repeat(0.5, rows)).write_parquet(
        path
    )
    return path


def test_a_small_file_of_countless_equal_rows_is_refused_by_its_footer(tmp_path, monkeypatch):
    """255 kB of 32 million rows took a minute and 1.45 GB; here the size from which files count as huge is smaller."""
    path = repeated_rows(tmp_path / "bomb.parquet", 2_000_000)
    assert read_table(path)[0].height == 2_000_000, "below the size it is read"
    monkeypatch.setattr(binary, "HUGE", 1 << 20)
    asked = []
    decode = decoding.decode
    monkeypatch.setattr(decoding, "decode", lambda kind, data: asked.append(kind) or decode(kind, data))
    with pytest.raises(InputError, match=r"got 2,000,000 rows in [0-9.]+ kB, expected a table whose rows differ"):
        read_table(path)
    assert asked == [b"s"], "the rows are not decoded"


def test_rows_that_memory_cannot_hold_are_refused_by_the_footer(tmp_path, monkeypatch):
    path = repeated_rows(tmp_path / "rows.parquet", 10_000)
    monkeypatch.setattr(binary, "free_memory", lambda: 1e6)
    with pytest.raises(InputError, match=r"got 10,000 rows, which take some 0\.00124 GB when they are read whole"):
        read_table(path)
