"""Simulated tables, the same on every machine: only uniform draws of a fixed seed, rounded to six decimals.

Rounding takes away last digits that another build of NumPy may compute otherwise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars

LABELS = ("cat", "dog", "fox")
MILLION = 1_000_000


@dataclass(frozen=True)
class Study:
    """Files of labels and of three models' predictions, and what is known of each item."""

    labels: Path
    models: dict[str, Path]
    about: Path
    topics: dict[str, str]
    passages: dict[str, str]


def distributions(scores: np.ndarray) -> np.ndarray:
    """The softmax of each row in whole millionths that sum to one, none of them 0."""
    weights = np.exp(scores)
    parts = np.floor(weights / weights.sum(1, keepdims=True) * (MILLION - 10)).astype(int) + 1
    parts[:, -1] = MILLION - parts[:, :-1].sum(1)
    return parts / MILLION


def probabilities(items: Sequence[str], labels: Sequence[str], probs: np.ndarray) -> polars.DataFrame:
    """A table of predictions."""
    return polars.DataFrame({"item": items, **dict(zip(labels, probs.T, strict=True))})


def study(folder: Path, n_items: int, seed: int) -> Study:
    """Two to six votes an item; model `b` in another order of items, lacking one and having one more.

    Items come in passages of four, passages in four topics.
    """
    rng = np.random.default_rng(seed)
    items = [f"q{item}" for item in range(n_items)]
    opinions = 4 * rng.random((n_items, len(LABELS)))
    shares = distributions(opinions)
    n_votes = 2 + np.floor(5 * rng.random(n_items)).astype(int)
    counts = np.zeros((n_items, len(LABELS)), int)
    for item, votes in enumerate(n_votes):
        chosen = (rng.random(votes)[:, None] > shares[item].cumsum()[:-1]).sum(1)
        counts[item] = np.bincount(chosen, minlength=len(LABELS))
    labels = folder / "labels.csv"
    probabilities(items, LABELS, counts).write_csv(labels)
    models = {}
    for model, sharpness, noise in (("b", 1.0, 2.0), ("a", 0.8, 1.0), ("c", 0.3, 0.5)):
        probs = distributions(sharpness * opinions + noise * rng.random(opinions.shape))
        frame = probabilities(items, LABELS, probs)
        if model == "b":
            renamed = polars.when(polars.col("item") == "q7").then(polars.lit("elsewhere")).otherwise("item")
            frame = frame.with_columns(item=renamed)[np.argsort(rng.random(n_items))]
        models[model] = folder / f"{model}.parquet"
        frame.write_parquet(models[model])
    passages = {item: f"p{number // 4}" for number, item in enumerate(items)}
    topics = {item: "wxyz"[number // 4 % 4] for number, item in enumerate(items)}
    about = folder / "about.csv"
    polars.DataFrame({"item": items, "topic": topics.values(), "passage": passages.values()}).write_csv(about)
    return Study(labels, models, about, topics, passages)


def scores(path: Path, n_items: int, seed: int) -> polars.DataFrame:
    """Three models' losses, one row for each item and model, with topics and passages; also written to the path."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n_items):
        hardness, ease = rng.random(2)
        about = (f"q{number}", "wxyz"[number // 4 % 4], f"p{number // 4}")
        for model, more in (("b", 0.1), ("a", 0.0), ("c", 0.4)):
            loss = round(float(hardness + more * rng.random() + ease * rng.random()), 6)
            rows.append((*about, model, loss))
    frame = polars.DataFrame(rows, ["item", "topic", "passage", "model", "loss"], orient="row")
    frame.write_parquet(path)
    return frame


def forecasts(folder: Path, gold: dict[str, int], seed: int) -> dict[str, Path]:
    """Two models' probabilities of the labels 0 and 1, a bold and a careful one, that know the right answer in part."""
    rng = np.random.default_rng(seed)
    right = np.array([1.0 if label else -1.0 for label in gold.values()])
    models = {}
    for model, knowledge, noise in (("bold", 1.5, 5.0), ("careful", 0.8, 1.0)):
        lean = knowledge * right + noise * (rng.random(len(right)) - 0.5)
        probs = distributions(np.stack([np.zeros(len(right)), lean], 1))
        models[model] = folder / f"{model}.csv"
        probabilities(list(gold), ["0", "1"], probs).write_csv(models[model])
    return models
