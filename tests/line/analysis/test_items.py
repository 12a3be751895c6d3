"""What is known of each item, found again by the slow way."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import probtruth as pt
from probtruth.report.data_tables import items
from probtruth.report.names import unmarked


def test_labels_scores_and_what_models_say(result):
    frame = result.items()
    shares, aligned = result.truth.shares, result.labelled.aligned
    assert frame["item"].to_list() == list(result.scores.items)
    assert frame.columns[4:7] == [f"{what}_nearest-neighbours" for what in ("score", "label", "p")]
    row = 17
    assert frame["votes"][row] == result.truth.n_votes[row]
    assert frame["label"][row] == aligned.labels[shares[row].argmax()]
    assert frame["entropy"][row] == pytest.approx(-sum(q * np.log(q) for q in shares[row] if q > 0))
    for model in aligned.models:
        probs = np.exp(aligned.log_probs[aligned.models.index(model), row])
        assert frame[f"label_{model}"][row] == aligned.labels[probs.argmax()]
        assert frame[f"p_{model}"][row] == pytest.approx(probs.max())
        assert frame[f"score_{model}"][row] == result.scores.values[result.scores.models.index(model), row]


def test_listed_items_are_those_on_which_the_leading_models_differ_most(result):
    first, second = (
        result.scores.values[result.scores.models.index(name)] for name in ("nearest-neighbours", "logistic")
    )
    listed = result.analysis.listed
    assert listed["item"][0] == result.scores.items[int(np.abs(first - second).argmax())]
    assert listed["difference"][0] == first[listed["index"][0]] - second[listed["index"][0]]
    ((label, share), *_) = result.analysis.named_shares([listed["index"][0]])[0]
    assert share == result.truth.shares[listed["index"][0]].max()
    assert label == listed["label"][0]


def test_labels_that_tie_are_not_decided_by_their_names():
    """The first label by name was that of the item, and the page said that a model with the other is wrong."""
    votes = pt.Annotations.from_counts([[1, 1], [2, 0], [0, 2]], items=list("abc"), labels=["no", "yes"])
    tables = {"m": pl.DataFrame({"item": list("abc"), "no": [0.2, 0.5, 0.1], "yes": [0.8, 0.5, 0.9]})}
    tables["n"] = tables["m"][:2]
    result = pt.evaluate(votes, tables, engine="exact")
    frame = result.items()
    assert frame["label_n"].to_list() == ["yes", None, None]
    assert frame["label"].to_list() == [None, "no", "yes"]
    assert frame["label_m"].to_list() == ["yes", None, "yes"]
    columns = {unmarked(name): list(map(unmarked, cells)) for name, cells in items(result).columns.items()}
    shown = dict(zip(columns["Item"], columns["m says"], strict=True))
    assert shown == {"a": "yes 0.80", "b": "tie 0.50", "c": "yes 0.90 ✓"}


def test_bare_scores_have_no_labels_and_keep_their_orientation(make):
    bare = make["bare"](2, higher_is_better=True)
    frame = bare.items()
    assert frame.columns == ["item", "score_model-00", "score_model-01", "difference"]
    assert frame["score_model-00"].to_list() == bare.scores.values[0].tolist()


def test_infinite_differences_come_first(make):
    result = make["bare"](2)
    values = result.scores.values.copy()
    values[:, 3] = np.inf  # both infinite: their difference is not known
    values[0, 7] = np.inf
    changed = replace(result, scores=replace(result.scores, values=values))
    assert changed.analysis.listed["item"][0] == result.scores.items[7]
    differences = changed.items()["difference"].to_numpy()  # were 0, and -1.8e308 where it is -inf
    assert np.isnan(differences[3])
    assert np.isinf(differences[7])
    turned = replace(result, scores=replace(result.scores, values=np.where(np.isinf(values), values, -values)[::-1]))
    assert np.isinf(turned.items()["difference"].to_numpy()[7])


def test_positions_take_the_names_of_the_other_side():
    """Predictions without names are matched by position, and shown under the reference's names."""
    votes, items, labels = [[4, 1], [0, 5], [2, 3]], ["u", "v", "w"], ["no", "yes"]
    probs = {"a": [[0.8, 0.2], [0.1, 0.9], [0.5, 0.5]], "b": [[0.6, 0.4], [0.6, 0.4], [0.6, 0.4]]}
    annotations = pt.Annotations.from_counts(votes, items=items, labels=labels)
    plain = pt.evaluate(annotations, pt.Predictions.from_probs(probs), engine="exact").items()
    named = pt.evaluate(annotations, pt.Predictions.from_probs(probs, items, labels), engine="exact").items()
    assert plain.equals(named)
    assert set(plain["item"]) == set(items)
    assert plain["label"][0] in labels


def test_groups_stand_next_to_their_items():
    rows = {
        "item": [1, 2, 3, 4] * 2,
        "model": ["a"] * 4 + ["b"] * 4,
        "score": [1, 2, 3, 4, 2, 2, 5, 3],
        "g": [*"uvuv"] * 2,
    }
    scores = pt.Scores.from_frame(rows, group="g", higher_is_better=False)
    assert pt.Result.of(pt.compare(scores, engine="exact")).items()["group"].to_list() == [*"uvuv"]


def test_what_was_not_kept_item_by_item_has_no_items(make):
    bare = replace(make["bare"](2).comparison, scored=None)
    with pytest.raises(pt.InputError, match="scores of single items"):
        pt.Result.of(bare).items()
