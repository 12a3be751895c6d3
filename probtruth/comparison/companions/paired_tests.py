"""Model-free tests to show beside the posterior, Holm-adjusted over the pairs.

Sign flips and the Bayesian bootstrap resample, in bounded memory and time. Both act on independent units (items or
clusters): `units[j]` is what unit j adds to the estimated mean difference. The EXPLICIT largest units of each pair are
flipped or weighted one by one; the sum of the many smaller ones is drawn from a normal. Wilcoxon's signed-rank test is
exact with ties for few differences, normal with the tie correction for many.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.special import bdtr, ndtr, stdtr

from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.moments import Location
from probtruth.comparison.evidence.sweeps import pairs_of
from probtruth.kernels.exact_sums import exact_sum

EXPLICIT = 400
"""Units of a pair that are resampled one by one; the normal for the rest adds less than the Monte Carlo error."""
FLIPS = 9999
"""Random sign patterns; Monte Carlo error of p = 0.05 is 0.002."""
WEIGHTS = 4000
"""Bayesian bootstrap draws; Monte Carlo error of P = 0.975 is 0.0025."""
ENUMERATED = 13
"""With at most this many differing units every sign pattern is tried."""
BLOCK = 500
ROUNDING = 1e-9
"""Sums closer than this, relative to the larger, are ties."""
EXACT = 50
"""With at most this many non-zero differences the distribution of the signed ranks is enumerated."""


def sign_flip_p(units: Float[np.ndarray, "pair unit"], seed: int = 0) -> list[float | None]:
    """Two-sided p-values of mean zero, by flipping the signs of the units; None where all units are zero.

    Exact if few units differ or all that differ have one size (then it is the sign test, McNemar's for right and wrong
    answers); otherwise Monte Carlo, which includes the observed pattern.

    Source: Fisher 1935, The design of experiments, section 21; Phipson and Smyth 2010, doi:10.2202/1544-6115.1585.
    """
    p_values: list[float | None] = [None] * len(units)
    sampled = []
    for row, values in enumerate(units):
        differ = values[values != 0]
        sizes = np.abs(differ)
        if not len(differ):
            continue
        if np.ptp(sizes) <= ROUNDING * sizes.max():
            p_values[row] = sign_test_p(int((differ > 0).sum()), len(differ))
        elif len(differ) <= ENUMERATED:
            p_values[row] = _enumerated(differ)
        else:
            sampled.append(row)
    if sampled:
        totals = exact_sum(units[sampled])
        largest, _, square = _split(units[sampled] * np.where(totals < 0, -1.0, 1.0)[:, None])
        observed, whole = np.abs(totals) * (1 - ROUNDING), largest.sum(1)
        rng = np.random.default_rng(seed)
        beyond = np.zeros(len(sampled))
        for start in range(0, FLIPS, BLOCK):
            size = min(BLOCK, FLIPS - start)
            up = np.unpackbits(rng.integers(0, 256, (size, EXPLICIT // 8), np.uint8), axis=1)[:, : largest.shape[1]]
            noise = rng.standard_normal((size, 1)) * np.sqrt(square)
            beyond += (np.abs(2 * (up @ largest.T) - whole + noise) >= observed).sum(0)
        for row, count in zip(sampled, beyond, strict=True):
            p_values[row] = float((count + 1) / (FLIPS + 1))
    return p_values


def sign_test_p(above: int, n: int) -> float:
    """Two-sided p-value of this number of positive signs among n."""
    return min(1.0, 2 * float(bdtr(min(above, n - above), n, 0.5)))


def _enumerated(values: Float[np.ndarray, " unit"]) -> float:
    patterns = (np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) & 1
    totals = np.abs((patterns * 2.0 - 1) @ values)
    return float((totals >= abs(values.sum()) * (1 - ROUNDING)).mean())


def _split(units: Float[np.ndarray, "pair unit"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest units of every pair, by value and padded with zeros; the sum and the sum of squares of the others.

    Units that tie for the last ranks all count as others, so the order of the units does not matter.
    """
    n = units.shape[1]
    if n <= EXPLICIT:
        return np.sort(units, axis=1), np.zeros(len(units)), np.zeros(len(units))
    largest, total, square = np.zeros((len(units), EXPLICIT)), np.empty(len(units)), np.empty(len(units))
    for row, values in enumerate(units):
        sizes = np.abs(values)
        chosen = sizes > np.partition(sizes, n - EXPLICIT - 1)[n - EXPLICIT - 1]
        extremes = np.sort(values[chosen])
        largest[row, : len(extremes)] = extremes
        rest = np.where(chosen, 0.0, values)
        total[row], square[row] = exact_sum(rest), exact_sum(rest * rest)
    return largest, total, square


def bootstrap_p_below(
    residuals: Float[np.ndarray, "pair unit"], centres: Float[np.ndarray, " pair"], seed: int = 0
) -> list[float | None]:
    """P(mean < 0) + P(mean = 0)/2 under the Bayesian bootstrap; None where nothing varies.

    Unit j adds its residual (its contribution to the mean minus the part that its group's mean explains) times a
    standard exponential weight; the total is divided by the mean weight. This is Rubin's uniform Dirichlet over the
    units (with groups or unequal clusters its linearisation).

    Source: Rubin 1981, "The Bayesian bootstrap", doi:10.1214/aos/1176345338.
    """
    n = residuals.shape[1]
    largest, offset, square = _split(residuals)
    explicit = largest.shape[1]
    rng = np.random.default_rng(seed)
    below = np.zeros(len(residuals))
    others, spread = n - explicit, np.sqrt(square)
    shared = np.divide(offset, spread, out=np.zeros_like(offset), where=spread > 0) / np.sqrt(max(others, 1))
    shared = np.clip(shared, -1.0, 1.0)
    for start in range(0, WEIGHTS, BLOCK):
        size = min(BLOCK, WEIGHTS - start)
        weights = rng.standard_exponential((size, explicit))
        small = rng.standard_normal((size, 2))  # of the rest: what the sum of the weights and the total have in common
        total = weights.sum(1) + others + np.sqrt(others) * small[:, 0]
        along = shared * small[:, :1] + np.sqrt(1 - shared**2) * small[:, 1:]
        mean = centres + (weights @ largest.T + offset + along * spread) * (n / total[:, None])
        below += (mean < 0).sum(0) + (mean == 0).sum(0) / 2
    varies = np.ptp(residuals, axis=1) > 0
    return [float(count / WEIGHTS) if some else None for count, some in zip(below, varies, strict=True)]


def signed_rank_p(differences: Float[np.ndarray, " item"]) -> float | None:
    """Two-sided p-value for a pseudo-median of zero; zero differences are left out; None if none remains.

    Source: Wilcoxon 1945, doi:10.2307/3001968; exact with ties: Streitberg and Roehmel 1986 (shift algorithm).
    """
    values = differences[differences != 0]
    n = len(values)
    if n == 0:
        return None
    sizes = np.sort(np.abs(values))
    first = np.flatnonzero(np.diff(sizes, prepend=-1.0))  # of every run of ties
    tied = np.diff(first, append=n)
    doubled = 2 * first + tied + 1  # twice the mean rank of each run
    above = np.searchsorted(sizes[first], np.sort(values[values > 0]))
    return two_sided_p(doubled, tied, int(doubled[above].sum()))


def two_sided_p(doubled: Int[np.ndarray, " rank"], number: Int[np.ndarray, " rank"], observed: int) -> float:
    """Two-sided p-value of the total of the positive differences' doubled ranks; `number` counts how often each
    occurs."""
    n, most = int(number.sum()), int((doubled * number).sum())
    if n <= EXACT:
        counts = np.zeros(most + 1)
        counts[0] = 1.0
        for rank in np.repeat(doubled, number).tolist():
            counts[rank:] = (counts[rank:] + counts[: most + 1 - rank]) / 2
            counts[:rank] /= 2
        tail = counts[: min(observed, most - observed) + 1].sum()
        return min(1.0, 2 * float(tail))
    variance = float((number * doubled.astype(np.float64) ** 2).sum())  # of the doubled rank sum: sum of (2r)^2 / 4
    return float(2 * ndtr(-abs(observed - most / 2) / math.sqrt(variance / 4)))


HELD = 1 << 22
"""Numbers held at once."""
TESTS = ("t_p", "wilcoxon_p", "sign_flip_p")


@dataclass(frozen=True)
class Companion:
    """The tests of one pair, a minus b; None if a test does not exist.

    `t_p`, `sign_flip_p` and `bootstrap_p_a_better` are about the mean, with the clusters and groups of the comparison;
    `wilcoxon_p` is about the pseudo-median of the items. The errors bound how far the three are from the same tests
    without the bins and limits that are used for many items (see `many_items`); None without them.
    """

    t: float | None = None
    df: float | None = None
    t_p: float | None = None
    wilcoxon_p: float | None = None
    sign_flip_p: float | None = None
    bootstrap_p_a_better: float | None = None
    wilcoxon_p_error: float | None = None
    sign_flip_p_error: float | None = None
    bootstrap_p_a_better_error: float | None = None

    def flipped(self) -> "Companion":
        """The tests of b minus a."""
        t, p = self.t, self.bootstrap_p_a_better
        return replace(self, t=None if t is None else -t, bootstrap_p_a_better=None if p is None else 1 - p)


def companions(
    values: Float[np.ndarray, "model item"], within: Structure, weights: Float[np.ndarray, " group"], location: Location
) -> list[Companion]:
    """The tests of every pair (a < b) of models with finite scores.

    Source: Student 1908, doi:10.1093/biomet/6.1.1; for the others see their functions.
    """
    pairs = pairs_of(np.arange(len(values)))
    step = max(1, HELD // values.shape[1])
    made: list[Companion] = []
    for start in range(0, len(pairs), step):
        rows = slice(start, start + step)
        first, second = pairs[rows].T
        differences = values[first] - values[second]
        units, residuals = _units(differences, within, weights)
        constant = location.plain_variance[rows] == 0
        residuals = np.where(constant[:, None], 0.0, residuals)
        flips = sign_flip_p(units)
        below = bootstrap_p_below(residuals, location.mean[rows])
        for row, difference in enumerate(differences):
            ranks = signed_rank_p(difference)
            statistic, df, p = student(location, start + row)
            made.append(Companion(statistic, df, p, ranks, flips[row], below[row]))
    return made


def held_fixed(location: Location) -> list[Companion]:
    """Only the t-test, for fixed items: the other tests resample items, which do not vary here."""
    return [Companion(*student(location, row)) for row in range(len(location.mean))]


def companion_rows(
    known: Mapping[tuple[str, str], Companion], pairs: Sequence[tuple[str, str]], n_models: int
) -> list[dict[str, object]]:
    """The tests of these pairs, with Holm's adjustment over all pairs of the models.

    Those that are not tested count as if they had a p-value of 1, so that a choice of pairs makes none smaller.
    """
    tests = [known.get(pair, Companion()) for pair in pairs]
    rows: list[dict[str, object]] = [
        {"a": a, "b": b, **asdict(test)} for (a, b), test in zip(pairs, tests, strict=True)
    ]
    for name in TESTS:
        adjusted = holm([getattr(test, name) for test in tests], math.comb(n_models, 2) - len(pairs))
        for row, p in zip(rows, adjusted, strict=True):
            row[f"{name}_holm"] = p
    return rows


def student(location: Location, row: int) -> tuple[float | None, float | None, float | None]:
    """The statistic, its degrees of freedom and the two-sided p-value of one pair's t; None without spread."""
    if location.plain_variance[row] == 0:
        return None, None, None
    statistic = float(location.mean[row] / math.sqrt(location.plain_variance[row]))
    return statistic, float(location.df[row]), float(2 * stdtr(location.df[row], -abs(statistic)))


def _units(
    differences: Float[np.ndarray, "pair item"], within: Structure, weights: Float[np.ndarray, " group"]
) -> tuple[np.ndarray, np.ndarray]:
    """What each unit adds to the mean difference, and its distance from what its group's mean explains."""
    of_item = within.of_item()
    own = differences * (weights / within.n_items)[of_item]
    mean = within.group_totals(within.unit_totals(own)) / within.n_items
    return within.unit_totals(own), within.unit_totals(own - mean[:, of_item])


def holm(p_values: Sequence[float | None], untested: int = 0) -> list[float | None]:
    """Holm's step-down adjustment over the p-values that exist, and as many of 1 as were not tested (family-wise
    error, any dependence).

    Source: Holm 1979, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6.
    """
    known = sorted((p, position) for position, p in enumerate(p_values) if p is not None and not math.isnan(p))
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for step, (p, position) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) + untested - step) * p))
        adjusted[position] = largest
    return adjusted
