"""Boards of several sets of models that no chain of shared items connects: each set is compared by itself."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
from jaxtyping import Bool, Int

from probtruth import check
from probtruth.comparison.results.rows import ONE_UNIT
from probtruth.errors import PosteriorError
from probtruth.types import Comparison, Scores
from probtruth.types.pairs import Pair, Rank, Row

NOT_CONNECTED = "no chain of shared items connects the two models"


def by_set(
    scores: Scores, of_model: Int[np.ndarray, " model"], compare: Callable[[Scores], Comparison | None]
) -> Comparison:
    """The comparisons of all sets as one; what needs all models at once (P(best), ranks, regret) is not known.

    A set of one item has none: its models have their scores, and nothing else is known of them.
    """
    sets = [scores.part(*_models_and_items(scores, of_model == one)) for one in range(of_model.max() + 1)]
    compared = [compare(part) for part in sets]
    found = [one for one in compared if one is not None]
    if not found:
        raise PosteriorError(
            "got models of which no two share two items (or clusters), expected at least two: the spread between them "
            "cannot be estimated. Hint: score some items with several models."
        )
    largest = max(found, key=lambda part: len(part.models))
    seen = ~np.isnan(scores.values)
    pair_of: dict[tuple[str, str], Pair] = {}
    ranks: list[Rank] = []
    warnings: dict[str, None] = {_not_connected(sets): None}
    for one_set, comparison in zip(sets, compared, strict=True):
        if comparison is None:
            for a, b in combinations(sorted(one_set.models), 2):
                pair_of[a, b] = Pair(a, b, reason=ONE_UNIT.format(unit="item"), shared_items=len(one_set.items))
            means = np.nanmean(one_set.values, axis=1).tolist()
            ranks += [Rank(model, score=mean) for model, mean in zip(one_set.models, means, strict=True)]
    for part in found:
        for pair in part.pairs:
            first, second = (seen[scores.models.index(model)] for model in pair.models)
            pair_of[pair.models] = replace(pair, shared_items=int((first & second).sum()))
        for rank in part.ranks:
            ranks.append(replace(rank, p_best=None, expected_rank=None, expected_regret=None, tier=None))
        warnings |= dict.fromkeys(part.warnings)
    pairs = []
    for a, b in combinations(sorted(scores.models), 2):
        pairs.append(pair_of.get((a, b), Pair(a, b, reason=NOT_CONNECTED, shared_items=0)))

    def tests() -> list[Row]:
        rows: list[Row] = []
        for part in found:
            rows += part.tests()
        return rows

    def groups() -> list[Pair]:
        rows: list[Pair] = []
        for part in found:
            rows += part.groups
        return rows

    sign = -1.0 if scores.higher_is_better else 1.0
    return replace(
        largest,
        models=scores.models,
        pairs=pairs,
        ranks=sorted(ranks, key=lambda rank: np.inf if rank.score is None else sign * rank.score),
        warnings=tuple(warnings),
        decisions=dict.fromkeys(("credible_set", "credible_set_probability", "chosen", "score")),
        group_results={},
        of_groups=groups,
        tests=tests,
        parts=lambda: dict.fromkeys(("items", "annotators", "labels")),
        scored=scores,
    )


def _models_and_items(scores: Scores, chosen: Bool[np.ndarray, " model"]) -> tuple[np.ndarray, np.ndarray]:
    scored = ~np.isnan(scores.values[chosen])
    return np.flatnonzero(chosen), np.flatnonzero(scored.any(0))


def _not_connected(sets: list[Scores]) -> str:
    names = [check.shortlist(part.models, 3) for part in sets]
    listed = "; ".join(names[:3]) + (f"; and {len(names) - 3} more sets" if len(names) > 3 else "")
    return (
        f"nothing connects these sets of models, which were never scored on the same items: {listed}. Each is compared "
        "by itself, and no model is the best of all"
    )
