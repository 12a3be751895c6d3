"""One number an item is about the label that it names, or about yes; never about what stands second in some table."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_tables import scored
from ways import COUNTS, ITEMS, PROBS, N

import probtruth as pt

Q = ITEMS["text"]
YES = {name: probs[:, 0] for name, probs in PROBS.items()}
SHARE = COUNTS[:, 0] / COUNTS.sum(1)
MAJORITY = (SHARE > 0.5).astype(int)
# The names of the two labels as the reference's columns have them, and which one the models' numbers are about.
PAIRS = [("no", "yes"), ("yes", "no"), ("1", "0"), ("Negative", "Positive"), ("Positive", "Negative"), ("spam", "ham")]
EVENT = {"1", "yes", "Positive", "spam"}


def models(event: str) -> dict[str, dict[str, Any]]:
    made = {
        "a column": {name: pd.DataFrame({"item": Q, event: p}) for name, p in YES.items()},
        "a column, rows without names": {name: pd.DataFrame({event: p}) for name, p in YES.items()},
        "a Series of its name": {name: pd.Series(p, Q, name=event) for name, p in YES.items()},
    }
    if event != "spam":  # of which nothing says that it is what numbers are about
        made |= {
            "a column of another name": {name: pd.DataFrame({"item": Q, "p": p}) for name, p in YES.items()},
            "a Series": {name: pd.Series(p, Q) for name, p in YES.items()},
            "an array": YES,
            "a list": {name: p.tolist() for name, p in YES.items()},
            "an array of one column": {name: p[:, None] for name, p in YES.items()},
            "a Series of row numbers": {name: pd.Series(p) for name, p in YES.items()},
        }
    return made


def by_hand(share: np.ndarray) -> dict[str, float]:
    """The Brier score of two labels: 2 (share (1 - p)^2 + (1 - share) p^2)."""
    return {name: float(np.mean(2 * (share * (1 - p) ** 2 + (1 - share) * p**2))) for name, p in YES.items()}


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_every_reference_beside_every_event(pair: tuple[str, str]) -> None:
    event = next(label for label in pair if label in EVENT)
    shares = {"item": Q, **{label: SHARE if label == event else 1 - SHARE for label in pair}}
    counts = {"item": Q, **{label: COUNTS[:, 0] if label == event else COUNTS[:, 1:].sum(1) for label in pair}}
    other = next(label for label in pair if label not in EVENT)
    hard = [event if said else other for said in MAJORITY]
    references = {
        "soft labels": (pd.DataFrame(shares), SHARE),
        "counts": (pt.read_annotations(counts, format="counts"), SHARE),
        "a truth": (pt.Truth.from_probs(pd.DataFrame(shares)), SHARE),
        "labels": ({"item": Q, "label": hard}, MAJORITY),
        "labels by item": (dict(zip(Q, hard, strict=True)), MAJORITY),
    }
    for name, (reference, share) in references.items():
        for way, tables in models(event).items():
            try:
                found = scored(reference, tables)
            except pt.InputError as error:
                assert "no order" in str(error) or "name of the label" in str(error), (name, way)  # noqa: PT017
                continue
            assert found == pytest.approx(by_hand(share), abs=1e-9), (name, way)
            if name == "a truth":
                predictions = pt.Predictions.from_probs(tables, index=reference.index)
                assert scored(reference, predictions) == pytest.approx(by_hand(share), abs=1e-9), way


@pytest.mark.parametrize("names", [["no", "yes"], ["yes", "no"], ["0", "1"], ["1", "0"], ["True", "False"]])
def test_numbers_as_labels_beside_columns_of_two_names(names: list[str]) -> None:
    """Beside the columns yes, no the integer 1 was no, and a probability that of no."""
    event = max(names, key=lambda name: name.lower() in ("yes", "1", "true"))
    tables = {
        name: pd.DataFrame({label: p if label == event else 1 - p for label in names}, Q) for name, p in YES.items()
    }
    for labels in (
        MAJORITY,
        MAJORITY.tolist(),
        MAJORITY == 1,
        pd.Series(MAJORITY, Q),
        dict(zip(Q, MAJORITY, strict=True)),
    ):
        assert scored(labels, tables) == pytest.approx(by_hand(MAJORITY), abs=1e-9)
    for shares in (SHARE, SHARE.tolist(), pd.Series(SHARE, Q)):
        assert scored(shares, tables) == pytest.approx(by_hand(SHARE), abs=1e-9)


def test_integers_beside_models_in_different_orders() -> None:
    """They were positions in the columns of whichever model came first."""
    names = ["owl", "cat", "dog"]
    good = pd.DataFrame(PROBS["good"], Q, names)
    bad = pd.DataFrame(PROBS["bad"], Q, names)
    labels = np.arange(N) % 3
    wanted = scored([names[label] for label in labels], {"good": good, "bad": bad})
    tables = {"good": good, "bad": bad}
    for same in (tables, pt.Predictions.from_probs(tables), pt.read_predictions(tables)):
        assert scored(labels, same) == pytest.approx(wanted, abs=1e-9)
    tables = {"good": good, "bad": bad[["dog", "owl", "cat"]]}
    assert scored(labels, tables, names) == pytest.approx(wanted, abs=1e-9)
    for mixed in (tables, dict(reversed(tables.items()))):
        with pytest.raises(pt.InputError, match=r"reference without names of labels.*'owl'.*labels="):
            scored(labels, mixed)


def test_one_column_of_flags_is_no_count_of_votes() -> None:
    """Items whose flag was 0 were left out, without a word."""
    tables = {name: pd.DataFrame({"item": Q, "yes": p, "no": 1 - p}) for name, p in YES.items()}
    with pytest.raises(pt.InputError, match="may count votes or be the answers"):
        scored({"item": Q, "yes": MAJORITY}, tables)


@pytest.mark.parametrize("gap", [np.nan, -1.0])
def test_answers_of_annotators_with_gaps_are_no_soft_labels(gap: float) -> None:
    """A row an item and a column an annotator: an array was read as soft labels, a table as counts with a bad cell."""
    answers = np.array([[1, 2, 1], [2, gap, 2], [1, 1, gap]])
    frame = pd.DataFrame(answers, Q[:3], ["ann", "bob", "cid"])
    models = {"m": pd.DataFrame(np.full((3, 2), 0.5), Q[:3], ["1", "2"])}
    for reference in (answers, frame, frame.reset_index(names="item")):
        with pytest.raises(pt.InputError, match=r"may count votes or be the answers.*--format wide"):
            scored(reference, models)


@pytest.mark.parametrize("column", ["yes", "share", "no"])
def test_soft_labels_in_one_column(column: str, tmp_path: Path) -> None:
    """As a Series they were the probability of the event; as a table or file, rows that do not sum to 1."""
    tables = {name: pd.DataFrame({"item": Q, "yes": p, "no": 1 - p}) for name, p in YES.items()}
    shares = pd.DataFrame({"item": Q, column: 1 - SHARE if column == "no" else SHARE})
    shares.to_csv(tmp_path / "soft.csv", index=False)
    of_event = {name: pd.DataFrame({"item": Q, "yes": p}) for name, p in YES.items()}
    for reference in (shares, shares.set_index("item"), tmp_path / "soft.csv"):
        assert scored(reference, tables) == pytest.approx(by_hand(SHARE), abs=1e-9)
        assert scored(reference, pt.read_predictions(tables)) == pytest.approx(by_hand(SHARE), abs=1e-9)
    with pytest.raises(pt.InputError, match=r"one column"):
        scored(shares, of_event)  # nothing names the other label


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_steps_and_one_call_mean_the_same_label(pair: tuple[str, str]) -> None:
    """Made by themselves, one number an item and 0 and 1 were about what stood second on the other side, not yes."""
    event = next(label for label in pair if label in EVENT)
    tables = {name: pd.DataFrame({label: p if label == event else 1 - p for label in pair}) for name, p in YES.items()}
    shares = pd.DataFrame({label: SHARE if label == event else 1 - SHARE for label in pair})
    made = [{name: pd.Series(p, name=event) for name, p in YES.items()}]
    if event != "spam":
        made += [YES, {name: pd.Series(p, name="p") for name, p in YES.items()}]
        for codes in (MAJORITY, MAJORITY == 1, pd.Series(MAJORITY)):
            truth = pt.Truth.from_labels(codes, 2)
            for models in (tables, pt.Predictions.from_probs(tables)):
                assert scored(truth, models) == pytest.approx(by_hand(MAJORITY), abs=1e-9)
        hard = pt.Predictions.from_labels({"m": MAJORITY}, n_labels=2)
        assert scored(shares, hard) == pytest.approx(scored(shares, {"m": MAJORITY.astype(float)}), abs=1e-9)
    for models in made:
        predictions = pt.Predictions.from_probs(models)
        for reference in (shares, pt.Truth.from_probs(shares)):
            assert scored(reference, predictions) == pytest.approx(by_hand(SHARE), abs=1e-9)


def test_probabilities_of_different_labels() -> None:
    both = pt.Predictions.from_probs({"a": pd.Series(SHARE, name="ham"), "b": pd.Series(SHARE, name="spam")})
    with pytest.raises(pt.InputError, match="one column of probabilities for each model, called 'ham', 'spam'"):
        scored(pd.DataFrame({"spam": SHARE, "ham": 1 - SHARE}), both)


def test_integers_are_positions_in_the_order_of_the_reference() -> None:
    """Beside an index they were positions in the sorted names."""
    names = ["owl", "cat", "dog"]
    truth = pt.Truth.from_probs(pd.DataFrame(PROBS["good"], columns=names))
    codes = np.arange(N) % 3
    wanted = scored(truth, pt.Predictions.from_labels({"m": [names[code] for code in codes]}, labels=names))
    for options in ({"n_labels": 3}, {"index": truth.index}, {"labels": names}):
        assert scored(truth, pt.Predictions.from_labels({"m": codes}, **options)) == pytest.approx(wanted, abs=1e-9)
    votes = pt.read_annotations({"item": Q[:3], "annotator": ["x"] * 3, "label": names})
    with pytest.raises(pt.InputError, match="integers as labels of model 'm', beside labels in no order"):
        pt.Predictions.from_labels({"m": codes}, index=votes.index)


@pytest.mark.parametrize("column", ["yes", "no", "1", "0", "true", "false", "Negative"])
def test_a_column_that_is_called_the_other_label(column: str) -> None:
    """Beside 0 and 1, or other names of two labels, the probability of no was taken for that of yes."""
    other = column in ("no", "0", "false", "Negative")
    tables = {name: pd.DataFrame({"item": Q, column: 1 - p if other else p}) for name, p in YES.items()}
    words = pd.DataFrame({"item": Q, "label": np.where(MAJORITY == 1, "yes", "no")})
    for reference in (words, words.assign(label=MAJORITY), pd.Series(MAJORITY, Q), pd.Series(MAJORITY == 1, Q)):
        assert scored(reference, tables) == pytest.approx(by_hand(MAJORITY), abs=1e-9)
    unnamed = {name: table.drop(columns="item") for name, table in tables.items()}
    for models in (unnamed, pt.Predictions.from_probs(unnamed)):
        if isinstance(models, dict) or models.index.positional_labels:  # else these names are the labels'
            assert scored(MAJORITY, models) == pytest.approx(by_hand(MAJORITY), abs=1e-9)


def test_names_that_the_caller_lists_say_what_integers_mean() -> None:
    """With labels=["yes", "no"] the integer 0 was no in one call, and yes in steps."""
    tables = {name: np.stack([p, 1 - p], axis=1) for name, p in YES.items()}
    truth = pt.Truth.from_labels(1 - MAJORITY, classes=["yes", "no"])
    for reference in (1 - MAJORITY, truth):
        assert scored(reference, tables, ["yes", "no"]) == pytest.approx(by_hand(MAJORITY), abs=1e-9)


def named(column: str, probs: Any) -> list[dict[str, Any]]:
    """Models whose one column of numbers has this name, as tables and as Series, with names of items and without."""
    tables = {name: pd.DataFrame({"item": Q, column: probs(p)}) for name, p in YES.items()}
    series = {name: table.set_index("item")[column] for name, table in tables.items()}
    unnamed = {name: table[[column]] for name, table in tables.items()}
    return [tables, series, unnamed]


@pytest.mark.parametrize(
    ("column", "pair"),
    [(name, ("no", "yes")) for name in ("p_no", "P(no)", "no.prob", "prob_negative", "Probability of No")]
    + [("p_ham", ("ham", "spam")), ("Ham (prob.)", ("ham", "spam")), ("p_ham", ("spam", "ham"))],
)
def test_the_name_of_a_column_says_which_label_it_is_about(column: str, pair: tuple[str, str]) -> None:
    """The probability of no in a column `p_no` was taken for that of yes: the worse model won at P > 0.999."""
    event = "spam" if "spam" in pair else "yes"
    other = next(label for label in pair if label != event)
    answers = dict(zip(Q, [event if said else other for said in MAJORITY], strict=True))
    tables, series, unnamed = named(column, lambda p: 1 - p)
    for models in (tables, series, unnamed, pt.Predictions.from_probs(series, labels=pair)):
        assert scored(answers, models, pair) == pytest.approx(by_hand(MAJORITY), abs=1e-9)
        for soft in (pd.Series(1 - SHARE, Q, name=column), pd.DataFrame({"item": Q, column: 1 - SHARE})):
            assert scored(soft, models, pair) == pytest.approx(by_hand(SHARE), abs=1e-9)
    plain = {name: pd.DataFrame({"item": Q, event: p, other: 1 - p}) for name, p in YES.items()}
    for models in (plain, series) if event == "yes" else (plain,):
        for name in (column, other):
            assert scored(pd.Series(1 - SHARE, Q, name=name), models) == pytest.approx(by_hand(SHARE), abs=1e-9)


@pytest.mark.parametrize("column", ["not_toxic", "prob_0", "p0", "false_positive", "no or yes"])
def test_a_name_that_may_mean_either_label(column: str) -> None:
    answers = dict(zip(Q, np.where(MAJORITY == 1, "yes", "no").tolist(), strict=True))
    for models in named(column, lambda p: p):
        with pytest.raises(pt.InputError, match=r"one column of probabilities.*name of the label that it is about"):
            pt.evaluate(answers, models, labels=["no", "yes"])


@pytest.mark.parametrize(
    ("answer", "sure", "said"),
    [
        ("label", "score", ("LABEL_1", "LABEL_0")),
        ("prediction", "p", ("yes", "no")),
        ("answer", "p", ("no", "no")),
        (None, "confidence", ("yes", "no")),
    ],
)
def test_the_confidence_in_an_answer(
    answer: str | None, sure: str, said: tuple[str, str], tmp_path: Path, run: Any
) -> None:
    """What pipelines of Hugging Face write, an answer and how sure it is, was read as the probability of yes."""
    paths = {}
    for name, p in YES.items():
        table = pd.DataFrame({"item": Q, sure: np.maximum(p, 1 - p)})
        if answer is not None:
            table[answer] = np.where(p > 0.5, *said)
        paths[name] = str(tmp_path / f"{name}.csv")
        table.to_csv(paths[name], index=False)
    frames = {name: pd.read_csv(path) for name, path in paths.items()}
    votes = pd.DataFrame({"item": Q, "label": np.where(MAJORITY == 1, "yes", "no")})
    votes.to_csv(tmp_path / "labels.csv", index=False)
    for models in (paths, frames):
        with pytest.raises(pt.InputError, match=f"'{sure}', never below 0.5.*expected the probability of one label"):
            pt.evaluate(votes, models)
    predictions = [f"--predictions={name}={path}" for name, path in paths.items()]
    assert "never below 0.5" in run("run", "--annotations", tmp_path / "labels.csv", *predictions).err
    beside = {name: pd.DataFrame({"item": Q, "label": votes["label"], "score": p}) for name, p in YES.items()}
    assert scored(votes, beside) == pytest.approx(by_hand(MAJORITY), abs=1e-9)  # the true labels beside P(yes)
