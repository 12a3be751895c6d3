"""Scores made from arrays, and comparisons stripped down to the numbers that must not change."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars
import pytest

from probtruth.comparison.estimation.design import Design
from probtruth.comparison.estimation.estimate import About, Estimate, Part
from probtruth.comparison.estimation.means import estimate_of
from probtruth.comparison.estimation.moments import Moments
from probtruth.comparison.posterior.margin import Margin, margins
from probtruth.types import Comparison, Scores

EQUAL = 1e-9


def make(values: object, models: Sequence[str] | None = None, **fields: Any) -> Scores:
    array = np.asarray(values, np.float64)
    names = tuple(models) if models is not None else tuple(f"{place:03d}" for place in range(len(array)))
    return Scores(array, names, tuple(map(str, range(array.shape[1]))), rule="loss", **fields)


def side_by_side(**scores: Iterable[float]) -> dict[str, list[Any]]:
    """A long table of scores of models on the items 0, 1 and so on."""
    rows = [(item, model, value) for model, values in scores.items() for item, value in enumerate(values)]
    return dict(zip(("item", "model", "score"), map(list, zip(*rows, strict=True)), strict=True))


def cells(
    rng: np.random.Generator,
    mean: np.ndarray,
    n_items: int,
    each: int,
    of_annotators: float,
    of_items: float,
    noise: float = 1.0,
) -> polars.DataFrame:
    """Scores of two models by annotator, whose difference has each annotator's mean, and tastes of both sides."""
    item = np.repeat(np.arange(n_items), each)
    annotator = np.concatenate([rng.choice(len(mean), each, replace=False) for _ in range(n_items)])
    difference = mean[annotator] + noise * rng.standard_normal(len(item))
    difference += of_items * rng.standard_normal(n_items)[item]
    difference += of_annotators * rng.standard_normal(len(mean))[annotator]
    base = rng.standard_normal(len(item))
    columns = {
        "item": np.tile([f"q{at}" for at in item], 2),
        "annotator": np.tile([f"u{at}" for at in annotator], 2),
        "model": ["a"] * len(item) + ["b"] * len(item),
        "score": np.concatenate([base + difference, base]),
    }
    return polars.DataFrame(columns)


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
            if "p_a_better_rope" in row:
                better |= {"p_a_better_rope": row["p_b_better_rope"], "p_b_better_rope": row["p_a_better_rope"]}
            favours = {"a": "b", "b": "a", None: None}[row["favours"]]
            out[b, a] = {**row, **flipped, **better, "favours": favours, "a": b, "b": a}
    return out


def estimated(values: np.ndarray, plan: Design, pseudo: float = 0.0) -> Estimate:
    """The estimate of some models, whose scores can differ by `pseudo`."""
    scores = make(values, higher_is_better=False)
    about = About(rule="loss", higher_is_better=False, range=(0.0, pseudo) if pseudo else None)
    return estimate_of(Moments.made(scores, values, plan), plan, about)


def estimate_from(mean: Any, variance: Any, df: Any, third: Any = 0.0, n_units: int = 20) -> Estimate:
    """An estimate of rows of which only these numbers are known."""
    columns = [np.asarray(column, np.float64)[:, None] for column in np.broadcast_arrays(mean, variance, third, df)]
    part = Part(*columns[1:])
    plan = Design(np.array([n_units]))
    return Estimate((), columns[0], {"items": part}, plan, About(rule="loss", higher_is_better=False))


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of an estimate over its groups."""

    mean: np.ndarray
    centre: np.ndarray
    variance: np.ndarray
    plain_variance: np.ndarray
    third: np.ndarray
    df: np.ndarray
    n_units: int

    @property
    def margins(self) -> list[Margin]:
        found = estimate_from(self.mean, self.variance, self.df, self.third, self.n_units)
        return margins(replace(found, centre=self.centre[:, None]))


def rows_of(estimate: Estimate, rows: slice = slice(None)) -> Rows:
    whole, total = estimate.over_groups(), estimate.total()
    centre = whole.mean if whole.centre is None else whole.centre
    columns = (whole.mean, centre, total.variance, estimate.plain_variance()[:, None], total.third, total.df)
    return Rows(*(column[rows, 0] for column in columns), estimate.n_units or estimate.design.n_units)


def located(values: np.ndarray, groups: Any = None, clusters: Any = None, pseudo: float = 0.0) -> Rows:
    """The pairs over the groups, which weigh what they have of the items."""
    plan = Design.of(np.zeros(values.shape[1], int) if groups is None else groups, clusters)
    plan = replace(plan, weights=plan.group_sizes / plan.n_items)
    return rows_of(estimated(values, plan, pseudo), slice(len(values), None))


def without_annotators(scores: Scores) -> Scores:
    """The scores as if nobody knew who annotated."""
    return replace(scores, labels=replace(scores.labels, annotations=None))


def numbers(comparison: Comparison) -> dict[str, Any]:
    """Every shown number by its place."""
    found: dict[str, Any] = {}
    for row in comparison.pairs:
        found |= {f"{row['a']}-{row['b']} {name}": value for name, value in vars(row).items() if name not in ("a", "b")}
    for row in comparison.ranks:
        found |= {f"{row['model']} {name}": value for name, value in vars(row).items() if name != "model"}
    for where, rows in {**comparison.group_results, "by group": comparison.groups}.items():
        for row in rows:
            key = f"{where} {row.get('group')} {row['a']}-{row['b']}"
            found |= {f"{key} {name}": value for name, value in vars(row).items() if isinstance(value, float)}
    return found


def assert_same(one: Comparison, other: Comparison, but: Sequence[str] = ()) -> None:
    """Every shown number, up to rounding."""
    left, right = numbers(one), numbers(other)
    assert left.keys() == right.keys()
    for key, value in left.items():
        if key.split()[-1] in but:
            continue
        if not isinstance(value, float):
            assert right[key] == value, key
        elif key.split()[-1] in ("p_best", "expected_rank", "expected_regret"):  # rounding may turn single draws
            assert right[key] == pytest.approx(value, abs=1e-3 * max(1.0, abs(value))), key
        else:
            assert right[key] == pytest.approx(value, rel=EQUAL, abs=EQUAL), key
