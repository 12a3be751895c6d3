"""What is noted of finished batches, and where nothing is."""

import numpy as np
import pytest

from probtruth.streaming.disk_store import NumberFile
from probtruth.streaming.journal import Journal, Passing


@pytest.mark.parametrize("folder", [lambda path: path, Passing])
def test_in_a_folder_that_goes_anyway_nothing_is_noted(tmp_path, folder, monkeypatch):
    waited = []
    monkeypatch.setattr(NumberFile, "sync", lambda table: waited.append(table))
    values = np.ones((3, 1))
    journal = Journal(folder(tmp_path / "pass"), lambda: waited.append("settings") or {})
    table = NumberFile(journal.folder / "losses-0", 3, 1)
    table.write(np.arange(3), values)
    journal.finish("losses-0", 0, [values], [table])
    names = {entry.name for entry in (tmp_path / "pass").iterdir()}
    if folder is Passing:
        assert (names, waited, journal.of("losses-0")) == ({"losses-0"}, [], {})
    else:
        assert names == {"losses-0", "settings.json", "finished.jsonl"}
        assert waited == ["settings", table]
    np.testing.assert_array_equal(table.rows(slice(1, 3)), values[1:])
