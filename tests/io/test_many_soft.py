"""Soft labels read some rows at a time are those that are read whole, but for how names are kept."""

import numpy as np
import polars
import pytest

import probtruth as pt
from probtruth.frames import Names
from probtruth.io.tables.batches import LEAST
from probtruth.io.truth import read_many_soft, read_soft, write_soft

N = LEAST + 300
NAMES = {
    "text": [f"q{item}" for item in range(N)],
    "in order": [f"q{item:05d}" for item in range(N)],
    "integers": list(range(N)),
    "integers as text": [str(item) for item in range(N)],
    "other integers": [str(10**20 + item) for item in range(N)],
    "not quite integers": [f"{item:04d}" for item in range(N)],
    "several alphabets": [f"{'äz字😀'[item % 4]}{item}" for item in range(N)],
}


def table(names, shuffled=True):
    probs = np.random.default_rng(0).dirichlet([2, 1, 1], len(names))
    frame = polars.DataFrame({"item": names, "10": probs[:, 0], "9": probs[:, 1], "2": probs[:, 2]})
    return frame.sample(fraction=1.0, shuffle=True, seed=1) if shuffled else frame


def alike(one, other):
    assert tuple(one.index.items) == tuple(other.index.items)
    assert (one.index.labels, one.estimand, one.method) == (other.index.labels, other.estimand, other.method)
    for name in ("probs", "shares", "n_votes", "marginals"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("kind", NAMES)
def test_as_read_whole(kind, shuffled, tmp_path):
    path = tmp_path / "soft.parquet"
    table(NAMES[kind], shuffled).write_parquet(path)
    found = read_many_soft(path, memory=1.0)
    alike(found, read_soft(path))
    assert isinstance(found.index.items, Names)
    assert found.n_items == N
    assert found.index.items[1] == list(found.index.items)[1] == next(iter(found.index.items[1:]))


def test_votes_and_estimand_of_our_own_files(tmp_path):
    annotations = pt.Annotations.from_counts(np.array([[3, 0], [1, 1], [0, 5]]))
    truth = pt.infer_truth(annotations, method="dirichlet")
    write_soft(truth, tmp_path / "soft.parquet")
    alike(read_many_soft(tmp_path / "soft.parquet"), truth)
    with pytest.raises(pt.InputError, match="as the file says"):
        read_many_soft(tmp_path / "soft.parquet", estimand="class")


def test_a_folder_and_other_files(tmp_path):
    frame = table(NAMES["text"])
    (tmp_path / "soft").mkdir()
    frame[:700].write_parquet(tmp_path / "soft" / "1.parquet")
    frame[700:].write_ipc(tmp_path / "soft" / "2.arrow")
    frame.write_csv(tmp_path / "soft.csv")
    found = read_many_soft(tmp_path / "soft", estimand="class")
    assert found.estimand == "class"
    alike(found, read_many_soft(tmp_path / "soft.csv", estimand="class"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"9": polars.lit(2.0)}, "soft labels that sum to"),
        ({"item": polars.lit("same")}, r"row 2, column 'item': got item 'same' a second time"),
        ({"item": polars.lit(7)}, r"row 2, column 'item': got item '7' a second time"),
        ({"9": polars.lit("much")}, "expected a number"),
        ({" ": polars.lit(0.0)}, "a column without a name"),
    ],
)
def test_errors_name_the_row(change, words, tmp_path):
    path = tmp_path / "soft.parquet"
    table(NAMES["text"]).with_columns(**change).write_parquet(path)
    with pytest.raises(pt.InputError, match=words):
        read_many_soft(path, memory=1.0)
    table(NAMES["text"]).select("item").write_parquet(path)
    with pytest.raises(pt.InputError, match="no column of probabilities"):
        read_many_soft(path)
    table(NAMES["text"]).write_parquet(path)
    with pytest.raises(pt.InputError, match="estimand 'clas'"):
        read_many_soft(path, estimand="clas")
