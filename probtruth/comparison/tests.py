"""Model-free tests beside the posterior: paired t, Wilcoxon's signed ranks, sign flips and the Bayesian bootstrap.

Sign flips and the bootstrap act on independent units (items or clusters). The EXPLICIT largest units of a pair are
flipped or weighted one by one; the sum of the many smaller ones is drawn from a normal.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Real
from scipy.special import bdtr, ndtr, stdtr

from probtruth.comparison.design import Design, totals
from probtruth.comparison.pairs import pairs_of

MOST = 200_000  # Items beyond which only the t-test is made: the others need every item by itself, and say the same
EXPLICIT = 400  # The normal for the other units adds less than the Monte Carlo error
FLIPS = 9999  # Random sign patterns; Monte Carlo error of p = 0.05 is 0.002
WEIGHTS = 4000  # Bayesian bootstrap draws; Monte Carlo error of P = 0.975 is 0.0025
ENUMERATED = 13  # With at most this many differing units every sign pattern is tried
EXACT = 50  # With at most this many non-zero differences the distribution of the signed ranks is enumerated
ROUNDING = 1e-9  # Sums closer than this, relative to the larger, are ties
BLOCK, CELLS = 500, 1 << 22  # Draws, and numbers of all pairs, in memory at once
P_VALUES = ("t_p", "wilcoxon_p", "sign_flip_p")
TESTS = ("t", "df", *P_VALUES, "bootstrap_p_a_better")

Row = dict[str, Any]

Units = Float[np.ndarray, "pair unit"]


def paired_tests(
    mean: Float[np.ndarray, " pair"],
    variance: Float[np.ndarray, " pair"],
    df: Float[np.ndarray, " pair"],
    values: Float[np.ndarray, "model item"] | None,
    plan: Design,
    sign: float,
    seed: int,
) -> list[Row]:
    """The tests of every pair, a minus b; of the t-test alone without values. None where a test does not exist."""
    rows: list[Row] = [dict.fromkeys(TESTS) for _ in mean]
    for row, mean_of, variance_of, df_of in zip(rows, mean, variance, df, strict=True):
        if variance_of > 0:
            t = float(mean_of / math.sqrt(variance_of))
            row |= {"t": sign * t, "df": float(df_of), "t_p": float(2 * stdtr(df_of, -abs(t)))}
    if values is None:
        return rows
    pairs, step = pairs_of(np.arange(len(values))), max(1, CELLS // values.shape[1])
    for start in range(0, len(pairs), step):
        some = slice(start, start + step)
        first, second = pairs[some].T
        differences = values[first] - values[second]
        units, residuals = _units(differences, plan)
        residuals[variance[some] == 0] = 0.0
        flips = sign_flip_p(units, seed)
        below = bootstrap_p_below(residuals, mean[some], seed)
        for row, difference, flip, chance in zip(rows[some], differences, flips, below, strict=True):
            ranks = signed_rank_p(difference)
            row |= {"wilcoxon_p": ranks, "sign_flip_p": flip, "bootstrap_p_a_better": chance}
    return rows


def _units(differences: Float[np.ndarray, "pair item"], plan: Design) -> tuple[Units, Units]:
    """What each unit adds to the mean difference, were all groups' means equal, and its residual in its group."""
    group, n_units = plan.of_item(), plan.group_units
    mean = totals(differences, group, plan.n_groups) / plan.group_sizes
    residual, share = differences - mean[:, group], plan.item_weights
    own = share * differences
    if plan.grouped:  # the means are estimates
        freedom = np.sqrt(n_units / np.maximum(n_units - 1, 1))
        own = share * (freedom[group] * residual + (mean @ plan.weights)[:, None])
    return plan.unit_totals(own), plan.unit_totals(share * residual)


def sign_flip_p(units: Units, seed: int) -> list[float | None]:
    """Two-sided p-values of mean zero, by flipping the signs of the units; None where all units are zero."""
    p_values: list[float | None] = [None] * len(units)
    sampled = []
    for row, values in enumerate(units):
        differ = values[values != 0]
        sizes, n = np.abs(differ), len(differ)
        if n and np.ptp(sizes) <= ROUNDING * sizes.max():  # the sign test
            above = int((differ > 0).sum())
            p_values[row] = min(1.0, 2 * float(bdtr(min(above, n - above), n, 0.5)))
        elif 0 < n <= ENUMERATED:
            signs = 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1) - 1
            p_values[row] = float((np.abs(signs @ differ) >= abs(differ.sum()) * (1 - ROUNDING)).mean())
        elif n:
            sampled.append(row)
    if sampled:
        totals = units[sampled].sum(1)
        largest, _, square = _split(units[sampled] * np.where(totals < 0, -1.0, 1.0)[:, None])
        rng, beyond = np.random.default_rng(seed), np.zeros(len(sampled))
        for start in range(0, FLIPS, BLOCK):
            size = min(BLOCK, FLIPS - start)
            up = np.unpackbits(rng.integers(0, 256, (size, EXPLICIT // 8), np.uint8), axis=1)[:, : largest.shape[1]]
            flipped = 2 * _by_row(up, largest) - largest.sum(1) + rng.standard_normal((size, 1)) * np.sqrt(square)
            beyond += (np.abs(flipped) >= np.abs(totals) * (1 - ROUNDING)).sum(0)
        for row, count in zip(sampled, beyond, strict=True):
            p_values[row] = float((count + 1) / (FLIPS + 1))  # Phipson and Smyth 2010, doi:10.2202/1544-6115.1585
    return p_values


def bootstrap_p_below(residuals: Units, centres: Float[np.ndarray, " pair"], seed: int) -> list[float | None]:
    """P(mean < 0) + P(mean = 0)/2 under Rubin's Bayesian bootstrap; None where nothing varies."""
    n, (largest, offset, square) = residuals.shape[1], _split(residuals)
    rng, below = np.random.default_rng(seed), np.zeros(len(residuals))
    others, spread = n - largest.shape[1], np.sqrt(square)
    # the sum of the other units' weights, and their weighted total, are normal with this correlation
    shared = np.divide(offset, spread * np.sqrt(max(others, 1)), out=np.zeros_like(offset), where=spread > 0)
    shared = np.clip(shared, -1.0, 1.0)
    for start in range(0, WEIGHTS, BLOCK):
        size = min(BLOCK, WEIGHTS - start)
        weights, small = rng.standard_exponential((size, largest.shape[1])), rng.standard_normal((size, 2))
        total = weights.sum(1) + others + np.sqrt(others) * small[:, 0]
        along = shared * small[:, :1] + np.sqrt(1 - shared**2) * small[:, 1:]
        mean = centres + (_by_row(weights, largest) + offset + along * spread) * (n / total[:, None])
        below += (mean < 0).sum(0) + (mean == 0).sum(0) / 2
    varies = np.ptp(residuals, axis=1) > 0
    return [float(count / WEIGHTS) if some else None for count, some in zip(below, varies, strict=True)]


def _by_row(draws: Real[np.ndarray, "draw unit"], largest: Units) -> Float[np.ndarray, "draw pair"]:
    # a row at a time: the product of the whole wakes the threads of BLAS, which takes ten times the processor time
    return np.asarray((draws[:, None] @ largest.T)[:, 0])


def _split(
    units: Units,
) -> tuple[Float[np.ndarray, "pair largest"], Float[np.ndarray, " pair"], Float[np.ndarray, " pair"]]:
    """The largest units of every pair, by value; the sum and the sum of squares of the others."""
    rest = units.copy()
    chosen = np.argpartition(np.abs(units), -min(EXPLICIT, units.shape[1]), axis=1)[:, -EXPLICIT:]
    np.put_along_axis(rest, chosen, 0.0, axis=1)
    return np.sort(np.take_along_axis(units, chosen, axis=1), axis=1), rest.sum(1), (rest * rest).sum(1)


def signed_rank_p(differences: Float[np.ndarray, " item"]) -> float | None:
    """Two-sided p-value of Wilcoxon's test; zero differences are left out; ties share ranks; None if none remains."""
    values = differences[differences != 0]
    if not len(values):
        return None
    _, rank_of, number = np.unique(np.abs(values), return_inverse=True, return_counts=True)
    doubled = 2 * np.cumsum(number) - number + 1  # twice the mean rank of each run of ties
    most, observed = int(doubled @ number), int(doubled[rank_of[values > 0]].sum())
    if len(values) <= EXACT:
        counts = np.zeros(most + 1)
        counts[0] = 1.0
        for rank in np.repeat(doubled, number).tolist():
            counts[rank:] = (counts[rank:] + counts[: most + 1 - rank]) / 2
            counts[:rank] /= 2
        return min(1.0, 2 * float(counts[: min(observed, most - observed) + 1].sum()))
    variance = float(number @ doubled.astype(np.float64) ** 2) / 4
    return float(2 * ndtr(-abs(observed - most / 2) / math.sqrt(variance)))


def rows_of_tests(known: Mapping[tuple[str, str], Row], pairs: Sequence[tuple[str, str]], n_models: int) -> list[Row]:
    """The tests of these pairs, with Holm's adjustment over all pairs of the models."""
    rows: list[Row] = [{"a": a, "b": b, **known.get((a, b), dict.fromkeys(TESTS))} for a, b in pairs]
    for name in P_VALUES:
        adjusted = holm([row[name] for row in rows], math.comb(n_models, 2) - len(pairs))
        for row, p in zip(rows, adjusted, strict=True):
            row[f"{name}_holm"] = p
    return rows


def holm(p_values: Sequence[float | None], untested: int = 0) -> list[float | None]:
    known = sorted((p, position) for position, p in enumerate(p_values) if p is not None and not math.isnan(p))
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for step, (p, position) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) + untested - step) * p))
        adjusted[position] = largest
    return adjusted
