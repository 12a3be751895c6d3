"""Predictions that lack items take part with those that they have: every way in, both estimands, the labels' part."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas
import polars
import pytest
from judged import WORLDS, annotations_of, drawn

import probtruth as pt
from probtruth.comparison.boards.boards import filled, with_filled_labels
from probtruth.comparison.estimation.design import Design

ROUNDING = 1e-9  # of the same sums in another order
N = 120
LABELS = [f"{label:04d}" for label in range(3)]
ITEMS = [f"{row:04d}" for row in range(N)]
evaluate = partial(pt.evaluate, engine="exact")
compare = partial(pt.compare, engine="exact")


def made(lacking: dict[str, int]) -> tuple[pt.Annotations, dict[str, polars.DataFrame]]:
    """The annotations of a simulated setting and the tables of three models, without so many random items each."""
    rng = np.random.default_rng(3)
    _, votes, probs = drawn(rng, N, **WORLDS["5 annotators, right 0.7"])
    tables = {}
    for model, own in zip("abc", (probs[0], probs[1], (probs[0] + probs[1]) / 2), strict=True):
        there = np.sort(rng.permutation(N)[lacking.get(model, 0) :])
        columns = dict(zip(LABELS, own[there].T, strict=True))
        tables[model] = polars.DataFrame({"item": [ITEMS[row] for row in there], **columns})
    return annotations_of(votes), tables


def numbers(comparison: pt.Comparison) -> list[float]:
    found = [row[name] for row in comparison.pairs for name in ("difference", "low", "high", "p_a_better")]
    return found + [row[name] for row in comparison.ranks for name in ("score", "low", "high", "p_best")]


@pytest.mark.parametrize("estimand", ["distribution", "class"])
def test_every_way_in_has_one_answer(estimand: str, tmp_path: Path) -> None:
    annotations, tables = made({"b": 40, "c": 50})
    result = evaluate(annotations, tables, estimand=estimand)
    assert [pair.shared_items for pair in result.comparison.pairs] != [N] * 3
    files = {}
    for model, table in tables.items():
        files[model] = tmp_path / f"{model}.csv"
        table.write_csv(files[model])
    indexed = {model: pandas.DataFrame(table.to_dict(as_series=False)) for model, table in tables.items()}
    indexed = {model: table.set_index("item") for model, table in indexed.items()}
    for models in (files, indexed, pt.read_predictions(tables)):
        assert numbers(evaluate(annotations, models, estimand=estimand).comparison) == numbers(result.comparison)
    scores = pt.score(tables, pt.infer_truth(annotations, estimand=estimand))
    assert np.isnan(scores.values).sum(1).tolist() == [0, 40, 50]
    assert numbers(compare(scores)) == pytest.approx(numbers(result.comparison), rel=ROUNDING, abs=ROUNDING)


@pytest.mark.parametrize("estimand", ["distribution", "class"])
def test_one_missing_prediction_changes_little(estimand: str) -> None:
    annotations, tables = made({})
    full = evaluate(annotations, tables, estimand=estimand).comparison
    less = evaluate(annotations, {**tables, "b": tables["b"][1:]}, estimand=estimand).comparison
    for one, other in zip(full.pairs, less.pairs, strict=True):
        change = max(abs(one.low - other.low), abs(one.high - other.high))
        assert change + abs(one.p_a_better - other.p_a_better) > 0
        assert change < 0.15 * (one.high - one.low)
    for what, share in full.uncertainty.items():
        assert less.uncertainty[what] == pytest.approx(share, abs=0.1)  # of one of 120 items


def test_losses_under_each_label_are_filled_as_a_board_of_them_would_be() -> None:
    """The losses of one item under one label in the place of its scores: least squares moves by what they say."""
    annotations, tables = made({"b": 40, "c": 50})
    scores = pt.score(tables, pt.infer_truth(annotations, "vote-share"))
    plan = Design.of(np.zeros(N, int))
    board = filled(scores.losses, plan, scores.models)[0]
    losses = with_filled_labels(scores, plan).labels.losses
    truth = scores.labels.truth
    np.testing.assert_allclose((losses * truth).sum(2), board, rtol=ROUNDING)
    for item, label in ((0, 0), (17, 1), (60, 2)):
        if truth[item, label] == 0:
            continue
        values = scores.losses.copy()
        values[:, item] = scores.labels.losses[:, item, label]
        moved = filled(values, plan, scores.models)[0].mean(1) - board.mean(1)
        np.testing.assert_allclose(moved, (losses[:, item, label] - board[:, item]) / N, atol=ROUNDING)


def test_a_metric_is_of_common_items_and_says_so() -> None:
    annotations, tables = made({"b": 40, "c": 50})
    common = set(tables["b"]["item"]) & set(tables["c"]["item"])
    one = pt.compare_metric(tables, annotations, "kappa", engine="exact")
    on_common = {model: table.filter(polars.col("item").is_in([*common])) for model, table in tables.items()}
    assert numbers(one) == pytest.approx(numbers(pt.compare_metric(on_common, annotations, "kappa", engine="exact")))
    assert f"{N - len(common)} items dropped for all models" in " ".join(one.warnings)


def test_what_needs_all_models_says_on_how_many_items(tmp_path: Path) -> None:
    annotations, tables = made({"b": 40, "c": 50})
    n_common = len(set(tables["b"]["item"]) & set(tables["c"]["item"]))
    result = evaluate(annotations, tables)
    assert f"accuracy and calibration are those on the {n_common} items that all models have" in result.warnings
    assert result.analysis.calibration.n_items == n_common
    lacking = result.items()["label_b"].is_null()
    assert lacking.sum() == result.items()["score_b"].is_null().sum() == 40
    by_model = {row["model"]: row["missing"] for row in result.to_dict()["audit"]["by_model"]}
    assert by_model == {"a": 0, "b": 40, "c": 50}
    pt.write_report(result, tmp_path / "report")
    gold = dict.fromkeys([*tables["b"]["item"]][:60], LABELS[0])
    corrected = evaluate(annotations, tables, gold=gold)
    assert len(corrected.scores.items) == n_common


def test_models_without_a_common_item_are_compared_all_the_same(tmp_path: Path) -> None:
    annotations, tables = made({})
    thirds = {"a": tables["a"][:80], "b": tables["b"][40:], "c": polars.concat([tables["c"][:40], tables["c"][80:]])}
    result = evaluate(annotations, thirds)
    assert all(pair.p_a_better is not None for pair in result.comparison.pairs)
    assert "no item that all models have: accuracy and calibration are left out" in result.warnings
    pt.write_report(result, tmp_path / "report")


def test_a_model_without_any_of_the_items_is_refused() -> None:
    annotations, tables = made({})
    other = tables["b"].with_columns(item=polars.concat_str(polars.lit("x"), "item"))
    with pytest.raises(pt.InputError, match=r"no item in common: '0000'.* in the reference, 'x0000'.* in model 'b'"):
        evaluate(annotations, {**tables, "b": other})
