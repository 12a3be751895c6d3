"""The files in `files/inspect` were written by inspect_ai 0.3.285 with its model `mockllm` on a task of our own.

From the `.json` logs the events, messages and outputs were taken out, to keep them small.
"""

import io
import json
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from backports.zstd import zipfile

from probtruth.errors import InputError, MissingExtraError
from probtruth.io.loaders import inspect_logs, read_inspect
from probtruth.io.loaders.inspect_logs import Archive
from probtruth.types import Audit

ITEMS = ("quiz/q1", "quiz/q2", "quiz/q3", "quiz/q4")


def log(path: Path, changes: dict[str, object] | None = None, **sample: object) -> Path:
    """A log of three samples, with keys of the log and of the first sample replaced."""
    rows = [
        {"id": n, "epoch": 1, "input": f"q{n}", "target": "x", "scores": {"match": {"value": "C" if n else "I"}}}
        for n in range(3)
    ]
    rows[0] |= sample
    whole = {"status": "success", "eval": {"task": "t", "model": "m"}, "samples": rows} | (changes or {})
    path.write_text(json.dumps(whole))
    return path


@pytest.mark.parametrize("form", ["eval", "json"])
def test_scores_epochs_and_names(files: Path, form: str) -> None:
    """What inspect_ai's own `read_eval_log` says of these files: small is wrong on q3 in epoch 1 and q2 in epoch 2."""
    folder = files / "inspect"
    scores = read_inspect([folder / f"small_quiz.{form}", folder / f"large_quiz.{form}"], "match")
    assert (
        scores.models == ("mockllm/small", "mockllm/large")
        if form == "eval"
        else ("mockllm/small-json", "mockllm/large-json")
    )
    assert (scores.items, scores.rule, scores.higher_is_better, scores.n_replicates) == (ITEMS, "match", True, 2)
    assert scores.values.tolist() == [[1, 0.5, 0.5, 1], [1, 1, 1, 1]]
    assert scores.audit.dropped == 0


def test_several_scorers_are_named(files: Path) -> None:
    path = files / "inspect" / "small_quiz.eval"
    with pytest.raises(InputError, match=r"several scorers: 'includes', 'match'.*scorer='includes'"):
        read_inspect(path)
    with pytest.raises(InputError, match="Did you mean 'match'"):
        read_inspect(path, "macth")


def test_tasks_are_groups(files: Path, tmp_path: Path) -> None:
    pick = read_inspect({"m": files / "inspect" / "small_pick.eval"}, "choice")
    assert (pick.groups, pick.items) == (None, ("pick/1", "pick/2", "pick/3", "pick/4"))
    assert pick.values.tolist() == [[0.5, 0, 0.5, 0]]
    tasks = [log(tmp_path / f"{task}.json", {"eval": {"task": task, "model": "m"}}) for task in ("u", "t")]
    for given in (tasks, tmp_path):
        scores = read_inspect(given)
        assert scores.groups is not None
        assert scores.groups.names == ("t", "u")
        assert scores.items == ("t/0", "t/1", "t/2", "u/0", "u/1", "u/2")


def test_grades_parts_and_samples_without_a_score(tmp_path: Path) -> None:
    values = {"C": 1, "I": 0, "P": 0.5, "N": 0, "yes": 1, "False": 0, "0.25": 0.25}
    for grade, number in values.items():
        path = log(tmp_path / "log.json", scores={"match": {"value": grade}})
        assert read_inspect(path).values[0, 0] == number
    parts = log(tmp_path / "parts.json", scores={"match": {"value": {"style": 3, "truth": 4}}})
    assert read_inspect(parts, "match.style").values.tolist() == [[3]]
    for unscored in ({"match": {"value": float("nan")}}, {}, None):
        first, other = log(tmp_path / "a.json", scores=unscored), log(tmp_path / "b.json")
        scores = read_inspect({"a": first, "b": other})
        assert scores.items == ("t/0", "t/1", "t/2")
        assert np.isnan(scores.values).tolist() == [[True, False, False], [False, False, False]]


def test_other_questions_are_left_out_and_other_targets_warned_of(tmp_path: Path) -> None:
    """Messages are compared without their identifiers."""

    def audit(first: dict[str, object], second: dict[str, object]) -> Audit:
        paths = {name: tmp_path / f"{name}.json" for name in "ab"}
        log(paths["a"], **first)
        log(paths["b"], **second)
        return read_inspect(paths).audit

    assert audit({"input": "another"}, {}).different == ("t/0",)
    targets = audit({"target": "y"}, {})
    assert (targets.different, targets.prompts) == ((), ("t/0",))
    messages = [{"input": [{"role": "user", "content": "hi", "id": name}]} for name in "ab"]
    assert audit(*messages).dropped == 0


ERRORS = {
    "status": ({"status": "error"}, {}, "a run with the status 'error'.*eval-retry"),
    "no status": ({"status": None}, {}, "status 'None'"),
    "no samples": ({"samples": None}, {}, "'samples': got null"),
    "empty": ({"samples": []}, {}, "no scorer"),
    "text": ({}, {"scores": {"match": {"value": "maybe"}}}, "sample 1, 'match': got 'maybe', expected a number"),
    "list": ({}, {"scores": {"match": {"value": [1, 0]}}}, "got a list of 2, expected a number"),
    "infinite text": ({}, {"scores": {"match": {"value": "inf"}}}, "got 'inf'"),
    "twice": ({}, {"id": 1}, "item 't/1' of model 'm' again"),
}


@pytest.mark.parametrize(("changes", "sample", "message"), ERRORS.values(), ids=ERRORS)
def test_errors(tmp_path: Path, changes: dict[str, object], sample: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_inspect(log(tmp_path / "log.json", changes, **sample))


def test_deep_nesting_and_repeated_keys(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    for content, message in [("[" * 10**6, "not JSON"), ('{"a": 1, "a": 2}', "repeated key"), ("[1]", "a list of 1")]:
        path.write_text(content)
        with pytest.raises(InputError, match=message):
            read_inspect(path)


METHODS = {"stored": zipfile.ZIP_STORED, "deflate": zipfile.ZIP_DEFLATED, "zstandard": zipfile.ZIP_ZSTANDARD}


def zipped(members: dict[str, bytes], method: str = "deflate") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", METHODS[method]) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("method", METHODS)
def test_members_are_read(method: str) -> None:
    content = {"a.json": b"{}", "b/c.json": bytes(range(256)) * 100, "empty": b""}
    opened = Archive(zipped(content, method), "x.eval")
    assert {name: opened.read(name) for name in opened.members} == content


def resized(data: bytes, size: int, other: int) -> bytes:
    """An archive that states another size of its member."""
    return data.replace(struct.pack("<I", size), struct.pack("<I", other))


def encrypted(data: bytes) -> bytes:
    at = data.index(b"PK\1\2") + 8
    return data[:at] + bytes([data[at] | 1]) + data[at + 1 :]


ZSTD = zipped({"a": bytes(range(256)) * 40}, "zstandard")
BROKEN = {
    "garbage": ZSTD[:60] + bytes(40) + ZSTD[100:],
    "other size": resized(ZSTD, 256 * 40, 999),
    "a bomb that lies": resized(zipped({"a": bytes(inspect_logs.SPARE * 4)}, "zstandard"), inspect_logs.SPARE * 4, 1),
    "moved": zipped({"a": b"x" * 1000}).replace(b"PK\3\4", b"PK\3\5", 1),
    "encrypted": encrypted(zipped({"a": b"x"})),
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_broken_members(data: bytes) -> None:
    with pytest.raises(InputError, match="a zip archive that is not sound"):
        Archive(data, "x").read("a")


@pytest.mark.parametrize("method", ["deflate", "zstandard"])
def test_a_bomb_is_refused_before_it_grows(method: str) -> None:
    """One that grows beyond the bound, and one of members that do so together, since they share their bytes."""
    data = zipped({"a": bytes(inspect_logs.SPARE + 1)}, method)
    assert len(data) < 100_000
    half = zipped({"a": bytes(inspect_logs.SPARE // 2)}, method)
    start, stop = half.index(b"PK\1\2"), half.index(b"PK\5\6")
    entry, end = half[start:stop], bytearray(half[stop:])
    entries = b"".join(entry[:-1] + bytes([letter]) for letter in b"abcdefgh")
    struct.pack_into("<HHI", end, 8, 8, 8, len(entries))
    for bomb in (data, half[:start] + entries + bytes(end)):
        with pytest.raises(InputError, match="that grows from"):
            Archive(bomb, "x").read("a")


def test_the_extra_is_named_where_zstandard_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("compression.zstd", "backports.zstd.zipfile"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"probtruth\[inspect\]"):
        Archive(ZSTD, "x").read("a")


def test_logs_without_summaries_and_without_an_end(tmp_path: Path) -> None:
    header = json.dumps({"status": "success", "eval": {"task": "t", "model": "m"}}).encode()
    sample = json.dumps({"id": "q", "epoch": 1, "scores": {"s": {"value": 2}}}).encode()
    path = tmp_path / "x.eval"
    path.write_bytes(zipped({"header.json": header, "samples/q_epoch_1.json": sample}))
    assert read_inspect(path, higher_is_better=True).values.tolist() == [[2]]
    for content, message in (
        (zipped({"_journal/start.json": header}), r"without header\.json"),
        (b"PK\3\4 and no more", "not sound"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            read_inspect(path)
