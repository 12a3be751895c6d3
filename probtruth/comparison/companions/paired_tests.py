"""Model-free tests to show beside the posterior, Holm-adjusted over the pairs."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from jaxtyping import Float
from scipy.special import stdtr

from probtruth.comparison.companions.resampling import bootstrap_p_below, sign_flip_p
from probtruth.comparison.companions.signed_rank import signed_rank_p
from probtruth.comparison.evidence.moments import Location
from probtruth.comparison.evidence.structure import Structure
from probtruth.comparison.evidence.sweeps import all_pairs
from probtruth.comparison.naming import Names, by_name

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

    Source: Student 1908, doi:10.1093/biomet/6.1.1; for the others see `signed_rank` and `resampling`.
    """
    pairs = np.array(all_pairs(len(values)), np.int64).reshape(-1, 2)
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
    models: Sequence[str], order: np.ndarray, tests: Sequence[Companion], names: Sequence[Names]
) -> list[dict[str, object]]:
    """The tests of the pairs with these names, with Holm's adjustment over them."""
    known = by_name(models, order, tests)
    found = [known.get(pair, Companion()) for pair in names]
    rows: list[dict[str, object]] = [
        {"a": a, "b": b, **asdict(test)} for (a, b), test in zip(names, found, strict=True)
    ]
    for name in TESTS:
        for row, adjusted in zip(rows, holm([getattr(test, name) for test in found]), strict=True):
            row[f"{name}_holm"] = adjusted
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


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjustment over the p-values that exist (family-wise error, any dependence).

    Source: Holm 1979, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6.
    """
    known = sorted((p, position) for position, p in enumerate(p_values) if p is not None and not math.isnan(p))
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for step, (p, position) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - step) * p))
        adjusted[position] = largest
    return adjusted
