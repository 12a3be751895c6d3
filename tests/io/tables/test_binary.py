"""Parquet and Arrow: what is kept, and what is refused before it fills the memory."""

from pathlib import Path

import polars
import pytest

from probtruth.errors import InputError
from probtruth.io.tables import binary
from probtruth.io.tables.read import read_table


def test_rows_that_memory_cannot_hold_are_refused_by_the_footer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.parquet"
    polars.select(item=polars.repeat("q", 10_000), a=polars.repeat(0.5, 10_000), b=0.5).write_parquet(path)
    monkeypatch.setattr(binary, "free_memory", lambda: 1e6)
    with pytest.raises(InputError, match=r"got 10,000 rows, which take some 0\.00124 GB when they are read whole"):
        read_table(path)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "stream.arrow", "a=b.parquet", "^x.*.arrow", "[1].parquet"])
def test_every_name_and_form(tmp_path: Path, name: str) -> None:
    frame = polars.DataFrame({"item": ["a", "b"], "truth.x": [0.5, None], "truth": [1, 2], "^.*$": [True, False]})
    path = tmp_path / name
    write = {"t.arrow": frame.write_ipc, "^x.*.arrow": frame.write_ipc, "stream.arrow": frame.write_ipc_stream}
    write.get(name, frame.write_parquet)(path)
    assert read_table(path)[0].equals(frame)
    assert binary.columns_of(path) == frame.columns
    (some,) = binary.batches(path, ["truth", "^.*$"])
    assert some.columns == ["truth", "^.*$"]
