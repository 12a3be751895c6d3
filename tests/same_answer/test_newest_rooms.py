"""Votes, scores and several labels by every way in: pandas' row numbers, names of any type, and the command line."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import probtruth as pt
from probtruth.io import kinds
from probtruth.io.truth import write_soft

RNG = np.random.default_rng(5)
MODELS = ("old", "new", "other")
PAIRED = [RNG.choice(3, 2, replace=False) for _ in range(60)]
VOTES = pd.DataFrame(
    {
        "prompt_id": [f"p{RNG.integers(15)}" for _ in PAIRED],
        "model_a": [MODELS[a] for a, _ in PAIRED],
        "model_b": [MODELS[b] for _, b in PAIRED],
        "winner": RNG.choice(["model_a", "model_b", "tie"], 60),
        "judge": RNG.choice(["ann", "bob", "cid"], 60),
    }
)


def pairs(table: Any, **options: Any) -> np.ndarray:
    rows = pt.compare(table, engine="exact", **options).pairs
    return np.array([[row["difference"], row["p_a_better"]] for row in rows])


WAYS = {
    "in another order": VOTES.sample(frac=1, random_state=1),
    "filtered": pd.concat([VOTES, VOTES.assign(model_a="gone")]).query("model_a != 'gone'"),
    "prompts as the index": VOTES.set_index("prompt_id"),
    "prompts as an index without a name": VOTES.set_index("prompt_id").rename_axis(None),
    "judges as the index": VOTES.set_index("judge"),
    "a dict": VOTES.to_dict("list"),
}


@pytest.mark.parametrize("way", WAYS)
def test_votes_in_every_way(way: str) -> None:
    """Any index but a plain range ended in a KeyError, and `read_votes` lost the prompts in it."""
    wanted = pairs(VOTES)
    assert pairs(WAYS[way]) == pytest.approx(wanted, abs=1e-9)
    assert pairs(pt.read_votes(WAYS[way])) == pytest.approx(wanted, abs=1e-9)


def test_row_numbers_are_no_prompts() -> None:
    votes = VOTES.drop(columns="prompt_id")
    assert pairs(pd.concat([votes[30:], votes[:30]])) == pytest.approx(pairs(votes), abs=1e-9)


def test_codes_of_winners_from_0_are_refused() -> None:
    """0, 1, 2 are the codes of model_a, model_b and tie as often as a tie, the first and the second."""
    codes = VOTES["winner"].astype("category").cat.codes
    with pytest.raises(pt.InputError, match=r"the winner 0, expected 1, 2, and 1\.5 for ties"):
        pt.read_votes(VOTES.assign(winner=codes))
    of_alpaca = VOTES.rename(columns={"winner": "preference"})
    numbers = VOTES["winner"].map({"model_a": 1, "model_b": 2, "tie": 0})
    assert pairs(of_alpaca.assign(preference=numbers)) == pytest.approx(pairs(VOTES), abs=1e-9)


def test_votes_on_the_command_line(tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--rope 0.02` was refused with the advice to write 0.02; `check --item` showed another column."""
    monkeypatch.chdir(tmp_path)
    VOTES.assign(topic=np.arange(60) // 4).to_csv("votes.csv", index=False)
    found = run("compare votes.csv --rope 0.02 --json")
    assert found.status == 0, found.text
    in_python = [row["p_equivalent"] for row in pt.compare("votes.csv", rope=0.02).pairs]
    assert [row["p_equivalent"] for row in found.json["pairwise"]] == pytest.approx(in_python)
    shown = run("check votes.csv --item topic").text
    assert "15 prompts" in shown
    assert "from the columns topic, model_a" in shown


def test_row_numbers_are_no_items_of_scores() -> None:
    """A frame that was filtered or sorted had its row numbers taken for items, so that no two models met."""
    scores = pd.DataFrame(
        {"question": [*"pqrs"] * 2, "model": ["a"] * 4 + ["b"] * 4, "accuracy": [1, 0, 1, 0, 0, 1, 1, 1]}
    )
    for table in (scores, scores[::-1], pd.concat([scores[4:], scores[:4]]), scores.drop(index=0)):
        with pytest.raises(pt.InputError, match=r"no column 'item'.*'question'"):
            pt.read_scores(table, score="accuracy")
        made = pt.read_scores(table, item="question", score="accuracy")
        assert made.items == ("p", "q", "r", "s")
    for named in (scores.set_index("question"), scores.set_index("question").rename_axis(None)):
        assert pt.read_scores(named, score="accuracy").items == ("p", "q", "r", "s")


def test_a_column_that_is_not_there_is_called_what_it_is() -> None:
    with pytest.raises(pt.InputError, match=r"no column 'item'.*a column of items\. Hint: Name the item with item="):
        pt.read_scores({"a": [1.0, 2.0], "b": [2.0, 3.0]}, models=[], higher_is_better=True)


@pytest.mark.parametrize("named", [["a", "b"], np.array(["a", "b"]), pd.Index(["a", "b"])])
def test_models_of_a_wide_table_as_any_list(named: Any) -> None:
    """All but a list of text ended in a traceback."""
    wide = pd.DataFrame(RNG.random((4, 3)), list("pqrs"), ["a", "b", "c"])
    read = pt.read_scores(wide, models=named, higher_is_better=True)
    np.testing.assert_array_equal(read.values, wide[["a", "b"]].T)
    codes = pt.read_scores(wide.set_axis([1, 2, 3], axis=1), models=[1, 2], higher_is_better=True)
    np.testing.assert_array_equal(codes.values, read.values)


def test_the_number_of_a_column_is_no_name() -> None:
    """It ended in a traceback; a frame without a header has such columns."""
    votes = pd.DataFrame([("p", "ann", "x"), ("q", "ann", "y")])
    readers: list[Any] = [pt.read_annotations, pt.Annotations.from_long]
    for read in readers:
        assert read(votes, "0", "1", "2").index.labels == ("x", "y")
        for options in ({"item": 0}, {"item": "0", "annotator": 1}, {"item": "0", "annotator": "1", "label": 2}):
            with pytest.raises(pt.InputError, match=r"a column called \d, expected its name as text"):
                read(votes, **options)


@pytest.mark.parametrize("column", [0, ["x"]])
def test_a_list_or_a_number_is_no_column_of_scores_or_votes(column: Any) -> None:
    scores = {"item": [1, 2, 1, 2], "x": ["a", "a", "b", "b"], "score": [1.0, 2.0, 3.0, 4.0]}
    votes = {"prompt": [1, 2], "model_a": ["x", "x"], "model_b": ["y", "z"], "winner": ["a", "tie"]}
    calls: list[Any] = [(pt.read_scores, scores, "model score group"), (pt.read_votes, votes, "left winner group item")]
    for read, table, options in calls:
        for name in options.split():
            with pytest.raises(pt.InputError, match="expected its name as text"):
                read(table, **{name: column})


LABELS = ["toxic", "insult"]
ITEMS = [f"q{n}" for n in RNG.permutation(12)]
ANSWERS = pd.DataFrame(
    [(item, who, int(RNG.random() < 0.5), int(RNG.random() < 0.3)) for item in ITEMS for who in ("ann", "bob", "cid")],
    columns=["item", "annotator", *LABELS],
)
CATS = ANSWERS.assign(label=np.where(ANSWERS["toxic"] == 1, "cat", "dog"))[["item", "annotator", "label"]]
PREDICTED = {name: pd.DataFrame(RNG.random((12, 2)), ITEMS, LABELS).rename_axis("item").reset_index() for name in "ab"}


def of_labels(answers: Any, models: Any, **options: Any) -> list[float]:
    result = pt.evaluate_labels(answers, models, LABELS, engine="exact", **options)
    return [row["p_a_better"] for row in result.pairwise().to_dicts()]


def test_several_labels_find_the_items_as_one_does() -> None:
    """A column of items with a name of its own was refused."""
    wanted = of_labels(ANSWERS, PREDICTED)
    renamed = {name: table.rename(columns={"item": "id"}) for name, table in PREDICTED.items()}
    assert of_labels(ANSWERS, renamed) == pytest.approx(wanted, abs=1e-9)
    assert of_labels(ANSWERS.rename(columns={"item": "id"}), PREDICTED) == pytest.approx(wanted, abs=1e-9)
    assert of_labels(ANSWERS.astype({"toxic": float, "insult": bool}), PREDICTED) == pytest.approx(wanted, abs=1e-9)
    with pytest.raises(pt.InputError, match="a table without names for model 'a'"):
        of_labels(ANSWERS, {name: table[LABELS].to_numpy() for name, table in PREDICTED.items()})
    own = {name: table.set_index("item")[::-1] for name, table in PREDICTED.items()}
    assert of_labels(ANSWERS.set_index("item").rename_axis(None), own) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("estimand", ["distribution", "class"])
def test_groups_of_several_labels_by_names_of_any_type(estimand: Any) -> None:
    """Groups by integers ended in a KeyError where classes are inferred."""
    numbers = {item: int(item[1:]) for item in ITEMS}
    groups = {item: "even" if number % 2 == 0 else "odd" for item, number in numbers.items()}
    wanted = of_labels(ANSWERS, PREDICTED, groups=groups, estimand=estimand)
    answers = ANSWERS.assign(item=ANSWERS["item"].map(numbers))
    models = {name: table.assign(item=table["item"].map(numbers)) for name, table in PREDICTED.items()}
    for by_number in (
        {numbers[item]: group for item, group in groups.items()},
        pd.Series({float(numbers[item]): group for item, group in groups.items()}),
    ):
        found = of_labels(answers, models, groups=by_number, estimand=estimand)
        assert found == pytest.approx(wanted, abs=0.05)  # the order of the items moves what is drawn


def test_a_list_of_groups_beside_items_in_no_order() -> None:
    """The hint named an argument that `evaluate` does not have."""
    with pytest.raises(pt.InputError, match=r"groups without names of items.*Pass a dict \{item: group\}"):
        of_labels(ANSWERS, PREDICTED, groups=["x"] * 12)


def test_predictions_by_annotator_in_an_index() -> None:
    rows = ANSWERS[["item", "annotator"]].assign(no=RNG.random(36)).assign(yes=lambda table: 1 - table["no"])
    votes = CATS.replace({"cat": "yes", "dog": "no"})
    tables = [rows, rows.set_index(["item", "annotator"])]
    scores = [pt.score({"m": table}, votes, each="annotation").values for table in tables]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-9)


def test_truth_values_are_numbers_in_a_file_as_in_a_frame(tmp_path: Path) -> None:
    """`True` in a CSV was refused as a score, and ignored as a label, where the same frame was read."""
    right = pd.DataFrame(RNG.random((8, 2)) < 0.5, list("pqrstuvw"), ["a", "b"]).rename_axis("item")
    long = right.melt(ignore_index=False, var_name="model", value_name="correct").reset_index()
    wanted = right.T.to_numpy(float)
    for table, options in ((long, {}), (right.reset_index(), {"models": ["a", "b"]})):
        table.to_csv(tmp_path / "t.csv", index=False)
        for one in (table, tmp_path / "t.csv"):
            np.testing.assert_array_equal(pt.read_scores(one, score="correct", **options).values, wanted)
    dummies = pd.get_dummies(pd.Series(list("xyzxyzxy"), right.index, name="label"))
    dummies.to_csv(tmp_path / "t.csv")
    models = {"m": pd.DataFrame(RNG.dirichlet(np.ones(3), 8), right.index, list("xyz"))}
    found = [pt.evaluate(one, models, engine="exact").scores.values for one in (dummies, tmp_path / "t.csv")]
    np.testing.assert_array_equal(found[0], found[1])


def test_facts_about_a_model_are_no_benchmarks(tmp_path: Path) -> None:
    """The frame counted a column of truth values that the file ignored; the average was a benchmark beside a blank."""
    board = pd.DataFrame(
        {"Model": ["a", "b", "c"], "arc": [60.0, None, 57.0], "mmlu": [65.0, 63.0, 61.0], "gsm": [50.0, 40.0, 45.0]}
    )
    board["Average ⬆️"] = board[["arc", "mmlu", "gsm"]].mean(axis=1)
    board["Available"] = [True, False, True]
    board.to_csv(tmp_path / "t.csv", index=False)
    for one in (board, tmp_path / "t.csv"):
        scores = pt.read_scores(one, higher_is_better=True)
        assert scores.items == ("arc", "gsm", "mmlu")
        assert "ignored 'Average ⬆️' (the mean of the others), 'Available'" in scores.notes[-1]


def test_a_board_of_very_many_items_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every column was compared with all others, each read anew: 20,000 took hours."""
    board = pd.DataFrame(RNG.random((4, 300)), pd.Index(list("abcd"), name="model"), [f"q{n}" for n in range(300)])
    board["all"] = board.mean(axis=1)
    calls = []
    told = kinds.numbers_in
    monkeypatch.setattr(kinds, "numbers_in", lambda *given: calls.append(given) or told(*given))
    scores = pt.read_scores(board, higher_is_better=True)
    assert len(scores.items) == 300
    assert "ignored 'all' (the mean of the others)" in scores.notes[-1]
    assert len(calls) == 1


def test_check_takes_the_column_of_annotators(tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It refused the file with the advice to name the column that was named."""
    monkeypatch.chdir(tmp_path)
    rows = [(item, model, who, 1.0) for item in "pq" for model in "ab" for who in ("ann", "bob")]
    pd.DataFrame(rows, columns=["item", "model", "rater", "score"]).to_csv("t.csv", index=False)
    found = run("check t.csv --annotator rater")
    assert found.status == 0, found.text
    assert "2 models ('a', 'b') on 2 items" in found.text


def test_a_column_without_a_name_that_says_nothing(tmp_path: Path) -> None:
    """Row numbers that pandas wrote were replicates, which hid rows that stood twice; of models they were refused."""
    votes = pd.DataFrame({"item": [*"ppqq"], "annotator": ["a", "b"] * 2, "label": ["x", "y", "x", "x"]})
    probs = pd.DataFrame({"item": [*"pq"], "x": [0.25, 0.75], "y": [0.75, 0.25]})
    scores = pd.DataFrame({"item": [*"pqr"], "a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0]})
    for numbers in (True, False):
        for name, table in (("votes", votes), ("probs", probs), ("scores", scores)):
            path = tmp_path / f"{name}.csv"
            table.to_csv(path, index=numbers)
            if not numbers:
                path.write_text("".join(f"{line},\n" for line in path.read_text().splitlines()))
        assert pt.read_annotations(tmp_path / "votes.csv").counts().tolist() == [[1, 1], [2, 0]]
        assert pt.read_predictions({"m": tmp_path / "probs.csv"}).probs.tolist() == [[[0.25, 0.75], [0.75, 0.25]]]
        assert pt.read_scores(tmp_path / "scores.csv", models=[], higher_is_better=True).models == ("a", "b")
    pd.concat([votes, votes[:1]], ignore_index=True).to_csv(tmp_path / "votes.csv")
    with pytest.raises(pt.InputError, match="item 'p', annotator 'a' twice"):
        pt.read_annotations(tmp_path / "votes.csv")


def test_a_list_of_rows_is_a_table() -> None:
    """The same list in a JSON file was read; in Python its rows were taken for labels."""
    rows = CATS.replace({"cat": "yes", "dog": "no"})
    models = {
        name: pd.DataFrame({"item": ITEMS, "yes": p, "no": 1 - p})
        for name, p in zip("ab", RNG.random((2, 12)), strict=True)
    }
    wanted = pt.evaluate(rows, models, engine="exact").to_dict()
    of_rows = {name: table.to_dict("records") for name, table in models.items()}
    assert pt.evaluate(rows.to_dict("records"), of_rows, engine="exact").to_dict() == wanted
    assert pairs(VOTES.to_dict("records")) == pytest.approx(pairs(VOTES), abs=1e-9)
    with pytest.raises(pt.InputError, match=r"row 2: got a row with other keys \('label'\)"):
        pt.read_annotations([{"item": "p", "annotator": "a", "label": "x"}, {"item": "p", "annotator": "a"}])


def test_a_sum_is_no_label_of_counts_either_way() -> None:
    """`from_counts` took the column of sums for a label, which had half of all votes."""
    votes = pd.DataFrame(RNG.integers(1, 4, (6, 3)), list("pqrstu"), ["x", "y", "z"])
    with_sum = votes.assign(total=votes.sum(axis=1))
    read = pt.read_annotations(with_sum, format="counts")
    assert read.counts().tolist() == pt.Annotations.from_counts(votes).counts().tolist()
    with pytest.raises(pt.InputError, match=r"'total', the sum of the others.*read_annotations"):
        pt.Annotations.from_counts(with_sum)


def test_a_column_beside_logits_that_is_none_is_warned_of(tmp_path: Path) -> None:
    """Nothing sums to 1 there, so that a confidence was a label, without a word; of other kinds it is ignored."""
    p = RNG.dirichlet(np.ones(3), 6)
    index = pt.Truth.from_probs(p, items=list("pqrstu"), labels=list("xyz")).index
    cells = {"probs": p, "percent": 100 * p, "log-probs": np.log(p), "logits": np.log(p) + 3}
    for kind, values in cells.items():
        table = pd.DataFrame(values, list("pqrstu"), list("xyz")).rename_axis("item")
        for extra in ({"confidence": p.max(axis=1)}, {"code": p.argmax(axis=1)}):
            table.assign(**extra).to_csv(tmp_path / "m.csv")
            read = pt.read_predictions({"m": tmp_path / "m.csv"}, index, kind=kind)
            if kind == "logits":
                assert f"read '{next(iter(extra))}', which no annotator used" in read.warnings[0]
            else:
                np.testing.assert_allclose(read.probs[0], p)
                assert f"ignored '{next(iter(extra))}" in read.notes[0]
        table.to_csv(tmp_path / "m.csv")
        assert pt.read_predictions({"m": tmp_path / "m.csv"}, index, kind=kind).warnings == ()


def test_a_prefix_of_labels_beside_counts() -> None:
    """The names of the labels were looked for with that of the items among them."""
    votes = pd.DataFrame({"item": [*"pqr"], "x": [3, 0, 2], "y": [1, 4, 0]})
    probs = pd.DataFrame({"item": [*"pqr"], "p_x": [0.5, 0.25, 0.75], "p_y": [0.5, 0.75, 0.25]})
    plain = probs.rename(columns={"p_x": "x", "p_y": "y"})
    found = [pt.evaluate(votes, {"m": one}, engine="exact").scores.values for one in (probs, plain)]
    np.testing.assert_array_equal(found[0], found[1])


def test_soft_labels_that_another_program_wrote_again(tmp_path: Path) -> None:
    """Without the notes of the file the smoothed probabilities were scored in place of the votes, without a word."""
    votes = {"item": [*"ppqqrr"], "annotator": ["a", "b"] * 3, "label": [*"xyxxyy"]}
    models = {"m": pd.DataFrame({"x": [0.5, 0.8, 0.3], "y": [0.5, 0.2, 0.7]}, [*"pqr"])}
    path = tmp_path / "soft.parquet"
    write_soft(pt.infer_truth(pt.read_annotations(votes)), path)
    wanted = pt.evaluate(votes, models, engine="exact").scores.values
    np.testing.assert_allclose(pt.evaluate(path, models, engine="exact").scores.values, wanted)
    pd.read_parquet(path)[::-1].to_parquet(path)
    with pytest.raises(pt.InputError, match="another program dropped"):
        pt.evaluate(path, models, engine="exact")


def test_a_judge_and_its_prompt_in_every_file(tmp_path: Path) -> None:
    """MT-bench's own files are JSONL, whose lists were blank cells."""
    judged = VOTES.assign(judge=[[who, "pair-v2"] for who in VOTES["judge"]])
    judged.to_parquet(tmp_path / "t.parquet")
    judged.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    judged.to_json(tmp_path / "t.json", orient="records")
    for suffix in ("parquet", "jsonl", "json"):
        read = pt.read_votes(tmp_path / f"t.{suffix}")
        assert read.annotators == ("ann pair-v2", "bob pair-v2", "cid pair-v2")
        assert pairs(read) == pytest.approx(pairs(VOTES), abs=1e-9)


HARD = pd.Series([["owl", "cat", "dog"][n % 3] for n in range(12)], ITEMS, name="label").rename_axis("item")
SURE = pt.Predictions.from_probs({m: pd.DataFrame(RNG.dirichlet(np.ones(3), 12), ITEMS, sorted({*HARD})) for m in "ab"})


def test_gold_is_opened_as_every_table() -> None:
    """An index without a name, a row of an index for each expert, and an xarray were refused; NaN was a label."""
    scores = pt.score(SURE, pt.Truth.from_labels(HARD, classes=sorted({*HARD})), rule="brier")
    by_expert = HARD.to_frame().assign(annotator="x").reset_index()
    ways = {
        "a dict": HARD.to_dict(),
        "a Series": HARD.rename("said"),
        "an index without a name": HARD.to_frame().rename_axis(None),
        "a row for each expert": by_expert.set_index(["item", "annotator"])["label"],
        "xarray": HARD.to_xarray(),
        "other names": by_expert.rename(columns={"item": "id"}).assign(item="no item"),
    }
    votes = pt.read_annotations(by_expert)
    for name, gold in ways.items():
        result = pt.evaluate(
            votes, SURE, gold=gold, rule="brier", engine="exact", item="id" if name == "other names" else None
        )
        assert result.scores.gold is not None, name
        np.testing.assert_allclose(result.scores.gold.losses, scores.values[:, result.scores.gold.items], err_msg=name)
    for blank in ({**HARD.to_dict(), ITEMS[0]: None}, HARD.where(HARD.index != ITEMS[0])):
        with pytest.raises(pt.InputError, match="no label yet for 1 item"):
            pt.evaluate(votes, SURE, gold=blank, engine="exact")
        with pytest.raises(pt.InputError, match=rf"no label for 1 item \(the first: '{ITEMS[0]}'\)"):
            pt.evaluate(blank, SURE, engine="exact")


def test_answers_by_item_and_annotator_in_an_index() -> None:
    """A Series of answers was taken for one label of each item, called ('q0', 'ann')."""
    wanted = pt.evaluate(CATS, SURE, engine="exact").to_dict()
    indexed = CATS.set_index(["item", "annotator"])["label"]
    for series in (indexed, indexed.rename(None), indexed.rename("said")):
        assert pt.evaluate(series, SURE, engine="exact").to_dict() == wanted


UNUSED = {
    "run --annotations counts.csv --format counts --replicate x": "--replicate with files of counts",
    "run --annotations wide.csv --format wide --label x": "--label with files of wide",
    "run --annotations hard.csv --replicate x": "--replicate with files of labels",
    "run --annotations soft.csv --missing x": "--missing with files of soft",
    "plan --annotations votes.csv --transpose": "--transpose with --annotations",
    "compare a=s.csv b=s.csv --model x": "--model with files of one model each",
    "compare a=s.csv b=s.csv --transpose": "--transpose with files of one model each",
    "compare a=s.csv b=s.csv --format wide": "a column for each model in a table for each",
    "truth counts.csv --format counts --missing x": "no label is 'x'",
    "truth soft.csv --format soft": "got soft labels, expected annotations",
    "compare a=s.csv b=s.csv --missing 77": "no score is '77'",
    "compare a=s.csv b=blank.csv": "got 'NA', expected a number. Hint: Check that cell; --missing",
    "compare a=s.csv b=s.csv --cost cost.csv": "no column 'cost' .*a column of that name. Hint: Rename",
    "compare a=s.csv b=s.csv --gold gold.csv:p": "no column 'p' .*Write FILE:COLUMN",
    "run --annotations votes.csv --groups cost.csv:model": "no column 'item' .*--groups FILE:COLUMN; --item names",
    "compare cells.csv --annotator who --annotator-groups cost.csv:usd": "no column 'who' .*--annotator names the",
    "compare votes.csv --transpose": "got 0 columns of scores in a table with a row for each model|no column",
}


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Votes in two forms and the predictions of two models."""
    monkeypatch.chdir(tmp_path)
    CATS.to_csv("votes.csv", index=False)
    CATS.pivot(index="item", columns="annotator", values="label").to_csv("wide.csv")
    for model, probs in zip("ab", np.asarray(SURE.probs), strict=True):
        pd.DataFrame(probs, SURE.index.items, SURE.index.labels).to_csv(f"{model}.csv", index_label="item")


@pytest.mark.parametrize("line", UNUSED)
def test_no_option_is_typed_in_vain(line: str, written: None, run: Any) -> None:
    """Each of these did nothing and said nothing, or had advice that does not work."""
    counts = CATS.groupby(["item", "label"]).size().unstack(fill_value=0)
    counts.to_csv("counts.csv")
    (counts.T / counts.sum(axis=1)).T.to_csv("soft.csv")
    HARD.to_csv("hard.csv")
    pd.DataFrame({"item": ITEMS, "accuracy": RNG.random(12), "score": RNG.random(12)}).to_csv("s.csv", index=False)
    pd.DataFrame({"item": ITEMS, "accuracy": ["NA", *RNG.random(11)]}).to_csv("blank.csv", index=False)
    pd.DataFrame({"model": ["a", "b"], "usd": [1.0, 2.0]}).to_csv("cost.csv", index=False)
    pd.DataFrame({"item": ITEMS, "accuracy": 1.0}).to_csv("gold.csv", index=False)
    cells = [(item, model, who, RNG.random()) for item in ITEMS for model in "ab" for who in ("ann", "bob")]
    pd.DataFrame(cells, columns=["item", "model", "who", "accuracy"]).to_csv("cells.csv", index=False)
    command, _, _ = line.partition(" ")
    more = " --score accuracy" if command == "compare" else ""
    if command in ("run", "plan"):
        more = " --predictions a=a.csv --predictions b=b.csv"
    text = run(line + more).text
    assert re.search(UNUSED[line], text), text


def test_scores_of_each_annotator_from_every_form(written: None, run: Any) -> None:
    """`score` advised options that it did not have; `check` of a model's scores advised to read them as logits."""
    CATS.rename(columns={"item": "id", "annotator": "who", "label": "y"}).to_csv("renamed.csv", index=False)
    means = []
    for options in ("votes.csv", "renamed.csv --item id --annotator who --label y", "wide.csv --format wide"):
        models = "--predictions a=a.csv --predictions b=b.csv"
        found = run(f"score --each annotation --truth {options} {models} --out s.parquet --json")
        assert found.status == 0, found.text
        means.append(found.json["models"])
        assert means[-1] == pytest.approx(means[0], abs=1e-9)
    pd.DataFrame({"item": ITEMS, "score": RNG.normal(size=12)}).to_csv("s.csv", index=False)
    assert "scores of one model" in run("check", "a=s.csv").out


def test_covariates_are_finite_and_listed() -> None:
    """An infinite one ended in an error of linear algebra, and a text was read letter by letter."""
    votes = VOTES.assign(length=np.arange(60.0))
    with pytest.raises(pt.InputError, match="row 1, column 'length': got inf, expected a finite number"):
        pt.read_votes(votes.replace({"length": {0.0: np.inf}}), covariates=["length"])
    with pytest.raises(pt.InputError, match="covariates as a str, expected a list"):
        pt.read_votes(votes, covariates="length")
    with pytest.raises(pt.InputError, match="column of a covariate 'size'"):
        pt.read_votes(votes, covariates=["size"])


def test_numbers_of_a_model_are_no_benchmarks() -> None:
    board = pd.DataFrame({"model": ["a", "b"], "arc": [0.6, 0.5], "gsm": [0.4, 0.45], "#Params (B)": [7.0, 70.0]})
    board = board.assign(Year=2024, Rank=[1, 2])
    board = board.assign(id=[1, 2]).reset_index()
    assert pt.read_scores(board, higher_is_better=True).items == ("arc", "gsm")
