"""Scores by item and annotator on the command line are those in Python."""

import json

import numpy as np
import polars
import pytest

import probtruth as pt


@pytest.fixture
def frame(tmp_path) -> polars.DataFrame:
    rows = [(f"q{item}", f"u{(item + at) % 8}", model) for item in range(40) for at in range(3) for model in "ab"]
    made = polars.DataFrame(rows, schema=["item", "who", "model"], orient="row")
    made = made.with_columns(score=np.random.default_rng(4).standard_normal(len(rows)))
    made.write_csv(tmp_path / "cells.csv")
    return made


def test_the_command_line_is_the_same(run, frame, tmp_path) -> None:
    done = run("compare", tmp_path / "cells.csv", "--annotator", "who", "--lower-is-better", "--json")
    found = pt.compare(pt.read_scores(frame, annotator="who", higher_is_better=False))
    assert json.loads(done.out)["pairwise"][0]["low"] == found.pairs[0].low
    assert "new annotators like these" in json.loads(done.out)["estimand"]


def test_groups_of_people_come_from_a_file(run, frame, tmp_path) -> None:
    people = {f"u{at}": "young" if at < 4 else "old" for at in range(8)}
    polars.DataFrame({"who": list(people), "age": list(people.values())}).write_csv(tmp_path / "people.csv")
    options = ("--annotator", "who", "--annotator-groups", f"{tmp_path / 'people.csv'}:age", "--lower-is-better")
    done = run("compare", tmp_path / "cells.csv", *options, "--json")
    found = pt.compare(pt.read_scores(frame, annotator="who", higher_is_better=False), annotator_groups=people)
    written = json.loads(done.out)
    rows_of_groups = written["groups"]["groups of annotators"]
    assert [row["group"] for row in rows_of_groups] == ["old", "young"]
    run("compare", tmp_path / "cells.csv", *options, "--out", tmp_path / "result")
    page = (tmp_path / "result" / "report.md").read_text()
    assert "| Group | Items | Annotators | Difference |" in page
    assert written["decisions"]["group_annotators"] == {"old": 4, "young": 4}
    assert "| Group | a | b |" in page
    assert "The two leading models by every group of annotators" in page
    assert "P(old and young disagree about who is better)" in page
    assert (tmp_path / "result" / "figures" / "by-annotator-group.svg").exists()
    said = " ".join(run("compare", tmp_path / "cells.csv", *options).out.split())
    assert "By group of annotators: " in said
    assert "The two leading models by every group of annotators" in said
    assert rows_of_groups[0]["low"] == found.group_results["groups of annotators"][0].low
    assert written["decisions"]["group_disagreement"] == found.decisions["group_disagreement"]


def test_each_annotation_is_scored(run, tmp_path) -> None:
    rng = np.random.default_rng(5)
    votes = [(f"q{item}", f"u{(item + at) % 8}", "ny"[rng.integers(2)]) for item in range(40) for at in range(3)]
    votes = polars.DataFrame(votes, schema=["item", "annotator", "label"], orient="row")
    votes.write_csv(tmp_path / "votes.csv")
    tables = {"by-item": votes.select("item").unique(maintain_order=True), "by-both": votes.select("item", "annotator")}
    options = []
    for model, rows in tables.items():
        yes = rng.uniform(0.05, 0.95, rows.height)
        tables[model] = rows.with_columns(n=polars.Series(1 - yes), y=polars.Series(yes))
        tables[model].write_csv(tmp_path / f"{model}.csv")
        options += ["--predictions", f"{model}={tmp_path / model}.csv"]
    out = tmp_path / "cells.parquet"
    assert run("score", "--truth", tmp_path / "votes.csv", *options, "--each", "annotation", "--out", out).status == 0
    expected = pt.compare(pt.score(tables, tmp_path / "votes.csv", each="annotation"), engine="exact").pairs[0]
    found = json.loads(run("compare", out, "--engine", "exact", "--json").out)["pairwise"][0]
    assert (found["low"], found["p_a_better"]) == pytest.approx((expected.low, expected.p_a_better), rel=1e-9)
