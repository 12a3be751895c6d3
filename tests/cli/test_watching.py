"""`probtruth monitor`: a file that grows, a state that is kept, and what is refused."""

import json

import numpy as np
import pytest

import probtruth as pt


@pytest.fixture
def growing(tmp_path):
    """Scores of 300 items in a file of which the first lines can be taken."""
    rng = np.random.default_rng(2)
    rows = ["item,model,score,passage"]
    for k in range(300):
        rows += [f"q{k},new,{int(rng.random() < 0.85)},p{k // 3}", f"q{k},old,{int(rng.random() < 0.6)},p{k // 3}"]
    path = tmp_path / "scores.csv"

    def grow(lines):
        path.write_text("\n".join(rows[: lines + 1]) + "\n")
        return path

    return grow


FIRST = ("--bounds", 0, 1, "--higher-is-better", "--rope", 0.001)


def test_day_by_day_is_all_at_once(run, growing, tmp_path):
    state = tmp_path / "state.json"
    for day, lines in enumerate((101, 102, 400, 600)):
        options = FIRST if day == 0 else ()
        outcome = run("monitor", growing(lines), "--state", state, *options, "--json")
        assert outcome.status == 0, outcome.err
        assert ("known already" in outcome.err) == (day > 0)
    whole = tmp_path / "whole.json"
    at_once = run("monitor", growing(600), "--state", whole, *FIRST, "--json")
    assert at_once.json | {"skipped": 200} == outcome.json
    assert whole.read_bytes() == state.read_bytes()
    assert outcome.json["decision"] == "a"
    watch = pt.monitor(earlier=state)
    assert outcome.json["high"] == watch.interval[1]


def test_what_is_printed(run, growing, tmp_path):
    outcome = run("monitor", growing(600), "--state", tmp_path / "state.json", *FIRST)
    assert outcome.out.startswith("new is better than old.")
    assert "e-value" in outcome.out
    assert run("monitor", growing(21), "--state", tmp_path / "few.json", *FIRST).out.startswith("No decision yet")


def test_clusters_wait_for_their_last_item(run, growing, tmp_path):
    command = ("monitor", growing(600), "--state", tmp_path / "state.json", "--cluster", "passage")
    outcome = run(*command, *FIRST, "--largest-cluster", 3, "--json")
    assert (outcome.json["n_units"], outcome.json["pending"]) == (99, 3)
    assert "--close" in outcome.err
    assert run(*command, "--close", "--json").json["n_units"] == 100


def test_refused(run, growing, tmp_path):
    state, other = tmp_path / "state.json", tmp_path / "other.json"
    other.write_text(json.dumps({"title": "mine"}))
    cases = {
        "scores without bounds": ("--state", state),
        "did not write": ("--state", other, *FIRST),
        "line 3, column 'passage'": ("--state", state, *FIRST, "--score", "passage"),
    }
    for words, options in cases.items():
        outcome = run("monitor", growing(600), *options)
        assert outcome.status == 2
        if "line" not in words:
            assert words in outcome.err
        assert "Traceback" not in outcome.err
        assert not state.exists()
    assert json.loads(other.read_text()) == {"title": "mine"}
    assert run("monitor", growing(600), "--state", state, *FIRST).status == 0
    before = state.read_bytes()
    assert run("monitor", growing(600), "--state", state, "--alpha", 0.01).status == 2
    assert state.read_bytes() == before


def test_plan_from_scores(run, files):
    command = ("plan", files["scores"], "--lower-is-better", "--items", 100, "--cost", "item=2")
    outcome = run(*command, "--json")
    assert outcome.status == 0, outcome.err
    scores = pt.Scores.from_frame(_columns(files["scores"]), higher_is_better=False)
    made = pt.plan(scores, n_items=100, costs={"item": 2})
    assert outcome.json["designs"] == json.loads(json.dumps(made.designs))
    shown = run(*command).out
    assert "cheapest" in shown
    assert "power" in shown


def _columns(path):
    import polars

    return polars.read_csv(path)


def test_plan_from_annotations(run, files, models):
    command = ("plan", "--annotations", files["labels"], *models, "--rule", "brier", "--annotators", 9)
    outcome = run(*command, "--cost", "item=1", "--cost", "annotation=0.1", "--json")
    assert outcome.status == 0, outcome.err
    study = outcome.json["designs"][1]
    assert (study["n_items"], study["n_annotators"]) == (24, 9)
    assert outcome.json["variance"]["annotation"] > 0


def test_plan_from_columns_of_other_names_and_from_logs(run, files, models, tmp_path):
    renamed = tmp_path / "renamed.csv"
    text = files["labels"].read_text()
    renamed.write_text(text.replace("item,annotator,label", "item,worker,answer", 1))
    outcome = run("plan", "--annotations", renamed, "--annotator", "worker", "--label", "answer", *models, "--json")
    assert outcome.status == 0, outcome.err
    assert outcome.json == run("plan", "--annotations", files["labels"], *models, "--json").json
    for model, right in (("small", (1, 0, 1, 0, 1, 0)), ("large", (1, 1, 1, 0, 1, 1))):
        (tmp_path / "logs" / model).mkdir(parents=True)
        lines = (f'{{"doc_id": {row}, "target": "1", "acc": {one}.0}}' for row, one in enumerate(right))
        (tmp_path / "logs" / model / "samples_quiz.jsonl").write_text("\n".join(lines) + "\n")
    outcome = run("plan", tmp_path / "logs", "--json")
    assert outcome.status == 0, outcome.err
    assert outcome.json["designs"][1]["n_items"] == 6


@pytest.mark.parametrize(
    ("command", "said", "options"),
    [
        ("plan", "both SCORES", ("--annotations", "labels.csv")),
        ("plan", "cost 'item'", ("--cost", "item")),
        ("plan", "Did you mean 'item'?", ("--cost", "itm=3")),
        ("plan", "n_annotators with a pilot", ("--annotators", 3)),
        ("validate", "cannot have", ("--difference", 30)),
        ("validate", "replications 1", ("--replications", 1)),
    ],
)
def test_plan_and_validate_refused(run, files, command, said, options):
    given = (files["scores"], "--lower-is-better", *options)
    for words, expected in (((), "no pilot"), (given, said)):
        outcome = run(command, *words)
        assert outcome.status == 2
        assert expected in outcome.err


def test_validate_from_scores(run, files):
    command = ("validate", files["scores"], "--lower-is-better", "--replications", 20)
    outcome = run(*command, "--json")
    assert outcome.status == 0, outcome.err
    found = pt.validate(pt.Scores.from_frame(_columns(files["scores"]), higher_is_better=False), replications=20)
    assert outcome.json == json.loads(json.dumps(found.to_dict()))
    shown = run(*command).out
    assert "a minus b: studies of 24 items" in shown
    assert "rarer than 1 in 24 cannot be seen here" in shown
