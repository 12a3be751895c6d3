"""Votes on 230 items, and three models' files that do not quite go with them."""

import numpy as np
import polars
import pytest

from probtruth.comparison.options import checked_options
from probtruth.io.annotations import read_annotations

N_ITEMS, LABELS = 230, ["cat", "dog", "10", "9"]


def table(rng, names, sharp):
    probs = rng.dirichlet(np.full(len(LABELS), 1 / sharp), len(names))
    return polars.DataFrame({"item": names, **{label: probs[:, k] for k, label in enumerate(LABELS)}})


@pytest.fixture(params=["votes", "single votes"])
def annotations(request, tmp_path):
    rng = np.random.default_rng(1)
    n_votes = rng.integers(1 if request.param == "single votes" else 2, 5, N_ITEMS)
    items = np.repeat([f"q{item}" for item in range(N_ITEMS)], n_votes)
    annotators = np.concatenate([rng.choice(9, n, replace=False) for n in n_votes])
    frame = {"item": items, "annotator": annotators, "label": rng.choice(LABELS[:3], len(items), p=[0.6, 0.3, 0.1])}
    polars.DataFrame(frame).write_csv(tmp_path / "labels.csv")
    return read_annotations(tmp_path / "labels.csv")


def _written(folder, n_files=1, shuffled=True, **changes):
    """Three models' files (or folders); the second lacks an item and has one more."""
    rng = np.random.default_rng(2)
    pairs = []
    for model, sharp in (("b", 1.0), ("a", 2.0), ("c", 0.5)):
        names = [f"q{item}" for item in range(N_ITEMS)]
        if model == "a":
            names[7] = "elsewhere"
        frame = table(rng, names, sharp)
        if shuffled:
            frame = frame.sample(fraction=1.0, shuffle=True, seed=len(pairs))
        frame = frame.with_columns(**changes.get(model, {}))
        if n_files == 1:
            path = folder / f"{model}.parquet"
            frame.write_parquet(path, row_group_size=50)
        else:
            path = folder / model
            path.mkdir()
            for place in range(n_files):
                frame[place::n_files].write_ipc(path / f"part-{place}.arrow")
        pairs.append((model, path))
    return pairs


@pytest.fixture
def written():
    return _written


@pytest.fixture
def many(monkeypatch):
    """As if there were so many losses that they are read part by part in each pass."""
    monkeypatch.setattr("probtruth.streaming.disk_store.HELD", 0)


@pytest.fixture
def exact():
    return checked_options("exact", "new-items", 0.01, 2500, 0, False)


@pytest.fixture(scope="session")
def cluster():
    distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**options) as made:
        yield made


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster) as made:
        made.wait_for_workers(2)
        yield made
