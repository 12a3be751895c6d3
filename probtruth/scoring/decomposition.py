"""Where the expected loss of each model comes from: the labels' own spread, and the distance from them."""

from functools import partial
from typing import TYPE_CHECKING

import jax
import numpy as np
from jax import Array

from probtruth import frames
from probtruth.kernels import simplex
from probtruth.scoring.align import align
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.scoring.score import check_floor, check_labels, floored

if TYPE_CHECKING:
    import polars

EXACT_SUM = 1e-12
"""Rows that sum to 1 within this are distributions to rounding; others only within the tolerance of files."""


def decompose(predictions: object, truth: object, rule: object = "log", floor: object = None) -> "polars.DataFrame":
    """Mean expected loss of each model as entropy plus divergence.

    Formula: expected = entropy + divergence, with entropy the least expected loss that any report can reach (the same
    for all models) and divergence the rest, by a formula of its own that does not cancel. With a floor, or on rows that
    sum to 1 only within the tolerance of files, divergence is expected - entropy.

    Arguments: as in `score`.

    Returns: one row for each model: `model`, `expected`, `entropy`, `divergence`, in units of the rule, lower is
    better.

    Errors: as in `score`.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437

    >>> import probtruth as pt
    >>> pred = pt.Predictions.from_probs({"a": [[0.6, 0.4]]})
    >>> row = pt.decompose(pred, pt.Truth.from_probs([[0.7, 0.3]]), rule="brier").row(0, named=True)
    >>> [round(row[part], 2) for part in ("expected", "entropy", "divergence")]
    [0.44, 0.42, 0.02]
    """
    chosen = get_rule(rule)
    aligned = align(predictions, truth)
    check_labels(chosen, len(aligned.labels))
    logs = floored(aligned.log_probs, check_floor(floor, len(aligned.labels)))
    with jax.enable_x64(True):
        expected, entropy, divergence = map(np.asarray, _parts(chosen, logs, aligned.truth))
    off = (np.abs(np.exp(logs).sum(-1) - 1) > EXACT_SUM) | (np.abs(aligned.truth.sum(-1) - 1) > EXACT_SUM)
    rest = np.where(off, expected - entropy, divergence)
    rows = [
        {
            "model": model,
            "expected": float(expected[place].mean()),
            "entropy": float(entropy.mean()),
            "divergence": float(rest[place].mean()),
        }
        for place, model in enumerate(aligned.models)
    ]
    return frames.from_rows(rows)


@partial(jax.jit, static_argnums=0)
def _parts(rule: ScoringRule, log_probs: np.ndarray | Array, truth: np.ndarray | Array) -> tuple[Array, Array, Array]:
    logs, weights = simplex.as_floats(log_probs, truth)
    return rule.expected_from_log(logs, weights), rule.entropy(weights), rule.divergence_from_log(weights, logs)
