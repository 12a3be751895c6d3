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
