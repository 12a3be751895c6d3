"""Logs and exports that were made to do harm: status 2, one message, nothing written, nothing read but the files."""

import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LONGEST_MESSAGE = 9000  # Characters: four parts of bounded length
BIG = 10_000_000
Content = Callable[[], bytes]
HEADER = {"status": "success", "eval": {"task": "quiz", "model": "m"}}


def archive(members: dict[str, bytes], links: tuple[str, ...] = ()) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = ((stat.S_IFLNK if name in links else stat.S_IFREG) | 0o644) << 16
            file.writestr(info, content)
    return stream.getvalue()


def sample(**changes: Any) -> dict[str, Any]:
    return {"id": "q1", "epoch": 1, "input": "1+1?", "target": "2", "scores": {"match": {"value": "C"}}, **changes}


def log(*samples: dict[str, Any], **header: Any) -> bytes:
    return json.dumps({**HEADER, **header, "samples": list(samples)}).encode()


def nested(depth: int, what: str = "[]") -> str:
    return what[0] * depth + what[1] * depth


LINE = '{"doc_id": 0, "filtered_resps": [], "doc_hash": "a", "acc": 1.0}'
HEAD = json.dumps(HEADER).encode()
COMPARED = {  # content is made when its test runs: some hold many megabytes
    "a bomb": ("x.eval", lambda: archive({"header.json": HEAD, "summaries.json": bytes(80 << 20)}), "that grows from"),
    "a link": (
        "x.eval",
        lambda: archive({"header.json": HEAD, "summaries.json": b"/etc/passwd"}, links=("summaries.json",)),
        "member 'summaries.json': got text that is not JSON",
    ),
    "a deep line": (
        "samples_quiz.jsonl",
        lambda: f"{LINE}\n{nested(1_000_000)}".encode(),
        "line 2: got text that is not JSON",
    ),
    "a key of ten megabytes": ("x.json", lambda: log({"x" * BIG: 1}), "expected a key 'id'"),
    "a number of a megabyte": (
        "x.json",
        lambda: log(sample(id=1)).replace(b'"id": 1', b'"id": ' + b"9" * 10**6),
        "not JSON",
    ),
    "half a character": ("x.json", lambda: log(sample(id="@")).replace(b'"@"', b'"\\ud800"'), "surrogate"),
    "bytes that are no text": ("samples_quiz.jsonl", lambda: LINE.encode() + b"\n\xff\xfe", "not UTF-8"),
}
READ = {
    "a deep export": ("x.json", lambda: nested(1_000_000).encode(), "not JSON"),
    "a label of lists": (
        "x.json",
        lambda: json.dumps(
            [{"id": "r", "fields": {}, "responses": {"q": [{"user_id": "u", "value": json.loads(nested(900))}]}}]
        ).encode(),
        "got a list of 1",
    ),
    "a key of ten megabytes": (
        "x.json",
        lambda: json.dumps([{"fields": 1, "responses": 1, "x" * BIG: 1}]).encode(),
        "'id'",
    ),
}


@pytest.mark.parametrize(("name", "content", "said"), COMPARED.values(), ids=COMPARED)
def test_hostile_logs(run, tmp_path: Path, name: str, content: Content, said: str) -> None:
    refused(run, tmp_path, name, content, said, ["compare", "--score", "acc", "--out", tmp_path / "out"])


@pytest.mark.parametrize(("name", "content", "said"), READ.values(), ids=READ)
def test_hostile_exports(run, tmp_path: Path, name: str, content: Content, said: str) -> None:
    refused(run, tmp_path, name, content, said, ["truth", "--out", tmp_path / "soft.parquet"])


def refused(run, place: Path, name: str, content: Content, said: str, words: list[object]) -> None:
    (place / name).write_bytes(content())
    for command in (words, ["check"]):
        done = run(command[0], place / name, *command[1:])
        assert done.status == 2, done
        assert "Traceback" not in done.err
        assert done.err.count("\n") == 1
        assert len(done.err) < LONGEST_MESSAGE
        assert "Hint: " in done.err
        assert said in done.err, done.err
        assert os.listdir(place) == [name]


def test_links_in_a_folder_of_logs(run, tmp_path: Path) -> None:
    """A loop of folders ends, and what is no file is not opened."""
    folder = tmp_path / "logs"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "samples_quiz.jsonl").write_text(LINE)
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "b").mkdir()
    (folder / "b" / "samples_gone.jsonl").symlink_to(tmp_path / "nowhere")
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "b" / "samples_pipe.jsonl")
    done = run("check", folder)
    assert done.status == 0, done.err
    assert "task 'quiz', 1 item: metrics" in done.out


def test_names_are_shown_and_not_obeyed(run, tmp_path: Path) -> None:
    name = "[red]x[/red]\x1b[31m"
    (tmp_path / "x.json").write_bytes(log(sample(), eval={"task": "quiz", "model": name}))
    done = run("check", tmp_path / "x.json")
    assert done.status == 0, done.err
    assert "[red]x[/red]" in done.out
    assert "\x1b" not in done.out
