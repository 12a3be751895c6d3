"""What the shell completes, the suggestions for misspelt words, and progress that stays off where nobody sees it."""

import io
import sys

import pytest

from probtruth.cli.console import Console


def test_scripts_for_the_shells_can_be_installed(run) -> None:
    shown = run("--help").out
    assert "--install-completion" in shown
    assert "--show-completion" in shown


MISSPELT = {
    "an option": ("compare {scores} --rop 1 --out {out}", "--rope"),
    "a command": ("comapre {scores}", "Did you mean 'compare'"),
    "a column": ("compare {scores} --score scor --out {out}", "Did you mean 'score'?"),
    "a group": ("compare {scores} --group modle --out {out}", "Did you mean 'model'?"),
    "the item": ("compare {scores} --item itme --out {out}", "Did you mean 'item'?"),
    "the annotator": ("truth {labels} --annotator anotator", "Did you mean 'annotator'?"),
    "a rule": (
        "run --annotations {labels} --predictions a={sharp} --predictions b={flat} --rule sperical --out {out}",
        "Did you mean 'spherical'?",
    ),
    "a method": ("truth {labels} --method dawid-skene-me", "Did you mean 'dawid-skene-em'?"),
    "an estimand": ("truth {labels} --estimand clas", "Did you mean 'class'?"),
    "an engine": ("compare {scores} --lower-is-better --engine nutz --out {out}", "Did you mean 'nuts'?"),
    "a kind": (
        "run --annotations {labels} --predictions a={sharp} --predictions b={flat} --kind logit --out {out}",
        "Did you mean 'logits'?",
    ),
    "a baseline": (
        "compare {scores} --lower-is-better --baseline aa --fail-if p_worse>.9 --out {out}",
        "Did you mean 'a'?",
    ),
    "a quantity": ("compare {scores} --fail-if p_wors>.9 --out {out}", "Did you mean 'p_worse'?"),
    "a label": (
        "run --annotations {labels} --predictions a={capital} --predictions b={capital} --out {out}",
        "Did you mean 'Yes'?",
    ),
    "a format": ("compare {scores} --format hlem --out {out}", "Did you mean 'helm'?"),
    "a kind of replicates": (
        "compare {scores} --lower-is-better --replicate model --replicates fold --out {out}",
        "Did you mean 'folds'?",
    ),
}


@pytest.mark.parametrize(("words", "said"), MISSPELT.values(), ids=MISSPELT)
def test_misspelt_words(run, files, tmp_path, words: str, said: str) -> None:
    capital = tmp_path / "capital.csv"
    capital.write_text(files["sharp"].read_text().replace("item,yes,no", "item,Yes,no"))
    places = {**files, "out": tmp_path / "out", "capital": capital}
    done = run(*(word.format(**places) for word in words.split()))
    assert done.status == 2, done
    assert said in done.err, done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "out").exists()


class Terminal(io.StringIO):
    """Standard error, as if somebody looked at it."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("console", "stream", "shown"),
    [
        (Console(json=False), Terminal(), True),
        (Console(json=True), Terminal(), False),
        (Console(json=False), io.StringIO(), False),
    ],
    ids=["a terminal", "json", "no terminal"],
)
def test_progress(console: Console, stream: io.StringIO, shown: bool, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with console.progress("sampling") as on_progress:
        on_progress(1, 4)
    assert ("sampling" in stream.getvalue()) == shown
    assert capsys.readouterr().out == ""
