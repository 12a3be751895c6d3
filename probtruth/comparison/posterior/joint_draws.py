"""Joint draws whose pairwise differences have the reported margins, as nearly as draws of K means can."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.special import stdtr, stdtrit

from probtruth.comparison.evidence.sweeps import LEADING, Pairs, all_pairs, leading, pair_rows_of, pairs_of
from probtruth.comparison.posterior.margins import Margin

SWEEPS, SETTLED = 20, 1e-6
"""Raking ends after so many sweeps, or when no pair's probability is off by more than this."""
KNOTS = 401
"""Points of the table that takes a t of one number of degrees of freedom to another."""


def with_margins(
    contrast: Float[np.ndarray, "*batch model"],
    mean: Float[np.ndarray, " model"],
    root: Float[np.ndarray, "model direction"],
    df: float,
    margins: Sequence[Margin],
) -> Float[np.ndarray, "*batch model"]:
    r"""The draws, moved so that the pairs' differences follow their margins.

    A draw's difference of a pair is t-distributed (location `mean`, scale from `root`, `df`); its own T, put into the
    pair's margin, gives the difference d_ab that this draw should have. No K numbers have all those differences, so
    they come nearest by least squares, sum of (x_a - x_b - d_ab)^2 / s_ab^2, s_ab the margin's scale: a pair that is
    known well is not disturbed by a model that is known badly. With two models it is exact. With many, some pairs hold
    all of them; see `tied`.
    """
    n_models = len(mean)
    draws = np.ascontiguousarray(contrast.reshape(-1, n_models).T)
    pairs = tied(mean)
    chosen = [margins[row] for row in pair_rows_of(pairs, n_models)]
    strength = np.array([1 / margin.scale**2 for margin in chosen])
    strength /= strength.max()
    target = np.zeros(draws.shape)
    laplacian = np.zeros((n_models, n_models))
    for (a, b), margin, weight in zip(pairs.tolist(), chosen, strength, strict=True):
        scale = float(np.linalg.norm(root[a] - root[b]))
        t = (mean[a] - mean[b] - (draws[a] - draws[b])) / scale
        moved = weight * margin.at(_other_df(t, df, margin.df))
        target[a] += moved
        target[b] -= moved
        laplacian[[a, b], [a, b]] += weight
        laplacian[[a, b], [b, a]] -= weight
    laplacian += np.trace(laplacian) / n_models**2  # the constant direction, which no difference sees, is kept at zero
    for some in blocks(*draws.shape):
        solved = np.linalg.solve(laplacian, target[:, some])
        draws[:, some] = solved - solved.mean(0)
    return draws.T.reshape(contrast.shape)


AT_ONCE = 1 << 20
"""Numbers of draws that are worked on at once."""


def blocks(n_models: int, n_draws: int) -> list[slice]:
    """The draws of so many models, some at a time."""
    step = max(1, AT_ONCE // n_models)
    return [slice(start, start + step) for start in range(0, n_draws, step)]


def tied(mean: Float[np.ndarray, " model"]) -> Pairs:
    """The pairs whose margins the draws are moved to.

    All pairs of up to `LEADING` models. Of more: all pairs of the leading ones, and each model in the order of the
    means with those that are 1, 2, 4, 8, ... ranks away: neighbours, whose order is open, and through few steps
    everything else.
    """
    n_models = len(mean)
    if n_models <= LEADING:
        return pairs_of(np.arange(n_models))
    order = np.argsort(mean, kind="stable")
    steps = [np.stack([order[: -(1 << bit)], order[1 << bit :]], axis=1) for bit in range((n_models - 1).bit_length())]
    return np.unique(np.sort(np.concatenate([pairs_of(leading(mean)), *steps]), axis=1), axis=0)


def _other_df(t: Float[np.ndarray, "*batch"], df: float, wanted: float) -> Float[np.ndarray, "*batch"]:
    """The values that a t of `wanted` degrees of freedom has where one of `df` has these, by their ranks."""
    if abs(df - wanted) <= 1e-6 * df:
        return t
    largest = float(np.abs(t).max())
    knots = np.sinh(np.linspace(0, np.arcsinh(largest), KNOTS))
    return np.asarray(np.sign(t) * np.interp(np.abs(t), knots, -stdtrit(wanted, stdtr(df, -knots))))


def rake(contrast: Float[np.ndarray, "*batch model"], margins: Sequence[Margin]) -> Float[np.ndarray, " draw"]:
    """Weights of the draws under which every pair is ordered as often as its margin says.

    Of all weights with that property they are the nearest to equal ones (in relative entropy), by iterative
    proportional fitting; orders that no draw has stay without weight.

    Source: Deming and Stephan 1940, doi:10.1214/aoms/1177731829.
    """
    draws = contrast.reshape(-1, contrast.shape[-1])
    weights = np.full(len(draws), 1 / len(draws))
    ahead = []
    for (a, b), margin in zip(all_pairs(draws.shape[1]), margins, strict=True):
        first = draws[:, a] < draws[:, b]
        if margin.scale > 0 and 0 < np.count_nonzero(first) < len(draws):
            ahead.append((first, margin.below(0.0), margin.above(0.0)))
    for _ in range(SWEEPS):
        off = 0.0
        for first, p, q in ahead:
            now = float(weights[first].sum())
            off = max(off, abs(now - p))
            if 0 < now < 1 and abs(now - p) > SETTLED / 2:
                weights *= np.where(first, p / now, q / (1 - now))
        if off <= SETTLED:
            break
    fitted: np.ndarray = weights / weights.sum()
    return fitted
