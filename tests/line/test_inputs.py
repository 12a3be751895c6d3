"""`evaluate`, `score`, `compare` and `read_predictions` take what users have: frames, dicts, arrays, labels, paths.

Each form is compared with the same data through the named types, which the tests of those check.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import probtruth as pt

N = 24
ITEMS = [f"i{number}" for number in range(N)]
LABELS = ("owl", "cat", "dog")
RNG = np.random.default_rng(7)
PROBS = {name: RNG.dirichlet(np.ones(3), N) for name in ("ours", "theirs")}
HARD = RNG.integers(0, 3, N)
WORDS = [LABELS[label] for label in HARD]
COUNTS = RNG.multinomial(4, [0.5, 0.3, 0.2], N)
VOTES = {
    "item": ITEMS * 2,
    "annotator": ["ann"] * N + ["bob"] * N,
    "label": [LABELS[label] for label in RNG.integers(0, 3, 2 * N)],
}


def tables(make: Callable[[pl.DataFrame], Any], shuffled: bool = True) -> dict[str, Any]:
    """The probabilities with names of items and labels; rows and columns of each model in an order of its own."""
    frames = {}
    for seed, (name, probs) in enumerate(PROBS.items()):
        columns = np.random.default_rng(seed).permutation(3) if shuffled else np.arange(3)
        rows = np.random.default_rng(seed).permutation(N) if shuffled else np.arange(N)
        frame = pl.DataFrame(
            {"item": [ITEMS[row] for row in rows]} | {LABELS[k]: probs[rows, k] for k in columns.tolist()}
        )
        frames[name] = make(frame)
    return frames


def means(result: pt.Result | pt.Comparison) -> dict[str, float]:
    ranks = result.comparison.ranks if isinstance(result, pt.Result) else result.ranks
    return {str(row["model"]): float(str(row["score"])) for row in ranks}


def evaluated(reference: Any, predictions: Any, **options: Any) -> dict[str, float]:
    return means(pt.evaluate(reference, predictions, engine="exact", **options))


NAMED = pt.Predictions.from_probs(PROBS, items=ITEMS, labels=LABELS)
KINDS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "pandas": lambda frame: frame.to_pandas(),
    "arrow": lambda frame: frame.to_arrow(),
    "dict": lambda frame: frame.to_dict(as_series=False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_annotations_and_predictions_in_dataframes(kind: str) -> None:
    wanted = evaluated(pt.Annotations.from_long(VOTES), NAMED)
    assert evaluated(KINDS[kind](pl.DataFrame(VOTES)), tables(KINDS[kind])) == wanted


def test_annotations_and_predictions_in_files(tmp_path: Path) -> None:
    pl.DataFrame(VOTES).write_csv(tmp_path / "votes.csv")
    files = tables(lambda frame: frame)
    for name, frame in files.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    paths = {name: tmp_path / f"{name}.csv" for name in files}
    assert evaluated(tmp_path / "votes.csv", paths) == evaluated(pt.Annotations.from_long(VOTES), NAMED)


def hard_scores() -> dict[str, float]:
    """By hand: the mean of minus the log of the probability of the label."""
    return {name: float(-np.log(probs[np.arange(N), HARD]).mean()) for name, probs in PROBS.items()}


@pytest.mark.parametrize(
    ("reference", "predictions", "options"),
    [
        (HARD, PROBS, {}),
        (HARD.tolist(), PROBS, {"labels": LABELS}),
        (WORDS, PROBS, {"labels": LABELS}),
        (np.array(WORDS), PROBS, {"labels": np.array(LABELS)}),
        (WORDS, tables(lambda frame: frame.drop("item"), shuffled=False), {}),
        (pl.Series(WORDS), NAMED, {}),
        (pd.Series(WORDS, index=ITEMS), tables(KINDS["polars"]), {}),
        ({"item": ITEMS[::-1], "label": WORDS[::-1]}, tables(KINDS["pandas"]), {}),
        (dict(zip(ITEMS[::-1], WORDS[::-1], strict=True)), tables(KINDS["dict"]), {}),
        (np.eye(3)[HARD], PROBS, {}),
    ],
    ids=[
        "integers", "list", "words", "words in an array", "frames without items", "series", "pandas series", "frame",
        "by item", "one-hot",
    ],
)  # fmt: skip
def test_labels_as_the_reference(reference: Any, predictions: Any, options: dict[str, Any]) -> None:
    assert evaluated(reference, predictions, **options) == pytest.approx(hard_scores(), rel=1e-12)


def test_words_against_columns_without_names_are_refused() -> None:
    with pytest.raises(pt.InputError, match=r"labels=\[\.\.\.\] in the order of the array"):
        evaluated(WORDS, PROBS)


def test_counts_and_soft_labels() -> None:
    votes = pt.Annotations.from_counts(COUNTS, ITEMS, LABELS)
    assert evaluated(COUNTS, PROBS) == pytest.approx(evaluated(votes, NAMED), rel=1e-12)
    frame = pl.DataFrame(COUNTS, schema=list(LABELS)).with_columns(item=pl.Series(ITEMS))
    assert evaluated(frame, tables(KINDS["polars"])) == evaluated(votes, NAMED)
    soft = pt.Truth.from_probs(COUNTS / 4, ITEMS, LABELS)
    assert evaluated(COUNTS / 4, PROBS) == pytest.approx(evaluated(soft, NAMED), rel=1e-12)


def test_a_total_beside_counts_is_no_label() -> None:
    frame = pl.DataFrame(COUNTS, schema=list(LABELS)).with_columns(item=pl.Series(ITEMS), total=4)
    with pytest.raises(pt.InputError, match="label 'total' in the reference"):
        evaluated(frame, tables(KINDS["polars"]))


@pytest.mark.parametrize(
    ("reference", "predictions", "message"),
    [
        (None, PROBS, "got NoneType, expected Annotations or Truth, a path"),
        ([[1.0], [0.5, 0.5]], PROBS, "got list, expected Annotations"),
        (COUNTS * 1.5, PROBS, "sum to 6"),
        (COUNTS, PROBS["ours"], r"got ndarray, expected Predictions, or a dict .* \{'my model': table\}"),
        (COUNTS, {}, "got an empty dict"),
        (COUNTS, {"a": "a.csv", "b": PROBS["ours"]}, "a path for model 'a' and a ndarray for model 'b'"),
        (["cat", None], PROBS, "blank name for label 1"),
        (["cat", "emu"], {"m": pl.DataFrame({"cat": [0.5, 0.5], "dog": [0.5, 0.5]})}, "label 'emu'"),
    ],
)
def test_what_cannot_be_used(reference: Any, predictions: Any, message: str) -> None:
    with pytest.raises(pt.InputError, match=message):
        evaluated(reference, predictions)


def test_score_takes_the_same() -> None:
    scores = pt.score(PROBS, HARD)
    assert dict(zip(scores.models, scores.values.mean(1), strict=True)) == pytest.approx(hard_scores(), rel=1e-12)
    with pytest.raises(pt.InputError, match="infer_truth"):
        pt.score(PROBS, COUNTS)


def test_read_predictions_of_dataframes_aligns_by_name() -> None:
    frames = tables(KINDS["pandas"])
    frames["theirs"] = frames["theirs"].iloc[1:]
    read = pt.read_predictions(frames)
    rows = [ITEMS.index(name) for name in read.index.items]
    columns = [LABELS.index(label) for label in read.index.labels]
    np.testing.assert_allclose(read.probs[0], PROBS["ours"][rows][:, columns], rtol=1e-12)
    assert len(read.index.items) == N - 1
    assert len(read.audit.missing) == 1


def test_read_predictions_says_what_to_call_for_arrays() -> None:
    with pytest.raises(pt.InputError, match=r"without a column 'item' .* use Predictions.from_probs"):
        pt.read_predictions(PROBS)  # type: ignore[arg-type]


LONG = {"q": ITEMS * 2, "system": ["a"] * N + ["b"] * N, "points": RNG.normal(size=2 * N), "task": ["x", "y"] * N}


@pytest.mark.parametrize("kind", KINDS)
def test_compare_of_a_table_is_that_of_its_scores(kind: str) -> None:
    columns: dict[str, Any] = {"item": "q", "model": "system", "score": "points", "group": "task"}
    wanted = pt.compare(pt.Scores.from_frame(LONG, **columns, higher_is_better=True), engine="exact")
    table = KINDS[kind](pl.DataFrame(LONG))
    assert pt.compare(table, **columns, higher_is_better=True, engine="exact").pairs == wanted.pairs
    known = pt.Result.of_scores(table, **columns, higher_is_better=True, engine="exact")
    assert known.comparison.pairs == wanted.pairs


@pytest.mark.parametrize("form", ["frame", "file"])
def test_a_wide_table_is_recognised(form: str, tmp_path: Path) -> None:
    wide: Any = pl.DataFrame({"item": ITEMS, "a": LONG["points"][:N], "b": LONG["points"][N:], "text": "words"})
    if form == "file":
        wide.write_csv(tmp_path / "wide.csv")
        wide = tmp_path / "wide.csv"
    with pytest.raises(pt.InputError, match=r"pass models=\['a', 'b'\] \(command line: --format wide --model a,b\)"):
        pt.compare(wide, higher_is_better=False)
    found = pt.compare(wide, models=["a", "b"], score="loss", engine="exact")
    long = {**LONG, "loss": LONG["points"]}
    wanted = pt.compare(long, item="q", model="system", score="loss", engine="exact")
    assert found.pairs == wanted.pairs
    assert found.rule == "loss"


def test_columns_of_scores_that_have_none() -> None:
    scores = pt.score(PROBS, HARD)
    for option in ({"group": "task"}, {"cluster": "task"}, {"higher_is_better": True}, {"models": ["a"]}):
        for compare in (pt.compare, pt.Result.of_scores):
            with pytest.raises(pt.InputError, match="with Scores, which have no columns"):
                compare(scores, **option)  # type: ignore[arg-type]


def test_one_probability_an_event_says_how_to_give_both():
    with pytest.raises(pt.InputError, match=r"np\.stack\(\[1 - p, p\], axis=1\)"):
        pt.evaluate(np.array([0, 1, 1]), {"m": np.array([0.2, 0.7, 0.9])})
