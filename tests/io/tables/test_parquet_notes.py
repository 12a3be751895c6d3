import errno

import polars
import pytest

from probtruth.errors import InputError
from probtruth.io.tables.parquet_notes import write_stream


def test_a_disk_that_is_full_while_polars_writes(tmp_path, monkeypatch):
    """The words are those of Polars 2.1 on a file system with no room: an error of computing that names the cause."""

    number = errno.ENOSPC

    def full(*how, **options):
        raise polars.exceptions.ComputeError(
            f"parquet: File out of specification: underlying IO error: No space left on device (os error {number})"
        )

    monkeypatch.setattr(polars.LazyFrame, "sink_parquet", full)
    with pytest.raises(InputError, match=r"got an output that cannot be written \(no space left on device\)"):
        write_stream(iter([]), {"item": polars.String}, tmp_path / "scores.parquet", {})
    assert not list(tmp_path.iterdir())
