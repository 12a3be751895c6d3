"""Model-free tests beside the posterior: paired t, Wilcoxon's signed ranks and sign flips.

Sign flips act on independent units (items or clusters). The EXPLICIT largest units of a pair are flipped one by one;
the sum of the many smaller ones is drawn from a normal.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr, stdtr

from probtruth.comparison.estimation.design import Design, ItemRows, pair_rows_of, pairs_of
from probtruth.comparison.estimation.estimate import Estimate
from probtruth.comparison.options import Options
from probtruth.comparison.posterior.groups import significant
from probtruth.comparison.posterior.posterior import Posterior
from probtruth.kernels.host import TIE
from probtruth.kernels.shapes import ItemFloats, PairFloats

MOST = 200_000  # Items beyond which only the t-test is made: the others need every item by itself, and say the same
EXPLICIT = 400  # The normal for the other units adds less than the Monte Carlo error
ENUMERATED = 12  # With at most this many units every sign pattern is tried
FLIPS = 9999  # Random sign patterns; Monte Carlo error of p = 0.05 is 0.002
EXACT = 50  # With at most this many non-zero differences the distribution of the signed ranks is enumerated
ROUNDING = 1e-9  # Sums closer than this, relative to the larger, are ties
BLOCK, CELLS = 500, 1 << 22  # Draws, and numbers of all pairs, in memory at once
P_VALUES = ("t_p", "wilcoxon_p", "sign_flip_p")
TESTS = ("t", "df", *P_VALUES)

Row = dict[str, Any]

Units = Float[np.ndarray, "pair unit"]


def model_free_tests(estimate: Estimate, post: Posterior, options: Options) -> list[Row]:
    """The tests of every pair, a minus b, with Holm's adjustment over all pairs of the models.

    Of the pairs of many models those of the leading ones. None where a test does not exist.
    """
    about = estimate.about
    plan = estimate.design
    chosen = post.leading
    names = [estimate.names[at] for at in chosen]
    pairs = pairs_of(chosen)
    over_groups = estimate.over_groups()
    all_variances = estimate.plain_variance()
    df = over_groups.total().df[:, 0]
    tested: dict[tuple[str, str], Row] = {}
    of_pair = estimate.n_models + pair_rows_of(pairs, estimate.n_models)
    for names_of_pair, row in zip(combinations(names, 2), of_pair.tolist(), strict=True):
        tests: Row = dict.fromkeys(TESTS)
        tested[names_of_pair] = tests
        variance = float(all_variances[row])
        if variance > 0:
            t = float(over_groups.mean[row, 0]) / math.sqrt(variance)
            p = float(2 * stdtr(df[row], -abs(t)))
            tests |= {"t": about.sign * t, "df": float(df[row]), "t_p": p}
    dependent = options.these_items or options.replicates in ("crossed", "folds") or estimate.shared is not None
    if about.values is not None and not dependent and about.gold is None and plan.n_items <= MOST:
        values = about.values[estimate.order]
        largest = np.fmax.reduce(np.abs(values), axis=1)
        rows = [*tested.values()]
        step = max(1, CELLS // plan.n_items)
        for start in range(0, len(pairs), step):
            first, second = pairs[start : start + step].T
            differences = values[first] - values[second]
            rounding = TIE * np.maximum(largest[first], largest[second])
            differences[np.abs(differences) <= rounding[:, None]] = 0.0
            flips = sign_flip_p(_units(differences, plan), options.seed)
            for at, tests in enumerate(rows[start : start + step]):
                tests["wilcoxon_p"] = signed_rank_p(differences[at])
                tests["sign_flip_p"] = None if np.isnan(flips[at]) else float(flips[at])
    n_models = len(about.models)
    shown = combinations(sorted(about.models if len(names) == estimate.n_models else names), 2)
    found = []
    for a, b in shown:
        found.append({"a": a, "b": b, **tested.get((a, b), dict.fromkeys(TESTS))})
    for name in P_VALUES:
        p_values = [row[name] for row in found]
        for row, adjusted in zip(found, holm(p_values, math.comb(n_models, 2) - len(found)), strict=True):
            row[f"{name}_holm"] = adjusted
    return found


def _units(differences: ItemRows, plan: Design) -> Units:
    """What each unit adds to the mean difference, were all groups' means equal."""
    weights = plan.item_weights
    if plan.grouped:  # the means are estimates
        n_units = plan.group_units
        freedom = np.sqrt(n_units / np.maximum(n_units - 1, 1))
        mean = differences @ weights
        residuals = freedom[plan.of_item()] * plan.residuals(differences)
        differences = residuals + mean[:, None]
    return plan.unit_totals(weights * differences)


def sign_flip_p(units: Units, seed: int) -> PairFloats:
    """Two-sided p-values of mean zero, by flipping the signs of the units; NaN where all units are zero."""
    totals = units.sum(1)
    n_units = units.shape[1]
    enumerated = n_units <= ENUMERATED
    n_draws = 2**n_units if enumerated else FLIPS
    upward = np.where(totals[:, None] < 0, -units, units)
    n_largest = min(EXPLICIT, n_units)
    by_size = np.argpartition(np.abs(upward), -n_largest, axis=1)
    chosen = by_size[:, -n_largest:]
    largest = np.take_along_axis(upward, chosen, axis=1)
    largest.sort(axis=1)
    np.put_along_axis(upward, chosen, 0.0, axis=1)
    spread = np.linalg.norm(upward, axis=1)  # of the sum of the others
    rng = np.random.default_rng(seed)
    beyond = np.zeros(len(units))
    for start in range(0, n_draws, BLOCK):
        draws = np.arange(start, min(start + BLOCK, n_draws))
        up: np.ndarray  # draw, unit
        if enumerated:
            up = (draws[:, None] >> np.arange(n_units)) & 1
        else:
            random_bytes = rng.integers(0, 256, (len(draws), EXPLICIT // 8), np.uint8)
            up = np.unpackbits(random_bytes, axis=1)[:, :n_largest]
        # a row at a time: the product of the whole wakes the threads of BLAS, which takes ten times the processor time
        of_largest = (up[:, None] @ largest.T)[:, 0]
        of_others = rng.standard_normal((len(draws), 1)) * spread
        flipped = 2 * of_largest - largest.sum(1) + of_others
        as_extreme = np.abs(flipped) >= np.abs(totals) * (1 - ROUNDING)
        beyond += as_extreme.sum(0)
    # Phipson and Smyth 2010, doi:10.2202/1544-6115.1585: the signs as they are count among those drawn
    drawn = 0 if enumerated else 1
    p_values = (beyond + drawn) / (n_draws + drawn)
    return np.where(units.any(1), p_values, np.nan)


def signed_rank_p(differences: ItemFloats) -> float | None:
    """Two-sided p-value of Wilcoxon's test; zero differences are left out; ties share ranks; None if none remains."""
    values = differences[differences != 0]
    if not len(values):
        return None
    _, run, number = np.unique(significant(np.abs(values)), return_inverse=True, return_counts=True)
    doubled = 2 * np.cumsum(number) - number + 1  # twice the mean rank of each run of ties
    most = int(doubled @ number)
    positive = run[values > 0]
    observed = int(doubled[positive].sum())
    if len(values) <= EXACT:
        chances = np.zeros(most + 1)  # of each sum of doubled ranks
        chances[0] = 1.0
        for rank in np.repeat(doubled, number).tolist():
            with_rank = chances[: most + 1 - rank].copy()
            chances[rank:] += with_rank
            chances /= 2
        least = min(observed, most - observed)
        tail = chances[: least + 1].sum()
        return min(1.0, 2 * float(tail))
    variance = float(number @ doubled.astype(np.float64) ** 2) / 4
    z = (observed - most / 2) / math.sqrt(variance)
    return float(2 * ndtr(-abs(z)))


def holm(p_values: Sequence[float | None], untested: int = 0) -> list[float | None]:
    """The p-values adjusted for all of them, and for those that are not here; None and NaN are no p-values."""
    p = np.array(p_values, np.float64)
    ascending = np.argsort(p)[: np.isfinite(p).sum()]
    hypotheses = untested + np.arange(len(ascending), 0, -1)
    largest = np.maximum.accumulate(hypotheses * p[ascending])
    adjusted: list[float | None] = [None] * len(p)
    for row, value in zip(ascending.tolist(), largest.tolist(), strict=True):
        adjusted[row] = min(1.0, value)
    return adjusted
