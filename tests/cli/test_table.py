"""`--table`: the reference and all models in one table."""

import numpy as np
import polars
import pytest

LABELS = ("no", "yes")


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(2)
    items = {"item": range(6)}
    parts = {name: dict(zip(LABELS, rng.dirichlet([1, 1], 6).T, strict=True)) for name in ("truth", "a", "b")}
    for name, part in parts.items():
        polars.DataFrame(items | part).write_csv(tmp_path / f"{name}.csv")
    blocks = {f"{name}.{label}": column for name, part in parts.items() for label, column in part.items()}
    polars.DataFrame(items | blocks).write_csv(tmp_path / "T.csv")
    return tmp_path


def test_the_result_of_separate_files(run, folder):
    words = ("--engine", "exact", "--json")
    models = [word for name in "ab" for word in ("--predictions", f"{name}={folder / name}.csv")]
    wanted = run("run", "--soft", folder / "truth.csv", *models, *words)
    assert wanted.status == 0
    assert run("run", "--table", folder / "T.csv", *words).out == wanted.out


def test_columns_in_the_settings(run, folder):
    (folder / "elsewhere").mkdir()
    settings = folder / "elsewhere" / "probtruth.toml"
    settings.write_text("[run]\ntable = '../T.csv'\nengine = 'exact'\n[run.columns]\nours = 'b'\nold = 'a'\n")
    outcome = run("--config", settings, "run", "--json")
    assert {row["model"] for row in outcome.json["models"]} == {"ours", "old"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--table", "T", "--soft", "x"), "--table with --soft"),
        (("--columns", "a=b"), "--columns without --table"),
        (("--soft", "x"), "neither --predictions nor --table"),
        (("--table", "T", "--columns", "a"), "--columns ours=prefix"),
    ],
)
def test_usage(run, words, message):
    outcome = run("run", *words)
    assert outcome.status == 2
    assert message in " ".join(outcome.err.split())
