"""`probtruth run TABLE`: the reference and all models in one table."""

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
    assert run("run", folder / "T.csv", *words).out == wanted.out
    spread = (folder / "T.csv").read_text().replace(",", ";").replace(".", ",")
    (folder / "S.csv").write_text(spread.replace("truth,", "truth_").replace("a,", "a_").replace("b,", "b_"))
    said = run("run", folder / "S.csv", *words)
    assert said.err.count("separated by semicolons") == 1  # was said of the labels and of the models


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("T", "--soft", "x"), "the table 'T' with --soft"),
        (("b=b.csv", "--predictions", "a=a.csv"), "Each file follows its option"),
        (("--soft", "x"), "no --predictions and no table"),
    ],
)
def test_usage(run, words, message):
    outcome = run("run", *words)
    assert outcome.status == 2
    assert message in " ".join(outcome.err.split())
