"""Layouts that people have, rebuilt: each was read wrongly without a word, or refused with advice that did harm."""

import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import probtruth as pt
from probtruth.io.item_columns import read_groups

INPUTS = Path(__file__).parent / "inputs"
VOTES = "read as counts of votes: 'hate', 'offensive', 'neither'"
# By folder, each command and what it prints.
CASES: dict[str, dict[str, str]] = {
    "NA-is-a-class": {
        "truth votes.csv": r"the label 'NA' \(2 annotations\) may mean .*--missing=NA",
        "truth votes.csv --missing=NA": r"2 answers left out as missing.*2 labels",
    },
    "annotators-read-as-labels": {
        "truth votes.jsonl": "3 labels",
        "truth votes.jsonl --format chaosnli --label annotations": "an object of annotators.*read_lewidi",
    },
    "blank-score-in-long-form": {"compare s.csv --item q --higher-is-better": "1 score missing"},
    "counts-with-total-and-majority": {
        "truth counts.csv --item id --format counts --method vote-share": (
            r"ignored 'count' \(the sum of the others\), 'class' \(the position of the largest of the others\).*"
            f"{VOTES}"
        ),
        "truth counts.csv --item id --format counts --label hate,offensive,neither": VOTES,
    },
    "counts-with-unnamed-index-and-text": {
        "run --annotations counts.csv --item '' --predictions m=m.csv": f"ignored 'count' .*'class' .*'text'.*{VOTES}",
    },
    "failed-judgement-is-minus-one": {
        "compare judged.csv --item q --higher-is-better": "1 score of -1 among others from 6",
        "compare judged.csv --item q --higher-is-better --missing=-1": r"P\(new is better\): 0.9",
    },
    "float-codes-against-integer-columns": {"run --annotations votes.csv --predictions m=m.csv": "2 labels"},
    "hint-names-a-column-of-probabilities": {
        "run --annotations p.csv --label truth --predictions m=p.csv": "none that could name.*the number of the row",
    },
    "item-called-item": {"run --annotations export.json --item item --predictions m=m.csv": "3 items"},
    "metric-called-score": {"compare logs --score score --higher-is-better": "in mean score, .*0.67"},
    "nested-column-of-no-use": {
        "compare judged.jsonl --item question_id --higher-is-better --replicate turn": r"P\(n is better\)",
    },
    "one-file-a-run": {
        "compare a=a.csv b=b.csv --item question --score faithfulness --higher-is-better": r"P\(b is better\)",
    },
    "question-called-label": {"check export.json --label label": "labels 'x', 'y'"},
    "wide-mixed-floats": {"truth votes.csv --format wide": "2 labels"},
}
REFUSED = ("an object of annotators", "none that could name")


@pytest.mark.parametrize(
    ("folder", "command"), [(folder, command) for folder, commands in CASES.items() for command in commands]
)
def test_a_layout(folder: str, command: str, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(INPUTS / folder)
    found = run(command)
    words = CASES[folder][command]
    assert found.status == (2 if words.startswith(REFUSED) else 0), found.text
    assert re.search(words, found.text, re.DOTALL), found.text


@pytest.mark.parametrize(
    ("folder", "file", "columns"),
    [
        ("suggestion-swaps-item-and-annotator", "cf.csv", ["_unit_id", "_worker_id", "answer"]),
        ("suggestion-takes-a-trait-for-the-label", "raw.csv", ["instance_id", "user_id", "rating"]),
    ],
)
def test_no_command_is_better_than_a_wrong_one(
    folder: str, file: str, columns: list[str], run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(INPUTS / folder)
    found = run("check", file)
    assert found.status == 2
    assert all(repr(name) in found.err for name in columns)
    options = ("--item", "--annotator", "--label")
    assert ", ".join(options) in found.err
    words = [word for option in zip(options, columns, strict=True) for word in option]
    assert run("check", file, *words).status == 0


def test_a_column_with_a_colon_in_its_name() -> None:
    groups = read_groups(f"{INPUTS / 'colon-in-the-name-of-a-column' / 'meta.csv'}:INPUT:lang", None)
    assert groups == {"i0": "de", "i1": "en", "i2": "de", "i3": "en"}


def test_codes_of_three_people_are_no_counts() -> None:
    votes = pd.read_csv(INPUTS / "wide-codes-frame" / "votes.csv")
    good = np.full((9, 3), 0.1)
    good[range(9), votes.mode(axis=1)[0].astype(int)] = 0.8
    models = {"good": good, "uniform": np.full((9, 3), 1 / 3)}
    with pytest.raises(pt.InputError, match=r"format='counts'.*format='wide'"):
        pt.evaluate(votes, models)
    result = pt.evaluate(pt.read_annotations(votes, format="wide"), models, engine="exact")
    ranks = {row["model"]: row["score"] for row in result.to_dict()["models"]}
    assert ranks == pytest.approx({"good": 0.53, "uniform": 1.10}, abs=0.005)


class TestBoards:
    """A leaderboard has a row for each model: its benchmarks were judged as models at P > 0.9."""

    BOARD = pd.DataFrame(
        {"Model": ["a", "b", "c"], "mmlu": [0.7, 0.6, 0.5], "gsm": [0.8, 0.7, 0.75], "arc": [0.6, 0.5, 0.4]}
    )

    def test_rows_are_models(self) -> None:
        for table in (self.BOARD, self.BOARD.set_index("Model")):
            for how in ({}, {"item": "Model"}, {"model": "Model"}):
                scores = pt.read_scores(table, **how, higher_is_better=True)
                assert (scores.models, scores.items) == (("a", "b", "c"), ("arc", "gsm", "mmlu"))
                assert scores.values[0].tolist() == [0.6, 0.8, 0.7]

    def test_an_average_is_no_benchmark(self) -> None:
        board = self.BOARD.assign(average=self.BOARD[["mmlu", "gsm", "arc"]].mean(axis=1).round(2), licence="mit")
        scores = pt.read_scores(board, higher_is_better=True)
        assert scores.items == ("arc", "gsm", "mmlu")
        assert "ignored 'average' (the mean of the others), 'licence'" in scores.notes[-1]

    def test_a_benchmark_of_one_model_counts(self, tmp_path: Path, run: Any) -> None:
        """Columns that are mostly blank were ignored, and `check` read the file as probabilities."""
        path = tmp_path / "board.csv"
        self.BOARD.assign(math=[None, None, 0.5]).to_csv(path, index=False)
        scores = pt.read_scores(path, higher_is_better=True)
        assert scores.items == ("arc", "gsm", "math", "mmlu")
        np.testing.assert_array_equal(scores.values[:, 2], [np.nan, np.nan, 0.5])
        shown = run("check", path)
        assert shown.status == 0
        assert "board.csv: scores\n  Scores: " in shown.out
        assert "on 4 items" in shown.out
        assert "read rows as models ('Model')" in shown.out

    def test_where_it_cannot_be_known(self) -> None:
        board = self.BOARD.rename(columns={"Model": "item"})
        with pytest.raises(pt.InputError, match=r"models=\[\].*transpose=True \(--transpose\)"):
            pt.read_scores(board, higher_is_better=True)
        turned = pt.read_scores(board, transpose=True, higher_is_better=True)
        assert turned.models == ("a", "b", "c")
        assert pt.read_scores(board, models=[], higher_is_better=True).models == ("mmlu", "gsm", "arc")


class TestMissingScores:
    ROWS: ClassVar[dict[str, list[Any]]] = {
        "item": ["p", "p", "q", "q", "r", "r"],
        "model": ["a", "b"] * 3,
        "score": [1.0, 2.0, None, 3.0, 4.0, 5.0],
    }

    @pytest.mark.parametrize("blank", [None, float("nan"), "nan", "", "NA"])
    def test_in_a_long_table_as_in_a_wide_one(self, blank: object) -> None:
        """A blank score was an error that advised to fill it in."""
        rows = {**self.ROWS, "score": [1.0, 2.0, blank, 3.0, 4.0, 5.0]}
        wide = {"item": ["p", "q", "r"], "a": [1.0, blank, 4.0], "b": [2.0, 3.0, 5.0]}
        missing = [blank] if blank == "NA" else []
        scores = pt.read_scores(rows, missing=missing, higher_is_better=True)
        other = pt.read_scores(wide, models=[], missing=missing, higher_is_better=True)
        for one in (scores, other):
            assert one.items == ("p", "q", "r")
            np.testing.assert_array_equal(one.values, [[1.0, np.nan, 4.0], [2.0, 3.0, 5.0]])
        assert scores.notes == ("the table: 1 score missing",)

    @pytest.mark.parametrize("code", [-1, -9, -99, 999])
    def test_a_code_that_stands_for_none(self, code: int) -> None:
        rows = {**self.ROWS, "score": [6.0, 7.0, code, 7.0, 6.0, 8.0]}
        (note,) = pt.read_scores(rows, higher_is_better=True).notes
        assert f"1 score of {code} among others from 6 to 8" in note
        assert np.isnan(pt.read_scores(rows, missing=[code], higher_is_better=True).values).sum() == 1

    @pytest.mark.parametrize("values", [(0, 1, -1, 1, 0, -1), (-99, -70, -40, -80, -20, -50), (99, 60, 70, 55, 91, 93)])
    def test_ends_of_a_scale_are_scores(self, values: tuple[int, ...]) -> None:
        assert pt.read_scores({**self.ROWS, "score": values}, higher_is_better=True).notes == ()


def test_an_answer_that_is_none_beside_models_without_it() -> None:
    votes = {"item": ["p", "p", "q"], "annotator": ["a", "b", "a"], "label": ["yes", "unsure", "no"]}
    models = {"m": {"item": ["p", "q"], "yes": [0.5, 0.5], "no": [0.5, 0.5]}}
    with pytest.raises(pt.InputError, match=r"read_annotations\(table, missing=\['unsure'\]\)") as caught:
        pt.evaluate(votes, models)
    assert "--missing=unsure" in str(caught.value)
    pt.evaluate(pt.read_annotations(votes, missing=["unsure"]), models)


def test_placeholders_that_the_models_name_are_labels() -> None:
    votes = {"item": ["p", "p", "q"], "annotator": ["a", "b", "a"], "label": ["yes", "skip", "no"]}
    assert "'skip'" in pt.read_annotations(votes).notes[0]
    assert pt.read_annotations(votes, labels=["no", "skip", "yes"]).notes == ()
    wide = {"item": ["p", "q"], "a": ["yes", "no"], "b": ["skip", None]}
    known = pt.read_annotations(wide, format="wide", missing=["skip"])
    assert (known.index.labels, known.notes) == (("no", "yes"), ("the table: 1 answer left out as missing",))
    left = pt.read_annotations(votes, missing=["skip"])
    assert (left.index.labels, left.notes) == (("no", "yes"), ("the table: 1 answer left out as missing",))


def test_one_value_in_several_spellings(tmp_path: Path) -> None:
    for cells in (["1", "0"], ["1.0", "0.0"], ["1", "0.0"]):
        (tmp_path / "t.csv").write_text(f"item,annotator,label\np,a,{cells[0]}\nq,a,{cells[1]}\n")
        assert pt.read_annotations(tmp_path / "t.csv").index.labels == ("0", "1")
    for cells in (["True", "False"], ["TRUE", "false"]):
        (tmp_path / "t.csv").write_text(f"item,annotator,label\np,a,{cells[0]}\nq,a,{cells[1]}\n")
        assert pt.read_annotations(tmp_path / "t.csv").index.labels == ("false", "true")
    (tmp_path / "t.csv").write_text("item,annotator,label\n1.1,a,x\n1.10,a,x\n007,a,y\n")
    assert pt.read_annotations(tmp_path / "t.csv").index.items == ("007", "1.1", "1.10")


class TestMissingAnswers:
    MODELS: ClassVar[dict[str, Any]] = {
        "a": {"item": ["p", "q", "r"], "no": [0.8, 0.3, 0.6], "yes": [0.2, 0.7, 0.4]},
        "b": {"item": ["p", "q", "r"], "no": [0.6, 0.4, 0.5], "yes": [0.4, 0.6, 0.5]},
    }
    VOTES: ClassVar[dict[str, list[Any]]] = {
        "item": ["p", "p", "q", "q", "r", "r"],
        "annotator": ["x", "y"] * 3,
        "label": ["no", "no", "yes", "NA", "no", "yes"],
    }

    def test_evaluate_as_the_reader(self) -> None:
        read = pt.evaluate(pt.read_annotations(self.VOTES, missing=["NA"]), self.MODELS, engine="exact")
        asked = pt.evaluate(self.VOTES, self.MODELS, missing=["NA"], engine="exact")
        assert asked.to_dict() == read.to_dict()
        assert asked.truth.index.labels == ("no", "yes")
        codes = {**self.VOTES, "label": [0, 0, 1, -1, 0, 1]}
        models = {name: {"item": own["item"], "0": own["no"], "1": own["yes"]} for name, own in self.MODELS.items()}
        pairs = [
            pt.evaluate(codes, models, missing=[-1], engine="exact").comparison.pairwise(),
            read.comparison.pairwise(),
        ]
        assert pairs[0].equals(pairs[1])

    def test_columns_of_other_names_as_the_reader(self) -> None:
        named = {"question": self.VOTES["item"], "worker": self.VOTES["annotator"], "said": self.VOTES["label"]}
        columns = {"item": "question", "annotator": "worker", "label": "said"}
        models = {name: {"question": table["item"], **table} for name, table in self.MODELS.items()}
        for table in models.values():
            del table["item"]
        read = pt.evaluate(
            pt.read_annotations(named, **columns, missing=["NA"]), models, engine="exact", item="question"
        )
        asked = pt.evaluate(named, models, missing=["NA"], engine="exact", **columns)
        assert asked.to_dict() == read.to_dict()
        assert asked.truth.index.annotators == ("x", "y")
        with pytest.raises(pt.InputError, match="label= with Annotations"):
            pt.evaluate(pt.read_annotations(self.VOTES), self.MODELS, label="said")

    @pytest.mark.parametrize(
        "reference", [["no", "NA", "no"], {"item": ["p", "q", "r"], "no": [0.5] * 3, "yes": [0.5] * 3}]
    )
    def test_what_holds_no_answers_is_refused(self, reference: Any) -> None:
        with pytest.raises(pt.InputError, match=r"missing.* with"):
            pt.evaluate(reference, self.MODELS, missing=["NA"])
