import numpy as np
import polars
import pytest

from probtruth import line
from probtruth.comparison.options import options
from probtruth.distributed.evaluate import Asked, streamed
from probtruth.distributed.scoring import open_files
from probtruth.errors import InputError
from probtruth.io.annotations import read_annotations
from probtruth.io.predictions import read_predictions_pairs

N_ITEMS, LABELS = 230, ["cat", "dog", "10", "9"]
EXACT = options("exact", "new-items", 0.01, 200, 0, False)


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


def written(folder, n_files=1, shuffled=True, **changes):
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


def in_memory(annotations, pairs, **asked):
    return line.evaluate(
        annotations, read_predictions_pairs(pairs, annotations.index), engine="exact", rope=0.01, **asked
    )


def in_batches(annotations, pairs, folder, size, **asked):
    files = open_files(pairs, "item", "probs", size)
    truth = line.infer_truth(annotations.with_labels(files.labels))
    return streamed(truth, files, Asked(**asked), EXACT, folder / "scratch")


def same(found, result):
    comparison = result.comparison
    for part in ("pairs", "ranks", "companions", "group_results", "uncertainty", "warnings", "estimand"):
        assert repr(getattr(found.comparison, part)) == repr(getattr(comparison, part)), part
    assert found.audit == result.audit
    assert found.n_infinite.tolist() == result.scores.n_infinite.tolist()


@pytest.mark.parametrize(("size", "n_files", "shuffled"), [(1000, 1, False), (64, 1, True), (17, 3, True)])
def test_any_batches_files_and_order_conclude_what_the_whole_does(annotations, tmp_path, size, n_files, shuffled):
    pairs = written(tmp_path, n_files, shuffled)
    whole = [(model, path if path.is_file() else path.with_suffix(".whole.parquet")) for model, path in pairs]
    for (_, path), (_, one) in zip(pairs, whole, strict=True):
        if path.is_dir():
            polars.concat([polars.read_ipc(file) for file in sorted(path.iterdir())]).write_parquet(one)
    settings = {"groups": {f"q{item}": str(item % 3) for item in range(N_ITEMS)}} if size == 64 else {}
    if size == 17:
        settings = {"clusters": {f"q{item}": str(item // 4) for item in range(N_ITEMS)}, "rule": "brier"}
    result = line.evaluate(
        annotations, read_predictions_pairs(whole, annotations.index), engine="exact", rope=0.01, **settings
    )
    files = open_files(pairs, "item", "probs", size)
    found = streamed(result.truth, files, Asked(**settings), EXACT_2500, tmp_path / "scratch")
    same(found, result)


EXACT_2500 = options("exact", "new-items", 0.01, 2500, 0, False)


class Stopped(Exception):
    """What an interruption is here."""


def test_an_interrupted_run_goes_on_behind_its_last_finished_batch(annotations, tmp_path):
    files = open_files(written(tmp_path), "item", "probs", 40)
    truth = line.infer_truth(annotations.with_labels(files.labels))
    reference = streamed(truth, files, Asked(), EXACT, tmp_path / "at-once")
    heard = []

    def stop(done, total):
        heard.append((done, total))
        if len(heard) == 5:
            raise Stopped

    with pytest.raises(Stopped):
        streamed(truth, files, Asked(), EXACT, tmp_path / "scratch", stop)
    with (tmp_path / "scratch" / "finished.jsonl").open("a") as journal:
        journal.write('["losses-0", 1')  # cut off in the middle of a line
    again = streamed(truth, files, Asked(), EXACT, tmp_path / "scratch")
    assert (tmp_path / "scratch" / "finished.jsonl").read_text().count("losses-0") <= files.tables[0].n_rows // 40 + 2
    assert repr(again.comparison.pairs) == repr(reference.comparison.pairs)
    other = streamed(truth, files, Asked("brier"), EXACT, tmp_path / "scratch")
    assert other.comparison.rule == "brier"
    assert repr(other.comparison.pairs) != repr(reference.comparison.pairs)


def test_what_cannot_be_used_is_named_with_its_row(annotations, tmp_path):
    half = polars.when(polars.col("item") == "q200").then(0.5).otherwise(polars.col("cat")).alias("cat")
    path = written(tmp_path, shuffled=False, b={"cat": half})
    with pytest.raises(InputError, match="sum to") as caught:
        in_batches(annotations, path, tmp_path, 64)
    assert "b.parquet, row 201" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"item": polars.lit("q1")}, "'q1' a second time"),
        ({"item": polars.concat_str(polars.lit("z"), "item")}, "no item in common"),
        ({"dog": polars.lit("x")}, "'x'"),
        ({"extra": polars.lit(0.0)}, "also 'extra'"),
    ],
)
def test_files_that_do_not_go_together(annotations, tmp_path, change, words):
    with pytest.raises(InputError, match=words):
        in_batches(annotations, written(tmp_path, c=change), tmp_path, 64)


def test_damaged_files_and_empty_folders(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")
    (tmp_path / "folder").mkdir()
    for name, words in (("bad.parquet", "not sound Parquet"), ("folder", "without Parquet"), ("no.parquet", "no such")):
        with pytest.raises(InputError, match=words):
            open_files([("a", tmp_path / name)], "item", "probs", 10)
