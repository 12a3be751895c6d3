import numpy as np
import polars
import pytest

from probtruth.errors import InputError
from probtruth.io.tables.batches import LEAST, MOST
from probtruth.line.larger_than_memory import Room
from probtruth.streaming.prepared import opened, scratch


def test_a_batch_is_as_large_as_the_memory_allows(tmp_path):
    polars.DataFrame({"item": ["x", "y"], **{f"l{label}": [0.01] * 2 for label in range(100)}}).write_parquet(
        tmp_path / "a.parquet"
    )
    files = [("a", tmp_path / "a.parquet")]
    sizes = [opened(files, "item", "probs", memory).size for memory in (1.0, 1e8, 1e9, 1e15)]
    assert sizes[0] == LEAST
    assert sizes[1] == 1e8 // (8 * 100 * 40)  # 40 copies of a batch of 100 labels
    assert sizes[2] == 1e9 // (8 * 100 * 40)
    assert sizes[3] == MOST


@pytest.mark.parametrize("memory", [0, -1, "2GB", True, float("nan"), np.ones(2)])
def test_what_is_no_memory(memory):
    with pytest.raises(InputError, match="positive number of bytes"):
        Room(memory).n_bytes  # noqa: B018


def test_a_folder_stays_only_if_the_work_fails(tmp_path):
    place = tmp_path / "scratch"
    with pytest.raises(RuntimeError), scratch(place, None) as where:  # noqa: PT012
        where("asked").mkdir(parents=True)
        raise RuntimeError
    assert (place / "asked").is_dir()
    with scratch(place, None) as where:
        assert where("asked") == place / "asked"
    assert not place.exists()
    with scratch(None, None) as where:
        made = where("asked")
        made.mkdir()
    assert not made.exists()
    client = object()
    with scratch(place, client) as where:
        assert where("asked") is client
