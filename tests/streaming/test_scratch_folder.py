"""Nothing of the user's goes with the unfinished work of a streamed run."""

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import polars
import pytest

import probtruth as pt
from probtruth.io.output.swap import HELD, clear_held
from probtruth.io.tables.batches import LEAST
from probtruth.streaming.scratch_folder import LOCK, temporary_folder

N_ITEMS = 2 * LEAST + 7
LABELS = ["yes", "no"]


class Stop(Exception):
    """What an interruption is here."""


@pytest.fixture
def files(tmp_path):
    """Two models' predictions, the truth, and a long table of scores."""
    rng = np.random.default_rng(11)
    names = [f"q{item}" for item in range(N_ITEMS)]
    for model in "ab":
        probs = rng.dirichlet([2, 1], N_ITEMS)
        polars.DataFrame({"item": names, **dict(zip(LABELS, probs.T, strict=True))}).write_parquet(
            tmp_path / f"{model}.parquet"
        )
    tables = [
        polars.DataFrame({"item": names, "model": [model] * N_ITEMS, "score": rng.gamma(2, 1, N_ITEMS)})
        for model in "ab"
    ]
    polars.concat(tables).write_parquet(tmp_path / "table.parquet")
    return tmp_path


def streamed(command, folder, scratch, **more):
    """One of the three commands that stream, with its working state in `scratch`."""
    names = [f"q{item}" for item in range(N_ITEMS)]
    probs = np.random.default_rng(12).dirichlet([2, 1], N_ITEMS)
    truth = pt.Truth.from_probs(probs, items=names, labels=LABELS)
    paths = {model: folder / f"{model}.parquet" for model in "ab"}
    if command == "evaluate":
        return pt.evaluate(truth, paths, memory=1, engine="exact", scratch=scratch, **more)
    if command == "score":
        return pt.score(paths, truth, out=folder / "scores.parquet", memory=1, scratch=scratch, **more)
    return pt.compare(
        folder / "table.parquet", memory=1, engine="exact", higher_is_better=False, scratch=scratch, **more
    )


def interrupted(command, folder, scratch):
    """Unfinished work of that command."""

    def stop(done, total):
        if done == 2:
            raise Stop

    with pytest.raises(Stop):
        streamed(command, folder, scratch, on_progress=stop)


def contents(folder):
    """Every path below the folder and the bytes of every file."""
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in sorted(folder.rglob("*"))
    }


COMMANDS = ("evaluate", "score", "compare")


def refused(command, files, scratch, match):
    before = contents(files)
    with pytest.raises(pt.InputError, match=match):
        streamed(command, files, scratch)
    assert contents(files) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_with_files_of_the_user_is_refused(files, command):
    mine = files / "precious"
    (mine / "deep").mkdir(parents=True)
    (mine / "deep" / "thesis.tex").write_text("years of work")
    refused(command, files, mine, "other files")
    (mine / "deep" / "thesis.tex").unlink()
    refused(command, files, mine, "other files")  # a folder of the user's without files in it


@pytest.mark.parametrize("name", ["settings.json", "losses-0", "asked", "scores"])
def test_a_file_with_a_name_that_a_run_uses_is_no_mark(files, name):
    mine = files / "precious"
    mine.mkdir()
    (mine / name).write_text("mine")
    refused("evaluate", files, mine, "other files")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_symbolic_link_is_refused(files, command):
    mine = files / "precious"
    mine.mkdir()
    (files / "link").symlink_to(mine)
    refused(command, files, files / "link", "symbolic link")
    (files / "dangling").symlink_to(files / "nowhere")
    refused(command, files, files / "dangling", "symbolic link")


def test_links_within_are_not_followed(files):
    mine, scratch = files / "mine", files / "scratch"
    mine.mkdir()
    (mine / "losses-0").write_text("mine")
    interrupted("evaluate", files, scratch)
    (scratch / "other").symlink_to(mine)
    refused("evaluate", files, scratch, "'other'")
    (scratch / "other").unlink()
    (scratch / "asked" / "losses-1").unlink(missing_ok=True)
    (scratch / "asked" / "losses-1").symlink_to(mine / "losses-0")
    refused("evaluate", files, scratch, "'asked'")


def test_the_current_folder_and_those_above_are_refused(files, monkeypatch):
    (files / "here").mkdir()
    monkeypatch.chdir(files / "here")
    (files / "to-here").symlink_to(files / "here")
    for scratch in (".", "..", files / "here", "/", files / "to-here"):
        refused("evaluate", files, scratch, "current folder")


def test_a_file_is_refused(files):
    refused("evaluate", files, files / "table.parquet", "a file")


def test_an_earlier_result_with_one_file_added_is_refused(files):
    pt.write_report(streamed("evaluate", files, None), files / "out")
    refused("evaluate", files, files / "out", "other files")
    (files / "out" / "notes.txt").write_text("mine")
    refused("evaluate", files, files / "out", "other files")


@pytest.mark.parametrize("inner", ["", "asked"])
def test_unfinished_work_with_one_file_added_is_refused(files, inner):
    interrupted("evaluate", files, files / "scratch")
    (files / "scratch" / inner / "notes.txt").write_text("mine")
    refused("evaluate", files, files / "scratch", "other files")


@pytest.mark.parametrize("inner", ["", "asked"])
def test_a_file_added_while_a_run_works_stays(files, inner):
    scratch = files / "scratch"

    def add(done, total):
        (scratch / inner / "notes.txt").write_text("mine")

    streamed("evaluate", files, scratch, on_progress=add)
    assert {name: text for name, text in contents(scratch).items() if text is not None} == {
        str(Path(inner) / "notes.txt"): b"mine"
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_unfinished_work_of_an_earlier_run_is_taken_up_and_goes(files, command):
    want = streamed(command, files, None)
    interrupted(command, files, files / "scratch")
    assert (files / "scratch" / "probtruth-unfinished.json").is_file()
    again = streamed(command, files, files / "scratch")
    assert not (files / "scratch").exists()
    of = {"evaluate": lambda made: made.to_dict(), "score": lambda made: made.means, "compare": lambda made: made.pairs}
    assert repr(of[command](again)) == repr(of[command](want))


def test_an_empty_folder_of_the_user_is_used_and_stays(files):
    (files / "mine").mkdir()
    streamed("evaluate", files, files / "mine")
    assert list((files / "mine").iterdir()) == []
    interrupted("evaluate", files, files / "mine")
    streamed("evaluate", files, files / "mine")
    assert list((files / "mine").iterdir()) == []


def test_input_that_is_refused_leaves_no_folder(files):
    one = files / "one.parquet"
    polars.read_parquet(files / "table.parquet").filter(polars.col("model") == "a").write_parquet(one)
    with pytest.raises(pt.InputError, match="one model only"):
        pt.compare(one, memory=1, scratch=files / "scratch", higher_is_better=False)
    assert not (files / "scratch").exists()


@pytest.mark.parametrize("scratch", ["", "a\0b", 3, b"scratch"])
def test_what_is_no_folder(files, scratch):
    with pytest.raises(pt.InputError, match="scratch="):
        streamed("evaluate", files, scratch)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The system's folder of temporary files."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


def with_losses(folder):
    """The temporary folder of a run that has begun."""
    (folder / "asked").mkdir()
    (folder / "asked" / "losses-0").write_bytes(b"12345678")
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_without_a_folder_of_its_own_leaves_nothing(files, temporary, command):
    streamed(command, files, None)
    interrupted(command, files, None)
    assert (list(temporary.iterdir()), HELD) == ([], {})


def test_others_cannot_read_a_temporary_folder(temporary):
    with temporary_folder() as folder:
        assert folder.parent == temporary
        assert os.name == "nt" or folder.stat().st_mode & 0o777 == 0o700


def test_what_a_killed_run_left_goes_with_the_next_one_and_nothing_else_does(temporary):
    """A copy of a folder is as a run leaves it that was killed: signed, and locked by nobody."""
    mine = temporary / "probtruth-thesis"
    with temporary_folder() as one:
        left = shutil.copytree(with_losses(one), temporary / "probtruth-killed")
        shutil.copytree(one, mine)
        (mine / "thesis.tex").write_text("years of work")
        starting = shutil.copytree(one, temporary / "probtruth-starting")
        os.truncate(starting / LOCK, 0)  # made, and not locked yet
        (temporary / "probtruth-link").symlink_to(one)
        (temporary / "probtruth-file").touch()
        before = contents(temporary)
        with temporary_folder() as other:
            new = {str(path.relative_to(temporary)) for path in (other, *other.iterdir())}
            gone = {name for name in before if name.startswith(left.name)}
            assert before.keys() - gone | new == contents(temporary).keys()
    assert not one.exists()


def test_a_process_that_ends_within_clears_its_temporary_folders(temporary):
    with temporary_folder() as one, temporary_folder() as other:
        with_losses(one)
        with_losses(other)
        clear_held()
        assert list(temporary.iterdir()) == []
