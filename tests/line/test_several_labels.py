"""Several labels at once: each is the evaluation of that label, and their mean is a comparison over items."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import probtruth as pt
from probtruth.line.several_labels import ALL

LABELS = ["toxic", "insult", "threat"]
ROUNDING = 1e-9
N_ITEMS = 90


def made(seed: int = 0, taste: float = 0.0) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """Votes of four of eight annotators on three labels, and two models; `taste` moves an annotator on all labels."""
    rng = np.random.default_rng(seed)
    true = rng.random((N_ITEMS, 3)) < [0.4, 0.3, 0.1]
    lean = rng.normal(0, taste, 8)
    rows = []
    for item in range(N_ITEMS):
        for who in rng.choice(8, 4, replace=False):
            logit = 3.0 * true[item] - 2.0 + lean[who]
            said = (rng.random(3) < 1 / (1 + np.exp(-logit))).astype(int)
            rows.append((f"t{item:02d}", f"w{who}", *said.tolist()))
    models = {}
    for name, scale in (("ours", 2.0), ("theirs", 1.0)):
        probs = 1 / (1 + np.exp(-scale * (2 * true - 1) - rng.normal(size=true.shape)))
        columns = {"item": [f"t{item:02d}" for item in range(N_ITEMS)]}
        models[name] = pl.DataFrame(columns | {label: probs[:, at] for at, label in enumerate(LABELS)})
    return pl.DataFrame(rows, ["item", "annotator", *LABELS], orient="row"), models


def evaluate(table: Any, models: Any, labels: Any = LABELS, **options: Any) -> Any:
    return pt.evaluate_labels(table, models, labels, engine="exact", **options)


def one_by_one(table: pl.DataFrame, models: dict[str, pl.DataFrame], label: str, **options: Any) -> pt.Result:
    """That label alone, as somebody would ask who has two columns."""
    words = table[label].replace_strict({0: "no", 1: "yes"})
    annotations = pt.Annotations.from_long({"item": table["item"], "annotator": table["annotator"], "label": words})
    items = models["ours"]["item"].to_list()
    probs = {name: np.stack([1 - frame[label], frame[label]], 1) for name, frame in models.items()}
    predictions = pt.Predictions.from_probs(probs, items=items, labels=["no", "yes"])
    return pt.evaluate(annotations, predictions, engine="exact", **options)


@pytest.mark.parametrize("method", ["vote-share", "dawid-skene-em"])
def test_each_label_is_its_own_evaluation(method: str) -> None:
    table, models = made()
    result = evaluate(table, models, method=method)
    for label in LABELS:
        alone = one_by_one(table, models, label, method=method)
        assert result.by_label[label].comparison.pairs == alone.comparison.pairs


@pytest.mark.parametrize("n_lacking", [0, 20])
@pytest.mark.parametrize("method", ["vote-share", "dawid-skene-em"])
def test_the_mean_of_one_label_is_that_label(method: str, n_lacking: int) -> None:
    """Under fitted classes and holes another difference came out: what the weights move was added to the scores."""
    table, models = made(taste=1.0)
    models["theirs"] = models["theirs"][n_lacking:]
    result = evaluate(table, models, ["toxic"], method=method)
    (of_label,), (of_mean,) = result.by_label["toxic"].comparison.pairs, result.comparison.pairs
    for name in ("difference", "low", "high", "p_a_better"):
        assert of_mean[name] == pytest.approx(of_label[name], rel=ROUNDING), name


@pytest.mark.parametrize("method", ["vote-share", "dawid-skene-em"])
def test_the_mean_is_that_of_the_labels(method: str) -> None:
    table, models = made()
    result = evaluate(table, models, method=method)
    of_labels = [one.comparison.pairs[0]["difference"] for one in result.by_label.values()]
    assert result.comparison.pairs[0]["difference"] == pytest.approx(np.mean(of_labels), rel=ROUNDING)
    other = evaluate(table, models, LABELS[::-1], method=method)
    assert other.comparison.pairs[0]["low"] == pytest.approx(result.comparison.pairs[0]["low"], rel=ROUNDING)


def test_the_proper_rule_beside_an_improper_one_is_the_mean_too() -> None:
    """It was the proper rule of the first label."""
    result = evaluate(*made(), rule="manhattan")
    of_labels = [one.comparison.proper.pairs[0]["difference"] for one in result.by_label.values()]
    assert result.comparison.proper.pairs[0]["difference"] == pytest.approx(np.mean(of_labels), rel=ROUNDING)


def test_labels_of_one_item_are_not_new_items() -> None:
    """One label three times is no more evidence than once."""
    table, models = made()
    thrice = table.with_columns(insult="toxic", threat="toxic")
    copies = {name: frame.with_columns(insult="toxic", threat="toxic") for name, frame in models.items()}
    once = evaluate(table, models, ["toxic"]).comparison.pairs[0]
    assert evaluate(thrice, copies).comparison.pairs[0]["low"] == pytest.approx(once["low"], rel=ROUNDING)


def test_an_annotator_who_leans_on_all_labels_widens_the_mean() -> None:
    table, models = made(taste=1.5)
    result = evaluate(table, models)
    assert result.comparison.uncertainty["annotators"] > 0.05
    behind = result.scores.labels
    expected = (np.asarray(behind.losses) * behind.truth).sum(2)
    np.testing.assert_allclose(expected, result.scores.values, rtol=ROUNDING)


def test_sets_of_labels_say_the_same() -> None:
    table, models = made()
    rows: dict[str, list[str]] = {"item": [], "annotator": [], "label": []}
    for row in table.iter_rows(named=True):
        for label in [label for label in LABELS if row[label]] or ["none"]:
            rows["item"].append(row["item"])
            rows["annotator"].append(row["annotator"])
            rows["label"].append(label)
    sets = pt.Annotations.from_long(rows, replicate="label")
    by_sets, by_columns = evaluate(sets, models, None, none="none"), evaluate(table, models)
    assert by_sets.comparison.pairs[0]["low"] == pytest.approx(by_columns.comparison.pairs[0]["low"], rel=ROUNDING)
    assert set(by_sets.by_label) == set(LABELS)


def test_words_groups_and_files(tmp_path: Any) -> None:
    table, models = made()
    words = table.with_columns(pl.col("toxic").replace_strict({0: "No", 1: "yes"}))
    words.write_csv(tmp_path / "labels.csv")
    paths = {}
    for name, frame in models.items():
        paths[name] = tmp_path / f"{name}.csv"
        frame.write_csv(paths[name])
    groups = {f"t{item:02d}": "even" if item % 2 == 0 else "odd" for item in range(N_ITEMS)}
    for method in ("vote-share", "dawid-skene-em"):
        result = evaluate(tmp_path / "labels.csv", paths, groups=groups, method=method)
        assert {row["group"] for row in result.comparison.groups} == {"even", "odd"}
        of_labels = [one.comparison.pairs[0]["difference"] for one in result.by_label.values()]
        assert result.comparison.pairs[0]["difference"] == pytest.approx(np.mean(of_labels), rel=ROUNDING)


def test_tables_and_json() -> None:
    table, models = made()
    result = evaluate(table, models, method="dawid-skene-em")
    shown = result.pairwise()
    assert shown["label"].to_list() == [*LABELS, ALL]
    assert shown["difference"].to_list()[-1] == result.comparison.pairs[0]["difference"]
    plain = result.to_dict()
    assert [one["label"] for one in plain["labels"]] == LABELS
    assert plain["labels"][0]["truth"]["method"] == "dawid-skene-em"
    assert any(line.startswith("'toxic', 'insult', 'threat': votes alone") for line in result.warnings)


TABLE, MODELS = made()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: evaluate(TABLE, MODELS, None), "at least one label"),
        (lambda: evaluate(TABLE, MODELS, []), "at least one label"),
        (lambda: evaluate(TABLE, MODELS, ["toxic", "toxic"]), "more than once"),
        (lambda: evaluate(TABLE, MODELS, ["rude"]), "no column 'rude'"),
        (lambda: evaluate(TABLE.with_columns(toxic=pl.lit("maybe")), MODELS), "0 or 1 (no or yes"),
        (lambda: evaluate(TABLE, {"m": MODELS["ours"].with_columns(toxic=pl.lit(1.5))}), "a probability from 0 to 1"),
        (lambda: evaluate(TABLE, {"m": MODELS["ours"].drop("threat")}), "no column 'threat'"),
        (lambda: evaluate(TABLE, {}), "{model name: table or path}"),
    ],
)
def test_errors(call: Any, words: str) -> None:
    with pytest.raises(pt.InputError) as caught:
        call()
    assert words in str(caught.value)
