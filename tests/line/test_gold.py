"""Expert labels through the whole line: reading, choosing, the round trip, the words of the result."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import probtruth as pt
from probtruth.io.gold import expert_answers, gold_file
from probtruth.io.output.csv_safe import write_new_csv
from probtruth.report.verdict import verdict
from probtruth.study.choose_gold import inclusion, systematic

N = 60


@pytest.fixture(scope="module")
def study():
    """A class posterior that leans to one side, two models, and the classes."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, N)
    posterior = np.where(rng.random(N) < 0.8, classes, 1 - classes)[:, None] == np.arange(2)
    posterior = 0.75 * posterior + 0.25 * (1 - posterior)
    logits = np.where(classes[:, None] == np.arange(2), 1.0, 0.0) + rng.normal(size=(N, 2))
    probs = {name: np.exp(scale * logits) for name, scale in (("sharp", 2.0), ("flat", 0.7))}
    names = [f"i{row:02d}" for row in range(N)]
    labels = ["no", "yes"]
    predictions = pt.Predictions.from_probs(
        {name: p / p.sum(1, keepdims=True) for name, p in probs.items()}, items=names, labels=labels
    )
    truth = pt.Truth.from_probs(posterior, names, labels, "class")
    return truth, predictions, {name: labels[one] for name, one in zip(names, classes.tolist(), strict=True)}


def some(classes, n=30):
    return dict(list(classes.items())[:n])


def anchored(study, gold, **options):
    truth, predictions, _ = study
    return pt.evaluate(truth, predictions, gold=gold, engine="exact", **options)


def test_gold_on_every_item_is_the_answer_under_the_classes(study) -> None:
    _, predictions, classes = study
    given = anchored(study, classes).comparison.pairs[0]
    known = pt.Truth.from_labels(list(classes.values()), items=list(classes), classes=["no", "yes"])
    plain = pt.evaluate(known, predictions, engine="exact").comparison.pairs[0]
    for key in ("difference", "low", "high", "p_a_better"):
        assert given[key] == pytest.approx(plain[key], rel=1e-9)


def test_a_result_says_what_anchors_it(study) -> None:
    result = anchored(study, some(study[2]))
    said = result.to_dict()
    assert said["gold"]["n_items"] == 30
    assert said["gold"]["sample"] == "uniform"
    assert "corrected by expert labels on 30 of 60 items" in said["estimand"]
    words = verdict(result)
    assert words.headline.endswith(" (corrected by 30 expert labels).")
    assert any("uniform sample" in "".join(line) for line in words.details)
    assert any("30 items only" in line for line in result.warnings)
    assert said["models"][0]["divergence"] is None  # the entropy of the inferred classes is not that of the experts'
    assert said["uncertainty"]["items"] + said["uncertainty"]["labels"] == pytest.approx(1.0)
    assert anchored(study, None).to_dict()["gold"] is None


def test_a_series_names_items_by_its_index(study) -> None:
    assert expert_answers(pd.Series(some(study[2]))).shares == expert_answers(some(study[2])).shares


def test_several_experts_of_an_item_share_it(study) -> None:
    classes = study[2]
    rows = [(item, "e1", label) for item, label in some(classes).items()]
    rows += [(item, "e2", "yes") for item in list(classes)[:30]]
    table = pl.DataFrame(rows, ["item", "annotator", "label"], orient="row")
    answers = expert_answers(table)
    first = next(iter(classes))
    shares = answers.shares[answers.items.index(first)]
    assert shares == ({"yes": 1.0} if classes[first] == "yes" else {"no": 0.5, "yes": 0.5})
    result = anchored(study, table)
    assert "60 expert labels on 30 items" in verdict(result).headline


def test_round_trip_of_chosen_items(study, tmp_path) -> None:
    truth, predictions, classes = study
    result = pt.evaluate(truth, predictions, engine="exact")
    chosen = result.choose_gold(20, seed=3)
    assert chosen.equals(result.choose_gold(20, seed=3))
    assert not chosen.equals(result.choose_gold(20, seed=4))
    path = tmp_path / "gold.csv"
    write_new_csv(chosen, path, chosen["item"], "")
    with pytest.raises(pt.InputError, match="no label yet for 20 items"):
        anchored(study, path)
    with pytest.raises(pt.InputError, match="there already"):
        write_new_csv(chosen, path, chosen["item"], "")
    filled = pl.read_csv(path).with_columns(pl.col("item").replace_strict(classes).alias("label"))
    filled.write_csv(path)
    facts = anchored(study, str(path)).comparison.gold
    assert facts["sample"] == "chosen"
    assert facts["largest_weight"] == pytest.approx(1 / chosen["probability"].min(), rel=1e-12)


def test_items_are_chosen_from_the_groups_of_the_result(study) -> None:
    """They were left out of account, though the command with --groups heeds them."""
    truth, predictions, classes = study
    groups = {item: f"g{place % 3}" for place, item in enumerate(classes)}
    wanted = pt.evaluate(truth, predictions, engine="exact").choose_gold(20, groups=groups)
    assert pt.evaluate(truth, predictions, groups=groups, engine="exact").choose_gold(20).equals(wanted)


def test_a_uniform_sample_is_told_to_choose_and_a_chosen_one_is_not(study) -> None:
    truth, predictions, classes = study
    by_chance = anchored(study, some(classes)).warnings
    assert any("uniform sample of 30 items" in line and "choose_gold" in line for line in by_chance)
    frame = pt.evaluate(truth, predictions, engine="exact").choose_gold(30)
    chosen = frame.with_columns(pl.col("item").replace_strict(classes).alias("label"))
    assert not any("uniform sample" in line for line in anchored(study, chosen).warnings)
    assert not any("uniform sample" in line for line in anchored(study, classes).warnings)  # all items


def test_chosen_items_lean_to_doubt(study) -> None:
    truth, predictions, _ = study
    table = truth.probs.copy()
    table[:30] = [0.5, 0.5]
    doubtful = pt.Truth.from_probs(table, truth.index.items, truth.index.labels, "class")
    result = pt.evaluate(doubtful, predictions, engine="exact")
    probability = np.zeros(N)
    for seed in range(40):
        probability[[int(name[1:]) for name in result.choose_gold(15, seed=seed)["item"]]] += 1 / 40
    assert probability[:30].sum() > probability[30:].sum()


def test_inclusion_probabilities_add_up_and_are_kept() -> None:
    size = np.r_[np.full(5, 100.0), np.arange(1.0, 46.0)]
    probability = inclusion(size, 20)
    assert probability.sum() == pytest.approx(20)
    assert probability.max() == 1.0
    drawn = np.zeros(50)
    for seed in range(400):
        rows = systematic(probability, np.zeros(50, int), seed)
        assert len(rows) == 20
        drawn[rows] += 1 / 400
    assert np.abs(drawn - probability).max() < 5 * (0.25 / 400) ** 0.5  # five standard errors of a share


def test_inclusion_where_nothing_is_in_doubt_of_all_items_and_by_strata() -> None:
    assert inclusion(np.zeros(40), 10) == pytest.approx(np.full(40, 0.25))
    with np.errstate(all="raise"):  # shares of equal sizes may add up to a little more than 1
        assert (inclusion(np.full(23, 0.1), 23) == 1.0).all()
    rows = systematic(np.full(100, 0.2), np.repeat([0, 1], 50), 1)
    assert (np.bincount(rows // 50) == 10).all()


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ({"nobody": "yes"}, "gold for item 'nobody'"),
        ({"i00": "maybe"}, "label 'maybe'"),
        ({"item": ["i00", "i00"], "label": ["yes", "no"]}, "two labels for item 'i00'"),
        ({"item": ["i00"], "label": ["yes"], "probability": [0.0]}, "inclusion probability 0"),
        ({"item": ["i00"], "label": ["yes"], "probability": [1.5]}, "inclusion probability 1.5"),
        ({"item": ["i00", "i00"], "label": ["yes"] * 2, "probability": [0.5, 0.4]}, "a second inclusion probability"),
        ({"item": ["i00"], "label": [""]}, "no label yet"),
        ({"item": ["i00"]}, "'label'"),
        ({"i00": "yes"}, "at least 10"),
    ],
)
def test_errors(study, gold, message) -> None:
    with pytest.raises(pt.InputError, match=message):
        anchored(study, gold)


def test_opinions_have_no_expert(study) -> None:
    truth, predictions, classes = study
    opinions = pt.Truth.from_probs(truth.probs, truth.index.items, truth.index.labels, "distribution")
    with pytest.raises(pt.InputError, match="estimand 'class'"):
        pt.evaluate(opinions, predictions, gold=some(classes))
    with pytest.raises(pt.InputError, match="inferred classes"):
        pt.evaluate(opinions, predictions, engine="exact").choose_gold(20)


def test_gold_implies_the_estimand_class(study) -> None:
    _, predictions, classes = study
    rows = [(item, f"w{one}", label if one else "no") for item, label in classes.items() for one in range(3)]
    votes = pt.Annotations.from_long(pl.DataFrame(rows, ["item", "annotator", "label"], orient="row"))
    result = pt.evaluate(votes, predictions, gold=some(classes), engine="exact", method="majority")
    assert result.truth.estimand == "class"
    assert not any("votes alone" in line for line in result.warnings)  # experts decide


def test_a_judge_is_calibrated_against_people() -> None:
    # a judge who gives b a point too much; people scored 40 of 200 items
    rng = np.random.default_rng(1)
    people = rng.normal(size=(2, 200)) + np.array([[0.5], [0.0]])
    judge = people + 0.3 * rng.normal(size=people.shape) + np.array([[0.0], [1.0]])
    items = [f"q{row:03d}" for row in range(200)]

    def table(values, rows):
        columns = {"item": [items[row] for row in rows] * 2, "model": ["a"] * len(rows) + ["b"] * len(rows)}
        return {**columns, "score": values[:, rows].ravel()}

    rows = np.arange(0, 200, 5)
    scores = pt.read_scores(table(judge, np.arange(200)), higher_is_better=True)
    alone = pt.compare(scores, engine="exact").pairs[0]
    found = pt.compare(scores, gold=table(people, rows), engine="exact")
    row = found.pairs[0]
    truth = (people[0] - people[1]).mean()
    assert alone["high"] < truth
    assert row["low"] < truth < row["high"]
    assert "corrected by expert labels on 40 of 200 items" in found.estimand


def test_better_scores_are_of_the_same_models_and_items() -> None:
    table = {"item": ["1", "2", "1", "2"], "model": ["a", "a", "b", "b"], "score": [0.1, 0.2, 0.3, 0.4]}
    for gold, message in (
        ({**table, "model": ["a", "a", "c", "c"]}, "gold for the models"),
        ({**table, "item": ["1", "9", "1", "9"]}, "gold for item '9'"),
        ({**table, "probability": [0.5, 0.5, 0.5, 2.0]}, "inclusion probability 2"),
    ):
        with pytest.raises(pt.InputError, match=message):
            pt.compare(pt.read_scores(table, higher_is_better=False), gold=gold)


def test_the_column_of_probabilities_on_the_command_line(tmp_path) -> None:
    path = tmp_path / "a:b.csv"
    path.touch()
    assert gold_file("gold.csv:p") == ("gold.csv", "p")
    assert gold_file("gold.csv") == ("gold.csv", None)
    assert gold_file(str(path)) == (str(path), None)
    assert Path(path).exists()
