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

from probtruth.comparison.estimation.design import Design, ItemRows
from probtruth.comparison.estimation.pairs import pairs_of
from probtruth.kernels.shapes import ItemFloats, ModelItem

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
PerPair = Float[np.ndarray, " pair"]


def paired_tests(
    mean: PerPair,
    variance: PerPair,
    df: PerPair,
    values: ModelItem | None,
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
    pairs = pairs_of(np.arange(len(values)))
    step = max(1, CELLS // values.shape[1])
    for start in range(0, len(pairs), step):
        block = slice(start, start + step)
        first, second = pairs[block].T
        differences = values[first] - values[second]
        units, residuals = _units(differences, plan)
        residuals[variance[block] == 0] = 0.0
        flips = sign_flip_p(units, seed)
        below = bootstrap_p_below(residuals, mean[block], seed)
        for row, difference, flip, chance in zip(rows[block], differences, flips, below, strict=True):
            row["wilcoxon_p"] = signed_rank_p(difference)
            row["sign_flip_p"] = flip
            row["bootstrap_p_a_better"] = chance
    return rows


def _units(differences: ItemRows, plan: Design) -> tuple[Units, Units]:
    """What each unit adds to the mean difference, were all groups' means equal, and its residual in its group."""
    residual = plan.item_weights * plan.residuals(differences)
    share = plan.item_weights * differences
    if plan.grouped:  # the means are estimates
        n_units = plan.group_units
        freedom = np.sqrt(n_units / np.maximum(n_units - 1, 1))
        share = freedom[plan.of_item()] * residual + plan.item_weights * share.sum(1, keepdims=True)
    return plan.unit_totals(share), plan.unit_totals(residual)


def sign_flip_p(units: Units, seed: int) -> list[float | None]:
    """Two-sided p-values of mean zero, by flipping the signs of the units; None where all units are zero."""
    p_values: list[float | None] = [None] * len(units)
    sampled = []
    for row, values in enumerate(units):
        differ = values[values != 0]
        n = len(differ)
        sizes = np.abs(differ)
        if n and np.ptp(sizes) <= ROUNDING * sizes.max():  # the sign test
            above = int((differ > 0).sum())
            p_values[row] = min(1.0, 2 * float(bdtr(min(above, n - above), n, 0.5)))
        elif 0 < n <= ENUMERATED:
            bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1  # pattern, unit
            flipped = (2.0 * bits - 1) @ differ
            p_values[row] = float((np.abs(flipped) >= abs(differ.sum()) * (1 - ROUNDING)).mean())
        elif n:
            sampled.append(row)
    if not sampled:
        return p_values
    totals = units[sampled].sum(1)
    upward = np.where(totals < 0, -1.0, 1.0)[:, None]
    largest, _, square = _split(units[sampled] * upward)
    rng = np.random.default_rng(seed)
    beyond = np.zeros(len(sampled))
    for start in range(0, FLIPS, BLOCK):
        size = min(BLOCK, FLIPS - start)
        random_bytes = rng.integers(0, 256, (size, EXPLICIT // 8), np.uint8)
        up = np.unpackbits(random_bytes, axis=1)[:, : largest.shape[1]]  # draw, unit
        others = rng.standard_normal((size, 1)) * np.sqrt(square)
        flipped = 2 * _by_row(up, largest) - largest.sum(1) + others
        beyond += (np.abs(flipped) >= np.abs(totals) * (1 - ROUNDING)).sum(0)
    for row, count in zip(sampled, beyond, strict=True):
        p_values[row] = float((count + 1) / (FLIPS + 1))  # Phipson and Smyth 2010, doi:10.2202/1544-6115.1585
    return p_values


def bootstrap_p_below(residuals: Units, centres: PerPair, seed: int) -> list[float | None]:
    """P(mean < 0) + P(mean = 0)/2 under Rubin's Bayesian bootstrap; None where nothing varies."""
    largest, offset, square = _split(residuals)
    n_units = residuals.shape[1]
    n_largest = largest.shape[1]
    n_others = n_units - n_largest
    spread = np.sqrt(square)
    # the sum of the other units' weights, and their weighted total, are normal with this correlation
    apart = spread * np.sqrt(max(n_others, 1))
    shared = np.divide(offset, apart, out=np.zeros_like(offset), where=spread > 0)
    shared = np.clip(shared, -1.0, 1.0)
    rng = np.random.default_rng(seed)
    below = np.zeros(len(residuals))
    for _ in range(WEIGHTS // BLOCK):
        weights = rng.standard_exponential((BLOCK, n_largest))
        one, other = rng.standard_normal((BLOCK, 2, 1)).swapaxes(0, 1)
        total = weights.sum(1, keepdims=True) + n_others + np.sqrt(n_others) * one
        others = shared * one + np.sqrt(1 - shared**2) * other  # draw, pair
        weighted = _by_row(weights, largest) + offset + others * spread
        mean = centres + weighted * (n_units / total)
        below += (1 - np.sign(mean)).sum(0) / 2
    varies = np.ptp(residuals, axis=1) > 0
    return [float(count / WEIGHTS) if any_spread else None for count, any_spread in zip(below, varies, strict=True)]


def _by_row(draws: Real[np.ndarray, "draw unit"], largest: Units) -> Float[np.ndarray, "draw pair"]:
    # a row at a time: the product of the whole wakes the threads of BLAS, which takes ten times the processor time
    return np.asarray((draws[:, None] @ largest.T)[:, 0])


def _split(units: Units) -> tuple[Float[np.ndarray, "pair largest"], PerPair, PerPair]:
    """The largest units of every pair, by value; the sum and the sum of squares of the others."""
    n_largest = min(EXPLICIT, units.shape[1])
    chosen = np.argpartition(np.abs(units), -n_largest, axis=1)[:, -n_largest:]
    largest = np.sort(np.take_along_axis(units, chosen, axis=1), axis=1)
    others = units.copy()
    np.put_along_axis(others, chosen, 0.0, axis=1)
    return largest, others.sum(1), np.square(others).sum(1)


def signed_rank_p(differences: ItemFloats) -> float | None:
    """Two-sided p-value of Wilcoxon's test; zero differences are left out; ties share ranks; None if none remains."""
    values = differences[differences != 0]
    if not len(values):
        return None
    _, run, number = np.unique(np.abs(values), return_inverse=True, return_counts=True)
    doubled = 2 * np.cumsum(number) - number + 1  # twice the mean rank of each run of ties
    most = int(doubled @ number)
    observed = int(doubled[run[values > 0]].sum())
    if len(values) <= EXACT:
        chances = np.zeros(most + 1)  # of each sum of doubled ranks
        chances[0] = 1.0
        for rank in np.repeat(doubled, number).tolist():
            chances[rank:] = (chances[rank:] + chances[: most + 1 - rank]) / 2
            chances[:rank] /= 2
        tail = chances[: min(observed, most - observed) + 1].sum()
        return min(1.0, 2 * float(tail))
    variance = float(number @ doubled.astype(np.float64) ** 2) / 4
    return float(2 * ndtr(-abs(observed - most / 2) / math.sqrt(variance)))


def rows_of_tests(tested: Mapping[tuple[str, str], Row], pairs: Sequence[tuple[str, str]], n_models: int) -> list[Row]:
    """The tests of these pairs, with Holm's adjustment over all pairs of the models."""
    rows: list[Row] = []
    for a, b in pairs:
        rows.append({"a": a, "b": b, **tested.get((a, b), dict.fromkeys(TESTS))})
    n_untested = math.comb(n_models, 2) - len(pairs)
    for name in P_VALUES:
        adjusted = holm([row[name] for row in rows], n_untested)
        for row, p in zip(rows, adjusted, strict=True):
            row[f"{name}_holm"] = p
    return rows


def holm(p_values: Sequence[float | None], untested: int = 0) -> list[float | None]:
    """The p-values adjusted for all of them, and for those that are not here; None and NaN are no p-values."""
    ascending = sorted((p, row) for row, p in enumerate(p_values) if p is not None and not math.isnan(p))
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    hypotheses = len(ascending) + untested
    for p, row in ascending:
        largest = max(largest, min(1.0, hypotheses * p))
        adjusted[row] = largest
        hypotheses -= 1
    return adjusted
