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
PAIRS = pd.MultiIndex.from_product([range(2), range(N // 2)])
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
NAMED_FRAME = pl.DataFrame(PROBS["ours"], schema=list(LABELS)).with_columns(item=pl.Series(ITEMS))
KINDS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "pandas": lambda frame: frame.to_pandas(),
    "arrow": lambda frame: frame.to_arrow(),
    "dict": lambda frame: frame.to_dict(as_series=False),
}


def hard_scores() -> dict[str, float]:
    """By hand: the mean of minus the log of the probability of the label."""
    return {name: float(-np.log(probs[np.arange(N), HARD]).mean()) for name, probs in PROBS.items()}


@pytest.mark.parametrize(
    ("reference", "predictions", "options"),
    [
        (HARD, PROBS, {}),
        (HARD.astype(float), PROBS, {}),
        (pd.Series(HARD.astype(float), ITEMS), tables(KINDS["polars"]), {"labels": LABELS}),
        (HARD.tolist(), PROBS, {"labels": LABELS}),
        (WORDS, PROBS, {"labels": LABELS}),
        (np.array(WORDS), PROBS, {"labels": np.array(LABELS)}),
        (WORDS, tables(lambda frame: frame.drop("item"), shuffled=False), {}),
        (pl.Series(WORDS), NAMED, {}),
        (pd.Series(WORDS, index=ITEMS), tables(KINDS["polars"]), {}),
        ({"item": ITEMS[::-1], "label": WORDS[::-1]}, tables(KINDS["pandas"]), {}),
        ({"item": ITEMS, "label": WORDS}, tables(lambda one: one.to_pandas().set_index("item").add_prefix("p_")), {}),
        (dict(zip(ITEMS[::-1], WORDS[::-1], strict=True)), tables(KINDS["dict"]), {}),
        (np.eye(3)[HARD], PROBS, {}),
        (pd.Series(WORDS, PAIRS)[::-1], {name: pd.DataFrame(own, PAIRS, LABELS) for name, own in PROBS.items()}, {}),
    ],
    ids=[
        "integers", "whole floats", "whole floats by name", "list", "words", "words in an array",
        "frames without items", "series", "pandas series", "frame",
        "pandas index", "by item", "one-hot", "pairs as names",
    ],
)  # fmt: skip
def test_labels_as_the_reference(reference: Any, predictions: Any, options: dict[str, Any]) -> None:
    assert evaluated(reference, predictions, **options) == pytest.approx(hard_scores(), rel=1e-12)


def test_whole_floats_are_labels_unless_they_may_be_probabilities() -> None:
    """0.0, 0.5, 1.0 were taken and 0.0, 1.0 refused."""
    yes = (HARD > 0).astype(int)
    probs = {name: 1 - own[:, 0] for name, own in PROBS.items()}
    wanted = evaluated(yes, probs)
    assert evaluated(yes.astype(float), probs) == pytest.approx(wanted, rel=1e-12)
    assert evaluated(yes.astype(float), probs, labels=["no", "yes"]) == pytest.approx(wanted, rel=1e-12)
    for reference, labels in ((pd.Series(yes.astype(float), name="p_no"), None), (yes.astype(float), ["yes", "no"])):
        with pytest.raises(pt.InputError, match=r"positions of labels or probabilities of '(yes|p_no)'"):
            evaluated(reference, probs, labels=labels)


def test_rows_of_a_larger_frame_of_pandas_are_matched_by_its_index() -> None:
    """A slice keeps a range as its index: reversed rows were matched by position, -0.37 for -0.10."""
    labels, frames = pd.Series(HARD)[4:], {name: pd.DataFrame(own)[4:] for name, own in PROBS.items()}
    wanted = evaluated(HARD[4:], {name: own[4:] for name, own in PROBS.items()})
    assert evaluated(labels[::-1], frames) == pytest.approx(wanted, rel=1e-12)
    assert evaluated(labels, {name: own.to_numpy() for name, own in frames.items()}) == pytest.approx(wanted, rel=1e-12)


def test_columns_that_are_true_and_false() -> None:
    """The columns of a frame were 'False' and 'True', the labels of a Series 'false' and 'true'."""
    probs = {name: pd.DataFrame({False: own[:, 0], True: 1 - own[:, 0]}) for name, own in PROBS.items()}
    wanted = {name: float(-np.log(np.where(HARD > 0, 1 - own[:, 0], own[:, 0])).mean()) for name, own in PROBS.items()}
    assert evaluated(pd.Series(HARD > 0), probs) == pytest.approx(wanted, rel=1e-12)
    assert evaluated(pd.Series(HARD > 0), {name: {**own} for name, own in probs.items()}) == pytest.approx(wanted)


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
    frame = pl.DataFrame(COUNTS, schema=list(LABELS)).with_columns(item=pl.Series(ITEMS))
    models = tables(KINDS["polars"])
    assert evaluated(frame.with_columns(total=4), models) == evaluated(frame, models)
    with pytest.raises(pt.InputError, match="label 'other' in the reference"):
        evaluated(frame.with_columns(other=pl.Series([1, 0] * (N // 2))), models)


@pytest.mark.parametrize(
    ("reference", "predictions", "message"),
    [
        (None, PROBS, "got NoneType, expected Annotations or Truth, a path"),
        ([[1.0], [0.5, 0.5]], PROBS, "got list, expected Annotations"),
        (COUNTS * 1.5, PROBS, "sum to 6"),
        (COUNTS, PROBS["ours"], r"got ndarray, expected a dict .*\{'my model': table or path\}"),
        (COUNTS, {}, "got an empty dict"),
        (COUNTS, {"a": NAMED_FRAME, "b": PROBS["ours"]}, "model 'a' with names of items beside model 'b' without"),
        (["cat", None], PROBS, "no label for 1 item"),
        (HARD, [PROBS["ours"]], r"got list, expected a dict"),
        (HARD, {"m": iter([])}, "probabilities of model 'm' that are not numbers"),
        (HARD + 0.5, PROBS, "labels of type float64 .* Give positions of labels, from 0, or names"),
        (HARD + 1, PROBS, "got label 3, expected an integer from 0 to 2. Hint: Integers are positions"),
        (pd.Series(HARD)[::-1], {"m": pd.DataFrame(PROBS["ours"])}, "items called 0, 1, ... in another order"),
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
    assert np.isnan(read.probs[1]).all(1).sum() == 1
    assert len(read.index.items) == N
    assert read.audit.by_model[1] == ("theirs", 1, 0)


def test_read_predictions_says_what_to_call_for_arrays() -> None:
    with pytest.raises(pt.InputError, match=r"got ndarray for model 'ours'.*Without item names, use Pred"):
        pt.read_predictions(PROBS)  # type: ignore[arg-type]


LONG = {"q": ITEMS * 2, "system": ["a"] * N + ["b"] * N, "points": RNG.normal(size=2 * N), "task": ["x", "y"] * N}


@pytest.mark.parametrize("kind", KINDS)
def test_compare_of_a_table_is_that_of_its_scores(kind: str) -> None:
    columns: dict[str, Any] = {"item": "q", "model": "system", "score": "points", "group": "task"}
    wanted = pt.compare(pt.Scores.from_frame(LONG, **columns, higher_is_better=True), engine="exact")
    table = KINDS[kind](pl.DataFrame(LONG))
    assert pt.compare(pt.read_scores(table, **columns, higher_is_better=True), engine="exact").pairs == wanted.pairs
    known = pt.Result.of(pt.compare(pt.read_scores(table, **columns, higher_is_better=True), engine="exact"))
    assert known.comparison.pairs == wanted.pairs


def test_levels_of_a_pandas_index_with_names_are_columns() -> None:
    """What `groupby` and `pivot` return; the columns were said to be missing."""
    long = pd.DataFrame(LONG)
    marks = long.groupby(["q", "system"]).points.mean()
    columns: dict[str, Any] = {"item": "q", "higher_is_better": True}
    wanted = pt.compare(pt.read_scores(long, **columns, model="system", score="points"), engine="exact").pairs
    for table, how in (
        (marks, {"model": "system", "score": "points"}),
        (marks.to_frame(), {"model": "system", "score": "points"}),
        (long.pivot(index="q", columns="system", values="points"), {"models": [], "score": "points"}),
    ):
        assert pt.compare(pt.read_scores(table, **columns, **how), engine="exact").pairs == wanted
    votes = pd.DataFrame(VOTES).set_index(["item", "annotator"])
    assert (pt.Annotations.from_long(votes).counts() == pt.read_annotations(pd.DataFrame(VOTES)).counts()).all()


@pytest.mark.parametrize("form", ["frame", "file"])
def test_a_wide_table_is_recognised(form: str, tmp_path: Path) -> None:
    wide: Any = pl.DataFrame({"item": ITEMS, "a": LONG["points"][:N], "b": LONG["points"][N:], "text": "words"})
    if form == "file":
        wide.write_csv(tmp_path / "wide.csv")
        wide = tmp_path / "wide.csv"
    with pytest.raises(pt.InputError, match=r"pass models=\['a', 'b'\] \(command line: --format wide --model a,b\)"):
        pt.compare(pt.read_scores(wide, higher_is_better=False))
    many = {"item": ITEMS, **{f"m{k}": [None, *LONG["points"][1:N]] for k in range(9)}}
    with pytest.raises(pt.InputError, match=r"'m7' and 1 more, .* pass models=\[\] \(command line: --format wide\)"):
        pt.read_scores(many, higher_is_better=False)
    found = pt.compare(pt.read_scores(wide, models=["a", "b"], score="loss"), engine="exact")
    long = {**LONG, "loss": LONG["points"]}
    wanted = pt.compare(pt.read_scores(long, item="q", model="system", score="loss"), engine="exact")
    assert found.pairs == wanted.pairs
    assert found.rule == "loss"


@pytest.mark.parametrize("call", ["compare", "evaluate", "compare_metric"])
def test_the_index_of_a_series_names_the_items(call: str) -> None:
    """It was taken by position: -0.530 for -0.472."""
    groups = ["x"] * 4 + ["y"] * (N - 4)
    predictions = pt.Predictions.from_probs(PROBS, items=ITEMS)
    truth = pt.Truth.from_labels(HARD, 3, items=ITEMS)

    def pair(groups: Any, weights: Any) -> Any:
        if call == "compare":
            found = pt.compare(pt.score(predictions, truth), groups=groups, weights=weights, engine="exact")
        elif call == "evaluate":
            found = pt.evaluate(truth, predictions, groups=groups, weights=weights, engine="exact").comparison
        else:
            found = pt.compare_metric(predictions, truth, "accuracy", groups=groups, engine="exact")
        return found.pairs

    wanted = pair(groups, {"x": 0.9, "y": 0.1})
    shuffled = pd.Series(groups, index=ITEMS).sample(frac=1, random_state=1)
    assert pair(shuffled, pd.Series({"y": 0.1, "x": 0.9})) == wanted
    assert pair(pd.Series(groups), {"x": 0.9, "y": 0.1}) == wanted
    with pytest.raises(pt.InputError, match="groups as a Series with the index"):
        pair(pd.Series(groups).sample(frac=1, random_state=1), None)


def test_annotations_whose_items_are_the_index() -> None:
    votes = pd.DataFrame({"item": ITEMS * 2, "annotator": ["p"] * N + ["q"] * N, "label": ["no", "yes"] * N})
    rows = [pt.evaluate(one, BOTH_NAMED, engine="exact").comparison.pairs for one in (votes, votes.set_index("item"))]
    assert rows[0] == rows[1]


P = RNG.uniform(0.05, 0.95, (2, N))
BOTH: dict[str, Any] = {name: np.stack([1 - p, p], axis=1) for name, p in zip("ab", P, strict=True)}
BOTH_NAMED = {name: pd.DataFrame(p, index=ITEMS, columns=["no", "yes"]) for name, p in BOTH.items()}
HAPPENED = RNG.integers(0, 2, N)


class TestEvents:
    """One number for each item is the probability of the second of two labels."""

    @pytest.mark.parametrize("shape", [(N,), (N, 1)])
    @pytest.mark.parametrize("reference", [HAPPENED, np.stack([1 - HAPPENED, HAPPENED], 1) * 2])
    def test_arrays(self, shape: tuple[int, ...], reference: np.ndarray) -> None:
        predictions = {name: p.reshape(shape) for name, p in zip("ab", P, strict=True)}
        assert evaluated(reference, predictions) == pytest.approx(evaluated(reference, BOTH), rel=1e-12)
        made = pt.Predictions.from_probs(predictions)
        assert made.notes == ("one number an item: took it as that of label '1'",)

    def test_logits(self) -> None:
        logits = {"a": np.log(P[0] / (1 - P[0]))}
        np.testing.assert_allclose(pt.Predictions.from_logits(logits).probs[0], BOTH["a"], rtol=1e-12)

    @pytest.mark.parametrize("words", [("0", "1"), ("no", "yes")])
    def test_files(self, words: tuple[str, str], tmp_path: Path) -> None:
        pl.DataFrame({"ticket": ITEMS, "label": [words[one] for one in HAPPENED]}).write_csv(tmp_path / "y.csv")
        for name, p in zip("ab", P, strict=True):
            pl.DataFrame({"id": ITEMS, "p": p, "time": p * 100}).drop("time").write_csv(tmp_path / f"{name}.csv")
        files = {name: tmp_path / f"{name}.csv" for name in "ab"}
        expected = evaluated(HAPPENED, BOTH)
        assert evaluated(tmp_path / "y.csv", files) == pytest.approx(expected, rel=1e-12)
        frames = {name: pl.read_csv(path) for name, path in files.items()}
        assert evaluated(pl.read_csv(tmp_path / "y.csv"), frames) == pytest.approx(expected, rel=1e-12)


class TestOtherNames:
    """Each table calls its items otherwise; the names of the items say which column they are."""

    def test_votes(self, tmp_path: Path) -> None:
        votes = pl.DataFrame(VOTES).rename({"item": "ticket_id"})
        models = {name: table.rename({"item": f"key_{name}"}) for name, table in tables(lambda frame: frame).items()}
        expected = evaluated(VOTES, tables(lambda frame: frame))
        assert evaluated(votes, models) == expected
        votes.write_csv(tmp_path / "votes.csv")
        paths = {}
        for name, table in models.items():
            paths[name] = tmp_path / f"{name}.csv"
            table.with_columns(text=pl.lit("some words")).write_csv(paths[name])
        assert evaluated(tmp_path / "votes.csv", paths) == expected

    def test_soft_labels_and_counts(self, tmp_path: Path) -> None:
        models = tables(lambda frame: frame.rename({"item": "key"}))
        for values in (PROBS["ours"], COUNTS):
            columns = {label: values[:, k] for k, label in enumerate(LABELS)}
            table = pl.DataFrame({"ticket": ITEMS} | columns)
            expected = evaluated(table.rename({"ticket": "item"}), tables(lambda frame: frame))
            assert evaluated(table, models) == expected

    def test_a_frame_that_fits_nothing_says_so(self) -> None:
        table = pl.DataFrame({"ticket": [f"T{n}" for n in range(N)], "cat": np.ones(N)})
        with pytest.raises(pt.InputError, match=r"no column 'item' \(columns: 'ticket', 'cat'\)"):
            pt.evaluate(table, tables(lambda frame: frame))


def test_labels_of_models_by_name() -> None:
    named = pt.Predictions.from_labels({"m": WORDS}, labels=LABELS)
    positions = pt.Predictions.from_labels({"m": HARD}, labels=LABELS)
    assert named.index.labels == tuple(sorted(LABELS))
    assert (named.probs == positions.probs).all()
    with pytest.raises(pt.InputError, match=r"model 'm': label 'dgo'.*Did you mean 'dog'"):
        pt.Predictions.from_labels({"m": ["dgo"]}, labels=LABELS)


def test_ragged_rows_of_a_model_are_named() -> None:
    with pytest.raises(pt.InputError, match="model 'm' in rows of several lengths"):
        pt.evaluate(["no", "yes"], {"m": [[0.1], [0.1, 0.9]]})  # type: ignore[list-item]
