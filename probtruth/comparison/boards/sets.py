"""Boards of several sets of models that no chain of shared items connects: each set is compared by itself."""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain, combinations

import numpy as np
from jaxtyping import Int

from probtruth import check
from probtruth.errors import PosteriorError
from probtruth.types import Comparison, Scores
from probtruth.types.pairs import Pair, Rank

NOT_CONNECTED = "no chain of shared items connects the two models"


def by_set(scores: Scores, of_model: Int[np.ndarray, " model"], compare: Callable[[Scores], Comparison]) -> Comparison:
    """The comparisons of all sets as one; what needs all models at once (P(best), ranks, regret) is not known."""
    sets: list[Scores] = []
    for one in range(of_model.max() + 1):
        models = np.flatnonzero(of_model == one)
        scored = ~np.isnan(scores.values[models])
        sets.append(scores.part(models, np.flatnonzero(scored.any(0))))
    compared = [compare(part) for part in sets]
    found = [one for one in compared if one.unseen["n_units"] != 1]
    if not found:
        raise PosteriorError(
            "got models of which no two share two items (or clusters), expected at least two: the spread between them "
            "cannot be estimated. Hint: score some items with several models."
        )
    pair_of: dict[tuple[str, str], Pair] = {}
    ranks: list[Rank] = []
    warnings: dict[str, None] = {_not_connected(sets): None}
    for part, comparison in zip(sets, compared, strict=True):
        for pair in comparison.pairs:
            shared = len(part.items) if pair.shared_items is None else pair.shared_items
            pair_of[pair.models] = replace(pair, shared_items=shared)
        for rank in comparison.ranks:
            ranks.append(replace(rank, p_best=None, expected_rank=None, expected_regret=None, tier=None))
    for comparison in found:
        warnings |= dict.fromkeys(comparison.warnings)
    pairs = []
    for a, b in combinations(sorted(scores.models), 2):
        pairs.append(pair_of.get((a, b), Pair(a, b, reason=NOT_CONNECTED, shared_items=0)))
    sign = -1.0 if scores.higher_is_better else 1.0
    return replace(
        max(found, key=lambda part: len(part.models)),
        models=scores.models,
        pairs=pairs,
        ranks=sorted(ranks, key=lambda rank: np.inf if rank.score is None else sign * rank.score),
        warnings=tuple(warnings),
        decisions=dict.fromkeys(("credible_set", "credible_set_probability", "chosen", "score")),
        group_results={},
        of_groups=lambda: list(chain.from_iterable(part.groups for part in found)),
        tests=lambda: list(chain.from_iterable(part.tests() for part in found)),
        parts=lambda: dict.fromkeys(("items", "annotators", "labels")),
        scored=scores,
    )


def _not_connected(sets: list[Scores]) -> str:
    names = [check.shortlist(part.models, 3) for part in sets]
    listed = "; ".join(names[:3]) + (f"; and {len(names) - 3} more sets" if len(names) > 3 else "")
    return (
        f"nothing connects these sets of models, which were never scored on the same items: {listed}. Each is compared "
        "by itself, and no model is the best of all"
    )
