"""Logs and exports of other tools on the command line."""

import json
import shutil
from pathlib import Path

import pytest

from probtruth.errors import InputError
from probtruth.io.tools import tool_of

FILES = Path(__file__).parents[1] / "io" / "loaders" / "files"
TOOLS = {
    "lm_eval": "lm-eval",
    "lm_eval/first": "lm-eval",
    "inspect": "inspect",
    "inspect/small_quiz.eval": "inspect",
    "inspect/small_quiz.json": "inspect",
    "helm": "helm",
    "annotations/label_studio.json": "label-studio",
    "annotations/argilla.json": "argilla",
    "annotations/prodigy.jsonl": "prodigy",
}


@pytest.fixture
def quiz(tmp_path: Path) -> Path:
    """A harness's output folder: two models, one task."""
    for path in (FILES / "lm_eval").rglob("samples_quiz_2*"):
        (tmp_path / "logs" / path.parent.name).mkdir(parents=True)
        shutil.copy(path, tmp_path / "logs" / path.parent.name)
    return tmp_path / "logs"


@pytest.mark.parametrize(("name", "tool"), TOOLS.items())
def test_tools_are_known_by_content(name: str, tool: str) -> None:
    assert tool_of(FILES / name) == tool


def test_tables_and_what_is_nothing(tmp_path: Path) -> None:
    for name, content in {"a.csv": "item,x\n", "b.jsonl": '{"item": 1}\n', "c.jsonl": "{", "d.jsonl": ""}.items():
        (tmp_path / name).write_text(content)
        assert tool_of(tmp_path / name) is None
    (tmp_path / "e.json").write_text("{}")
    with pytest.raises(InputError, match="JSON of no tool that is known"):
        tool_of(tmp_path / "e.json")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="a folder without logs"):
        tool_of(tmp_path / "empty")
    (tmp_path / "logs").mkdir()
    shutil.copy(FILES / "inspect" / "small_quiz.json", tmp_path / "logs")
    assert tool_of(tmp_path / "logs") == "inspect"


def test_compare_a_folder_and_named_files(run, quiz) -> None:
    done = run("compare", quiz, "--score", "acc", "--engine", "exact", "--json")
    assert done.status == 0, done.err
    assert ([row["model"] for row in done.json["models"]], done.json["rule"]) == (["first", "second"], "acc")
    assert done.json["higher_is_better"] is True
    words = [f"{name}={next((quiz / folder).iterdir())}" for name, folder in (("x", "first"), ("y", "second"))]
    other = run("compare", *words, "--score", "acc", "--engine", "exact", "--json")
    assert {row["model"] for row in other.json["models"]} == {"x", "y"}


def test_compare_inspect_helm_and_a_wide_table(run, tmp_path) -> None:
    logs = [FILES / "inspect" / f"{name}_quiz.eval" for name in ("small", "large")]
    done = run("compare", *logs, "--score", "match", "--engine", "exact", "--json")
    assert done.json["pairwise"][0]["difference"] == 0.25
    done = run("compare", FILES / "helm", "--score", "exact_match", "--engine", "exact", "--json")
    assert done.json["pairwise"][0]["difference"] == 0.25
    (tmp_path / "wide.csv").write_text("item,x,y\n" + "".join(f"{n},{n % 3},{n % 2}\n" for n in range(9)))
    words = ("--higher-is-better", "--format", "wide", "--engine", "exact", "--json")
    done = run("compare", tmp_path / "wide.csv", *words)
    assert {row["model"] for row in done.json["models"]} == {"x", "y"}


def test_run_on_the_choices_of_a_harness(run, quiz, tmp_path) -> None:
    words = [word for name in ("first", "second") for word in ("--predictions", f"{name}={quiz / name}")]
    done = run("run", *words, "--engine", "exact", "--json", "--out", tmp_path / "out")
    assert done.status == 0, done.err
    assert (done.json["rule"], done.json["truth"]["n_labels"]) == ("log", 4)
    assert run("run", *words, "--truth", "majority", "--out", tmp_path / "x").status == 2


def test_annotations_of_a_tool(run, tmp_path) -> None:
    done = run(
        "truth", FILES / "annotations" / "label_studio.json", "--label", "mood", "--method", "majority", "--json"
    )
    assert done.status == 0, done.err
    assert run("truth", FILES / "annotations" / "prodigy.jsonl", "--method", "majority").status == 0


def test_check(run) -> None:
    done = run("check", *(FILES / name for name in TOOLS), "--label", "mood")
    assert done.status == 2
    assert "'sentiment'" in done.err  # of Argilla's export; the others are said all the same
    assert "label-studio export" in done.out
    names = [name for name in TOOLS if "argilla" not in name and "prodigy" not in name]
    done = run("check", *(FILES / name for name in names), "--label", "mood")
    assert done.status == 0, done.err
    assert "lm_eval: lm-eval log\n  2 models: 'first', 'second'\n" in done.out
    assert ": metrics 'acc', 'acc_norm'\n" in done.out
    assert ": metrics 'exact_match'; filters 'strict', 'loose'\n" in done.out
    assert "  choose with --score, --task, --metric, --filter\n" in done.out
    assert ": metrics 'exact_match', 'num_prompt_tokens'\n" in done.out
    assert "label-studio export\n  Annotations: 3 annotations of 2 items by 2 annotators; labels" in done.out


def test_check_reads_cells_as_run_does(run, files, tmp_path) -> None:
    path = tmp_path / "percent.csv"
    path.write_text("item,yes,no\n" + "".join(f"i{n},{25.5 + n},{74.5 - n}\n" for n in range(24)))
    refused = run("check", files["labels"], path)
    assert "pass --kind percent" in refused.err
    done = run("check", files["labels"], path, "--kind", "percent")
    assert "percent.csv: probabilities (predictions or soft labels)\n" in done.out
    assert "on 24 items; labels 'no', 'yes'" in done.out


def test_how_scores_were_read_is_said(run, tmp_path) -> None:
    """1,234 in a file with semicolons is 1.234: `compare` read it so in silence."""
    rows = [f"q{n};{name};{n},{n}{place}" for n in range(5) for place, name in enumerate("ab")]
    path = tmp_path / "s.csv"
    path.write_text("\n".join(["q;system;score", *rows]))
    columns = ["--item", "q", "--model", "system"]
    compared = run("compare", path, *columns, "--lower-is-better")
    checked = run("check", path, *columns)
    for output in (compared.err, checked.out):
        assert "s.csv: read 'score' with decimal commas" in output
    assert "2 models ('a', 'b') on 5 items" in checked.out


def test_votes_under_other_names_are_answered_by_the_options_that_name_them(run, files, tmp_path) -> None:
    path = tmp_path / "votes.csv"
    header, *rows = files["labels"].read_text().splitlines()
    assert header == "item,annotator,label"
    timed = [f"{row},{place % 7}.{place}" for place, row in enumerate(rows)]  # times are no names of items
    path.write_text("\n".join(["tweet,worker_id,sentiment,seconds", *timed]))
    for words in ((), ("--item", "tweet")):
        refused = run("check", path, *words)
        assert "expected annotations (columns 'item', 'annotator', 'label'" in refused.err
        assert "For scores, name the columns with --item, --model, --score" in refused.err
        assert "the columns 'tweet', 'worker_id', 'sentiment', 'seconds'" in refused.err
        assert "(command line: --item, --annotator, --label)" in refused.err
    named = run("check", path, "--item", "tweet", "--annotator", "worker_id", "--label", "sentiment")
    assert named.status == 0


def test_check_goes_on_after_a_fault(run, files, tmp_path) -> None:
    (tmp_path / "x.csv").write_text("itm,x\n1,2\n")
    done = run("check", tmp_path / "x.csv", files["labels"], tmp_path / "none.csv")
    assert done.status == 2
    assert "labels.csv: annotations, long form" in done.out
    assert "Did you mean 'itm'?" in done.err
    assert "none.csv: got no such file" in done.err
    assert len(run("check", tmp_path / "x.csv", files["labels"], "--json").json["faults"]) == 1


ERRORS = {
    "two tools": (["lm_eval", "helm"], "files of lm-eval and of helm"),
    "annotations": (["annotations/prodigy.jsonl"], "an export of prodigy, expected scores"),
    "metric": (["inspect/small_quiz.eval"], "Choose one: scorer='includes' (command line: --score includes)."),
    "metric by task": (["lm_eval", "--score", "exact_match"], "--metric quiz=acc), or none"),
    "wrong filter": (["lm_eval", "--filter", "lose"], "Did you mean 'loose'?"),
    "wrong filter of a task": (["lm_eval", "--filter", "say=lose"], "Did you mean 'loose'?"),
    "wrong task": (["lm_eval", "--task", "quizz"], "Did you mean 'quiz'?"),
    "task of none": (["inspect/small_quiz.eval", "--task", "x"], "--task with files of inspect"),
    "filter of none": (["inspect/small_quiz.eval", "--filter", "x"], "--filter with files of inspect"),
    "columns": (["inspect/small_quiz.eval", "--group", "x"], "--group with files of inspect"),
    "missing": (["none.jsonl"], "no such file"),
    "one named": (["lm_eval", "x=lm_eval"], "without a name"),
}


@pytest.mark.parametrize(("words", "message"), ERRORS.values(), ids=ERRORS)
def test_errors(run, monkeypatch, tmp_path, words: list[str], message: str) -> None:
    monkeypatch.chdir(FILES)
    done = run("compare", *words, "--out", tmp_path / "out")
    assert done.status == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_wide_annotations(run, tmp_path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("id,ann,bob,note\n" + "".join(f"{n},{'yes' if n % 2 else 'no'},yes,x{n}\n" for n in range(8)))
    options = ["--format", "wide", "--annotator", "ann,bob", "--item", "id", "--method", "vote-share", "--json"]
    done = run("truth", path, *options)
    assert done.status == 0, done.err
    assert done.json["marginals"] == {"no": 0.25, "yes": 0.75}
    done = run("truth", path, "--item", "id")
    assert (done.status, "--format wide" in done.err) == (2, True)
    done = run("truth", path, "--item", "id", "--format", "wide", "--annotator", "ann,bbo")
    assert "Did you mean 'bob'?" in done.err


def test_the_printed_result_says_what_was_left_out(run, quiz, tmp_path) -> None:
    path = next((quiz / "first").iterdir())
    path.write_text("\n".join(path.read_text().splitlines()[1:]))
    done = run("compare", quiz, "--score", "acc", "--engine", "exact", "--out", tmp_path / "out")
    assert "6 items 'first' lacks 1" in " ".join(done.out.split())
    assert "Items compared: 6" in (tmp_path / "out" / "report.md").read_text().replace("\\", "")


def test_votes_in_one_cell_are_recognised(run, tmp_path) -> None:
    rows = [
        {"uid": f"q{n}", "label_counter": {"e": 5 + n, "c": 5 - n}, "label_count": [5 + n, 5 - n]} for n in range(5)
    ]
    (tmp_path / "chaos.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    checked = run("check", tmp_path / "chaos.jsonl").out
    assert "chaosnli export\n  Annotations: counts of 50 annotations of 5 items; labels" in checked
    models = []
    for name, shift in (("a", 0.05), ("b", -0.05)):
        lines = [f"q{n},{0.5 + n / 10 + shift:.2f},{0.5 - n / 10 - shift:.2f}" for n in range(5)]
        (tmp_path / f"{name}.csv").write_text("item,e,c\n" + "\n".join(lines) + "\n")
        models += ["--predictions", f"{name}={tmp_path / name}.csv"]
    done = run("run", "--annotations", tmp_path / "chaos.jsonl", *models, "--engine", "exact", "--json")
    assert done.status == 0, done.err
    assert done.json["truth"]["n_items"] == 5


def test_check_takes_the_one_column_of_text_as_the_items_of_predictions(run, tmp_path) -> None:
    (tmp_path / "own.csv").write_text("question,yes,no\nq1,0.4,0.6\nq2,0.3,0.7\n")
    outcome = run("check", tmp_path / "own.csv", "--json")
    assert outcome.status == 0, outcome.err
    (row,) = outcome.json["files"]
    assert row["kind"].startswith("probabilities")
    assert row["holds"][0].endswith("on 2 items; labels 'no', 'yes'")
    assert "took the column 'question' as the items" in row["holds"]
    (tmp_path / "twice.csv").write_text("question,text,yes,no\nq1,a,0.4,0.6\nq2,b,0.3,0.7\n")
    assert run("check", tmp_path / "twice.csv").status == 2  # which of the two is not known


@pytest.mark.parametrize(
    ("table", "of_models"),
    [
        ("q,ours,theirs\n1,0.5,0.9\n2,0.25,0.5\n", True),
        ("q,yes,no\n1,2,1\n2,1,2\n", False),
        ("q,f1\n1,0.5\n2,0.25\n", False),
    ],
)
def test_check_proposes_models_where_columns_can_be_theirs(run, tmp_path, table: str, of_models: bool) -> None:
    path = tmp_path / "table.csv"
    path.write_text(table)
    for words in ([], ["--item", "q"]):
        assert ("If its columns are models" in run("check", path, *words).err) is (of_models and bool(words))
