"""Parquet and Arrow: every name and form."""

from pathlib import Path

import polars
import pytest

from probtruth.io.table import opened
from probtruth.io.tables import binary

NAMES = ["t.parquet", "t.arrow", "t.feather", "t.ipc", "stream.arrow", "a=b.parquet", "^x.*.arrow", "[1].parquet"]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_and_form(tmp_path: Path, name: str) -> None:
    frame = polars.DataFrame({"item": ["a", "b"], "truth.x": [0.5, None], "truth": [1, 2], "^.*$": [True, False]})
    path = tmp_path / name
    if name.endswith("parquet"):
        frame.write_parquet(path)
    else:
        (frame.write_ipc_stream if name.startswith("stream") else frame.write_ipc)(path)
    read, source = opened(path).whole
    assert read.equals(frame)
    assert source.at(1) == f"{path}, row 2"
    file = binary.opened(path)
    assert (file.columns, file.n_rows) == (frame.columns, 2)
    ((some, _),) = file.parts(["truth", "^.*$"])
    assert some.columns == ["truth", "^.*$"]
