"""Output is whole or not there; nothing of the user's is ever replaced."""

import ast
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from probtruth.errors import InputError
from probtruth.io.output import folder
from probtruth.io.output.folder import check_out, is_result, whole

RESULT = json.dumps({"versions": {"probtruth": "0"}})


def put(work: Path, text: str) -> None:
    (work / "result.json").write_text(RESULT)
    (work / "report.html").write_text(text)
    (work / "figures").mkdir()
    (work / "figures" / "ranks.svg").write_text("<svg/>")


def result(place: Path) -> Path:
    place.mkdir()
    put(place, "earlier")
    return place


def report(place: Path) -> str:
    return (place / "report.html").read_text()


def nothing_else(parent: Path, *names: str) -> None:
    assert sorted(os.listdir(parent)) == sorted(names)


@pytest.mark.parametrize("before", ["absent", "empty", "earlier"])
def test_a_folder_is_there_when_the_block_ends(tmp_path: Path, before: str) -> None:
    out = tmp_path / "a" / "out"
    if before != "absent":
        out.parent.mkdir()
        result(out) if before == "earlier" else out.mkdir()
    with whole(str(out)) as work:
        put(work, "new")
        assert out.exists() == (before != "absent")
        assert before != "earlier" or report(out) == "earlier"
    assert report(out) == "new"
    nothing_else(out.parent, "out")
    mask = os.umask(0)
    os.umask(mask)
    assert out.stat().st_mode & 0o777 == 0o777 & ~mask


def test_a_file_is_replaced_where_it_is_ours(tmp_path: Path) -> None:
    for text in ("one", "two"):
        with whole(tmp_path / "deep" / "f.parquet", lambda path: path.read_text() == "one") as work:
            work.write_text(text)
    assert (tmp_path / "deep" / "f.parquet").read_text() == "two"
    nothing_else(tmp_path / "deep", "f.parquet")


def with_file(name: str) -> Callable[[Path], object]:
    def make(place: Path) -> None:
        extra = result(place) / name
        extra.parent.mkdir(exist_ok=True, parents=True)
        extra.write_text("mine")

    return make


def with_result_json(text: str) -> Callable[[Path], object]:
    def make(place: Path) -> None:
        place.mkdir()
        (place / "result.json").write_bytes(text.encode(errors="surrogateescape"))

    return make


OTHERS = "a folder with other files"
TAKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "file": (lambda place: place.write_text("mine"), "got a file, expected a free name"),
    "link to a result": (lambda place: place.symlink_to(result(place.with_name("real"))), "a symbolic link"),
    "a link in a result": (lambda place: (result(place) / "models.csv").symlink_to("/etc/passwd"), OTHERS),
    **{
        name: (with_file(name), OTHERS)
        for name in (
            "notes.txt",
            ".hidden",
            "figures/photo.png",
            "figures/mine.svg",
            "figures/sub/ranks.svg",
            "sub/result.json",
            "RESULT.JSON",
        )
    },
    **{
        f"result.json of {text[:20]!r}": (with_result_json(text), OTHERS)
        for text in ("", "{}", "[]", "3", '{"versions": 1}', '{"versions": {}}', "[" * 100_000, "\udcff")
    },
}


def refused(parent: Path, out: object, message: str, ours: Callable[[Path], bool] | None = None) -> None:
    """Before long work and after it; the place is left as it was."""
    before = sorted(map(str, parent.rglob("*")))
    with pytest.raises(InputError, match=re.escape(message)), whole(out, ours):  # type: ignore[arg-type]
        pytest.fail("the block must not run")
    with pytest.raises(InputError, match=re.escape(message)):
        check_out(out, ours)  # type: ignore[arg-type]
    assert sorted(map(str, parent.rglob("*"))) == before


@pytest.mark.parametrize(("make", "message"), TAKEN.values(), ids=TAKEN)
def test_what_is_not_ours_stays(tmp_path: Path, make: Callable[[Path], object], message: str) -> None:
    make(tmp_path / "out")
    refused(tmp_path, tmp_path / "out", message)


def test_paths_that_cannot_be_an_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "here").mkdir()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    cases: dict[object, str] = {
        **dict.fromkeys((".", "..", "/", "../here"), "the current folder or one above it"),
        **dict.fromkeys(("", "a\0b", None, 3), "expected the path of the output"),
        "s3://bucket/out": "got an address, expected a local path",
        tmp_path / "file" / "out": "not a directory",
        tmp_path / ("a" * 300): "file name too long",
        str(tmp_path / "o\udcff"): "which is not UTF-8",
    }
    for out, message in cases.items():
        refused(tmp_path, out, message)
    refused(tmp_path, tmp_path / "file", "did not write", lambda _: False)
    refused(tmp_path, tmp_path / "other", "not a plain file", lambda _: True)
    check_out(tmp_path / "file", lambda _: True)
    (tmp_path / "here").rmdir()
    with pytest.raises(InputError, match="a current folder that is gone"):
        check_out("out")


def test_a_check_leaves_nothing_and_sees_permissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result(tmp_path / "out")
    for name in ("out", "empty", "a/b/c"):
        check_out(tmp_path / name)
    nothing_else(tmp_path, "out")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="permission denied"):
        check_out(tmp_path / "a" / "b")


def failing(out: Path, act: Callable[[Path], object], error: type[BaseException], message: str | None = None) -> None:
    """An output whose block writes, and then acts on the folder that it writes into."""

    def run() -> None:
        with whole(out) as work:
            put(work, "new")
            act(work)

    with pytest.raises(error, match=message):
        run()


class TestFailures:
    """Whatever happens in the block, nothing is left behind and the earlier result stays."""

    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError, MemoryError, BrokenPipeError])
    def test_other_errors_pass_through(self, tmp_path: Path, error: type[BaseException]) -> None:
        def stop(_: Path) -> None:
            raise error

        result(tmp_path / "out")
        for out in ("out", "a/b"):  # folders that were made go too
            failing(tmp_path / out, stop, error)
        with pytest.raises(error), whole(tmp_path / "c" / "f", lambda _: False):
            raise error
        assert report(tmp_path / "out") == "earlier"
        nothing_else(tmp_path, "out")

    @pytest.mark.parametrize(
        ("error", "reason"),
        [(OSError(errno.ENOSPC, "x"), "no space left on device"), (OSError("Unable to write"), "Unable to write")],
    )
    def test_file_system_errors_become_input_errors(self, tmp_path: Path, error: OSError, reason: str) -> None:
        result(tmp_path / "out")
        with pytest.raises(InputError, match=re.escape(f"cannot be written ({reason})")), whole(tmp_path / "out"):
            raise error
        assert report(tmp_path / "out") == "earlier"
        nothing_else(tmp_path, "out")

    @pytest.mark.parametrize("before", ["absent", "new"])
    def test_a_result_that_a_killed_run_set_aside_is_put_back(self, tmp_path: Path, before: str) -> None:
        aside = result(tmp_path / f"{folder._hidden(tmp_path / 'out')}abc{folder.ASIDE}")
        if before == "new":
            with whole(tmp_path / "out") as work:
                put(work, "new")
        else:
            check_out(tmp_path / "out")
        assert report(tmp_path / "out") == ("new" if before == "new" else "earlier")
        assert not aside.exists()
        nothing_else(tmp_path, "out")

    def test_a_user_file_that_came_while_the_block_ran_moves_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        result(tmp_path / "out")
        moved: list[Path] = []
        rename = os.rename

        def recorded(one: Path, other: Path) -> None:
            moved.append(one)
            rename(one, other)

        monkeypatch.setattr(os, "rename", recorded)
        failing(tmp_path / "out", lambda _: (tmp_path / "out" / "mine.txt").write_text("x"), InputError, "other files")
        assert tmp_path / "out" not in moved
        assert report(tmp_path / "out") == "earlier"

    @pytest.mark.parametrize("call", ["rename", "replace"])
    def test_swap_that_fails_keeps_the_earlier_result(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
    ) -> None:
        result(tmp_path / "out")

        def fails(*_: Path) -> None:
            raise OSError(errno.EIO, "x")

        failing(tmp_path / "out", lambda _: monkeypatch.setattr(os, call, fails), InputError, "cannot be written")
        assert report(tmp_path / "out") == "earlier"

    def test_what_was_written_meanwhile_is_not_lost(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A file of the user's arrives between the check and the renames."""
        result(tmp_path / "out")
        rename = os.rename

        def late(one: Path, other: Path) -> None:
            if one == tmp_path / "out":
                (tmp_path / "out" / "mine.txt").write_text("x")
            rename(one, other)

        monkeypatch.setattr(os, "rename", late)
        failing(tmp_path / "out", lambda _: None, InputError, "other files")
        assert (tmp_path / "out" / "mine.txt").read_text() == "x"
        assert report(tmp_path / "out") == "earlier"
        nothing_else(tmp_path, "out")

    def test_a_file_that_took_the_name_meanwhile_stays(self, tmp_path: Path) -> None:
        failing(tmp_path / "out", lambda _: (tmp_path / "out").write_text("mine"), InputError, "a file")
        assert (tmp_path / "out").read_text() == "mine"
        nothing_else(tmp_path, "out")


def test_runs_that_begin_and_end_at_once(tmp_path: Path) -> None:
    """Each ends with its whole result or a clear error, and one whole result is there."""
    failures: list[BaseException] = []

    def run(start: threading.Barrier, out: Path, number: int) -> None:
        try:
            start.wait(60)
            with whole(out) as work:
                put(work, str(number))
        except BaseException as error:
            failures.append(error)

    for attempt in range(20):
        start = threading.Barrier(6)
        folder = tmp_path / str(attempt)
        folder.mkdir()
        threads = [threading.Thread(target=run, args=(start, folder / "out", number)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert is_result(folder / "out")
        assert report(folder / "out") in set(map(str, range(6)))
        nothing_else(folder, "out")
    assert all(isinstance(failure, InputError) for failure in failures)


def test_no_other_run_puts_back_what_is_being_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a result was put back under its name, and left aside by the next run."""
    seen: list[str] = []
    rmtree = shutil.rmtree

    def deleted(path: Path, **options: Any) -> None:
        seen.extend(os.listdir(path.parent))
        rmtree(path, **options)

    monkeypatch.setattr(shutil, "rmtree", deleted)
    for text in ("first", "second"):
        with whole(tmp_path / "out") as work:
            put(work, text)
    assert len(seen) == 2
    assert not any(name.endswith(folder.ASIDE) for name in seen)


def test_the_names_of_the_figures_of_a_report() -> None:
    """A figure that `is_result` does not know would make a result that is never replaced."""
    source = (Path(folder.__file__).parents[2] / "report" / "contents.py").read_text()
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    figures = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Figure"]
    assert len(figures) > 5
    names = [ast.unparse(figure) for figure in figures if not isinstance(figure, ast.Name)]
    for name in [*names, "by-group", "by-annotator-group"]:
        example = name.removeprefix("f'").strip("'").replace("{place}", "12")
        assert folder._is_ours(f"figures/{example}.svg"), name


@pytest.mark.process
def test_kills_leave_a_whole_result_or_none(tmp_path: Path) -> None:
    """Processes that are killed while they replace a result over and over."""
    code = (
        "import sys; from pathlib import Path; from probtruth.io.output.folder import whole\n"
        "for _ in range(10**6):\n"
        "    with whole(sys.argv[1]) as work:\n"
        f"        (work / 'result.json').write_text({RESULT!r})\n"
        "        (work / 'report.html').write_text('new')\n"
        "    print('done', flush=True)\n"
    )
    out = tmp_path / "out"
    for kill in range(20):
        process = subprocess.Popen([sys.executable, "-c", code, str(out)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"done\n"
        time.sleep(kill / 1000)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        check_out(out)  # as the next run begins
        assert is_result(out)
        assert report(out) == "new"
