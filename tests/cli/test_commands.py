"""Every command on small files: what is printed where, what is written, and that it is the line's own answer.

Scores by item and annotator on the command line are those in Python.

What the items are, in the report: embedded only if asked for, escaped, and refused before long work.
"""

import base64
import html
import json
from dataclasses import replace

import numpy as np
import polars
import pytest

import probtruth as pt
from probtruth.io.scores import NO_LABELS
from probtruth.io.table import FileTable

NAMES = "figures items.parquet models.csv pairwise.csv posterior.nc report.html report.md report.tex result.json"


def test_run_writes_the_result_and_prints_the_verdict(run, files, models, tmp_path):
    out = tmp_path / "out"
    outcome = run("run", "--annotations", files["labels"], *models, "--rope", 0.01, "--out", out)
    assert outcome.status == 0, outcome.err
    assert sorted(path.name for path in out.iterdir()) == NAMES.split()
    assert "sharp" in outcome.out
    assert "report.html" in outcome.err
    result = json.loads((out / "result.json").read_text())
    annotations = pt.read_annotations(files["labels"])
    predictions = pt.read_predictions({"sharp": files["sharp"], "flat": files["flat"]}, index=annotations.index)
    again = pt.evaluate(annotations, predictions, rope=0.01)
    assert result == json.loads(json.dumps(again.to_dict()))
    tree = again.comparison.datatree
    import arviz

    loaded = arviz.from_netcdf(out / "posterior.nc")
    assert (loaded.posterior["difference"] == tree.posterior["difference"]).all()


def test_json_is_all_there_is_on_standard_output(run, files, tmp_path):
    outcome = run("compare", files["scores"], "--lower-is-better", "--json", "--out", tmp_path / "out")
    assert outcome.json == json.loads((tmp_path / "out" / "result.json").read_text())


def test_an_earlier_result_is_replaced(run, files, tmp_path):
    out = tmp_path / "out"
    assert run("compare", files["scores"], "--lower-is-better", "--out", out).status == 0
    before = (out / "result.json").read_text()
    assert run("compare", files["scores"], "--lower-is-better", "--seed", 1, "--out", out).status == 0
    assert (out / "result.json").read_text() != before


@pytest.mark.parametrize("method", ["vote-share", "dawid-skene-em"])
def test_a_truth_as_a_file_gives_what_its_annotations_give(run, files, models, tmp_path, method):
    soft = tmp_path / "soft.parquet"
    assert run("truth", files["labels"], "--method", method, "--out", soft).status == 0
    options = (*models, "--engine", "exact", "--json")
    at_once = run("run", "--annotations", files["labels"], "--truth", method, *options)
    in_steps = run("run", "--soft", soft, *options)
    assert in_steps.json == at_once.json


def test_several_labels_of_a_column_each(run, tmp_path):
    rows = [{"item": f"i{at}", "annotator": who, "toxic": at % 2, "insult": (at + place) % 3 == 0}
            for at in range(24) for place, who in enumerate("pqr")]  # fmt: skip
    polars.DataFrame(rows).with_columns(polars.col("insult").cast(int)).write_csv(tmp_path / "labels.csv")
    words = ["run", "--annotations", tmp_path / "labels.csv"]
    for name, sure in (("ours", 0.8), ("theirs", 0.6)):
        toxic = [sure + 0.01 * (at % 5) if at % 2 else 1 - sure for at in range(24)]
        table = {"item": [f"i{at}" for at in range(24)], "toxic": toxic, "insult": [0.3 + 0.1 * sure] * 24}
        polars.DataFrame(table).write_csv(tmp_path / f"{name}.csv")
        words += ["--predictions", f"{name}={tmp_path / name}.csv"]
    words += ["--label", "toxic", "--label", "insult", "--engine", "exact"]
    result = run(*words, "--json").json
    differences = [one["pairwise"][0]["difference"] for one in result["labels"]]
    assert [one["label"] for one in result["labels"]] == ["toxic", "insult"]
    assert result["pairwise"][0]["difference"] == pytest.approx(sum(differences) / 2)
    polars.DataFrame({"item": table["item"], "text": ["so it goes"] * 24}).write_csv(tmp_path / "texts.csv")
    shown = run(*words, "--out", tmp_path / "out", "--show", f"{tmp_path / 'texts.csv'}:text")
    assert shown.status == 0
    assert "Differences on each label" in shown.out
    assert json.loads((tmp_path / "out" / "result.json").read_text())["labels"][1]["label"] == "insult"
    report = (tmp_path / "out" / "report.md").read_text()
    of_labels = report[report.index("### Labels") : report.index("### Models")]
    assert of_labels.index("| toxic |") < of_labels.index("| insult |") < of_labels.index("| mean of all |")
    assert "so it goes" in (tmp_path / "out" / "report.html").read_text()
    unused = ["metric=f1", "gold=gold.csv", "weights=equal", "soft=soft.csv", "memory=2GB", "kind=percent"]
    unused += ["format=wide", "missing=NA", "replicate=run"]
    for option in unused:
        name, _, value = option.partition("=")
        refused = run(*words, f"--{name}", value)
        assert refused.status == 2
        assert f"--{name} with several --label" in refused.err
    assert "--renormalise with several --label" in run(*words, "--renormalise").err


@pytest.mark.parametrize("method", ["vote-share", "dawid-skene-em"])
def test_a_table_of_scores_has_the_labels_behind_them_or_says_that_it_lacks_them(run, files, models, tmp_path, method):
    soft, scores = tmp_path / "soft.parquet", tmp_path / "scores.parquet"
    at_once = run("run", "--annotations", files["labels"], *models, "--truth", method, "--engine", "exact", "--json")
    run("truth", files["labels"], "--method", method, "--out", soft)
    run("score", "--truth", soft, *models, "--out", scores)
    in_steps = run("compare", scores, "--engine", "exact", "--json")
    assert NO_LABELS not in in_steps.json["warnings"]
    for what in ("pairwise", "models", "uncertainty"):
        assert in_steps.json[what] == at_once.json[what], what
    table = polars.read_parquet(scores)
    rows = table.filter(polars.col("item") != table["item"][0])
    rows.write_parquet(tmp_path / "fewer.parquet")
    plain = run("compare", tmp_path / "fewer.parquet", "--lower-is-better", "--engine", "exact", "--json")
    assert NO_LABELS in plain.json["warnings"]


def test_a_metric_in_place_of_a_rule(run, files, models):
    command = ["run", "--annotations", files["labels"], *models, "--engine", "exact", "--json"]
    outcome = run(*command, "--metric", "f1:no")
    assert outcome.status == 0, outcome.err
    assert outcome.json["rule"] == "f1 of 'no'"
    assert (outcome.json["settings"]["metric"], outcome.json["settings"]["label"]) == ("f1", "no")
    for words, message in (
        (["--metric", "f1", "--rule", "brier"], "a metric or a scoring rule"),
        (["--metric", "f2"], "f2"),
        (["--metric", "ece:no"], "no label"),
    ):
        wrong = run(*command, *words)
        assert wrong.status == 2
        assert message in wrong.err


def test_groups_and_clusters_from_a_file(run, files, models, tmp_path):
    table = tmp_path / "about.csv"
    rows = [f"i{number},{'even' if number % 2 == 0 else 'odd'},{number // 2}" for number in range(24)]
    table.write_text("\n".join(["item,parity,pair", *rows]) + "\n")
    exact = ["--engine", "exact", "--json"]
    command = ["run", "--annotations", files["labels"], *models, "--groups", f"{table}:parity", *exact]
    grouped = run(*command)
    assert grouped.status == 0, grouped.err
    assert grouped.json["settings"]["groups"] == 2
    assert "these 2 groups" in grouped.json["estimand"]
    assert set(grouped.json["groups"]) == {"population of groups", "one new group", "by_group"}
    command = ["run", "--annotations", files["labels"], *models, "--clusters", f"{table}:pair", *exact]
    clustered = run(*command)
    assert clustered.json["settings"]["clusters"] == 12


def test_truth_prints_marginals_and_confusion(run, files):
    outcome = run("truth", files["labels"], "--method", "dawid-skene-em", "--json")
    assert outcome.status == 0, outcome.err
    assert outcome.json["method"] == "dawid-skene-em"
    assert sum(outcome.json["marginals"].values()) == pytest.approx(1)
    assert set(outcome.json["confusion"]) == {"ann", "bob", "cy"}
    assert "ann" in run("truth", files["labels"], "--method", "dawid-skene-em").out


def test_truth_says_that_a_method_did_not_converge(run, files, monkeypatch):
    from probtruth.truth import infer

    def unconverged(*args, **options):
        truth = infer_truth(*args, **options)
        return replace(truth, diagnostics={**truth.diagnostics, "converged": False, "n_iterations": 7})

    infer_truth = infer.infer_truth
    monkeypatch.setattr(infer, "infer_truth", unconverged)
    assert "one-coin did not converge in 7 iterations" in run("truth", files["labels"], "--method", "one-coin").err


def test_truth_prints_quality_under_its_default(run, files):
    outcome = run("truth", files["labels"])
    assert "vote shares with their uncertainty (dirichlet), estimand distribution" in outcome.out
    assert "agreement" in outcome.out
    assert all(name in outcome.out for name in ("ann", "bob", "cy"))


def test_annotators_are_left_out_by_name(run, files):
    words = ("--exclude-annotator", "bob", "--json")
    alone = run("truth", files["labels"], "--method", "vote-share", *words)
    assert "1 annotator left out as requested" in alone.err
    rest = pt.read_annotations(files["labels"]).without_annotators(["bob"])
    shares = pt.infer_truth(rest, "vote-share").probs
    assert alone.json["marginals"] == pytest.approx(dict(zip(rest.index.labels, shares.mean(0), strict=True)))
    unknown = run("truth", files["labels"], "--exclude-annotator", "bop")
    assert unknown.status == 2
    assert "got annotator 'bop', expected one of" in unknown.err


def test_truth_writes_csv_by_the_suffix(run, files, models, tmp_path):
    outcome = run("truth", files["labels"], "--out", tmp_path / "soft.csv")
    assert (outcome.status, "CSV holds the probabilities alone" in outcome.err) == (0, True)
    done = run("run", "--soft", tmp_path / "soft.csv", *models, "--engine", "exact", "--json")
    assert (done.status, done.json["truth"]["n_items"]) == (0, 24), done.err


def test_without_out_the_verdict_is_printed_and_nothing_written(run, files, models, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    for words, verdict in (
        (("run", "--annotations", files["labels"], *models), "The comparison of sharp and flat is inconclusive."),
        (
            ("compare", files["scores"], "--lower-is-better"),
            "a is almost certainly better than b, unless rare outcomes",
        ),
    ):
        done = run(*words, "--engine", "exact")
        assert done.status == 0, done.err
        assert done.out.startswith(verdict), done.out
        assert "report" not in done.err
        assert not list((tmp_path / "empty").iterdir())


def test_renormalised_rows_are_counted_on_the_first_screen(run, files, tmp_path):
    path = tmp_path / "rounded.csv"
    path.write_text(files["flat"].read_text().replace("0.6000,0.4000", "0.6,0.39"))
    n_rows = files["flat"].read_text().count("0.6000,0.4000")
    words = ["run", "--annotations", files["labels"], "--predictions", f"sharp={files['sharp']}"]
    words += ["--predictions", f"rounded={path}", "--engine", "exact"]
    refused = run(*words)
    assert "these look like rounded probabilities; pass --renormalise" in refused.err
    done = run(*words, "--renormalise", "--json")
    (row,) = done.json["audit"]["renormalised"]
    assert (row["model"], row["rows"], row["lowest_sum"]) == ("rounded", n_rows, pytest.approx(0.99))
    said = f"rows of predictions divided by their sums, as you chose: {n_rows} of 'rounded' (sums 0.99 to 0.99)"
    assert said in done.json["warnings"]
    assert "divided by their sums, as you chose" in " ".join(run(*words, "--renormalise").out.split())


def test_check_says_what_each_file_is(run, files):
    outcome = run("check", files["labels"], files["sharp"], files["scores"], "--json")
    assert outcome.status == 0, outcome.err
    kinds = [row["kind"] for row in outcome.json["files"]]
    assert kinds == ["annotations, long form", "probabilities (predictions or soft labels)", "scores"]
    assert "24 items" in run("check", files["labels"]).out


@pytest.mark.long
def test_demo(run, tmp_path):
    outcome = run("demo", "--out", tmp_path / "demo")
    assert outcome.status == 0, outcome.err
    assert "simulated" in outcome.err
    assert "simulated" in (tmp_path / "demo" / "report.html").read_text()


def test_run_with_one_model(run, files, tmp_path):
    outcome = run(
        "run", "--annotations", files["labels"], "--predictions", f"sharp={files['sharp']}", "--out", tmp_path / "o"
    )
    assert outcome.status == 0, outcome.err
    assert "The mean log loss of sharp is" in outcome.out
    assert "P(best)" not in outcome.out
    assert (tmp_path / "o" / "report.html").exists()


def test_chosen_items_come_back_as_gold(run, files, models, tmp_path):
    given = ["--annotations", files["labels"], "--truth", "dawid-skene-em", *models]
    out = tmp_path / "gold.csv"
    chosen = run("choose-gold", *given, "--items", 12, "--seed", 2, "--out", out, "--json")
    assert chosen.status == 0, chosen.err
    rows = chosen.json["items"]
    assert len(rows) == 12
    assert run("choose-gold", *given, "--items", 12, "--out", out).status == 2  # it may hold an expert's answers by now
    lines = ["item,chance,label"]
    lines += [f"{row['item']},{row['probability']},{'yes' if int(row['item'][1:]) % 2 == 0 else 'no'}" for row in rows]
    out.write_text("\n".join(lines) + "\n")
    uniform = run("run", *given, "--gold", out, "--engine", "exact", "--json")
    assert uniform.json["gold"]["sample"] == "uniform"
    result = run("run", *given, "--gold", f"{out}:chance", "--engine", "exact", "--json")
    assert result.status == 0, result.err
    assert result.json["gold"]["n_items"] == 12
    assert result.json["gold"]["sample"] == "chosen"
    assert result.json["truth"]["estimand"] == "class"


def test_better_scores_of_some_items(run, tmp_path):
    rows = [
        (f"q{item:02d}", model, (item * 7 + step) % 5 + step) for item in range(40) for step, model in enumerate("ab")
    ]
    header = "item,model,mark"
    judge, people = tmp_path / "judge.csv", tmp_path / "people.csv"
    judge.write_text("\n".join([header, *(f"{item},{model},{mark}" for item, model, mark in rows)]) + "\n")
    some = [f"{item},{model},{mark - (model == 'b')}" for item, model, mark in rows if int(item[1:]) % 3 == 0]
    people.write_text("\n".join([header, *some]) + "\n")
    words = ["compare", judge, "--score", "mark", "--higher-is-better", "--engine", "exact", "--json"]
    plain, anchored = run(*words), run(*words, "--gold", people)
    assert anchored.status == 0, anchored.err
    assert anchored.json["gold"]["n_items"] == 14
    # marks of b are one lower where people gave them: a minus b is one larger
    moved = anchored.json["pairwise"][0]["difference"] - plain.json["pairwise"][0]["difference"]
    assert abs(moved - 1) < 0.5
    assert run(*words, "--gold", tmp_path / "none.csv").status == 2


def test_what_quality_costs(run, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    score = rng.random((2, 50)) + np.array([[0.5], [0.0]])
    rows = {"item": [*range(50)] * 2, "model": ["cheap"] * 50 + ["dear"] * 50, "loss": score.ravel()}
    rows["tokens"] = np.concatenate([rng.random(50), 10 + rng.random(50)])
    table, prices = tmp_path / "scores.csv", tmp_path / "prices.csv"
    polars.DataFrame(rows).write_csv(table)
    prices.write_text("model,cost\ndear,10.5\ncheap,0.5\n")
    asked = ("compare", table, "--score", "loss", "--engine", "exact", "--rope", 0.1)
    parsed = []
    of_file = FileTable._parts
    monkeypatch.setattr(FileTable, "_parts", lambda self, columns: parsed.append(self.path) or of_file(self, columns))
    found = [json.loads(run(*asked, "--cost", cost, "--json").out)["frontier"] for cost in (prices, "tokens")]
    assert [path.name for path in parsed].count("scores.csv") == 2  # once in each call
    for one in found:
        assert [row["model"] for row in one["models"]] == ["cheap", "dear"]
        assert one["cheapest"] == "dear"
    assert found[0]["models"][0]["cost_low"] is None
    costs = pt.Scores.from_frame({**rows, "loss": rows["tokens"]}, score="loss", higher_is_better=False)
    comparison = pt.compare(pt.Scores.from_frame(rows, score="loss", higher_is_better=False), engine="exact", rope=0.1)
    assert found[1] == json.loads(json.dumps(comparison.frontier(costs).to_dict()))
    out = tmp_path / "out"
    outcome = run(*asked, "--cost", prices, "--out", out)
    assert "The cheapest model with a mean within 0.1 of the best" in outcome.out
    assert (out / "figures" / "frontier.svg").exists()
    prices.write_text("model,cost\ndear,10.5\n")
    refused = run(*asked, "--cost", prices)
    assert refused.status == 2
    assert "no cost of 'cheap'" in refused.err
    refused = run(*asked, "--cost", f"{prices}:cost")
    assert "expected a file of prices, or the column of costs" in refused.err
    assert "--score" not in refused.err


def test_score_takes_no_annotations(run, files, tmp_path):
    """The message names the file, and the command that makes soft labels of it."""
    labels, model = files["labels"], f"a={files['sharp']}"
    done = run("score", "--truth", labels, "--predictions", model, "--out", tmp_path / "scores.parquet")
    assert done.status == 2
    assert done.err.splitlines()[-1].startswith(f"probtruth: {labels}: got annotations as the truth, expected soft")
    assert "probtruth truth FILE --out soft.parquet" in done.err


@pytest.fixture
def frame(tmp_path) -> polars.DataFrame:
    rows = [(f"q{item}", f"u{(item + at) % 8}", model) for item in range(40) for at in range(3) for model in "ab"]
    made = polars.DataFrame(rows, schema=["item", "who", "model"], orient="row")
    made = made.with_columns(score=np.random.default_rng(4).standard_normal(len(rows)))
    made.write_csv(tmp_path / "cells.csv")
    return made


def test_the_command_line_is_the_same(run, frame, tmp_path):
    done = run("compare", tmp_path / "cells.csv", "--annotator", "who", "--lower-is-better", "--json")
    found = pt.compare(pt.read_scores(frame, annotator="who", higher_is_better=False))
    assert json.loads(done.out)["pairwise"][0]["low"] == found.pairs[0].low
    assert "new annotators like these" in json.loads(done.out)["estimand"]


def test_groups_of_people_come_from_a_file(run, frame, tmp_path):
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


def test_each_annotation_is_scored(run, tmp_path):
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


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
TEXT = "</script><script>alert(1)</script>"


@pytest.fixture
def content(files, tmp_path):
    """A table of all items: a hostile text, and the path of an image of one pixel."""
    (tmp_path / "one.png").write_bytes(base64.b64decode(PNG))
    rows = [f'i{number},"{TEXT} {number}",one.png' for number in range(24)]
    (tmp_path / "what.csv").write_text("item,text,image\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / "what.csv"


def report(folder) -> str:
    return (folder / "report.html").read_text("utf-8")


@pytest.mark.long
def test_run_embeds_texts_and_images_if_asked(run, files, models, content, tmp_path):
    words = ["run", "--annotations", files["labels"], "--engine", "exact", "--out"]
    assert run(*words, tmp_path / "texts", *models, "--show", f"{content}:text").status == 0
    page = report(tmp_path / "texts")
    assert f"{TEXT} 3" in html.unescape(page)
    assert "alert(1)</script>" not in page
    assert run(*words, tmp_path / "images", *models, "--show", f"{content}:image").status == 0
    page = report(tmp_path / "images")
    assert f"data:image/png;base64,{PNG}" in page
    assert "img-src data:;" in page
    assert run(*words, tmp_path / "without", *models).status == 0
    page = report(tmp_path / "without")
    assert "alert(1)" not in page
    assert "data:image/png" not in page
    assert "img-src" not in page


def test_a_column_that_is_not_there_is_known_at_once(run, files, content, tmp_path):
    done = run("compare", files["scores"], "--lower-is-better", "--show", f"{content}:words", "--out", tmp_path / "out")
    assert done.status == 2
    assert "no column 'words'" in done.err
    assert not (tmp_path / "out").exists()
