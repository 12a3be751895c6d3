"""Scores by item and annotator on the command line are those in Python."""

import json

import numpy as np
import polars

import probtruth as pt


def test_the_command_line_is_the_same(run, tmp_path) -> None:
    rng = np.random.default_rng(3)
    rows = [(f"q{item}", f"u{(item + at) % 8}", model) for item in range(40) for at in range(3) for model in "ab"]
    frame = polars.DataFrame(rows, schema=["item", "who", "model"], orient="row")
    frame = frame.with_columns(score=rng.standard_normal(len(rows)))
    frame.write_csv(tmp_path / "cells.csv")
    done = run("compare", tmp_path / "cells.csv", "--annotator", "who", "--lower-is-better", "--json")
    found = pt.compare(pt.read_scores(frame, annotator="who", higher_is_better=False))
    assert json.loads(done.out)["pairwise"][0]["low"] == found.pairs[0].low
    assert "new annotators like these" in json.loads(done.out)["estimand"]


def test_groups_of_people_come_from_a_file(run, tmp_path) -> None:
    rng = np.random.default_rng(4)
    rows = [(f"q{item}", f"u{(item + at) % 8}", model) for item in range(40) for at in range(3) for model in "ab"]
    frame = polars.DataFrame(rows, schema=["item", "who", "model"], orient="row")
    frame = frame.with_columns(score=rng.standard_normal(len(rows)))
    frame.write_csv(tmp_path / "cells.csv")
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
    assert "| Group | a | b |" in page
    assert "| young |" in page
    assert rows_of_groups[0]["low"] == found.group_results["groups of annotators"][0].low
    assert written["decisions"]["group_disagreement"] == found.decisions["group_disagreement"]
