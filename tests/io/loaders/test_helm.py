"""The files in `files/helm` were written through crfm-helm 0.5.16's own classes (Stat, MetricName, PerInstanceStats and
`asdict_without_nones`); `run_spec.json` and `instances.json` by hand, from the documented schema. HELM writes a colon
for the first underscore of a folder, which Windows refuses.
"""

import json
import shutil
from pathlib import Path

import pytest

from probtruth.errors import InputError
from probtruth.io.formats import ScoreReading
from probtruth.io.loaders import read_helm
from probtruth.io.scores import scores_in_files

ITEMS = tuple(f"quiz_subject=birds/id{n}" for n in range(4))


def run(folder: Path, rows: object, name: str = "quiz:model=m") -> Path:
    (folder / name).mkdir(exist_ok=True)
    path = folder / name / "per_instance_stats.json"
    path.write_text(json.dumps(rows))
    return path


def rows(**changes: object) -> list[dict[str, object]]:
    """Two instances, with keys of the first replaced."""
    made = [
        {"instance_id": f"id{n}", "train_trial_index": 0, "stats": [{"name": {"name": "exact_match"}, "mean": 1.0}]}
        for n in range(2)
    ]
    made[0] |= changes
    return made


def test_runs_of_two_models(files: Path) -> None:
    """The marks that the script gave the made-up models: id0 is wrong in the second trial, 4 instances, 2 trials."""
    scores = read_helm(files / "helm", "exact_match")
    assert (scores.models, scores.items, scores.n_replicates) == (("made/large", "made/small"), ITEMS, 2)
    assert scores.values.tolist() == [[0.5, 1, 1, 0], [0.5, 0, 1, 0]]
    assert (scores.groups, scores.audit.dropped) == (None, 0)
    assert read_helm(files / "helm", "exact_match", "typos").values.sum() == 0


def test_models_by_folder_and_by_name(files: Path, tmp_path: Path) -> None:
    shutil.copytree(files / "helm", tmp_path / "runs")
    for path in (tmp_path / "runs").rglob("run_spec.json"):
        path.unlink()
    assert read_helm(tmp_path / "runs", "exact_match").models == ("made_large", "made_small")
    (one,) = (tmp_path / "runs").glob("*small*")
    assert read_helm({"mine": one}, "exact_match").models == ("mine",)


def test_other_inputs_are_left_out(files: Path, tmp_path: Path) -> None:
    shutil.copytree(files / "helm", tmp_path / "runs")
    (path,) = (tmp_path / "runs").glob("*small*/instances.json")
    path.write_text(path.read_text().replace("Question 2?", "Question two?"))
    assert read_helm(tmp_path / "runs", "exact_match").audit.different == (ITEMS[2],)


ERRORS = {
    "several": (rows(stats=[{"name": {"name": n}, "mean": 1} for n in "ab"]), {}, "several metrics: 'a', 'b', 'exact"),
    "absent": (rows(), {"metric": "exact_mach"}, "Did you mean 'exact_match'"),
    "unknown": ([{"instance_id": "i", "stats": [{"name": {"name": "fun"}, "mean": 1}]}], {}, "higher_is_better=True"),
    "text": (rows(stats=[{"name": {"name": "exact_match"}, "mean": "1"}]), {}, "instance 1, 'exact_match': got '1'"),
    "twice": (rows(instance_id="id1"), {}, "item 'quiz/id1' of model 'm' again"),
    "same statistic": (rows(stats=[{"name": {"name": "a"}, "mean": 1}] * 2), {}, "statistic 'a' twice"),
    "no stats": (rows(stats=None), {}, "'stats': got null, expected a list"),
    "perturbation": (rows(), {"perturbation": "typos"}, "no metric.*Check `perturbation`"),
    "uncounted": ([{"instance_id": "i", "stats": []}], {}, "no metric"),
    "object": ({}, {}, "expected a key 'instance_id'"),
}


@pytest.mark.parametrize(("content", "options", "message"), ERRORS.values(), ids=ERRORS)
def test_errors(tmp_path: Path, content: object, options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_helm(run(tmp_path, content), **options)


def test_a_run_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"without run_spec\.json"):
        read_helm(run(tmp_path, rows(), "quiz"))


def test_the_test_split_counts_where_there_are_several(tmp_path: Path) -> None:
    """As HELM's own tables: f1 of the test split, and not the mean over test and validation."""
    for model, marks in (("small", (0.5, 0.5, 1.0)), ("big", (1.0, 0.5, 0.0))):
        stats = [
            {"instance_id": f"id{n}", "stats": [{"name": {"name": "f1_score", "split": split}, "mean": mark}]}
            for n, (split, mark) in enumerate(zip(("test", "test", "valid"), marks, strict=True))
        ]
        run(tmp_path, stats, f"qa:model={model}")
        (tmp_path / f"qa:model={model}" / "run_spec.json").write_text(json.dumps({"adapter_spec": {"model": model}}))
    scores = read_helm(tmp_path)
    assert scores.items == ("qa/id0", "qa/id1")
    assert dict(zip(scores.models, scores.values.tolist(), strict=True)) == {"small": [0.5, 0.5], "big": [1.0, 0.5]}
    assert scores.notes == ("left out 2 instances of the split 'valid', read with split= (command line: --filter)",)
    valid = read_helm(tmp_path, split="valid")
    assert (valid.items, valid.notes) == (("qa/id2",), ())
    assert scores_in_files(tmp_path, ScoreReading(filter=["valid"])).items == ("qa/id2",)
    with pytest.raises(InputError, match="'test', 'valid'"):
        read_helm(tmp_path, split="train")
