"""What a killed writer left beside an output is cleared by the next one; what another writes, or the user, stays."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from probtruth.io.output import swap
from probtruth.io.output.folder import whole_file, whole_folder

RESULT = json.dumps({"versions": {"probtruth": "0"}})

WRITER = """
import sys
from probtruth.io.output.folder import whole_file, whole_folder

if sys.argv[1] == "folder":
    with whole_folder(sys.argv[2]) as work:
        (work / "report.html").write_text("half")
        (work / "figures").mkdir()
        (work / "figures" / "a.svg").write_text("half")
        print("there", flush=True)
        sys.stdin.readline()
else:
    with whole_file(sys.argv[2], lambda path: True) as work:
        work.write_text("half")
        print("there", flush=True)
        sys.stdin.readline()
"""


def write(kind: str, out: Path) -> None:
    if kind == "folder":
        with whole_folder(out) as work:
            (work / "result.json").write_text(RESULT)
    else:
        with whole_file(out, lambda path: True) as work:
            work.write_text("whole")


def left_beside(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name != "out")


@pytest.mark.process
@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_killed_writer_is_cleared_up_after_and_a_living_one_is_not(tmp_path: Path, kind: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, kind, tmp_path / "out"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        (other,) = left_beside(tmp_path)
        write(kind, tmp_path / "out")
        assert left_beside(tmp_path) == [other]
        os.kill(process.pid, signal.SIGKILL)
        process.wait(60)
    write(kind, tmp_path / "out")
    assert left_beside(tmp_path) == []


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_files_of_the_user_stay(tmp_path: Path, kind: str) -> None:
    """Folders with anything but our own files, links, and names that are not quite ours."""
    name = swap.sibling(tmp_path / "out").name
    mine = tmp_path / name
    mine.mkdir()
    (mine / "report.html").write_text("ours")
    (mine / "thesis.tex").write_text("mine")
    (tmp_path / "elsewhere").mkdir()
    swap.sibling(tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    (tmp_path / ".out.backup.tmp").write_text("mine")
    (tmp_path / ".out.0123456789ab.tmp").write_text("mine")
    before = left_beside(tmp_path)
    write(kind, tmp_path / "out")
    assert left_beside(tmp_path) == before
    assert (mine / "thesis.tex").read_text() == "mine"


def test_an_earlier_result_that_was_set_aside_is_not_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between the renames of a system that cannot exchange folders: the old result has only that name."""
    write("folder", tmp_path / "out")
    monkeypatch.setattr(swap, "_exchange_at_once", lambda one, other: False)
    rename = os.rename
    renamed: list[Path] = []

    def killed_after_the_first(source: Path, target: Path) -> None:
        if renamed:
            raise KeyboardInterrupt
        renamed.append(target)
        rename(source, target)

    (tmp_path / "new").mkdir()
    monkeypatch.setattr(os, "rename", killed_after_the_first)
    with pytest.raises(KeyboardInterrupt):
        swap.exchange(tmp_path / "new", tmp_path / "out")
    monkeypatch.undo()
    write("folder", tmp_path / "out")
    assert (renamed[0] / "result.json").read_text() == RESULT
