"""Names go before positions: sides and models of different kinds match by name, or are refused with both named."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from test_tables import brier, scored
from ways import CLASSES, COUNTS, HARD, ITEMS, LABELS, PROBS, SOFT, N, by_label, data_array, indexed

import probtruth as pt

Q, WORDS = ITEMS["text"], CLASSES["text"]
ANSWERS = [WORDS[label] for label in HARD]
FIRST = np.where(HARD == 0, 1, 0)  # an event: the first label
SHUFFLED = np.random.default_rng(0).permutation(N)


def frames(make: Callable[[np.ndarray], Any]) -> dict[str, Any]:
    return {name: make(probs) for name, probs in PROBS.items()}


def columns(probs: np.ndarray) -> pd.DataFrame:
    """The labels by name in another order, the rows without names."""
    return pd.DataFrame(probs, columns=WORDS)[[WORDS[2], WORDS[0], WORDS[1]]]


def rows(probs: np.ndarray) -> pd.DataFrame:
    """Both by name, in another order."""
    return indexed(by_label(probs, Q, WORDS, 3))


def one_zero(probs: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({1: probs[:, 0], 0: probs[:, 1:].sum(1)})


def both(probs: np.ndarray) -> np.ndarray:
    return np.stack([1 - probs[:, 0], probs[:, 0]], axis=1)


def event(probs: np.ndarray, seed: int = 2) -> pd.Series:
    return pd.Series(probs[:, 0], Q).sample(frac=1, random_state=seed)


OF_LABELS, OF_EVENT, OF_SHARES = brier(np.eye(LABELS)[HARD]), brier(np.eye(2)[FIRST], frames(both)), brier(SOFT)
YES_NO = pd.Series(np.where(FIRST, "cat", "dog"), Q)
GOOD, BAD = PROBS["good"], PROBS["bad"]

# The labels, the models, the names of the columns of arrays, and the losses.
SAME: dict[str, tuple[Any, Any, Any, dict[str, float]]] = {
    "an array, then a frame": (ANSWERS, {"good": GOOD, "bad": columns(BAD)}, WORDS, OF_LABELS),
    "a frame, then an array": (ANSWERS, {"good": columns(GOOD), "bad": BAD}, WORDS, OF_LABELS),
    "frames, and other names passed": (ANSWERS, frames(columns), WORDS, OF_LABELS),
    "xarray and pandas": (
        pd.Series(ANSWERS, Q),
        {"good": data_array(by_label(GOOD, Q, WORDS, 2)), "bad": rows(BAD)},
        None,
        OF_LABELS,
    ),
    "labels in an array of xarray": (
        xr.DataArray(ANSWERS[::-1], {"item": Q[::-1]}, ["item"]),
        frames(rows),
        None,
        OF_LABELS,
    ),
    "columns 1, 0": (FIRST, frames(one_zero), None, OF_EVENT),
    "columns 1.0, 0.0": (FIRST, frames(lambda p: one_zero(p).rename(columns=float)), None, OF_EVENT),
    "columns 1, 0 and labels=": (FIRST, frames(one_zero), [0, 1], OF_EVENT),
    "columns 1, 0 beside an array": (FIRST, {"good": one_zero(GOOD), "bad": both(BAD)}, [0, 1], OF_EVENT),
    "columns '1', '0'": (FIRST, frames(lambda p: pl.from_pandas(one_zero(p).rename(columns=str))), None, OF_EVENT),
    "an event in a Series": (pd.Series(FIRST, Q), frames(event), None, OF_EVENT),
    "an event in an array of xarray": (
        pd.Series(FIRST, Q),
        frames(lambda p: xr.DataArray(p[::-1, 0], {"item": Q[::-1]}, ["item"])),
        None,
        OF_EVENT,
    ),
    "an event, by labels=": (YES_NO, frames(event), ["dog", "cat"], OF_EVENT),
    "an event, by the name of the Series": (YES_NO, frames(lambda p: event(p).rename("cat")), None, OF_EVENT),
    "an event that is true": (pd.Series(FIRST == 1, Q), frames(event), None, OF_EVENT),
    "row numbers beside ids": (
        {"item": list(range(1, N + 1)), "label": ANSWERS},
        frames(lambda p: pd.DataFrame(p, columns=WORDS)),
        None,
        OF_LABELS,
    ),
    "soft labels in a frame, columns in another order": (
        pd.DataFrame(SOFT, columns=WORDS)[WORDS[::-1]],
        PROBS,
        WORDS,
        OF_SHARES,
    ),
    "counts in a frame, columns in another order": (
        pd.DataFrame(COUNTS, columns=WORDS)[WORDS[::-1]],
        PROBS,
        WORDS,
        OF_SHARES,
    ),
    "counts in an array": (COUNTS, frames(lambda p: pd.DataFrame(p, columns=WORDS)), None, OF_SHARES),
    "nested lists": (HARD.tolist(), frames(np.ndarray.tolist), None, OF_LABELS),
}
CODES = np.stack([HARD, HARD, (HARD + 1) % 3], axis=1)
OTHER_ORDER = r"items called 0, 1, \.\.\. in another order"
EITHER = "count votes or be the answers of annotators"
REFUSED: dict[str, tuple[Any, Any, str]] = {
    "named columns beside an array": (HARD, {"good": GOOD, "bad": columns(BAD)}, r"model 'bad' .*'dog', 'owl'.*'good'"),
    "named rows beside an array": (ANSWERS, {"good": GOOD, "bad": rows(BAD)}, "model 'bad' .* model 'good'"),
    "1, 0 beside an array": (
        FIRST,
        {"good": one_zero(GOOD), "bad": both(BAD)},
        r"model 'good' .*'1', '0'.* model 'bad'",
    ),
    "a Series beside an array": (
        pd.Series(FIRST, Q),
        {"good": event(GOOD), "bad": BAD[:, 0]},
        "model 'good' .* model 'bad'",
    ),
    "an event of no name": (YES_NO, frames(event), "one column of probabilities, 'value', .*'cat', 'dog'"),
    "integers in another order": (HARD, frames(lambda p: pd.DataFrame(p).iloc[SHUFFLED]), OTHER_ORDER),
    "a range beside them": (pd.Series(HARD), frames(lambda p: pd.DataFrame(p).iloc[SHUFFLED]), OTHER_ORDER),
    "the mirror": (pd.Series(HARD)[SHUFFLED], frames(pd.DataFrame), OTHER_ORDER),
    "numbers from 0 beside numbers from 1": (
        {"item": list(range(1, N + 1)), "label": ANSWERS},
        frames(lambda p: pd.DataFrame(p, pd.Index(list(range(N))), WORDS)),
        "items 0 to 13 in model 'good', beside 1 to 14",
    ),
    "codes, a column a person": (pd.DataFrame(CODES, columns=["ann", "bob", "cid"]), PROBS, EITHER),
    "codes beside names": (
        pd.DataFrame(CODES, Q, ["ann", "bob", "cid"]),
        frames(rows),
        f"{EITHER}.*labels that are named",
    ),
    "codes in an array": (CODES, PROBS, EITHER),
    "codes from 1": (CODES + 1, PROBS, EITHER),
}


@pytest.mark.parametrize("case", SAME)
def test_the_same_answer(case):
    reference, models, labels, wanted = SAME[case]
    assert scored(reference, models, labels) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_both_sides_named(case):
    reference, models, message = REFUSED[case]
    with pytest.raises(pt.InputError, match=message):
        scored(reference, models)


def test_labels_of_models_in_series():
    """They were read by position, though the same Series as labels is read by name."""
    labels = pd.Series(HARD, Q)
    models = {name: labels.sample(frac=1, random_state=seed) for seed, name in enumerate(("a", "b"))}
    scores = pt.score(pt.Predictions.from_labels(models, 3), pt.Truth.from_labels(labels, 3), rule="brier")
    assert scores.values.tolist() == [[0.0] * N] * 2


@pytest.mark.parametrize("numbers", [SOFT, COUNTS, pd.DataFrame(SOFT, Q), pt.Truth.from_probs(SOFT, items=Q)])
@pytest.mark.parametrize("of_files", [False, True])
def test_labels_name_the_columns_of_an_array_beside_models_with_names(numbers, of_files):
    """They were ignored beside a column of items, and beside `Predictions`: the columns stood in the models' order."""
    reversed_columns = frames(lambda p: rows(p)[WORDS[::-1]].loc[Q].rename_axis("item").reset_index())
    models = reversed_columns if of_files else pt.read_predictions(reversed_columns)
    assert scored(numbers, models, WORDS) == pytest.approx(OF_SHARES, abs=1e-9)
    with pytest.raises(pt.InputError, match="labels='a', 'b', 'c', beside predictions of 'cat', 'dog', 'owl'"):
        scored(numbers, models, ["a", "b", "c"])


@pytest.mark.parametrize("option", [{"missing": ["cat"]}, {"label": "label"}, {"annotator": "who"}])
def test_options_of_a_table_beside_a_label_for_each_item(option):
    """They were ignored where the labels were a dict, and refused where they were a Series."""
    for labels in (pd.Series(ANSWERS, Q), dict(zip(Q, ANSWERS, strict=True))):
        with pytest.raises(pt.InputError, match=f"{next(iter(option))}= with .*expected a table of answers"):
            pt.evaluate(labels, frames(rows), **option)


def test_names_that_are_passed_do_not_override_those_of_a_table():
    table = rows(GOOD)
    made = pt.Predictions.from_probs({"m": table}, items=Q, labels=WORDS)
    assert made.probs.tolist() == pt.Predictions.from_probs({"m": GOOD}, items=Q, labels=WORDS).probs.tolist()
    with pytest.raises(pt.InputError, match=r"labels 'owl'.*those of the first table or of labels=: 'a', 'b', 'c'"):
        pt.Truth.from_probs(table[WORDS], labels=["a", "b", "c"])


@pytest.mark.parametrize("call", ["evaluate", "compare"])
def test_groups_in_a_series_with_a_range(call):
    """Beside ids 1 to n it was read one row off; beside 0 to n in another order it has two readings."""
    groups = pd.Series(np.where(HARD > 0, "x", "y"))

    def found(items: list[int], groups: Any) -> list[float]:
        truth, models = pt.Truth.from_probs(SOFT, items=items), pt.Predictions.from_probs(PROBS, items=items)
        if call == "evaluate":
            comparison = pt.evaluate(truth, models, groups=groups, engine="exact").comparison
        else:
            comparison = pt.compare(pt.score(models, truth), groups=groups, engine="exact")
        return comparison.by_group()["difference"].to_list()

    ids = list(range(1, N + 1))
    assert found(ids, groups) == found(ids, groups.to_list())
    with pytest.raises(pt.InputError, match=r"items called 0, 1, \.\.\. in another order"):
        found(SHUFFLED.tolist(), groups)


GROUPS = ["x" if label else "y" for label in HARD]
LISTS: dict[str, Any] = {
    "an array of Arrow": pa.array(GROUPS),
    "chunks of Arrow": pa.chunked_array([GROUPS[:5], GROUPS[5:]]),
    "a column of an array": np.array(GROUPS)[:, None],
    "rows of one": [[group] for group in GROUPS],
}


@pytest.mark.parametrize("call", ["evaluate", "compare"])
def test_groups_in_every_list(call):
    """Arrow's were numbers, NaN was a group called nan beside text, and `compare` ended in a TypeError."""
    truth, models = pt.Truth.from_probs(SOFT, items=Q), pt.Predictions.from_probs(PROBS, items=Q)

    def found(groups: Any) -> list[Any]:
        if call == "evaluate":
            return pt.evaluate(truth, models, groups=groups, engine="exact").comparison.by_group().rows()
        return pt.compare(pt.score(models, truth), groups=groups, engine="exact").by_group().rows()

    for way, groups in LISTS.items():
        assert found(groups) == found(dict(zip(Q, GROUPS, strict=True))), way
    with pytest.raises(pt.InputError, match=f"item '{Q[0]}': got a blank"):
        found([np.nan, *GROUPS[1:]])
    with pytest.raises(pt.InputError, match="got groups with a masked entry"):
        found(np.ma.masked_array(GROUPS, [True] + [False] * (N - 1)))


@pytest.mark.parametrize("weights", [[0.5, 0.5], 3, pd.DataFrame({"x": [0.5], "y": [0.5]})])
@pytest.mark.parametrize("call", ["evaluate", "compare"])
def test_weights_without_names(call, weights):
    """The hint was to give a list, which is refused, or a dict of items."""
    truth, models = pt.Truth.from_probs(SOFT, items=Q), pt.Predictions.from_probs(PROBS, items=Q)
    options: dict[str, Any] = {"groups": GROUPS, "weights": weights, "engine": "exact"}
    with pytest.raises(pt.InputError, match=r"expected weights by name\. Hint: Pass a dict \{group: weight\}"):
        pt.evaluate(truth, models, **options) if call == "evaluate" else pt.compare(pt.score(models, truth), **options)


def test_what_was_read_is_said():
    wide = pt.read_annotations(pd.DataFrame(CODES, columns=["ann", "bob", "cid"]), format="wide")
    assert wide.n_annotators == 3
    assert wide.index.positional_items
    counts = pt.read_annotations(pd.DataFrame(COUNTS, Q, WORDS), format="counts")
    assert "counts of" in repr(counts)
