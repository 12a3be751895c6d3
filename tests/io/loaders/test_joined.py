"""One table for the reference and all models: the result of separate files, and nothing guessed from names."""

import re
from pathlib import Path

import numpy as np
import polars
import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.io.loaders import joined_table

LABELS = ("cat", "dog", "big_cat")
ITEMS = [f"q{number}" for number in (3, 10, 1, 2, 7, 5)]


def parts() -> dict[str, polars.DataFrame]:
    """Soft labels and two models, as separate tables."""
    rng = np.random.default_rng(5)
    made = {}
    for name in ("truth", "a", "b"):
        probs = rng.dirichlet(np.ones(len(LABELS)), len(ITEMS))
        made[name] = polars.DataFrame({"item": ITEMS} | dict(zip(LABELS, probs.T, strict=True)))
    return made


def joined(form: str = "{name}.{label}", **renamed: str) -> polars.DataFrame:
    """The same in one table, with a column that is no part of a block."""
    columns = {
        form.format(name=renamed.get(name, name), label=label): table[label]
        for name, table in parts().items()
        for label in LABELS
    }
    return polars.DataFrame({"item": ITEMS, "text": ["?"] * len(ITEMS)} | columns)


@pytest.mark.parametrize("form", ["parquet", "csv", "ndjson", "folder"])
def test_scores_of_separate_files(tmp_path: Path, form: str) -> None:
    wanted = pt.score({name: parts()[name] for name in "ab"}, parts()["truth"])
    path = tmp_path / f"T.{form}"
    if form == "folder":
        path.mkdir()
        for part in (0, 1):
            joined()[3 * part : 3 * part + 3].write_parquet(path / f"{part}.parquet")
    else:
        getattr(joined(), f"write_{form}")(path)
    reference, blocks = joined_table(path)
    got = pt.score(blocks, reference)
    assert (got.models, got.items) == (wanted.models, wanted.items)
    assert got.values.tolist() == wanted.values.tolist()


def test_votes() -> None:
    votes = np.random.default_rng(1).integers(0, 5, (len(ITEMS), len(LABELS))) + 1
    table = joined().drop(f"truth.{label}" for label in LABELS)
    table = table.with_columns(
        polars.Series(f"votes.{label}", column) for label, column in zip(LABELS, votes.T, strict=True)
    )
    annotations = pt.Annotations.from_counts(votes, items=ITEMS, labels=LABELS)
    models = {name: part for name, part in parts().items() if name != "truth"}
    wanted = pt.evaluate(annotations, models, engine="exact").to_dict()
    assert pt.evaluate(*joined_table(table), engine="exact").to_dict() == wanted


class TestNames:
    def test_underscores(self) -> None:
        reference, blocks = joined_table(joined("{name}_{label}"), {"a": "a", "b": "b"})
        wanted = pt.score({name: parts()[name] for name in "ab"}, parts()["truth"])
        assert pt.score(blocks, reference).values.tolist() == wanted.values.tolist()

    def test_a_name_that_begins_like_another(self) -> None:
        table = joined("{name}_{label}", b="a_x")
        _, blocks = joined_table(table.drop("truth_big_cat", "a_big_cat", "a_x_big_cat"), {"a": "a", "other": "a_x"})
        for name, made in (("a", "a"), ("other", "b")):
            assert blocks[name].frame.equals(parts()[made].drop("big_cat")), "and no x_cat, which the reference lacks"


ERRORS = {
    "no reference": (joined(truth="people"), "got no columns of the reference"),
    "two references": (
        joined().with_columns(polars.lit(1).alias(f"votes.{label}") for label in LABELS),
        "both 'truth' and 'votes'",
    ),
    "a label that the reference lacks": (joined().with_columns(polars.lit(0.0).alias("a.bird")), "the column 'a.bird'"),
    "a label that a model lacks": (joined().drop("b.dog"), "no column 'b.dog'"),
    "no model": (joined().select("item", *(f"truth.{label}" for label in LABELS)), "no column of a model"),
    "two readings": (joined("{name}_{label}"), "the column 'a_big_cat' of 'a_big', 'a'"),
    "an item twice": (polars.concat([joined(), joined()[:1]]), "item 'q3' a second time"),
    "a cell, as the table names it": (
        joined().with_columns(polars.when(polars.col("item") == "q10").then(-1.0).otherwise("b.dog").alias("b.dog")),
        "row 2: got probabilities -1.0 for label 'b.dog'",
    ),
}


@pytest.mark.parametrize(("table", "message"), ERRORS.values(), ids=ERRORS)
def test_errors(table: polars.DataFrame, message: str) -> None:
    def scored() -> None:
        reference, blocks = joined_table(table)
        pt.score(blocks, reference)

    with pytest.raises(InputError, match=re.escape(message)):
        scored()
