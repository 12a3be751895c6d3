"""Bad input: status 2, one message that says where and what to do, no traceback, nothing written."""

import os
from pathlib import Path

import pytest


def _replace(path: Path, old: str, new: str, count: int = 1) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, count), encoding="utf-8")


def _folder(path):
    path.unlink()
    path.mkdir()


SECOND = "i2,0.6200,0.3800"
# (which file, what is done to it or what of its text becomes what, what the message must name)
BROKEN = {
    "missing file": ("sharp", Path.unlink, ["sharp.csv", "no such file"]),
    "a directory": ("sharp", _folder, ["sharp.csv", "folder"]),
    "wrong column": ("labels", ("annotator", "rater"), ["labels.csv", "annotator"]),
    "unknown label": ("labels", ("i3,bob,no", "i3,bob,maybe"), ["'maybe'"]),
    "duplicate annotation": (
        "labels", ("i3,bob,no", "i3,bob,no\ni3,bob,yes"), ["labels.csv", "line", "'i3'", "'bob'", "--replicate"]
    ),
    "NaN": ("flat", (SECOND, "i2,nan,0.3800"), ["flat.csv", "line 4", "'yes'", "nan"]),
    "no item in common": ("flat", ("\ni", "\nitem-"), ["item", "'i0'", "item-"]),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files(case, run, files, models, tmp_path):
    name, change, words = BROKEN[case]
    if isinstance(change, tuple):
        _replace(files[name], *change, count=-1 if case == "no item in common" else 1)
    else:
        change(files[name])
    out = tmp_path / "out"
    before = sorted(os.listdir(tmp_path))
    outcome = run("run", "--annotations", files["labels"], *models, "--out", out)
    _refused(outcome, words)
    assert sorted(os.listdir(tmp_path)) == before


def _refused(outcome, words):
    assert outcome.status == 2, outcome
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    for word in [*words, "expected", "Hint:"]:
        assert word.lower() in outcome.err.lower(), outcome.err


# (the words of the command, what the message must name); {..} are the files
COMMANDS = {
    "same name twice": (
        "run --annotations {labels} --predictions m={sharp} --predictions m={flat} --out {out}",
        ["model", "'m'", "more than once"],
    ),
    "no reference": ("run --predictions a={sharp} --predictions b={flat} --out {out}", ["neither", "--annotations"]),
    "two references": (
        "run --annotations {labels} --soft {sharp} --predictions a={sharp} --predictions b={flat} --out {out}",
        ["both", "--soft"],
    ),
    "no equals sign": ("run --annotations {labels} --predictions {sharp} --out {out}", ["NAME=FILE"]),
    "unknown rule": (
        "run --annotations {labels} --predictions a={sharp} --predictions b={flat} --rule brierr --out {out}",
        ["'brierr'", "Did you mean 'brier'?"],
    ),
    "an option": ("compare {scores} --rop 1 --out {out}", ["--rope"]),
    "a command": ("comapre {scores}", ["Did you mean 'compare'"]),
    "a group": ("compare {scores} --group modle --out {out}", ["Did you mean 'model'?"]),
    "a baseline": (
        "compare {scores} --lower-is-better --baseline aa --fail-if p_worse>.9 --out {out}",
        ["Did you mean 'a'?"],
    ),
    "a format": ("compare {scores} --format hlem --out {out}", ["Did you mean 'helm'?"]),
    "unknown method": ("truth {labels} --method dawid-skene-me", ["Did you mean 'dawid-skene-em'?"]),
    "method against estimand": ("truth {labels} --method majority --estimand distribution", ["'majority'", "'class'"]),
    "negative rope": ("compare {scores} --lower-is-better --rope -0.5 --out {out}", ["rope", "-0.5"]),
    "unknown engine": ("compare {scores} --lower-is-better --engine hmc --out {out}", ["engine", "'hmc'"]),
    "unknown score column": ("compare {scores} --score acuracy --out {out}", ["acuracy", "'score'"]),
    "floor too high": (
        "run --annotations {labels} --predictions a={sharp} --predictions b={flat} --floor 0.7 --out {out}",
        ["floor 0.7"],
    ),
    "out is a file": ("compare {scores} --out {scores}", ["a file", "--out"]),
    "out holds other files": ("compare {scores} --out {folder}", ["other files"]),
    "check of nonsense": ("check {sharp} {nonsense}", ["nonsense.csv"]),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_refused_commands(case, run, files, tmp_path):
    words, named = COMMANDS[case]
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").write_text("mine")
    (tmp_path / "nonsense.csv").write_text("x,y\n1,2\n")
    places = {**files, "out": tmp_path / "out", "folder": tmp_path / "folder", "nonsense": tmp_path / "nonsense.csv"}
    outcome = run(*(word.format(**places) for word in words.split()))
    assert outcome.status == 2, outcome
    assert "Traceback" not in outcome.err
    for word in named:
        assert word in outcome.err, outcome.err
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "folder" / "thesis.tex").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_unwritable_parent(run, files, tmp_path):
    parent = tmp_path / "locked"
    parent.mkdir(mode=0o500)
    outcome = run("compare", files["scores"], "--lower-is-better", "--out", parent / "out")
    _refused(outcome, ["locked"])


def test_parent_that_is_a_file(run, files):
    _refused(run("compare", files["scores"], "--lower-is-better", "--out", files["labels"] / "out"), ["labels.csv"])


def test_one_item_has_no_answer(run, tmp_path):
    table = tmp_path / "scores.csv"
    table.write_text("item,model,score\nx,a,1\nx,b,2\n")
    outcome = run("compare", table, "--lower-is-better", "--out", tmp_path / "out")
    assert outcome.status == 1
    assert "one item" in outcome.err
    assert not (tmp_path / "out").exists()


def test_a_path_that_cannot_be_read_is_no_output(run) -> None:
    """A name too long for the system: `Path.exists` raises."""
    outcome = run("check", "a" * 5000)
    assert outcome.status == 2
    assert "got file name too long, expected a file that can be read" in outcome.err
    assert len(outcome.err) < 1000


@pytest.mark.parametrize(
    "words", [["--missing", "tie"], ["--lower-is-better"], ["--cost", "tokens"], ["--memory", "2GB"]]
)
def test_votes_refuse_what_says_nothing_of_them(run, tmp_path, words) -> None:
    (tmp_path / "arena.csv").write_text("asked,who,model_a,model_b,winner\nq1,u,a,b,a\nq1,v,a,b,tie\nq3,u,a,b,a\n")
    outcome = run("compare", tmp_path / "arena.csv", *words)
    assert outcome.status == 2
    assert f"{words[0]}" in outcome.err
    assert "votes" in outcome.err
    assert "Traceback" not in outcome.err


def test_prompts_and_annotators_of_votes_are_the_named_columns(run, tmp_path) -> None:
    (tmp_path / "arena.csv").write_text("asked,who,model_a,model_b,winner\nq1,u,a,b,a\nq1,v,a,b,tie\nq3,u,a,b,a\n")
    outcome = run("compare", tmp_path / "arena.csv", "--item", "asked", "--annotator", "who")
    assert outcome.status == 0, outcome.err
    assert "Prompts compared: 2" in " ".join(outcome.out.split())
    assert "new annotators" in " ".join(outcome.out.split())


def test_votes_of_arenas_are_recognised(run, tmp_path) -> None:
    (tmp_path / "arena.csv").write_text("question,model_a,model_b,winner\nq1,a,b,model_a\nq2,a,b,tie\nq3,a,b,a\n")
    checked = run("check", tmp_path / "arena.csv")
    assert "votes on pairs of models\n  Votes: 3 votes on 2 models, 3 prompts" in checked.out
    compared = run("compare", tmp_path / "arena.csv")
    assert compared.status == 0
    said = " ".join(compared.out.split())
    assert "Share of votes for a against b, ties counted half" in said
    assert "2 models, 3 prompts, 3 votes" in said
    assert "Prompts compared: 3" in said
    as_labels = run("truth", tmp_path / "arena.csv")
    assert as_labels.status == 2
    assert "votes on pairs of models" in as_labels.err
