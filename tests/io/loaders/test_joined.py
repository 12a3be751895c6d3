"""One table for the reference and all models: the result of separate files, and nothing guessed from names."""

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, table in parts().items():
        table.write_parquet(tmp_path / f"{name}.parquet")
    joined().write_parquet(tmp_path / "T.parquet")
    joined().write_csv(tmp_path / "T.csv")
    joined().write_ndjson(tmp_path / "T.jsonl")
    return tmp_path


def separate(folder: Path) -> tuple[Path, dict[str, Path]]:
    return folder / "truth.parquet", {name: folder / f"{name}.parquet" for name in "ab"}


class TestSameResult:
    @pytest.mark.parametrize("name", ["T.parquet", "T.csv", "T.jsonl"])
    def test_scores_of_separate_files(self, folder: Path, name: str) -> None:
        truth, models = separate(folder)
        wanted = pt.score(models, truth)
        reference, blocks = joined_table(folder / name)
        got = pt.score(blocks, reference)
        assert (got.models, got.items) == (wanted.models, wanted.items)
        assert got.values.tolist() == wanted.values.tolist()

    def test_a_folder_of_parts(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "many").mkdir()
        for part in (0, 1):
            joined()[3 * part : 3 * part + 3].write_parquet(tmp_path / "many" / f"{part}.parquet")
        reference, blocks = joined_table(tmp_path / "many")
        got = pt.score(blocks, reference)
        truth, models = separate(folder)
        wanted = pt.score(models, truth)
        assert got.values.tolist() == wanted.values.tolist()

    def test_votes(self, tmp_path: Path) -> None:
        votes = np.random.default_rng(1).integers(0, 5, (len(ITEMS), len(LABELS))) + 1
        table = joined().drop(f"truth.{label}" for label in LABELS)
        table = table.with_columns(
            polars.Series(f"votes.{label}", column) for label, column in zip(LABELS, votes.T, strict=True)
        )
        table.write_parquet(tmp_path / "T.parquet")
        annotations = pt.Annotations.from_counts(votes, items=ITEMS, labels=LABELS)
        models = {name: part for name, part in parts().items() if name != "truth"}
        wanted = pt.evaluate(annotations, models, engine="exact").to_dict()
        assert pt.evaluate(*joined_table(table), engine="exact").to_dict() == wanted


class TestNames:
    def test_underscores(self) -> None:
        reference, blocks = joined_table(joined("{name}_{label}"), {"a": "a", "b": "b"})
        assert reference.columns == {label: f"truth_{label}" for label in LABELS}
        assert blocks["a"].columns == {label: f"a_{label}" for label in LABELS}

    def test_a_name_that_begins_like_another(self) -> None:
        table = joined("{name}_{label}", b="a_x")
        _, blocks = joined_table(table.drop("truth_big_cat", "a_big_cat", "a_x_big_cat"), {"a": "a", "other": "a_x"})
        assert blocks["a"].columns == {"cat": "a_cat", "dog": "a_dog"}  # and not x_cat, which the reference lacks
        assert blocks["other"].columns == {"cat": "a_x_cat", "dog": "a_x_dog"}


def refused(table: polars.DataFrame, columns: dict[str, str] | None = None) -> str:
    def scored() -> None:
        reference, blocks = joined_table(table, columns)
        pt.score(blocks, reference)

    with pytest.raises(InputError) as caught:
        scored()
    return str(caught.value)


class TestErrors:
    def test_no_reference(self) -> None:
        assert "got no columns of the reference" in refused(joined(truth="people"))

    def test_two_references(self) -> None:
        table = joined().with_columns(polars.lit(1).alias(f"votes.{label}") for label in LABELS)
        assert "both 'truth' and 'votes'" in refused(table)

    def test_a_label_that_the_reference_lacks(self) -> None:
        table = joined().with_columns(polars.lit(0.0).alias("a.bird"))
        assert "the column 'a.bird'" in refused(table)

    def test_a_label_that_a_model_lacks(self) -> None:
        assert "no column 'dog' for model 'b'" in refused(joined().drop("b.dog"))

    def test_no_model(self) -> None:
        assert "no column of a model" in refused(joined().select("item", *(f"truth.{label}" for label in LABELS)))

    def test_a_column_that_can_be_read_in_two_ways(self) -> None:
        assert "'cat' of 'a_big' or 'big_cat' of 'a'" in refused(joined("{name}_{label}"))

    def test_an_item_twice(self) -> None:
        assert "item 'q3' a second time" in refused(polars.concat([joined(), joined()[:1]]))

    def test_a_cell_is_named_as_the_table_names_it(self) -> None:
        assert "row 2: got probabilities -1.0 for label 'b.dog'" in refused(
            joined().with_columns(polars.when(polars.col("item") == "q10").then(-1.0).otherwise("b.dog").alias("b.dog"))
        )
