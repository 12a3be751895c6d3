"""Parquet and Arrow: every name and form."""

from pathlib import Path

import polars
import pytest

from probtruth.io.tables import binary
from probtruth.io.tables.read import read_table


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "stream.arrow", "a=b.parquet", "^x.*.arrow", "[1].parquet"])
def test_every_name_and_form(tmp_path: Path, name: str) -> None:
    frame = polars.DataFrame({"item": ["a", "b"], "truth.x": [0.5, None], "truth": [1, 2], "^.*$": [True, False]})
    path = tmp_path / name
    write = {"t.arrow": frame.write_ipc, "^x.*.arrow": frame.write_ipc, "stream.arrow": frame.write_ipc_stream}
    write.get(name, frame.write_parquet)(path)
    assert read_table(path)[0].equals(frame)
    assert binary.shape(path) == (frame.columns, 2)
    (some,) = binary.batches(path, ["truth", "^.*$"], whole=False)
    assert some.columns == ["truth", "^.*$"]
