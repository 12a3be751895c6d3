"""Scores made from arrays, and comparisons stripped down to the numbers that must not change."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from probtruth.comparison.design import Design
from probtruth.comparison.location import Location, Means, Sums, combine, means_from
from probtruth.comparison.pairs import pairs_of
from probtruth.types import Comparison, Scores


def make(values: object, models: Sequence[str] | None = None, **fields: Any) -> Scores:
    array = np.asarray(values, np.float64)
    names = tuple(models) if models is not None else tuple(f"{place:03d}" for place in range(len(array)))
    return Scores(array, names, tuple(map(str, range(array.shape[1]))), rule="loss", **fields)


def rows_by_name(comparison: Comparison) -> tuple[dict[object, Any], dict[object, Any]]:
    """The rows of the tables under the names of their models."""
    pairs: dict[object, Any] = {(row["a"], row["b"]): dict(row) for row in comparison.pairs}
    return pairs, {row["model"]: dict(row) for row in comparison.ranks}


def renamed(rows: Mapping[object, Any], names: Mapping[str, str]) -> dict[object, Any]:
    """The rows as they are under other names; a pair whose order turns is mirrored."""
    out: dict[object, Any] = {}
    for key, row in rows.items():
        if not isinstance(key, tuple):
            out[names[str(key)]] = {**row, "model": names[str(key)]}
            continue
        a, b = (names[name] for name in key)
        if a < b:
            out[a, b] = {**row, "a": a, "b": b}
        else:
            flipped = {"difference": -row["difference"], "low": -row["high"], "high": -row["low"]}
            better = {"p_a_better": row["p_b_better"], "p_b_better": row["p_a_better"]}
            favours = {"a": "b", "b": "a", None: None}[row["favours"]]
            out[b, a] = {**row, **flipped, **better, "favours": favours, "a": b, "b": a}
    return out


def means_of(values: np.ndarray, plan: Design, pseudo: float = 0.0) -> Means:
    """The means of some models, then those of their pairs."""
    pairs, largest = pairs_of(np.arange(len(values))), np.abs(values).max(1)
    sums, sizes = Sums.of(values, plan, pairs), np.concatenate([largest, largest[pairs].max(1)])
    return means_from(sums, plan, sizes, pseudo, len(values))


def located(values: np.ndarray, groups: Any = None, clusters: Any = None, pseudo: float = 0.0) -> Location:
    """The pairs' locations; groups weigh what they have of the items."""
    plan = Design.of(np.zeros(values.shape[1], int) if groups is None else groups, clusters)
    return combine(means_of(values, plan, pseudo), plan.group_sizes / plan.n_items).of(slice(len(values), None))


def without_annotators(scores: Scores) -> Scores:
    """The scores as if nobody knew who annotated."""
    assert scores.labels is not None
    return replace(scores, labels=replace(scores.labels, annotations=None))
