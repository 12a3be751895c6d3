"""Annotators by whose labels two models differ otherwise than by the rest's, on the items that others labelled too."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probtruth.types import Comparison, Scores
from probtruth.types.comparison import leading_pair


@dataclass(frozen=True, eq=False)
class Unlike:
    """By annotator: how far the difference a minus b lies from that by the others, and its standard deviation.

    Both are shrunk towards 0, the more the fewer labels there are; all are 0 where annotators differ by chance alone.
    """

    models: tuple[str, str]
    names: tuple[str, ...]
    n_labels: Int[np.ndarray, " annotator"]
    apart: Float[np.ndarray, " annotator"]
    sd: Float[np.ndarray, " annotator"]


def unlike_the_rest(scores: Scores, comparison: Comparison) -> Unlike | None:
    """None where the scores are not by annotator, or where two models or items with two annotators are lacking."""
    cells = scores.replicates
    if cells is None or cells.what != "annotator" or len(comparison.ranks) < 2:
        return None
    models = leading_pair(comparison.ranks)
    first, second = (cells.values[scores.models.index(model)] for model in models)
    with np.errstate(invalid="ignore"):
        difference = first - second
    finite = np.flatnonzero(np.isfinite(difference))
    of_item = np.bincount(cells.item[finite])
    chosen = finite[of_item[cells.item[finite]] > 1]
    item = cells.item[chosen]
    who, annotator, n = np.unique(cells.replicate[chosen], return_inverse=True, return_counts=True)
    if len(who) < 2:
        return None
    mean = np.bincount(item, difference[chosen], len(of_item)) / np.maximum(of_item, 1)
    # from the mean of the others: the own value has 1/n of the item's mean
    from_rest = (difference[chosen] - mean[item]) * of_item[item] / (of_item[item] - 1)
    apart = np.bincount(annotator, from_rest) / n
    # the variance between annotators by moments (DerSimonian and Laird 1986, doi:10.1016/0197-2456(86)90046-2)
    spare = len(chosen) - len(who)
    within = float(np.square(from_rest - apart[annotator]).sum()) / max(spare, 1)
    excess = float(n @ np.square(apart)) - (len(who) - 1) * within
    between = max(excess / (len(chosen) - float(n @ n) / len(chosen)), 0.0) if spare else 0.0
    own = between / np.maximum(between + within / n, np.finfo(np.float64).tiny)
    names = tuple([cells.names[at] for at in who.tolist()])
    return Unlike(models, names, n, own * apart, np.sqrt(own * within / n))
