"""Predictions against each annotator's own label, by item or by item and annotator."""

import numpy as np
import polars
import pytest

import probtruth as pt

LABELS = ["no", "yes"]


def votes(n_items: int = 60, n_annotators: int = 12, each: int = 4) -> polars.DataFrame:
    rng = np.random.default_rng(0)
    rows = []
    for item in range(n_items):
        for annotator in rng.choice(n_annotators, each, replace=False):
            rows.append((f"q{item}", f"u{annotator}", LABELS[int(rng.random() < 0.3 + 0.4 * (item % 2))]))
    return polars.DataFrame(rows, schema=["item", "annotator", "label"], orient="row")


def forecasts(rows: polars.DataFrame, seed: int) -> polars.DataFrame:
    yes = np.random.default_rng(seed).uniform(0.05, 0.95, rows.height)
    return rows.with_columns(no=polars.Series(1 - yes), yes=polars.Series(yes))


def losses(answers: polars.DataFrame, table: polars.DataFrame, model: str) -> polars.DataFrame:
    """The log score of each annotation, by a join."""
    on = [name for name in ("item", "annotator") if name in table.columns]
    p = polars.when(polars.col("label") == "no").then("no").otherwise("yes")
    joined = answers.join(table, on=on).with_columns(model=polars.lit(model), score=-p.log())
    return joined.select("item", "annotator", "model", "score")


@pytest.fixture
def made() -> tuple[polars.DataFrame, dict[str, polars.DataFrame]]:
    answers = votes()
    items = answers.select("item").unique(maintain_order=True)
    tables = {
        "a": forecasts(items, 1),
        "b": forecasts(answers.select("item", "annotator"), 2),
        "c": forecasts(items, 3),
    }
    return answers, tables


def same(found: pt.Comparison, expected: pt.Comparison) -> None:
    for row, other in zip(found.pairs, expected.pairs, strict=True):
        for name in ("difference", "low", "high", "p_a_better"):
            assert row[name] == pytest.approx(other[name], rel=1e-9), name


def test_it_is_the_comparison_of_the_same_numbers_by_annotator(made) -> None:
    answers, tables = made
    by_hand = polars.concat([losses(answers, table, model) for model, table in tables.items()])
    scores = pt.score(tables, pt.Annotations.from_long(answers), each="annotation")
    assert (scores.rule, scores.replicates.what) == ("log", "annotator")
    found = pt.compare(scores, engine="exact")
    same(found, pt.compare(pt.read_scores(by_hand, annotator="annotator", higher_is_better=False), engine="exact"))
    assert "against each annotator's own label over new items like these, new annotators like these" in found.estimand


def test_predictions_by_item_have_the_answer_of_vote_shares(made) -> None:
    answers, tables = made
    annotations = pt.Annotations.from_long(answers)
    by_item = {model: tables[model] for model in ("a", "c")}
    shares = pt.compare(pt.score(by_item, pt.infer_truth(annotations), rule="brier"), engine="exact")
    each = pt.score(by_item, annotations, rule="brier", each="annotation")
    same(pt.compare(each, engine="exact"), shares)
    read = pt.read_predictions(by_item, annotations.index)
    assert (pt.score(read, pt.infer_truth(annotations), rule="brier", each="annotation").values == each.values).all()


@pytest.mark.parametrize("n_items", [3, 8, 40])
def test_right_and_wrong_answers_by_annotator_end_where_they_can(n_items) -> None:
    """Models that answer every item alike but one: ties count and intervals end at 1, as against the vote shares."""
    answers = votes(n_items, 4, 2)
    items = answers.select("item").unique(maintain_order=True)
    yes = np.random.default_rng(3).uniform(0.05, 0.95, n_items)
    tables = {}
    for name, at in (("a", 0), ("b", 1), ("c", 0)):  # a and c say the same everywhere
        said = yes.copy()
        said[at] = 1 - said[at]
        tables[name] = items.with_columns(no=polars.Series(1 - said), yes=polars.Series(said))
    parts = []
    for model, table in tables.items():
        joined = answers.join(table, on="item").with_columns(model=polars.lit(model))
        right = (polars.col("yes") > polars.col("no")) == (polars.col("label") == "yes")
        parts.append(joined.with_columns(score=1.0 - right.cast(polars.Float64)).drop("no", "yes", "label"))
    scores = pt.Scores.from_frame(polars.concat(parts), annotator="annotator", higher_is_better=False)
    wanted = pt.evaluate(answers, tables, method="vote-share", rule="zero-one", engine="exact").comparison
    for found in (pt.compare(scores, engine="exact"), pt.compare(pt.Moments.of(scores), engine="exact")):
        same(found, wanted)
        twins = found.pair("a", "c")
        assert twins.low < 0 < twins.high


def test_whom_a_model_does_not_predict_it_lacks(made) -> None:
    answers, tables = made
    tables["b"] = tables["b"].head(200)
    scores = pt.score(tables, pt.Annotations.from_long(answers), each="annotation")
    assert np.isnan(scores.replicates.values).sum(1).tolist() == [0, 40, 0]
    only = pt.score({"b": tables["b"]}, pt.Annotations.from_long(answers), each="annotation")
    assert only.cautions == ("40 annotations without a prediction left out",)
    assert only.replicates.values.shape == (1, 200)


def test_an_annotator_who_answers_twice_counts_once(made) -> None:
    answers, tables = made
    twice = answers.with_columns(replicate=polars.lit("1"))
    opposite = {"no": "yes", "yes": "no"}
    other = twice.head(1).with_columns(replicate=polars.lit("2"), label=polars.col("label").replace_strict(opposite))
    scores = pt.score({"a": tables["a"]}, pt.Annotations.from_long(polars.concat([twice, other])), each="annotation")
    p = tables["a"].row(0, named=True)
    cells = scores.replicates
    place = np.flatnonzero((cells.item == 0) & (np.array(cells.names)[cells.replicate] == answers["annotator"][0]))
    assert cells.values[0, place] == pytest.approx(-(np.log(p["no"]) + np.log(p["yes"])) / 2, rel=1e-9)


def test_distances_are_to_the_annotators_label() -> None:
    # of certain answers: the error rate is the zero-one score, the absolute distance the ranked probability score
    answers = polars.DataFrame({"item": ["p", "p", "q"], "annotator": ["u", "v", "u"], "label": [0, 3, 4]})
    certain = polars.DataFrame({"item": ["p", "q"], **{str(k): [float(k == 1), float(k == 4)] for k in range(5)}})
    annotations = pt.Annotations.from_long(answers, labels=range(5))
    for rule, expected in (("zero-one", [1, 1, 0]), ("ranked-probability", [1, 2, 0]), ("wasserstein", [1, 2, 0])):
        scores = pt.score({"m": certain}, annotations, rule=rule, each="annotation")
        assert scores.replicates.values[0].tolist() == expected, rule
    assert scores.by_proper_rule.rule == "ranked-probability"
    assert scores.by_proper_rule.values.tolist() == scores.values.tolist()


def test_errors(made) -> None:
    answers, tables = made
    counts = pt.Annotations.from_counts([[1, 2]] * 60, items=tables["a"]["item"].to_list(), labels=LABELS)
    for wrong, options, message in (
        (counts, {}, "labels without annotators, with each='annotation'"),
        (pt.Annotations.from_long(answers), {"evidence": "annotators"}, "evidence='annotators' with each='annotation'"),
    ):
        with pytest.raises(pt.InputError, match=message):
            pt.score({"a": tables["a"]}, wrong, each="annotation", **options)
    with pytest.raises(pt.InputError, match="got each 'word'"):
        pt.score({"a": tables["a"]}, counts, each="word")
