import numpy as np
import polars
import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.io.predictions import read_predictions_pairs
from probtruth.scoring import score
from probtruth.streaming.compare_files import ScoringOptions, streamed
from probtruth.streaming.score_batches import open_files
from probtruth.truth.infer import infer_truth

N_ITEMS = 230


pytestmark = pytest.mark.usefixtures("many")


def in_batches(annotations, pairs, exact, folder, size, **asked):
    files = open_files(pairs, "item", "probs", size)
    truth = infer_truth(annotations.with_labels(files.index))
    return streamed(truth, files, ScoringOptions(**asked), exact, folder / "scratch")


def same(found, result):
    comparison = result.comparison
    for part in ("pairs", "ranks", "companions", "group_results", "uncertainty", "warnings", "estimand"):
        assert repr(getattr(found.comparison, part)) == repr(getattr(comparison, part)), part
    assert found.audit == result.audit
    assert found.n_infinite.tolist() == result.scores.n_infinite.tolist()


@pytest.mark.parametrize(
    ("annotations", "size", "n_files", "shuffled"),
    [
        ("votes", 64, 1, True),
        ("single votes", 17, 3, True),
        *(
            pytest.param(*each, marks=pytest.mark.long)
            for each in (
                ("single votes", 64, 1, True),
                ("votes", 17, 3, True),
                ("votes", 1000, 1, False),
                ("single votes", 1000, 1, False),
            )
        ),
    ],
    indirect=["annotations"],
)
def test_any_batches_files_and_order_conclude_what_the_whole_does(
    annotations, written, exact, tmp_path, size, n_files, shuffled
):
    pairs = written(tmp_path, n_files, shuffled)
    whole = [(model, path if path.is_file() else path.with_suffix(".whole.parquet")) for model, path in pairs]
    for (_, path), (_, one) in zip(pairs, whole, strict=True):
        if path.is_dir():
            polars.concat([polars.read_ipc(file) for file in sorted(path.iterdir())]).write_parquet(one)
    settings = {"groups": {f"q{item}": str(item % 3) for item in range(N_ITEMS)}} if size == 64 else {}
    if size == 17:
        settings = {"clusters": {f"q{item}": str(item // 4) for item in range(N_ITEMS)}, "rule": "brier"}
    result = pt.evaluate(
        annotations, read_predictions_pairs(whole, annotations.index), engine="exact", rope=0.01, **settings
    )
    files = open_files(pairs, "item", "probs", size)
    found = streamed(result.truth, files, ScoringOptions(**settings), exact, tmp_path / "scratch")
    same(found, result)


@pytest.mark.parametrize("annotations", ["votes"], indirect=True)
@pytest.mark.parametrize("most", [60, 1000])
def test_the_sample_is_that_of_memory(annotations, written, exact, tmp_path, monkeypatch, most):
    monkeypatch.setattr(score, "MOST_ITEMS", most)
    pairs = written(tmp_path)
    predictions = read_predictions_pairs(pairs, annotations.index)
    result = pt.evaluate(annotations, predictions, engine="exact", floor=0.01)
    found = in_batches(annotations, pairs, exact, tmp_path, 17, floor=0.01)
    aligned = result.labelled.aligned
    rows = score.sampled_items(len(aligned.items), len(aligned.labels))
    assert len(rows) == min(most, N_ITEMS - 1)
    predictions, truth = found.sample
    assert predictions.index.items == tuple(aligned.items[row] for row in rows)
    assert np.array_equal(predictions.log_probs, aligned.log_probs[:, rows])
    assert np.array_equal(truth.probs, aligned.truth[rows])


class Stopped(Exception):
    """What an interruption is here."""


@pytest.mark.parametrize("annotations", ["votes"], indirect=True)
def test_an_interrupted_run_goes_on_behind_its_last_finished_batch(annotations, written, exact, tmp_path):
    files = open_files(written(tmp_path), "item", "probs", 40)
    truth = infer_truth(annotations.with_labels(files.index))
    reference = streamed(truth, files, ScoringOptions(), exact, tmp_path / "at-once")
    heard = []

    def stop(done, total):
        heard.append((done, total))
        if len(heard) == 5:
            raise Stopped

    with pytest.raises(Stopped):
        streamed(truth, files, ScoringOptions(), exact, tmp_path / "scratch", stop)
    with (tmp_path / "scratch" / "finished.jsonl").open("a") as journal:
        journal.write('["losses-0", 1')  # cut off in the middle of a line
    again = streamed(truth, files, ScoringOptions(), exact, tmp_path / "scratch")
    assert (tmp_path / "scratch" / "finished.jsonl").read_text().count("losses-0") <= files.tables[0].n_rows // 40 + 2
    assert repr(again.comparison.pairs) == repr(reference.comparison.pairs)
    other = streamed(truth, files, ScoringOptions("brier"), exact, tmp_path / "scratch")
    assert other.comparison.rule == "brier"
    assert repr(other.comparison.pairs) != repr(reference.comparison.pairs)


@pytest.mark.parametrize("annotations", ["votes"], indirect=True)
def test_what_cannot_be_used_is_named_with_its_row(annotations, written, exact, tmp_path):
    half = polars.when(polars.col("item") == "q200").then(0.5).otherwise(polars.col("cat")).alias("cat")
    path = written(tmp_path, shuffled=False, b={"cat": half})
    with pytest.raises(InputError, match="sum to") as caught:
        in_batches(annotations, path, exact, tmp_path, 64)
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
@pytest.mark.parametrize("annotations", ["votes"], indirect=True)
def test_files_that_do_not_go_together(annotations, written, exact, tmp_path, change, words):
    with pytest.raises(InputError, match=words):
        in_batches(annotations, written(tmp_path, c=change), exact, tmp_path, 64)


def test_damaged_files_and_empty_folders(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")
    (tmp_path / "folder").mkdir()
    for name, words in (("bad.parquet", "not sound Parquet"), ("folder", "without Parquet"), ("no.parquet", "no such")):
        with pytest.raises(InputError, match=words):
            open_files([("a", tmp_path / name)], "item", "probs", 10)
