"""What replicates and shared annotators bring to a comparison, from scores in memory."""

import numpy as np
from jaxtyping import Float
from scipy.special import chdtrc

from probtruth.comparison.evidence.crossed import Cells, annotator_cells, excess, replicate_cells
from probtruth.comparison.evidence.design import Design
from probtruth.comparison.options import Options
from probtruth.errors import InputError
from probtruth.types import Scores

SUSPECT = 0.01
"""Replicates that differ more than chance would make them, at this level, are said to be no mere repeats."""


def cells_of(scores: Scores, plan: Design, asked: Options, annotations: object) -> Cells | None:
    """The table behind a two-way variance, where one is asked for; an error for what cannot go together."""
    if annotations is not None:
        if asked.replicates is not None:
            raise InputError(
                f"annotations with replicates={asked.replicates!r}",
                "one of the two",
                "Scores against annotators' labels have no replicates.",
            )
        return annotator_cells(scores, annotations)
    if asked.replicates == "folds" and plan.n_clusters is not None:
        raise InputError("replicates='folds' with clusters", "folds that are not clustered", "Leave clusters out.")
    if asked.replicates == "independent" and scores.replicates is None:
        raise InputError("replicates='independent' without replicates", "repeated scores", "Give replicate=COLUMN.")
    return replicate_cells(scores) if asked.replicates == "crossed" else None


def notes_of(
    scores: Scores, asked: Options, item_weights: Float[np.ndarray, " item"], cells: Cells | None
) -> tuple[str, ...]:
    """What must be said of repeated scores."""
    if cells is not None:
        return (
            f"the same {cells.what}s stand behind many items: what they have in common is part of the uncertainty "
            "(two-way variance, Satterthwaite's degrees of freedom)",
        )
    if asked.replicates == "folds" and scores.replicates is not None and not asked.these_items:
        return ("folds are replicates of the items here: their correlation stays inside each item's mean",)
    if asked.replicates is not None or scores.replicates is None or not scores.replicates.names:
        return ()
    table = replicate_cells(scores)
    for row, name in enumerate(scores.models):
        if np.isfinite(scores.values[row]).all():
            found = excess(table.of(row), item_weights)
            if found.chance > 0 and chdtrc(found.df, found.df * found.raw / found.chance) < SUSPECT:
                return (
                    f"the replicates of {name!r} differ by more than chance over many items: if they are training "
                    "seeds, say replicates='crossed' (command line: --replicates crossed)",
                )
    return ()
