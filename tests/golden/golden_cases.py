"""The cases whose results are frozen. Each is one function that takes an empty folder and returns a `result.json`."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import golden_entries as entries
import golden_tables as tables
import polars
from golden_entries import Result

N_SMALL, N_LARGE = 240, 2500  # Items of the tables


@dataclass(frozen=True)
class Case:
    """`run` makes the result; `same` are other ways to it that promise the same numbers.

    `private` cases need the folder PROBTRUTH_DATA; `drawn`: NUTS makes the numbers whose path begins so.
    """

    run: Callable[[Path], Result]
    private: bool = False
    drawn: str | None = None
    same: tuple[str, ...] = ()


def data() -> Path | None:
    """The folder of real data, if there is one."""
    folder = os.environ.get("PROBTRUTH_DATA")
    return Path(folder) if folder else None


def _real(name: str) -> Path:
    folder = data()
    if folder is None:
        raise RuntimeError("PROBTRUTH_DATA is not set, expected the folder of real data")
    return folder / name


def demo(folder: Path) -> Result:
    return entries.command(folder / "out", "demo")


def structured(folder: Path, engine: str) -> Result:
    made = tables.study(folder, N_SMALL, seed=1)
    words = [word for name, path in made.models.items() for word in ("--predictions", f"{name}={path}")]
    structure = ["--groups", f"{made.about}:topic", "--clusters", f"{made.about}:passage"]
    options = ["--rule", "brier", "--rope", 0.01, "--engine", engine, "--seed", 3]
    return entries.command(folder / "out", "run", "--annotations", made.labels, *words, *structure, *options)


def predictions(folder: Path, way: str = "memory") -> Result:
    made = tables.study(folder, N_LARGE, seed=2)
    options = {"form": "counts", "groups": made.topics, "clusters": made.passages, "engine": "exact", "rope": 0.01}
    evaluated = entries.evaluated if way == "memory" else entries.evaluated_on_disk
    return evaluated(made.labels, made.models, **options)


def scores(folder: Path, way: str = "memory") -> Result:
    path = folder / "scores.parquet"
    frame = tables.scores(path, N_LARGE, seed=3)
    columns = {"item": "item", "model": "model", "score": "loss", "group": "topic", "cluster": "passage"}
    options = {"engine": "exact", "rope": 0.01}
    if way == "disk":
        return entries.compared_on_disk(path, columns, **options)
    return entries.compared(frame, columns | {"higher_is_better": False}, **options)


def chaosnli(folder: Path) -> Result:
    place = _real("chaosnli_snli")
    models = {path.stem: path for path in sorted((place / "predictions").glob("*.csv"))}
    return entries.evaluated(place / "label_counts.csv", models, form="counts", engine="exact")


def snow_rte(folder: Path, estimand: str) -> Result:
    """No predictions come with these labels: two models that know the experts' answers in part are simulated."""
    place = _real("snow_rte")
    gold = dict(polars.read_csv(place / "gold.csv", schema={"item": polars.String, "gold": polars.Int64}).iter_rows())
    models = tables.forecasts(folder, gold, seed=4)
    return entries.evaluated(place / "annotations.csv", models, estimand=estimand, engine="exact")


def gpqa(folder: Path) -> Result:
    frame = polars.read_csv(_real("gpqa_diamond") / "gpqa_diamond_scores.csv")
    columns = {"item": "item_id", "model": "model_id", "score": "score", "replicate": "epoch"}
    return entries.compared(frame, columns | {"higher_is_better": True}, engine="exact")


def folds(folder: Path) -> Result:
    wide = polars.read_csv(_real("sklearn_grid") / "scores_100x4.csv")
    frame = wide.rename({"": "fold"}).unpivot(index="fold", variable_name="model", value_name="score")
    columns = {"item": "fold", "model": "model", "score": "score", "higher_is_better": True}
    return entries.compared(frame, columns, replicates="folds", fold_correlation=0.1, rope=0.01, engine="exact")


CASES = {
    "demo": Case(demo, drawn="groups/"),
    "structured": Case(partial(structured, engine="exact")),
    "structured-nuts": Case(partial(structured, engine="nuts"), drawn=""),
    "predictions": Case(predictions, same=("disk",)),
    "scores": Case(scores, same=("disk",)),
    "chaosnli_snli": Case(chaosnli, private=True),
    "snow_rte-distribution": Case(partial(snow_rte, estimand="distribution"), private=True),
    "snow_rte-class": Case(partial(snow_rte, estimand="class"), private=True),
    "gpqa_diamond": Case(gpqa, private=True),
    "sklearn_grid": Case(folds, private=True),
}
