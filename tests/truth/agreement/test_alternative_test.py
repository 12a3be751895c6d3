"""The alternative annotator test: the published figures of its authors, one case by hand, errors."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import probtruth as pt

PUBLISHED = {
    ("lgbteen", "accuracy", 0.2): {
        "gemini_flash": (0.25, 0.71),
        "gemini_pro": (0.0, 0.67),
        "gpt-4o": (0.75, 0.77),
        "llama-31": (0.0, 0.72),
        "gpt-4o-mini": (0.75, 0.76),
        "mistral-v03": (0.25, 0.75),
    },
    ("cebab_stars", "rmse", 0.1): {
        "gemini_flash": (0.6, 0.82),
        "gemini_pro": (0.8, 0.87),
        "gpt-4o": (0.9, 0.90),
        "llama-31": (0.6, 0.85),
        "gpt-4o-mini": (0.9, 0.89),
        "mistral-v03": (0.5, 0.83),
    },
}  # Winning rate and advantage probability, to two decimals (Calderon et al. 2025, doi:10.18653/v1/2025.acl-long.782).
AS_PRINTED = 0.005  # Half a unit of the last printed decimal


@pytest.mark.parametrize("case", PUBLISHED, ids=lambda case: case[0])
def test_published_figures(case: tuple[str, str, float], data: Path) -> None:
    name, alignment, epsilon = case
    table = pl.read_csv(data / "alttest" / f"{name}.csv", infer_schema=False)
    people = pt.Annotations.from_long(table.filter(pl.col("kind") == "human"), labels=table["label"].unique())
    models = table.filter(pl.col("kind") == "llm").partition_by("annotator", as_dict=True)
    answers = {model: dict(rows.select("item", "label").iter_rows()) for (model,), rows in models.items()}
    items, labels = people.index.items, people.index.labels
    one_hot = {
        model: [[float(said[item] == label) for label in labels] for item in items] for model, said in answers.items()
    }
    judges = pt.Predictions.from_probs(one_hot, items=items, labels=labels)
    got = pt.agreement.alternative_annotator_test(people, judges, epsilon=epsilon, alignment=alignment).models
    rates = {row["model"]: (row["winning_rate"], row["advantage_probability"]) for row in got.iter_rows(named=True)}
    for model, expected in PUBLISHED[case].items():
        assert rates[model] == pytest.approx(expected, abs=AS_PRINTED), model


def people_and_judge() -> tuple[pt.Annotations, pt.Predictions]:
    """40 items by a, b and c: a and b say x; c says y on the first ten. The judge says y on the last four."""
    rows = [(item, who, "y" if who == "c" and item < 10 else "x") for item in range(40) for who in "abc"]
    votes = pt.Annotations.from_long(dict(zip(["item", "annotator", "label"], zip(*rows, strict=True), strict=True)))
    said = [[0.0, 1.0] if item >= 36 else [1.0, 0.0] for item in range(40)]
    return votes, pt.Predictions.from_probs({"judge": said}, items=range(40), labels=["x", "y"])


def test_by_hand() -> None:
    """Beside c the judge is worse on 4 items, better on 10 and as good on 26; beside a and b it is worse on 4.

    W_c - W_judge has mean (4 - 10)/40 = -0.15 and variance (14 - 40 * 0.15^2)/39 = 0.3359: t = (-0.15 - 0.2) /
    sqrt(0.3359/40) = -3.82. That of a and b has mean 0.1 and variance (4 - 0.4)/39 = 0.0923: t = -2.08, p = 0.022.
    Sorted p values against 0.05 k / (3 * 11/6): 0.0002 < 0.0091, 0.022 > 0.0182, 0.022 < 0.0273, so all are rejected.
    """
    votes, judge = people_and_judge()
    tested = pt.agreement.alternative_annotator_test(votes, judge)
    assert tested.models.row(0) == ("judge", 3, 1.0, pytest.approx((36 + 36 + 36) / 120), True)
    third = tested.annotators.row(2, named=True)
    assert (third["n_items"], third["model_as_near"], third["annotator_as_near"]) == (40, 0.9, 0.75)
    assert tested.annotators["p_value"].to_list() == pytest.approx([0.0220, 0.0220, 0.00023], rel=0.03)


def test_a_stricter_epsilon_leaves_only_the_annotator_who_errs() -> None:
    votes, judge = people_and_judge()
    tested = pt.agreement.alternative_annotator_test(votes, judge, epsilon=0.1)
    assert tested.annotators["replaceable"].to_list() == [False, False, True]
    assert not tested.models["passes"].item()


def test_squared_errors_count_how_far_an_answer_is() -> None:
    """The others say 1 and 2. The judge's 3 is nearer than 5, farther than 1: by accuracy 3 and 5 tie at 0."""
    rows = [(item, who, label) for item in range(30) for who, label in (("far", "5"), ("one", "1"), ("two", "2"))]
    votes = pt.Annotations.from_long(
        dict(zip(["item", "annotator", "label"], zip(*rows, strict=True), strict=True)), labels=["1", "2", "3", "5"]
    )
    judge = pt.Predictions.from_probs({"judge": [[0, 0, 1, 0]] * 30}, items=range(30), labels=["1", "2", "3", "5"])
    by_error = pt.agreement.alternative_annotator_test(votes, judge, alignment="rmse").annotators
    assert by_error.row(0, named=True)["annotator_as_near"] == 0.0
    by_share = pt.agreement.alternative_annotator_test(votes, judge).annotators
    assert by_share.row(0, named=True)["annotator_as_near"] == 1.0


def test_errors() -> None:
    votes, judge = people_and_judge()
    test = pt.agreement.alternative_annotator_test
    with pytest.raises(pt.InputError, match="at least 41"):
        test(votes, judge, least_items=41)
    with pytest.raises(pt.InputError, match="labels that are numbers"):
        test(votes, judge, alignment="rmse")
    with pytest.raises(pt.InputError, match="counts, without annotators"):
        test(pt.Annotations.from_counts(np.full((40, 2), 2), items=range(40), labels=["x", "y"]), judge)
    for half in (0.5, np.nextafter(0.5, 1)):  # but for a last digit
        unsure = pt.Predictions.from_probs({"judge": [[half, 1 - half]] * 40}, items=range(40), labels=["x", "y"])
        with pytest.raises(pt.InputError, match="equally probable for model 'judge'"):
            test(votes, unsure)
