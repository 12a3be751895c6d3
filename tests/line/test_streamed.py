import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest

import probtruth as pt
from probtruth.io.tables.batches import BigTable
from probtruth.kernels.later import Later
from probtruth.line.streamed import OTHER_LEFT_OUT
from probtruth.report.contents import contents

LABELS = ["cat", "dog", "fox"]

KILLED = """
import os, signal, sys
from pathlib import Path
import probtruth as pt
from probtruth.io.truth import read_soft

folder = Path(sys.argv[1])
files = {name: folder / f"{name}.parquet" for name in "ab"}

def kill(done, total):
    if done == 4:
        os.kill(os.getpid(), signal.SIGKILL)

truth = read_soft(folder / "soft.parquet")
pt.evaluate(truth, files, scratch=folder / "scratch", memory=1, engine="exact", on_progress=kill)
"""


@pytest.fixture
def files(tmp_path):
    """Soft labels of 5,000 items and two models' files, the second in another order."""
    rng = np.random.default_rng(5)
    names = [f"q{item}" for item in range(5000)]
    for name in ("soft", "a", "b"):
        probs = rng.dirichlet([3, 2, 1], len(names))
        frame = polars.DataFrame({"item": names, **dict(zip(LABELS, probs.T, strict=True))})
        if name == "b":
            frame = frame.sample(fraction=1.0, shuffle=True, seed=1)
        frame.write_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


def paths(folder):
    return {name: folder / f"{name}.parquet" for name in "ab"}


def truth_of(folder):
    frame = polars.read_parquet(folder / "soft.parquet")
    return pt.Truth.from_probs(frame.select(LABELS).to_numpy(), items=frame["item"].to_list(), labels=LABELS)


@pytest.fixture
def asked(monkeypatch):
    """The columns of every batch that is read."""
    listed, stream = [], BigTable.decoded
    monkeypatch.setattr(
        BigTable, "decoded", lambda self, cut, columns: listed.append(tuple(columns)) or stream(self, cut, columns)
    )
    return listed


@pytest.mark.parametrize("kind", ["logits", "log-probs", "percent"])
def test_other_cells_give_the_bits_of_memory_whatever_the_order_of_the_labels(files, kind):
    """The sum behind a softmax depends on the order of its terms: it is that of the names, in memory too."""
    rng = np.random.default_rng(3)
    logits = {name: rng.normal(0, 3, (5000, 3)) for name in "ab"}
    for name, values in logits.items():
        probs = np.exp(values) / np.exp(values).sum(1, keepdims=True)
        cells = {"logits": values, "log-probs": np.log(probs), "percent": 100 * probs}[kind]
        columns = {label: cells[:, at] for at, label in enumerate(LABELS[::-1])}
        items = polars.read_parquet(files / f"{name}.parquet")["item"]
        polars.DataFrame({"item": items, **columns}).write_parquet(files / f"{name}.parquet")
    whole, parts = (
        pt.evaluate(truth_of(files), paths(files), kind=kind, memory=memory, engine="exact") for memory in (1e12, 1)
    )
    assert repr(parts.comparison.pairs) == repr(whole.comparison.pairs)
    assert repr(parts.comparison.ranks) == repr(whole.comparison.ranks)


@pytest.mark.parametrize("rule", ["log", "brier"])
def test_files_that_fit_into_memory_are_scored_from_their_cells(files, rule, monkeypatch):
    """A table of all log-probabilities (400 MB of 1e6 items, 10 labels, 5 models) is made for those who ask for it."""
    made, whole = [], Later.whole
    monkeypatch.setattr(Later, "whole", lambda later: made.append(later) or whole(later))
    result = pt.evaluate(truth_of(files), paths(files), memory=1e12, engine="exact", rule=rule)
    assert bool(made) == (rule != "log")
    again = pt.evaluate(truth_of(files), paths(files), memory=1, engine="exact", rule=rule)
    assert repr(again.comparison.pairs) == repr(result.comparison.pairs)
    frames = {name: polars.read_parquet(path) for name, path in paths(files).items()}
    predictions = pt.read_predictions(frames, truth_of(files).index)
    np.testing.assert_array_equal(result.labelled.aligned.log_probs, predictions.log_probs)
    assert made


@pytest.mark.process
def test_a_run_whose_process_was_killed_goes_on_behind_its_last_batch(files, asked):
    done = subprocess.run([sys.executable, "-c", KILLED, str(files)], env=os.environ, check=False, timeout=300)
    assert done.returncode == -signal.SIGKILL
    finished = (files / "scratch" / "asked" / "finished.jsonl").read_text().splitlines()
    assert [json.loads(line)[:2] for line in finished] == [["losses-0", 1024 * batch] for batch in range(4)]
    read = []
    again = pt.evaluate(
        truth_of(files), paths(files), scratch=files / "scratch", memory=1, engine="exact",
        on_progress=lambda done, total: read.append((done, total)),
    )  # fmt: skip
    assert not (files / "scratch").exists()
    assert asked.count(tuple(LABELS)) == 10 - 4
    assert read[:10] == [(batch, 10) for batch in range(1, 11)]
    assert again.to_dict() == pt.evaluate(truth_of(files), paths(files), engine="exact").to_dict()
    held = pt.evaluate(truth_of(files), pt.read_predictions(paths(files)), engine="exact")
    of_sample, of_all = contents(again), contents(held)
    assert of_sample.tables["calibration"] == of_all.tables["calibration"]
    assert again.analysis.calibration.curve.equals(held.analysis.calibration.curve)
    assert of_sample.sources == of_all.sources


def test_what_was_finished_is_read_no_more(files, asked):
    class Stop(Exception):
        pass

    def stop(done, total):
        if done == total:
            raise Stop

    with pytest.raises(Stop):
        pt.evaluate(
            truth_of(files), paths(files), scratch=files / "scratch", memory=1, engine="exact", on_progress=stop
        )
    asked.clear()
    pt.evaluate(truth_of(files), paths(files), scratch=files / "scratch", memory=1, engine="exact")
    assert set(asked) == {("item",)}


@pytest.mark.parametrize("kind", [str, pytest.param(Path, marks=pytest.mark.long)])
def test_soft_labels_by_their_path(files, kind):
    given = kind(files / "soft.parquet")
    found = pt.evaluate(given, paths(files), memory=1, engine="exact")
    assert found.to_dict() == pt.evaluate(truth_of(files), paths(files), engine="exact").to_dict()
    of_class = pt.evaluate(given, paths(files), memory=1, engine="exact", estimand="class")
    assert of_class.to_dict()["truth"]["estimand"] == "class"
    with pytest.raises(pt.InputError, match="no such file"):
        pt.evaluate(kind(files / "nowhere.parquet"), paths(files))
    means = [
        pt.score(paths(files), truth, out=files / "scores.parquet", memory=memory).means
        for truth in (given, truth_of(files))
        for memory in (1, None)
    ]
    assert means == means[:1] * 4


def test_a_reference_without_names_is_matched_with_no_file_by_number(files):
    numbered = polars.read_parquet(files / "a.parquet").with_columns(item=polars.int_range(polars.len()).reverse())
    for name in "ab":
        numbered.write_parquet(files / f"{name}.parquet")
    bare = pt.Truth.from_probs(numbered.select(LABELS).to_numpy(), labels=LABELS)
    with pytest.raises(pt.InputError, match="the reference without names of items"):
        pt.evaluate(bare, paths(files), memory=1, engine="exact")


def test_logits_that_are_plainly_probabilities_are_warned_of(files):
    said = [
        [
            warning
            for warning in pt.evaluate(truth_of(files), paths(files), kind=kind, memory=memory, engine="exact").warnings
            if "look like" in warning
        ]
        for kind, memory in (("probs", 1), ("logits", 1), ("logits", None))
    ]
    assert [len(warnings) for warnings in said] == [0, 1, 1]
    assert "the logits of 'a', 'b' look like probabilities" in said[1][0]
    assert said[1] == said[2]


def test_input_that_cannot_be_streamed(files):
    with pytest.raises(pt.InputError, match="positive number of bytes"):
        pt.evaluate(truth_of(files), paths(files), memory="2GB")
    with pytest.raises(pt.InputError, match="Annotations or Truth"):
        pt.evaluate(None, paths(files))
    votes = {"item": ["q1", "q2"] * 2, "annotator": ["x", "x", "y", "y"], "label": ["cat", "dog"] * 2}
    with pytest.raises(pt.InputError, match="the same 2 annotators"):
        pt.evaluate(pt.Annotations.from_long(votes), paths(files), memory=1)


def noisy_votes(annotators=5):
    """Five votes, right eight times in ten, on each of 400 items."""
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 3, 400)
    items = [f"q{item}" for item in range(400)]
    said = np.where(rng.random((5, 400)) < 0.8, truth, rng.integers(0, 3, (5, 400)))
    votes = {
        "item": items * 5,
        "annotator": [f"w{number:03}" for number in np.arange(2000) // (2000 // annotators)],
        "label": np.array(LABELS)[said.ravel()],
    }
    return pt.Annotations.from_long(votes)


def counts_of(annotations):
    """The same votes without annotators."""
    cells = np.zeros((400, 3), int)
    np.add.at(cells, (np.asarray(annotations.item), np.asarray(annotations.label)), 1)
    return pt.Annotations.from_counts(cells, items=annotations.index.items, labels=annotations.index.labels)


@pytest.mark.parametrize("votes", [noisy_votes, lambda: counts_of(noisy_votes())], ids=["long form", "counts"])
@pytest.mark.parametrize("how", [{"estimand": "class"}, {"method": "dawid-skene-em"}, {"method": "majority"}])
def test_classes_that_models_inform_are_not_streamed(files, votes, how):
    """Else the answer would depend on how much memory is free."""
    if how == {"method": "dawid-skene-em"} and votes is not noisy_votes:
        pytest.skip("needs annotators")
    with pytest.raises(pt.InputError, match="classes inferred from annotators and models, with predictions"):
        pt.evaluate(votes(), paths(files), memory=1, engine="exact", **how)


def test_classes_inferred_from_annotators_alone(files):
    """Streamed as in memory; the other estimand stands beside."""
    annotations = noisy_votes()
    asked = {"method": "dawid-skene-em", "engine": "exact", "evidence": "annotators"}
    found = pt.evaluate(annotations, paths(files), memory=1, **asked)
    predictions = pt.read_predictions(paths(files), index=annotations.index)
    held = pt.evaluate(annotations, predictions, **asked)
    (streamed,), (wanted,) = found.comparison.pairs, held.comparison.pairs
    assert {key: streamed[key] for key in ("difference", "low", "high", "p_a_better")} == pytest.approx(
        {key: wanted[key] for key in ("difference", "low", "high", "p_a_better")}, rel=1e-9
    )
    assert found.other is not None
    assert held.other is not None
    assert found.other.to_dict() == held.other.to_dict()
    assert found.bounds is not None, "a reason stands where memory has bounds"
    assert "streamed" in found.bounds.to_dict()["reason"]


def test_a_verdict_on_classes_that_is_left_out_is_said(files):
    """Its classes would be informed by the models; memory has it, streaming says why not."""
    annotations = noisy_votes()
    streamed = pt.evaluate(counts_of(annotations), paths(files), memory=1, engine="exact")
    assert (streamed.other, OTHER_LEFT_OUT in streamed.warnings) == (None, False), "without annotators there is none"
    annotations = noisy_votes(annotators=500)
    held = pt.evaluate(annotations, pt.read_predictions(paths(files), index=annotations.index), engine="exact")
    streamed = pt.evaluate(annotations, paths(files), memory=1, engine="exact")
    assert (held.other is None, OTHER_LEFT_OUT in held.warnings) == (False, False)
    assert (streamed.other, OTHER_LEFT_OUT in streamed.warnings) == (None, True)
    assert streamed.comparison.pairs == held.comparison.pairs
