"""Fourteen everyday tasks: the first command or short script that a person writes, and the sentence that they read.

`PROBTRUTH_TRANSCRIPT=FILE pytest tests/people` writes what was typed and what was said into that file.
"""

import contextlib
import io
import os
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import made_files as made
import pytest

NEW = "new is almost certainly better than old"
MODELS = "--predictions new=new.csv --predictions old=old.csv"

# For each task: what makes its files, the command or script, and what it says.
TASKS: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "crowd labels with names of their own": (
        made.crowd,
        f"run --annotations crowd.csv --item ticket_id --annotator worker --label category {MODELS}",
        f"took the column 'ticket' as the items.*ignored 'text', 'pred'.*{NEW}",
    ),
    "a spreadsheet with decimal commas, and known labels": (
        made.spreadsheet,
        f"run --annotations known.csv {MODELS}",
        f"decimal commas.*{NEW}",
    ),
    "the probability of an event": (
        made.events,
        "run --annotations default.csv --item loan --predictions close=close.csv --predictions far=far.csv",
        "took 'p' as the probability of '1'.*close is almost certainly better than far",
    ),
    "tasks that count the same": (
        made.channels,
        "run --soft soft.parquet --predictions new=new.parquet --predictions old=old.parquet "
        "--groups about.csv:channel --weights equal --engine exact",
        NEW,
    ),
    "a leaderboard with a column a system": (
        made.leaderboard,
        "compare board.csv --item question --group subject --format wide --model large,small --score accuracy "
        "--rope 2% --engine exact",
        "large is almost certainly better than small",
    ),
    "the folder of a harness": (made.harness, "compare logs --engine exact", "large is almost certainly better than"),
    "logs of Inspect": (made.inspect, "compare logs", "large is almost certainly better than mockllm/small"),
    "an export of Label Studio": (
        made.label_studio,
        f"run --annotations export.json --item key --label topic {MODELS}",
        NEW,
    ),
    "counts of votes as ChaosNLI publishes them": (made.chaosnli, f"run --annotations nli.jsonl {MODELS}", NEW),
    "a check that stops a branch that is worse": (
        made.losses,
        "compare nightly.csv --item case --model build --score loss --baseline main --fail-if 'p_worse > 0.9'",
        "fails: p_worse of 'branch' against 'main' is 1",
    ),
    "dataframes": (made.crowd, "dataframes.py", NEW),
    "cross-validated classifiers": (made.nothing, "cross_val_predict.py", r"bayes +┆ 0\.1.*\n.*logistic +┆ 0\.1"),
    "judges on a scale": (made.stars, "judges_on_a_scale.py", r"ours +┆ theirs .*Agreement"),
}
STATUS = {"a check that stops a branch that is worse": 1}

# For each wrong input: what makes the files, the command, and what the message names: file, column, what to type.
WRONG: dict[str, tuple[Callable[[Path], None], str, tuple[str, ...]]] = {
    "columns of other names": (
        made.crowd,
        f"run --annotations crowd.csv {MODELS}",
        ("crowd.csv", "'ticket_id', 'worker', 'category'", "--item, --annotator, --label"),
    ),
    "a table with a column a system": (
        made.leaderboard,
        "compare board.csv --item question --higher-is-better",
        ("board.csv", "'large', 'small'", "--format wide --model large,small"),
    ),
    "a score that may count either way": (
        made.losses,
        "compare nightly.csv --item case --model build --score case",
        ("nightly.csv", "'case'", "--higher-is-better or --lower-is-better"),
    ),
    "a column that is not there": (
        made.losses,
        "compare nightly.csv --item case --model bild --score loss",
        ("nightly.csv", "'bild'", "--model", "Did you mean 'build'?"),
    ),
    "a percentage of a loss": (
        made.losses,
        "compare nightly.csv --item case --model build --score loss --rope 2%",
        ("'loss'", "--rope 0.0"),
    ),
    "an option twice": (
        made.losses,
        "compare nightly.csv --item case --item build --score loss",
        ("--item stands twice",),
    ),
    "files after one option": (
        made.spreadsheet,
        "run --annotations known.csv --predictions new=new.csv old=old.csv",
        ("old=old.csv", "--predictions NAME=FILE --predictions NAME=FILE"),
    ),
    "a file without a name": (
        made.spreadsheet,
        "run --annotations known.csv --predictions new.csv",
        ("'new.csv'", "--predictions new=new.csv"),
    ),
    "no labels": (made.spreadsheet, f"run {MODELS}", ("--annotations labels.csv", "--soft soft.parquet")),
    "labels as soft labels": (
        made.crowd,
        f"run --soft crowd.csv --item ticket_id {MODELS}",
        ("crowd.csv, line 3, column 'ticket_id'", "pivot it"),
    ),
    "logs as labels": (
        made.inspect,
        "run --annotations logs/large.json --predictions new=new.csv",
        ("logs/large.json", "a log of inspect", "probtruth compare"),
    ),
    "a folder that holds other files": (
        made.losses,
        "compare nightly.csv --item case --model build --score loss --out .",
        ("the current folder", "--out results"),
    ),
}


def keep(task: str, typed: str, output: str) -> None:
    """Adds to the transcript, where one is wanted."""
    if path := os.environ.get("PROBTRUTH_TRANSCRIPT"):
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(f"## {task}\n\n```\n$ {typed}\n{output.rstrip()}\n```\n\n")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS)
def test_a_task(task: str, here: Path, run: Callable[..., Any]) -> None:
    make, typed, sentence = TASKS[task]
    make(here)
    if typed.endswith(".py"):
        script = Path(__file__).with_name(typed)
        assert len(script.read_text().splitlines()) < 20
        with contextlib.redirect_stdout(io.StringIO()) as output:
            runpy.run_path(str(script))
        status, text, shown = 0, output.getvalue(), f"python {typed}"
    else:
        found = run(typed)
        status, text, shown = found.status, found.text, f"probtruth {typed}"
    keep(task, shown, text)
    assert status == STATUS.get(task, 0), text
    assert re.search(sentence, text, re.DOTALL), text


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_input(case: str, here: Path, run: Callable[..., Any]) -> None:
    make, typed, named = WRONG[case]
    make(here)
    before = sorted(path.name for path in here.rglob("*"))
    found = run(typed)
    keep(case, f"probtruth {typed}", found.text)
    assert found.status == 2, found.text
    assert "Traceback" not in found.text
    for words in named:
        assert words in found.text
    assert sorted(path.name for path in here.rglob("*")) == before
