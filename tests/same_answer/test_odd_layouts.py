"""Layouts that are odd but plausible: the same answer as of the plain one, or a refusal that says what to do."""

import json
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.csv
import pytest
import xarray

import probtruth as pt

RNG = np.random.default_rng(11)
ITEMS = [f"i{number}" for number in range(24)]
VOTES = pd.DataFrame(
    {"item": np.repeat(ITEMS, 3), "annotator": ["p", "q", "r"] * 24, "label": RNG.choice(["n", "y"], 72)}
)


def predicted(items: Any = ITEMS) -> pd.DataFrame:
    event = RNG.uniform(0.1, 0.9, len(items))
    return pd.DataFrame({"item": items, "n": 1 - event, "y": event})


MODELS = {"a": predicted(), "b": predicted()}
SCORES = pd.DataFrame({"item": ITEMS * 2, "model": ["a"] * 24 + ["b"] * 24, "score": RNG.random(48).round(3)})


def written(path: Path, frame: pd.DataFrame, **how: Any) -> str:
    frame.to_csv(path, index=False, **how)
    return str(path)


def test_weights_of_groups_that_unconnected_models_lack() -> None:
    """'group g1, expected one of g0' was said of a group that is there; equal weights counted fewer groups."""
    apart = SCORES[(SCORES.model == "a") == SCORES["item"].isin(ITEMS[:12])]
    groups = {item: "g0" if item in ITEMS[:12] else "g1" for item in ITEMS}
    scores = pt.read_scores(apart, higher_is_better=True)
    for weights in ({"g0": 0.3, "g1": 0.7}, "equal"):
        with pytest.raises(pt.InputError, match="no item of group 'g1' with a score of model 'a'"):
            pt.compare(scores, groups=groups, weights=weights)  # pyright: ignore[reportArgumentType]
    assert pt.compare(scores, groups=groups, engine="exact").warnings


@pytest.mark.parametrize("name", ["prob", "Inclusion_Probability", "sampling-prob"])
def test_inclusion_probabilities_under_another_name(name: str) -> None:
    """The column was ignored without a word, and the answers were taken for a uniform sample."""
    gold = pd.DataFrame({"item": ITEMS[:12], "label": ["n", "y"] * 6, name: np.linspace(0.2, 0.8, 12)})
    with pytest.raises(pt.InputError, match=r"Rename it 'probability' \(command line: --gold FILE:"):
        pt.evaluate(VOTES, MODELS, gold=gold, engine="exact")
    assert pt.evaluate(VOTES, MODELS, gold=gold.rename(columns={name: "probability"}), engine="exact").warnings


@pytest.mark.parametrize(
    "names",
    [
        [Fraction(number, 7) for number in range(24)],
        [Decimal(number) / 4 for number in range(24)],
        [Decimal(f"{number}.50") for number in range(24)],
    ],
)
def test_fractions_and_decimals_as_names(names: list[Any]) -> None:
    """In a dict Fraction(1, 2) was '1/2', in a column '0.5'; as a group Decimal('2.50') was not Decimal('2.5')."""
    hard = dict(zip(names, ["n", "y"] * 12, strict=True))
    models = {model: frame.assign(item=names) for model, frame in MODELS.items()}
    wanted = pt.evaluate(dict(zip(ITEMS, ["n", "y"] * 12, strict=True)), MODELS, engine="exact")
    groups = {name: names[number % 2] for number, name in enumerate(names)}
    weights: Any = {names[0]: 0.5, names[1]: 0.5}
    made = pt.evaluate(hard, models, groups=groups, weights=weights, engine="exact")
    assert made.scores.values.mean(1) == pytest.approx(wanted.scores.values.mean(1), abs=1e-12)
    in_frame = pt.compare(made.scores, groups=pd.Series(groups), weights=weights, engine="exact")
    assert in_frame.by_group().rows() == made.comparison.by_group().rows()


def test_percentages_of_several_labels() -> None:
    """The advice was an option of the command line that this function does not have."""
    votes = VOTES.assign(toxic=(VOTES.label == "y").astype(int))
    models = {model: frame.assign(toxic=100 * frame.y) for model, frame in MODELS.items()}
    with pytest.raises(pt.InputError, match=r"Convert percentages \(x / 100\) or, where one label"):
        pt.evaluate_labels(votes, models, ["toxic"])


def test_a_log_of_openai_evals(tmp_path: Path) -> None:
    """'Give every line the same keys' was the advice."""
    rows = [{"spec": {"completion_fns": ["gpt-4"]}}, {"sample_id": "t.1", "type": "match", "data": {"correct": True}}]
    path = tmp_path / "evals.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    for read in (pt.compare, pt.read_annotations, pt.read_scores, lambda path: pt.compare({"a": path, "b": path})):
        with pytest.raises(pt.InputError, match=r"a log of OpenAI Evals.*sample_id as item"):
            read(path)


TURKED = pd.DataFrame(
    {
        "HITId": VOTES["item"],
        "HITTypeId": "t",
        "WorkerId": VOTES["annotator"],
        "AssignmentStatus": "Submitted",
        "Input.text": "some text",
        "Answer.is it good?": VOTES["label"],
    }
)


def test_batches_of_mechanical_turk(tmp_path: Path, run: Any) -> None:
    """The message proposes the call that reads them."""
    columns = {"item": "HITId", "annotator": "WorkerId", "label": "Answer.is it good?"}
    said = ", ".join(f"{role}={name!r}" for role, name in columns.items())
    path = written(tmp_path / "batch.csv", TURKED)
    with pytest.raises(pt.InputError) as refused:
        pt.read_annotations(path)
    assert f"Perhaps {said}" in str(refused.value)
    wanted = pt.read_annotations(VOTES)
    assert pt.read_annotations(path, **columns).counts().tolist() == wanted.counts().tolist()
    assert "--item HITId --annotator WorkerId --label 'Answer.is it good?'" in run(f"check {path}").text
    for unsure in (TURKED.assign(**{"Answer.why": "so"}), TURKED.drop(columns="WorkerId"), pd.concat([TURKED, TURKED])):
        with pytest.raises(pt.InputError, match="Name the columns with item="):
            pt.read_annotations(unsure)


def test_single_judgements_of_mt_bench(tmp_path: Path, run: Any) -> None:
    """Each message names the next option, to the one that reads them."""
    judged = SCORES.rename(columns={"item": "question_id"}).assign(judge="gpt-4")
    turns = pd.concat([judged.assign(turn=1), judged.assign(turn=2, score=judged.score / 2)])
    path = tmp_path / "single.jsonl"
    turns.to_json(path, orient="records", lines=True)
    line = f"compare {path} --higher-is-better"
    assert "Perhaps item='question_id' (command line: --item question_id)" in run(line).text
    assert "replicate=..." in run(f"{line} --item question_id").text
    found = run(f"{line} --item question_id --replicate turn --json").json["models"]
    assert {row["model"]: row["score"] for row in found} == pytest.approx(
        dict(0.75 * SCORES.groupby("model").score.mean()), abs=1e-9
    )


MARKED = {
    "63.7%": "without the percent sign \\(63.7\\)",
    "1,637.0": "thousands \\(1637.0\\)",
    "0,5": "points \\(0.5\\)",
}


@pytest.mark.parametrize("cell", MARKED)
def test_numbers_for_readers(cell: str, tmp_path: Path, run: Any) -> None:
    """'Check that cell; --missing leaves out what says that there is no score'; a board without these columns."""
    long = SCORES.assign(accuracy=cell).drop(columns="score")
    wide = long.pivot(index="item", columns="model", values="accuracy").reset_index()
    board = long.pivot(index="model", columns="item", values="accuracy").reset_index().assign(x=0.5, y=0.25)
    each = {model: part.drop(columns="model") for model, part in long.groupby("model")}
    ways: dict[str, Any] = {
        "long": lambda: pt.read_scores(long, score="accuracy"),
        "wide": lambda: pt.read_scores(wide, models=["a", "b"], score="accuracy"),
        "board": lambda: pt.read_scores(board, score="accuracy"),
        "each": lambda: pt.read_scores(each, score="accuracy"),
        "probs": lambda: pt.read_predictions({"a": MODELS["a"].assign(n=cell, y=cell)}),
        "event": lambda: pt.evaluate(VOTES, {"a": MODELS["a"][["item"]].assign(y=cell)}),
        "long file": lambda: pt.read_scores(written(tmp_path / "l.csv", long), score="accuracy"),
        "board file": lambda: pt.compare(pt.read_scores(written(tmp_path / "b.csv", board), score="accuracy")),
    }
    for way, read in ways.items():
        with pytest.raises(pt.InputError, match=MARKED[cell]):
            print(way, read())
    text = run(f"compare {written(tmp_path / 'w.csv', wide)}").text
    assert "--format wide" in text
    assert MARKED[cell].replace("\\", "") in run(f"compare {tmp_path / 'w.csv'} --format wide --higher-is-better").text


ORIENTS = ("split", "index", "columns", "values", "table")


def test_json_of_pandas(tmp_path: Path) -> None:
    """Objects one a line were refused under the extension .json; the message says which orient is a table."""
    wanted = pt.read_scores(SCORES, higher_is_better=True)
    for more in ({}, {"lines": True}):
        for suffix in ("json", "jsonl") if more else ("json",):
            path = tmp_path / f"t{len(more)}.{suffix}"
            SCORES.to_json(path, orient="records", **more)
            made = pt.read_scores(path, higher_is_better=True)
            assert np.array_equal(made.values, wanted.values)
    for orient in ORIENTS:
        path = tmp_path / f"{orient}.json"
        SCORES.to_json(path, orient=orient)  # pyright: ignore[reportArgumentType, reportCallIssue]
        with pytest.raises(pt.InputError, match=r"to_json\(path, orient='records'\)"):
            pt.read_scores(path, higher_is_better=True)


def test_text_below_decimal_commas_under_memory(tmp_path: Path) -> None:
    """Names became those of numbers in the first part of a file only: whole items were lost."""
    n = 70_000
    lines = [f"{row // 2},5;{'ab'[row % 2]};0,{row % 9}" for row in range(n - 2)]
    path = tmp_path / "late.csv"
    path.write_text("\n".join(["item;model;score", *lines, "last;a;0,1", "last;b;0,2"]))
    assert pt.read_scores(path, higher_is_better=True).items[0] == "0,5"
    with pytest.raises(pt.InputError, match=r"line 70000, column 'item': got 'last' below numbers with decimal"):
        pt.read_scores(path, higher_is_better=True, memory=1000)


def test_many_columns_are_told_by_the_same_rows_under_memory(tmp_path: Path) -> None:
    """A table of more than 650 columns was told by 100 rows where memory is short, else by 10,000."""
    names = [f"l{number}" for number in range(700)]
    rows = pd.DataFrame(np.full((150, 700), 1 / 700), columns=names).assign(item=[f"i{row}" for row in range(150)])
    rows["length"] = [0] * 120 + [9] * 30  # which is a label with the probability 0 by the first rows
    path = written(tmp_path / "m.csv", rows)
    labels = dict(zip(rows["item"], names[:150], strict=True))
    plain, on_disk = (
        pt.evaluate(labels, {"m": path}, labels=names, memory=memory, engine="exact") for memory in (None, 1000)
    )
    assert np.array_equal(plain.scores.values, on_disk.scores.values)


def test_one_model_has_no_pairs(tmp_path: Path, run: Any) -> None:
    """pairwise.csv was a blank line; `--fail-if inconclusive` passed; two models were to be named where one is."""
    votes = written(tmp_path / "votes.csv", VOTES)
    model = written(tmp_path / "a.csv", MODELS["a"])
    files = f"--annotations {votes} --predictions a={model}"
    assert run(f"run {files} --out {tmp_path / 'out'}").status == 0
    pairs = pd.read_csv(tmp_path / "out" / "pairwise.csv")
    assert len(pairs) == 0
    both = pt.evaluate(VOTES, MODELS, engine="exact").comparison.pairwise()
    assert [*pairs.columns] == both.columns
    for condition in ("inconclusive", "p_worse>0.9"):
        found = run(f"run {files} --fail-if {condition} --out {tmp_path / condition}")
        assert found.status == 2
        assert "--fail-if with one model ('a')" in found.text
        assert not (tmp_path / condition).exists()
    for command in ("plan", "validate"):
        assert "one model only ('a')" in run(f"{command} {files}").text
    with pytest.raises(pt.InputError, match="by a rule, with its interval"):
        pt.compare_metric({"a": model}, votes, "f1", label="y")


def test_a_structured_array_is_a_table() -> None:
    """Its rows were taken for labels such as ('i0', 'p', 'y'), or refused."""
    wanted = pt.evaluate(VOTES, MODELS, engine="exact").to_dict()
    models = {model: frame.to_records(index=False) for model, frame in MODELS.items()}
    assert pt.evaluate(VOTES.to_records(index=False), models, engine="exact").to_dict() == wanted
    made = pt.read_scores(SCORES.to_records(index=False), higher_is_better=True)
    assert np.array_equal(made.values, pt.read_scores(SCORES, higher_is_better=True).values)


def test_columns_that_can_be_read_once() -> None:
    """Of gold, a generator or the values of a dict were taken for the label of an item 'label'."""
    gold = {"item": ITEMS[:12], "label": ["n", "y"] * 6}
    wanted = pt.evaluate(VOTES, MODELS, gold=gold, engine="exact").to_dict()
    for column in (iter, lambda values: dict(enumerate(values)).values()):
        once = {name: column(values) for name, values in gold.items()}
        assert pt.evaluate(VOTES, MODELS, gold=once, engine="exact").to_dict() == wanted


@pytest.mark.parametrize("codes", [False, True])
def test_what_is_no_annotator_in_a_wide_table(codes: bool) -> None:
    """Row numbers and texts became annotators whose every answer is another label."""
    wide = VOTES.pivot(index="item", columns="annotator", values="label").reset_index()
    if codes:
        wide = wide.replace({"n": 0, "y": 1})
    wanted = pt.read_annotations(wide, format="wide").counts()
    assert (pt.read_annotations(wide.assign(**{"Unnamed: 0": range(24)}), format="wide").counts() == wanted).all()
    more = {"index": range(24)[::-1], "text": [f"text {row}" for row in range(24)]}
    for name, values in more.items():
        with pytest.raises(pt.InputError, match=rf"column '{name}'.*annotators=\['p', 'q', 'r'\]"):
            pt.read_annotations(wide.assign(**{name: values}), format="wide")
        named = pt.read_annotations(wide.assign(**{name: values}), format="wide", annotators=["p", "q", "r"])
        assert np.array_equal(named.counts(), wanted)
    of_each = wide[["item"]].assign(p=np.arange(24) / 7, q=np.arange(24) / 5)  # no answer stands twice
    assert pt.read_annotations(of_each, format="wide").n_annotators == 2
    fine = wide[["item"]].assign(p=range(24), q=[row // 2 for row in range(24)], r=[f"s{row}" for row in range(24)])
    with pytest.raises(pt.InputError, match="no two cells are alike"):
        pt.read_annotations(fine, format="wide")


def test_a_label_without_a_column() -> None:
    """The message named `label=`, which evaluate_labels does not have."""
    with pytest.raises(pt.InputError, match=r"labels=\[\.\.\.\] \(command line: --label\)\. Did you mean 'label'"):
        pt.evaluate_labels(VOTES, MODELS, ["labels"])


class Said(Enum):
    """Labels as a program may have them."""

    NO = "n"
    YES = "y"


def test_names_of_one_value_are_one_name() -> None:
    """In a frame Said.NO was 'n', as a column's name 'Said.NO'; a UUID was bytes, which are refused."""
    said = {one.value: one for one in Said}
    wanted = pt.evaluate(VOTES, MODELS, engine="exact").to_dict()
    models = {model: frame.rename(columns=said) for model, frame in MODELS.items()}
    assert pt.evaluate(VOTES.assign(label=VOTES.label.map(said)), models, engine="exact").to_dict() == wanted
    names = {item: UUID(int=number) for number, item in enumerate(ITEMS)}
    tables = [frame.assign(item=frame["item"].map(names)) for frame in (VOTES, *MODELS.values())]
    for form in (lambda frame: frame, lambda frame: frame.to_dict("list"), lambda frame: frame.set_index("item")):
        made = pt.evaluate(tables[0], {"a": form(tables[1]), "b": form(tables[2])}, engine="exact")
        assert made.comparison.pairs[0]["low"] == pytest.approx(wanted["pairwise"][0]["low"], abs=1e-12)
    digits = [np.float32(0.1), np.float32(0.25), np.float32(0.5)]
    made = pt.Annotations.from_long({"item": digits, "annotator": ["p"] * 3, "label": ["y"] * 3})
    assert made.index.items == ("0.1", "0.25", "0.5")


@pytest.mark.parametrize(
    ("labels", "one"),
    [
        (["0.0", "1.0"], "1.0"),
        ([False, True], True),
        ([0.0, 1.0], 1.0),
        (["2024-01-01T00:00", "2024-01-02T00:00"], None),
    ],
)
def test_one_name_is_found_by_its_value(labels: list[Any], one: Any) -> None:
    """Columns are named by value; the name of one label, item or annotator was compared as it is written."""
    one = labels[1] if one is None else one
    named = dict(zip("ny", labels, strict=True))
    votes = VOTES.assign(label=VOTES.label.map(named))
    models = {model: frame.rename(columns=named) for model, frame in MODELS.items()}
    wanted = pt.compare_metric(MODELS, VOTES, "recall", label="y").pairs[0]["difference"]
    assert pt.compare_metric(models, votes, "recall", label=one).pairs[0]["difference"] == pytest.approx(wanted)
    table = pt.expected_confusion(pt.read_predictions(models), pt.infer_truth(pt.read_annotations(votes)))
    assert table.metric("recall", label=one).shape == (2,)
    gold = pt.infer_truth(pt.read_annotations(votes), method="dawid-skene-em", gold={"i0": one})
    assert gold.probs[gold.index.items.index("i0"), 1] == 1


class Elsewhere:
    """A path of another library."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return self.path


def test_a_path_of_any_library(tmp_path: Path) -> None:
    """It was taken for an array, or for a frame."""
    votes, scores = (Elsewhere(written(tmp_path / f"{at}.csv", one)) for at, one in enumerate((VOTES, SCORES)))
    models = {model: Elsewhere(written(tmp_path / f"{model}.csv", frame)) for model, frame in MODELS.items()}
    wanted = pt.evaluate(VOTES, MODELS, engine="exact").to_dict()["pairwise"]
    assert pt.evaluate(votes, models, engine="exact").to_dict()["pairwise"] == wanted  # type: ignore[arg-type]
    assert pt.read_scores(scores, higher_is_better=True).models == ("a", "b")  # type: ignore[arg-type]


def test_what_is_neither_a_path_nor_a_table(tmp_path: Path) -> None:
    """The text of a file ended in an OSError; an open file was said to hold no numbers; an empty table no items."""
    text = VOTES.to_csv(index=False)
    with pytest.raises(pt.InputError, match=r"\.\.\. \(\d+ characters\): got (file name too long|no such file)"):
        pt.evaluate(text * 9, MODELS)
    with (
        (tmp_path / "a.csv").open("w") as file,
        pytest.raises(pt.InputError, match="model 'a' that are not numbers, but a TextIOWrapper"),
    ):
        pt.evaluate(VOTES, {"a": file, "b": MODELS["b"]})
    with pytest.raises(pt.InputError, match="the table of model 'a': got no rows"):
        pt.evaluate(VOTES, {"a": MODELS["a"][:0], "b": MODELS["b"]})
    with pytest.raises(pt.InputError, match="Did you mean 'ITEM'"):
        pt.read_scores(SCORES.rename(columns=str.upper), higher_is_better=True)


@pytest.mark.parametrize("one", ["pqr", 7, None])
def test_one_value_is_no_column(one: Any) -> None:
    """A text of as many letters as there are rows became an annotator a letter."""
    with pytest.raises(pt.InputError, match="one value as the column 'annotator'"):
        pt.read_annotations({"item": ["x", "y", "z"], "annotator": one, "label": ["n", "y", "n"]})


def test_a_monitor_takes_what_compare_takes(tmp_path: Path, run: Any) -> None:
    """A path was 'str (Unsupported dataframe type)', an empty batch 'one model only ()'."""
    path = written(tmp_path / "s.csv", SCORES)
    wanted = pt.monitor(SCORES, bounds=(0, 1), higher_is_better=True)
    for way in (path, Path(path), SCORES.to_records(index=False), SCORES.set_index(["item", "model"])):
        assert pt.monitor(way, bounds=(0, 1), higher_is_better=True).interval == wanted.interval
    with pytest.raises(pt.InputError, match="the table: got no rows"):
        pt.monitor(SCORES[:0], bounds=(0, 1), higher_is_better=True)
    missing = run(f"monitor {tmp_path}/none.csv --state {tmp_path}/state.json --bounds 0 1 --higher-is-better").text
    assert "no such file" in missing


def test_what_is_no_table_of_scores() -> None:
    """Groups of pandas ended in a ValueError; of scores by item in a dict, repeating one was the advice."""
    with pytest.raises(pt.InputError, match="DataFrameGroupBy, expected a table"):
        pt.read_scores(SCORES.groupby("model"), higher_is_better=True)
    with pytest.raises(pt.InputError, match=r"one value as the column 'x'.*Give every column as a list"):
        pt.read_scores({"a": {"x": 0.1}, "b": {"x": 0.2}}, higher_is_better=True)  # type: ignore[dict-item]


def test_files_that_are_called_oddly(tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of `b=x=y.csv` the file y.csv was looked for, beside x=y.csv; of `-` a file of that name."""
    monkeypatch.chdir(tmp_path)
    votes = written(tmp_path / "votes.csv", VOTES)
    written(tmp_path / "x=y.csv", MODELS["a"])
    written(tmp_path / "b.csv", MODELS["b"])
    found = run(f"run --annotations {votes} --predictions a=x=y.csv --predictions b=b.csv --engine exact --json").json
    wanted = pt.evaluate(VOTES, MODELS, engine="exact").to_dict()["pairwise"]
    assert found["pairwise"][0]["low"] == pytest.approx(wanted[0]["low"], abs=1e-12)
    assert "Standard input is not read" in run("check -").text


def test_groups_that_differ_in_a_space_are_told() -> None:
    """One row with a blank at the end of its group's name made a group of its own, without a word."""
    scores = pt.read_scores(SCORES, higher_is_better=True)
    groups = {item: "maths" if at % 2 else "law" for at, item in enumerate(ITEMS)}
    assert not any("differ only" in line for line in pt.compare(scores, groups=groups, engine="exact").warnings)
    found = pt.compare(scores, groups={**groups, "i3": "Maths "}, engine="exact")
    assert any("groups that differ only in spaces, case" in line and "'Maths '" in line for line in found.warnings)


def test_names_in_an_array_of_another_library() -> None:
    """A name was '<xarray.DataArray ()> Size: 12B ...'."""
    probs = {model: frame[["n", "y"]].to_numpy() for model, frame in MODELS.items()}
    wanted = pt.evaluate(VOTES, MODELS, engine="exact").to_dict()["pairwise"]
    for array in (xarray.DataArray, np.array, lambda names: [np.array(name) for name in names]):
        made = pt.Predictions.from_probs(probs, items=array(ITEMS), labels=array(["n", "y"]))
        assert pt.evaluate(VOTES, made, engine="exact").to_dict()["pairwise"] == wanted
    with pytest.raises(pt.InputError, match="annotators as a str"):
        pt.read_annotations(VOTES).without_annotators("p")


def test_better_scores_in_every_layout() -> None:
    """Of a Series the column of scores was called 'label'; a table for each model was said to be predictions."""
    scores = pt.read_scores(SCORES, higher_is_better=True)
    better = SCORES[SCORES["item"].isin(ITEMS[:12])].assign(score=RNG.random(24))
    wanted = pt.compare(scores, gold=better, engine="exact").pairs
    each = {model: part.drop(columns="model") for model, part in better.groupby("model")}
    for gold in (better.set_index(["item", "model"])["score"], each, better.to_records(index=False)):
        assert pt.compare(scores, gold=gold, engine="exact").pairs == wanted


@pytest.mark.parametrize(
    ("mark", "remedy"), [("{:.1%}", "without the percent sign"), ("1,00{:.0f}", "between thousands")]
)
def test_labels_for_readers(mark: str, remedy: str) -> None:
    """'Expected the long form or the counts form' was said of soft labels in percent, and of counts above 1,000."""
    marked = MODELS["a"].assign(n=MODELS["a"].n.map(mark.format), y=MODELS["a"].y.map(mark.format))
    for read in (lambda: pt.evaluate(marked, MODELS), lambda: pt.read_annotations(marked, format="counts")):
        with pytest.raises(pt.InputError, match=remedy):
            read()


def test_numbers_as_categories_are_numbers() -> None:
    """Soft labels as categories of text were no numbers, though predictions were, and text is."""
    soft = MODELS["a"].assign(n=0.25, y=0.75)
    wanted = pt.evaluate(soft, MODELS, engine="exact").to_dict()
    for kind in (str, "category"):
        made = soft.astype({"n": str, "y": str}).astype({"n": kind, "y": kind})
        assert pt.evaluate(made, MODELS, engine="exact").to_dict() == wanted
    with pytest.raises(pt.InputError, match="got a blank cell"):
        pt.read_annotations({"item": ["x", "y"], "n": ["1", " "], "y": ["2", "1"]}, format="counts")


def test_facts_and_means_of_a_leaderboard() -> None:
    """The size of a model, and one of two means, were benchmarks among the others."""
    board = pd.DataFrame({"Model": ["a", "b", "c"], "Rank (Borda)": [3, 2, 1], "Size (M)": [110, 330, 7000]})
    board["Embedding Dimensions"] = [384, 1024, 4096]
    board["Max Tokens"] = [512, 512, 8192]
    tasks = {f"task {at}": RNG.random(3) for at in range(5)}
    board = board.assign(**{"Mean (Task)": np.mean([*tasks.values()], 0), "Mean (TaskType)": RNG.random(3)}, **tasks)
    made = pt.read_scores(board, score="accuracy")
    assert made.items == tuple(tasks)
    assert any("'Size (M)'" in note and "ignored" in note for note in made.notes)


def test_pages_and_pointers_in_place_of_a_table(tmp_path: Path) -> None:
    """'A header without rows' was said of the page of an error, and of the pointer of a large file."""
    for text, said in {
        "<!DOCTYPE html><p>404": "a page of HTML",
        "version https://git-lfs.x/\noid 1": "Git LFS",
    }.items():
        (tmp_path / "t.csv").write_text(text)
        with pytest.raises(pt.InputError, match=said):
            pt.read_annotations(tmp_path / "t.csv")


def test_tasks_of_toloka(tmp_path: Path) -> None:
    """The message proposes the call that reads them."""
    columns = {"item": "INPUT:text", "annotator": "ASSIGNMENT:worker_id", "label": "OUTPUT:result"}
    tasks = VOTES.rename(columns=dict(zip(VOTES.columns, columns.values(), strict=True)))
    path = written(tmp_path / "tasks.csv", tasks.assign(**{"GOLDEN:result": ""}))
    with pytest.raises(
        pt.InputError, match="Perhaps item='INPUT:text', annotator='ASSIGNMENT:worker_id', label='OUTPUT:"
    ):
        pt.read_annotations(path)
    assert np.array_equal(pt.read_annotations(path, **columns).counts(), pt.read_annotations(VOTES).counts())


def test_a_list_of_groups_in_the_order_of_the_annotations() -> None:
    """Beside a long table the list was taken in the models' order, which was another: groups of other items."""
    groups = {item: "g" if at < 9 else "h" for at, item in enumerate(ITEMS)}
    listed = [groups[item] for item in ITEMS]
    wanted = pt.evaluate(VOTES, MODELS, groups=groups, engine="exact").comparison.by_group()
    assert pt.evaluate(VOTES, MODELS, groups=listed, engine="exact").comparison.by_group().equals(wanted)
    reversed_models = {model: frame[::-1].reset_index(drop=True) for model, frame in MODELS.items()}
    annotations = pt.read_annotations(VOTES)
    for reference in (VOTES, annotations, pt.infer_truth(annotations)):
        for names in (listed, listed[::-1]):
            with pytest.raises(pt.InputError, match=r"other orders in the reference.*Pass a dict \{item: group\}"):
                pt.evaluate(reference, reversed_models, groups=names, engine="exact")
    with pytest.raises(pt.InputError, match="clusters as a list, for items that stand in other orders"):
        pt.compare_metric(reversed_models, VOTES, "accuracy", clusters=listed)


def test_columns_of_pandas_in_several_levels() -> None:
    """A pivoted frame had its index twice, and labels such as ('n', 'yes')."""
    wanted = pt.evaluate(VOTES, MODELS, engine="exact").to_dict()["pairwise"]
    counts = VOTES.assign(n=1).pivot_table(index="item", columns="label", values=["n"], aggfunc="sum", fill_value=0)
    wide = VOTES.set_index(["item", "annotator"]).unstack()
    models = pd.concat({model: frame.set_index("item") for model, frame in MODELS.items()}, axis=1)
    by_person = pt.read_annotations(wide, format="wide")
    for table in (wide, wide.reset_index()):
        assert pt.read_annotations(table, format="wide").index == by_person.index
    assert pt.evaluate(by_person, MODELS, engine="exact").to_dict()["pairwise"] == wanted
    for reference in (counts, counts.reset_index()):
        for tables in (MODELS, {model: models[[model]] for model in MODELS}):
            assert pt.evaluate(reference, tables).scores.models == (*MODELS,)
    scores = SCORES.pivot(index="item", columns="model", values=["score"])
    assert pt.read_scores(scores, models=[], higher_is_better=True).models == ("a", "b")
    with pytest.raises(pt.InputError, match=r"last name of a column 'n', 'y' more than once"):
        pt.evaluate(VOTES, {"both": models})


def test_a_probability_for_each_item_in_a_dict() -> None:
    """As labels it was read; among the models each item was a column of one value."""
    wanted = pt.evaluate(VOTES, {model: frame[["item", "y"]] for model, frame in MODELS.items()}, engine="exact")
    models = {model: dict(zip(frame["item"], frame.y, strict=True)) for model, frame in MODELS.items()}
    said = VOTES.assign(label=VOTES.label.map({"n": "no", "y": "yes"}))
    assert pt.evaluate(said, models, engine="exact").to_dict()["pairwise"] == wanted.to_dict()["pairwise"]
    for tables in (models, {model: pd.Series(by_item) for model, by_item in models.items()}):
        with pytest.raises(pt.InputError, match="the name of the label that it is about"):
            pt.evaluate(VOTES, tables)


def test_one_column_of_probabilities_where_nothing_names_the_labels(tmp_path: Path, run: Any) -> None:
    """'Divide each row by its sum' made every probability 1."""
    path = written(tmp_path / "kaggle.csv", MODELS["a"][["item", "y"]].rename(columns={"y": "target"}))
    for more in ((), ("--renormalise",)):
        assert "one column of numbers, 'target', and no names of labels" in run("check", path, *more).err
    assert pt.read_predictions({"a": path}, labels=["no", "yes"]).index.labels == ("no", "yes")


def test_rows_of_items_and_labels_are_to_be_pivoted(tmp_path: Path, run: Any) -> None:
    """'Name the annotators' was said of counts of votes in long form, 'remove one of its rows' of several models."""
    counts = VOTES.groupby(["item", "label"]).size().reset_index(name="n")
    with pytest.raises(pt.InputError, match="row for each item and label, pivot it"):
        pt.evaluate(counts, MODELS)
    every = pd.concat([frame.assign(model=model) for model, frame in MODELS.items()])
    with pytest.raises(pt.InputError, match="if it holds several models, give each its own table"):
        pt.evaluate(VOTES, {"all": every})


def test_a_board_with_negative_scores_is_no_table_of_logits(tmp_path: Path, run: Any) -> None:
    """`check` said no more than that its numbers look like logits."""
    board = SCORES.assign(score=SCORES.score - 0.5).pivot(index="item", columns="model", values="score").reset_index()
    path = written(tmp_path / "board.csv", board)
    assert "If its columns are models, these are scores: probtruth compare FILE" in run("check", path).err


def test_annotators_that_are_made_of_others_are_said() -> None:
    """A column of majority votes beside those of people counted as one more person, without a word."""
    wide = VOTES.pivot(index="item", columns="annotator", values="label").reset_index()
    votes = pt.read_annotations(wide.assign(majority=wide.iloc[:, 1]), format="wide")
    assert any("'majority' may be made of the others' answers" in note for note in votes.notes)


def test_no_number_is_a_slip_for_another() -> None:
    """'Did you mean '1'?' was said of the label -1."""
    with pytest.raises(pt.InputError, match="label '-1'") as refused:
        pt.evaluate(
            VOTES.assign(label=VOTES.label.map({"n": -1, "y": 1})),
            {"a": {"item": ITEMS, "0": [0.5] * 24, "1": [0.5] * 24}},
        )
    assert "Did you mean" not in str(refused.value)


def unnamed(rows: str, place: Path) -> dict[str, Any]:
    """A table whose first column has no name, as pandas exports an index, by every way in."""
    path = place / "t.csv"
    path.write_text(rows)
    again = place / "again.csv"
    pd.read_csv(path).to_csv(again, index=False)
    semicolons = place / "semicolons.csv"
    semicolons.write_text(rows.replace(",", ";"))
    filtered = pd.concat([pd.read_csv(path), pd.read_csv(path)])[: len(pd.read_csv(path))]
    return {
        "semicolons": semicolons,
        "a frame whose rows are numbered": filtered.set_index(filtered.index + 5).rename(columns={"Unnamed: 0": ""}),
        "a file": path,
        "a file that pandas wrote again": again,
        "pandas": pd.read_csv(path),
        "polars": pl.read_csv(path),
        "pyarrow": pyarrow.csv.read_csv(path),
        "a frame without a name": pd.read_csv(path).rename(columns={"Unnamed: 0": ""}),
    }


def test_row_numbers_without_a_name_are_nothing(tmp_path: Path) -> None:
    """'Unnamed: 0' of pandas, and 'column_0' of polars, were a label with votes, an annotator, a model, a benchmark."""
    for table in unnamed(",item,n,y\n0,i0,1,3\n1,i1,3,0\n2,i2,2,1\n", tmp_path).values():
        assert pt.read_annotations(table, format="counts").counts().tolist() == [[1, 3], [3, 0], [2, 1]]
        assert pt.read_annotations(table, format="wide").index.annotators == ("n", "y")
        assert pt.read_scores(table, models=[], score="loss").models == ("n", "y")
    for table in unnamed(",item,n,y\n0,i0,0.5,0.5\n1,i1,0,1\n2,i2,1,0\n", tmp_path).values():
        assert pt.read_predictions({"m": table}).probs.tolist() == [[[0.5, 0.5], [0, 1], [1, 0]]]
    for table in unnamed(",Model,mmlu,arc\n0,a,0.1,0.2\n1,b,0.3,0.1\n", tmp_path).values():
        assert pt.read_scores(table, higher_is_better=True, score="accuracy").items == ("arc", "mmlu")


def test_numbers_of_rows_that_were_filtered(tmp_path: Path) -> None:
    """Without pandas' name for them they are refused."""
    for name, table in unnamed(",item,n,y\n3,i0,1,3\n5,i1,3,0\n9,i2,2,1\n", tmp_path).items():
        if "pandas" in name:
            assert pt.read_annotations(table, format="counts").counts().tolist() == [[1, 3], [3, 0], [2, 1]]
            assert pt.read_scores(table, models=[], score="loss").models == ("n", "y")
            continue
        with pytest.raises(pt.InputError, match="a column without a name"):
            pt.read_annotations(table, format="counts")
        with pytest.raises(pt.InputError, match="a column without a name"):
            pt.read_scores(table, models=[], score="loss")


@pytest.mark.parametrize("item", [None, "questoin"])
def test_rows_of_a_filtered_frame_are_no_items(item: str | None) -> None:
    """A misspelt column of items: each row of a frame that was filtered, or put together, was an item of its own."""
    called = VOTES.rename(columns={"item": "question"})
    for frame in (
        called,
        called[called["annotator"] != "r"],
        pd.concat([called[:9], called[9:].reset_index(drop=True)]),
    ):
        with pytest.raises(pt.InputError, match=r"no column '(item|questoin)'"):
            pt.read_annotations(frame, item=item)
        with pytest.raises(pt.InputError, match=r"no column '(item|questoin)'"):
            pt.evaluate(frame, MODELS, item=item or "item", engine="exact")


@pytest.mark.parametrize("form", ["labels", "counts", "wide", "scores", "a table each", "a column each"])
def test_a_misspelt_column_is_not_the_numbers_of_rows(form: str) -> None:
    """Frames that were sorted were matched by their row numbers, whatever the column of items was called."""
    called = MODELS["a"].rename(columns={"item": "question"}).sort_values("n")
    certain = called[["question"]].assign(label=np.where(called["y"] > 0.5, "y", "n"))
    votes = called[["question"]].assign(n=range(24), y=3)
    answers = certain.assign(p=certain["label"], q="n")[["question", "p", "q"]]
    losses = called[["question"]].assign(score=called["n"])
    read: dict[str, Any] = {
        "labels": lambda item: pt.evaluate(certain, MODELS, item=item),
        "counts": lambda item: pt.read_annotations(votes, item=item, format="counts"),
        "wide": lambda item: pt.read_annotations(answers, item=item, format="wide"),
        "scores": lambda item: pt.read_scores(losses.assign(model="m"), item=item, higher_is_better=False),
        "a table each": lambda item: pt.read_scores({"m": losses, "k": losses[3:]}, item=item, higher_is_better=False),
        "a column each": lambda item: pt.read_scores(called, item=item, models=["n", "y"], score="loss"),
    }
    assert read[form]("question")
    with pytest.raises(pt.InputError, match=r"columns? 'questoin'"):
        read[form]("questoin")


def test_items_of_models_in_the_index() -> None:
    """The option is that of the reference; the models have the items in an index without a name."""
    numbered = VOTES.assign(item=VOTES["item"].str[1:].astype(int) * 2 + 1)
    wanted = None
    for name in ("item", "question"):
        models = {}
        for model, table in MODELS.items():
            index = table["item"].str[1:].astype(int) * 2 + 1
            models[model] = table.set_index(index)[["n", "y"]].rename_axis(None)
        result = pt.evaluate(numbered.rename(columns={"item": name}), models, item=name, engine="exact")
        values = result.comparison.pairwise()["difference"].to_list()
        wanted = wanted or values
        assert values == wanted
