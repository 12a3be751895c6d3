"""Which models could be the best: ranks with their uncertainty, and the answer under the other estimand."""

from typing import Any

import numpy as np
from jaxtyping import Float

from probtruth.line.result import Result
from probtruth.line.rows import leaders
from probtruth.report.tables.cells import LONGEST_NAME, Cell, Columns, Row, Table, chance, filled, named, number, titled
from probtruth.report.words.numbers import UNKNOWN, as_float, decimals, interval_width, shortened
from probtruth.report.words.sentences import Name, Sentence, joined, sentence, with_unit
from probtruth.types import Comparison
from probtruth.types.arguments import QUESTIONS

SURE = 0.95
"""Probability that the set of models named contains the best."""
MOST_NAMED = 8
"""Models that a sentence names."""


def rank_table(comparison: Comparison) -> tuple[list[str], Float[np.ndarray, "model rank"]] | None:
    """Models and their probabilities of each rank, in the order of the ranking; None where nothing was ranked."""
    if any(row.get("reason") for row in comparison.pairs):
        return None
    tree = comparison.datatree
    if "ranking" not in tree.children or "rank_probability" not in tree["ranking"].data_vars:
        return None
    probability: Any = tree["ranking"]["rank_probability"]
    known = [str(name) for name in probability.coords["model"].values]
    if len(known) < 2:
        return None
    order = [str(row["model"]) for row in leaders(comparison.ranks) if str(row["model"]) in known]
    values = np.asarray(probability.transpose("model", "rank").values, np.float64)
    return order, values[[known.index(name) for name in order]]


def best_set(result: Result) -> Sentence | None:
    """The smallest set of models that holds the best with probability 0.95 or more; None for two models."""
    ranked = leaders(result.comparison.ranks)
    chances = [as_float(row["p_best"]) for row in ranked]
    if len(ranked) < 3 or any(p is None for p in chances):
        return None
    total, size = 0.0, 0
    while total < SURE and size < len(ranked):
        total += chances[size] or 0.0
        size += 1
    names = shortened((str(row["model"]) for row in ranked), LONGEST_NAME)
    shown: list[Name] = [names[str(row["model"])] for row in ranked[:size]]
    if size == 1:
        return sentence("With probability 0.95 or more, the best is ", shown[0], ".")
    if size > MOST_NAMED:
        return sentence(f"It takes {size} of the {len(ranked)} models to hold the best with probability 0.95.")
    return sentence("With probability 0.95 or more, the best is one of ", *joined(shown), ".")


def ranks(result: Result) -> Table | None:
    """One row for each model: P(best) and the ranks that are possible; None where none are known."""
    ranked = rank_table(result.comparison)
    if ranked is None:
        return None
    intervals = {model: _interval(row) for model, row in zip(*ranked, strict=True)}
    names = shortened(result.scores.models, LONGEST_NAME)

    def possible(row: Row) -> Cell:
        at = intervals.get(str(row["model"]))
        if at is None:
            return Cell((UNKNOWN,), None)
        return Cell((str(at[0]) if at[0] == at[1] else f"{at[0]} to {at[1]}",), float(at[0]))

    columns: Columns = [
        (titled("Model", False), lambda row: named(names[str(row["model"])])),
        (titled("P(best)"), lambda row: chance(row["p_best"])),
        (titled("Ranks, 95%"), possible),
        (titled("Expected rank"), lambda row: number(row["expected_rank"], 2)),
    ]
    note = "Rank 1 is best; below and above the ranks given lie at most 2.5% each."
    return filled("Who could be best", columns, leaders(result.comparison.ranks), (note,))


def other_estimand(result: Result) -> Table | None:
    """Means and P(best) as asked and under the other estimand; None where there is none."""
    other, truth = result.other, result.truth
    if other is None or truth is None:
        return None
    names, several = shortened(result.scores.models, LONGEST_NAME), len(result.scores.models) > 1
    theirs: dict[str, Row] = {str(row["model"]): row for row in other.comparison.ranks}
    places = decimals(interval_width(row) for row in result.comparison.ranks)
    columns: Columns = [
        (titled("Model", False), lambda row: named(names[str(row["model"])])),
        (titled(f"Mean, {truth.estimand}"), lambda row: number(row["score"], places)),
        (titled("P(best)"), lambda row: chance(row["p_best"])),
        (titled(f"Mean, {other.truth.estimand}"), lambda row: number(theirs[str(row["model"])]["score"], places)),
        (titled("P(best)"), lambda row: chance(theirs[str(row["model"])]["p_best"])),
    ]
    if not several:
        columns = [column for column in columns if column[0].title != ("P(best)",)]
    note = (
        f"Means of {with_unit(result.comparison.rule)}. {truth.estimand.capitalize()} (asked for; {truth.method}): "
        f"{QUESTIONS[truth.estimand]}. {other.truth.estimand.capitalize()} ({other.truth.method}): "
        f"{QUESTIONS[other.truth.estimand]}. "
        f"{'Compare the orders under the two, not the means.' if several else 'Do not compare the two means.'}"
    )
    return filled("The same models under the other estimand", columns, result.comparison.ranks, (note,))


def _interval(row: Float[np.ndarray, " rank"]) -> tuple[int, int]:
    """The ranks between which 95 per cent lie, at most 2.5 per cent on either side."""
    below = np.cumsum(row) / row.sum()
    low = int(np.argmax(below > 0.025 + 1e-12))
    high = int(np.argmax(below >= 0.975 - 1e-12))
    return low + 1, max(low, high) + 1
