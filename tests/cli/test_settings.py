"""Options from a file: which file, what wins, what is refused, and the command that does without it."""

import json
import shlex
from pathlib import Path

import pytest

SETTINGS = """
seed = 3
engine = "exact"

[compare]
scores = ["scores.csv"]
lower-is-better = true
rope = 0.01
out = "result"
"""


@pytest.fixture
def here(files, tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "probtruth.toml").write_text(SETTINGS)
    return tmp_path


def command_in(result: Path) -> list[str]:
    """The words of the command in a report, which may stand on several lines."""
    block = (result / "report.md").read_text().split("```sh\n")[1].split("```")[0]
    return shlex.split(block.replace("\\\n", " "))


def test_a_run_without_a_word(run, here):
    done = run("compare")
    assert done.status == 0, done.err
    assert "settings from probtruth.toml" in done.err
    result = json.loads((here / "result" / "result.json").read_text())
    assert (result["seed"], result["rope"]) == (3, 0.01)


def test_the_command_line_wins(run, here):
    done = run("compare", "--rope", "0.2", "--seed", "7", "--out", "other", "--json")
    assert (done.json["seed"], done.json["rope"]) == (7, 0.2)
    assert not (here / "result").exists()


def test_the_report_names_the_file_beside_what_was_typed(run, here):
    assert run("compare", "--rope", "0.2").status == 0
    assert command_in(here / "result") == ["probtruth", "--config", "probtruth.toml", "compare", "--rope", "0.2"]


def test_tables_lists_flags_and_underscores(run, here, files):
    (here / "probtruth.toml").write_text(
        'json = true\n[run]\nannotations = "labels.csv"\nengine = "exact"\n'
        '[run.predictions]\nsharp = "sharp.csv"\nflat = "flat.csv"\n'
        '[compare]\nhigher_is_better = true\nengine = "exact"\n'
    )
    done = run("run")
    assert done.status == 0, done.err
    assert [row["model"] for row in done.json["models"]] == ["sharp", "flat"]
    assert run("compare", "scores.csv").json["higher_is_better"] is True
    assert run("compare", "scores.csv", "--lower-is-better").json["higher_is_better"] is False
    (here / "probtruth.toml").write_text("[compare]\nlower-is-better = true\nengine = 'exact'")
    assert run("compare", "scores.csv", "--json").json["higher_is_better"] is False


@pytest.mark.long
def test_pyproject_and_folders_above(run, here, monkeypatch):
    (here / "pyproject.toml").write_text('[project]\nname = "x"\n[tool.probtruth.compare]\nengine = "hmc"\n')
    assert run("compare").status == 0  # probtruth.toml is looked at first
    (here / "probtruth.toml").unlink()
    done = run("compare", "scores.csv", "--lower-is-better", "--out", "other")
    assert (done.status, "'hmc'" in done.err) == (2, True)
    (here / "pyproject.toml").write_text('[project]\nname = "x"\n')
    assert run("compare", "scores.csv", "--lower-is-better", "--out", "other", "--engine", "exact").status == 0
    (here / "probtruth.toml").write_text(SETTINGS)
    inner = here / "deep" / "down"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert run("compare").status == 2  # without a repository, only the current folder is looked at
    (here / ".git").mkdir()
    done = run("compare")
    assert done.status == 0, done.err
    assert "settings from ../../probtruth.toml" in done.err
    assert command_in(here / "result") == ["probtruth", "--config", "../../probtruth.toml", "compare"]
    named = run("--config", here / "probtruth.toml", "compare", "--out", "x", "--json")
    assert named.json["seed"] == 3


def test_off(run, here):
    done = run("--config", "off", "compare")
    assert done.status == 2
    assert "SCORES" in done.err


REFUSED = {
    "unknown key": ("sed = 1", ["probtruth.toml", "'sed'", "Did you mean 'seed'?"]),
    "unknown option": ("[compare]\nrop = 1", ["probtruth.toml, [compare]", "Did you mean 'rope'?"]),
    "unknown command": ("[comapre]\nrope = 1", ["'comapre'", "Did you mean 'compare'?"]),
    "a command that is no table": ("run = 1", ["Write a table [run]"]),
    "a number that is none": ('[compare]\nseed = "x"', ["settings from probtruth.toml", "--seed", "integer"]),
    "a flag that is none": ('[compare]\nstrict = "perhaps"', ["--strict"]),
    "a list": ("[compare]\nlower-is-better = true\nrope = [1]", ["rope '[1]'"]),
    "a date": ("[compare]\nlower-is-better = true\nrope = 2026-01-01", ["rope '2026-01-01'"]),
    "no TOML": ("rope = 1\nseed = = 2", ["no TOML", "line 2"]),
    "nested": ("x = " + "[" * 100_000, ["no TOML"]),
    "not UTF-8": (b"seed = \xff", ["no TOML"]),
}


@pytest.mark.parametrize(("text", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(run, here, text, words):
    (here / "probtruth.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = run("compare", "scores.csv", "--out", "result")
    assert done.status == 2, done
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err, done.err
    assert not (here / "result").exists()
    assert run("compare", "--help").status == 0


def test_files_of_settings_that_are_not_there(run, here):
    assert "no such file" in run("--config", "x.toml", "compare").err
    (here / "pyproject.toml").write_text("")
    assert "no table [tool.probtruth]" in run("--config", "pyproject.toml", "compare").err
    (here / "pyproject.toml").write_text("tool.probtruth = 1")
    assert "expected a table" in run("--config", "pyproject.toml", "compare").err


def test_a_column_of_costs_is_no_path(run, here, monkeypatch, files):
    """From a folder below, the column 'usd' was looked for as '../usd'."""
    rows = files["scores"].read_text().splitlines()
    (here / "priced.csv").write_text("\n".join([rows[0] + ",usd", *(row + ",2" for row in rows[1:])]))
    (here / "probtruth.toml").write_text('[compare]\nscores = ["priced.csv"]\ncost = "usd"\nlower-is-better = true\n')
    (here / "sub").mkdir()
    monkeypatch.chdir(here / "sub")
    done = run("--config", "../probtruth.toml", "compare", "--json")
    assert done.status == 0, done.err
    assert done.json["frontier"] is not None


def test_paths_are_relative_to_the_file(run, here, monkeypatch, files):
    (here / "sub").mkdir()
    (here / "about.csv").write_text("item,half\n" + "".join(f"i{n},{n % 2}\n" for n in range(24)))
    (here / "probtruth.toml").write_text(
        '[run]\nannotations = "labels.csv"\ngroups = "about.csv:half"\nengine = "exact"\nout = "result"\n'
        'predictions = ["sharp=sharp.csv", "flat=flat.csv"]\n'
    )
    monkeypatch.chdir(here / "sub")
    done = run("--config", "../probtruth.toml", "run", "--json")
    assert done.status == 0, done.err
    assert done.json["settings"]["groups"] == 2
    assert (here / "result" / "result.json").exists()


def test_a_list_of_names_is_typed_with_commas(run, here):
    """It was one name, with brackets and quotation marks, which no answer has: nothing was left out."""
    (here / "probtruth.toml").write_text('[truth]\nmissing = ["NA", -1]\n')
    (here / "votes.csv").write_text("item,annotator,label\np,ann,x\np,bob,NA\nq,ann,y\nq,bob,-1\n")
    done = run("truth votes.csv")
    assert done.status == 0, done.err
    assert "2 answers left out as missing" in done.text
