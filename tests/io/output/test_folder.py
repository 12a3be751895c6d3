"""Output is whole or not there; nothing of the user's is ever replaced."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from probtruth.errors import InputError
from probtruth.io.output.folder import check_out, is_result, whole

RESULT = json.dumps({"versions": {"probtruth": "0"}})


def put(work: Path, text: str) -> None:
    (work / "result.json").write_text(RESULT)
    (work / "report.html").write_text(text)
    (work / "figures").mkdir()
    (work / "figures" / "forest.svg").write_text("<svg/>")


def result(place: Path, text: str = "earlier") -> Path:
    place.mkdir()
    put(place, text)
    return place


def report(place: Path) -> str:
    return (place / "report.html").read_text()


def nothing_else(parent: Path, *names: str) -> None:
    assert sorted(os.listdir(parent)) == sorted(names)


class TestWhole:
    def test_absent(self, tmp_path: Path) -> None:
        with whole(tmp_path / "out") as work:
            put(work, "new")
            assert not (tmp_path / "out").exists()
        assert report(tmp_path / "out") == "new"
        nothing_else(tmp_path, "out")
        assert (tmp_path / "out").stat().st_mode & 0o777 == 0o777 & ~_umask()

    def test_absent_parents_are_made(self, tmp_path: Path) -> None:
        with whole(str(tmp_path / "a" / "b" / "out")) as work:
            put(work, "new")
        assert report(tmp_path / "a" / "b" / "out") == "new"

    def test_empty_folder(self, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        with whole(tmp_path / "out") as work:
            put(work, "new")
        assert report(tmp_path / "out") == "new"
        nothing_else(tmp_path, "out")

    def test_earlier_result(self, tmp_path: Path) -> None:
        result(tmp_path / "out")
        with whole(tmp_path / "out") as work:
            assert report(tmp_path / "out") == "earlier"
            put(work, "new")
        assert report(tmp_path / "out") == "new"
        nothing_else(tmp_path, "out")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


class TestRefused:
    """Each case leaves the place as it was."""

    def refused(self, parent: Path, out: object, message: str) -> None:
        before = sorted(map(str, parent.rglob("*")))
        with pytest.raises(InputError, match=re.escape(message)), whole(out):
            pytest.fail("the block must not run")
        if "permission" not in message:  # only some of what forbids is known before it is tried
            with pytest.raises(InputError, match=re.escape(message)):
                check_out(out)
        assert sorted(map(str, parent.rglob("*"))) == before

    def test_file(self, tmp_path: Path) -> None:
        (tmp_path / "out").write_text("mine")
        self.refused(tmp_path, tmp_path / "out", "got a file, expected a free name")

    def test_below_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("mine")
        self.refused(tmp_path, tmp_path / "file" / "out", "not a directory")

    def test_symlink(self, tmp_path: Path) -> None:
        result(tmp_path / "real")
        (tmp_path / "out").symlink_to(tmp_path / "real")
        self.refused(tmp_path, tmp_path / "out", "a symbolic link")

    @pytest.mark.parametrize("name", ["notes.txt", ".hidden", "figures/photo.png", "sub/result.json", "RESULT.JSON"])
    def test_result_with_something_else(self, tmp_path: Path, name: str) -> None:
        extra = result(tmp_path / "out") / name
        extra.parent.mkdir(exist_ok=True)
        extra.write_text("mine")
        self.refused(tmp_path, tmp_path / "out", "a folder with other files")

    def test_result_with_a_link(self, tmp_path: Path) -> None:
        (result(tmp_path / "out") / "models.csv").symlink_to("/etc/passwd")
        self.refused(tmp_path, tmp_path / "out", "a folder with other files")

    @pytest.mark.parametrize(
        "text", ["", "{}", "[]", "3", '{"versions": 1}', '{"versions": {}}', "[" * 100_000, "\udcff"]
    )
    def test_result_of_something_else(self, tmp_path: Path, text: str) -> None:
        place = tmp_path / "out"
        place.mkdir()
        (place / "result.json").write_bytes(text.encode(errors="surrogateescape"))
        assert not is_result(place)
        self.refused(tmp_path, place, "a folder with other files")

    def test_current_folder_and_those_above(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "here").mkdir()
        monkeypatch.chdir(tmp_path / "here")
        for out in (".", "..", "/", "../here"):
            self.refused(tmp_path, out, "the current folder or one above it")

    @pytest.mark.parametrize("out", ["", "a\0b", None, 3])
    def test_no_path(self, tmp_path: Path, out: object) -> None:
        self.refused(tmp_path, out, "expected the path of the output")

    def test_name_too_long(self, tmp_path: Path) -> None:
        self.refused(tmp_path, tmp_path / ("a" * 300), "file name too long")

    def test_no_permission(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def mkdir(*_: object, **__: object) -> None:
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(Path, "mkdir", mkdir)
        self.refused(tmp_path, tmp_path / "out", "an output that cannot be written (permission denied)")


class TestAskedBefore:
    def test_what_would_be_written_passes_and_leaves_nothing(self, tmp_path: Path) -> None:
        result(tmp_path / "out")
        (tmp_path / "empty").mkdir()
        for name in ("out", "empty", "a/b/c"):
            check_out(tmp_path / name)
        check_out(tmp_path / "a" / "f", lambda _: False)
        nothing_else(tmp_path, "out", "empty")

    def test_no_permission(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "access", lambda *_: False)
        for check in (check_out, lambda path: check_out(path, lambda _: True)):
            with pytest.raises(InputError, match="permission denied"):
                check(tmp_path / "a" / "b")

    def test_files_of_others(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("mine")
        check_out(tmp_path / "f", lambda _: True)
        with pytest.raises(InputError, match="did not write"):
            check_out(tmp_path / "f", lambda _: False)
        with pytest.raises(InputError, match="not a directory"):
            check_out(tmp_path / "f" / "g", lambda _: False)

    def test_the_current_folder_is_gone(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "here").mkdir()
        monkeypatch.chdir(tmp_path / "here")
        (tmp_path / "here").rmdir()
        with pytest.raises(InputError, match="a current folder that is gone"):
            check_out("out")


class TestFailures:
    """Whatever happens in the block, nothing is left behind and the earlier result stays."""

    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError, MemoryError, BrokenPipeError])
    def test_other_errors_pass_through(self, tmp_path: Path, error: type[BaseException]) -> None:
        result(tmp_path / "out")

        def run() -> None:
            with whole(tmp_path / "out") as work:
                put(work, "new")
                raise error

        with pytest.raises(error):
            run()
        assert report(tmp_path / "out") == "earlier"
        nothing_else(tmp_path, "out")

    def test_parents_that_were_made_go_too(self, tmp_path: Path) -> None:
        def run() -> None:
            with whole(tmp_path / "a" / "b") as work:
                put(work, "new")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run()
        nothing_else(tmp_path)

    @pytest.mark.parametrize(
        ("error", "reason"),
        [
            (OSError(errno.ENOSPC, "x"), "no space left on device"),
            (OSError(errno.EROFS, "x"), "read-only file system"),
            (OSError("Unable to write"), "Unable to write"),
        ],
    )
    def test_file_system_errors_become_input_errors(self, tmp_path: Path, error: OSError, reason: str) -> None:
        result(tmp_path / "out")
        with (
            pytest.raises(InputError, match=re.escape(f"cannot be written ({reason})")),
            whole(tmp_path / "out"),
        ):
            raise error
        assert report(tmp_path / "out") == "earlier"
        nothing_else(tmp_path, "out")

    @pytest.mark.parametrize("failing", ["rename", "replace"])
    def test_swap_that_fails_keeps_the_earlier_result(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
    ) -> None:
        result(tmp_path / "out")

        def fails(*_: Path) -> None:
            raise OSError(errno.EIO, "x")

        def run() -> None:
            with whole(tmp_path / "out") as work:
                put(work, "new")
                monkeypatch.setattr(os, failing, fails)

        with pytest.raises(InputError, match="cannot be written"):
            run()
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
        with pytest.raises(InputError, match="other files"), whole(tmp_path / "out") as work:
            put(work, "new")
        assert (tmp_path / "out" / "mine.txt").read_text() == "x"
        assert report(tmp_path / "out") == "earlier"
        nothing_else(tmp_path, "out")

    def test_a_file_that_took_the_name_meanwhile_stays(self, tmp_path: Path) -> None:
        def run() -> None:
            with whole(tmp_path / "out") as work:
                put(work, "new")
                (tmp_path / "out").write_text("mine")

        with pytest.raises(InputError, match="a file"):
            run()
        assert (tmp_path / "out").read_text() == "mine"
        nothing_else(tmp_path, "out")


class TestTogether:
    def test_runs_that_begin_and_end_at_once(self, tmp_path: Path) -> None:
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

    @pytest.mark.process
    def test_kills_leave_a_whole_result_or_none(self, tmp_path: Path) -> None:
        """Processes that are killed while they replace a result over and over."""
        code = (
            "import sys; from pathlib import Path; from probtruth.io.output.folder import whole\n"
            "for _ in range(10**6):\n"
            "    with whole(sys.argv[1]) as work:\n"
            f"        (work / 'result.json').write_text({RESULT!r})\n"
            "        (work / 'report.html').write_text('new')\n"
            "    print('done', flush=True)\n"
        )
        for kill in range(20):
            process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "out")], stdout=subprocess.PIPE)
            assert process.stdout is not None
            assert process.stdout.readline() == b"done\n"
            time.sleep(kill / 1000)
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
            assert not (tmp_path / "out").exists() or (
                is_result(tmp_path / "out") and report(tmp_path / "out") == "new"
            )


class TestWholeFile:
    def test_absent_and_ours(self, tmp_path: Path) -> None:
        for text in ("one", "two"):
            with whole(tmp_path / "deep" / "f.parquet", lambda path: path.read_text() == "one") as work:
                work.write_text(text)
        assert (tmp_path / "deep" / "f.parquet").read_text() == "two"
        nothing_else(tmp_path / "deep", "f.parquet")

    def test_what_probtruth_did_not_write_stays(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("mine")
        with pytest.raises(InputError, match="did not write"), whole(tmp_path / "f", lambda _: False):
            pytest.fail("the block must not run")
        assert (tmp_path / "f").read_text() == "mine"

    def test_links_and_folders_stay(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "folder")
        for name in ("folder", "link"):
            with pytest.raises(InputError, match="expected a free name"), whole(tmp_path / name, lambda _: True):
                pytest.fail("the block must not run")

    def test_failure_leaves_nothing(self, tmp_path: Path) -> None:
        def run() -> None:
            with whole(tmp_path / "a" / "f", lambda _: False) as work:
                work.write_text("half")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run()
        nothing_else(tmp_path)
