"""Joint draws of the models' means, whose pairwise differences have the reported margins, and what they decide.

The models are reached from the leader in steps, each from its nearest in spread (a minimum spanning tree), so that the
spread of every difference is at least that of each step on its path: in units of these spreads all numbers are of order
1, whatever the ratio of the spreads.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.location import Location
from probtruth.comparison.margin import Margin, other_df
from probtruth.comparison.pairs import LEADING, Pairs, first_and_last, leading, pair_rows_of, pairs_of, square

CHAINS = 4
AT_ONCE = 1 << 20  # Numbers of draws that are worked on at once
RIDGE = 1e-10  # Added to the correlations, so that their root exists and moves no more than they do
UNRESOLVED = 0.05  # Correlations that rounding moves by more than this are taken for 0
CUT = 0.975  # Probability that every model above a cut is better than every model below it, from which the cut is made

Steps = Float[np.ndarray, "draw step"]


@dataclass(frozen=True, eq=False)
class Tree:
    """Each model but the leader (`model`) with the one that it is reached from (`parent`), in an order of reaching."""

    model: Int[np.ndarray, " step"]
    parent: Int[np.ndarray, " step"]
    path: Float[np.ndarray, "model step"]
    centre: Float[np.ndarray, " step"]
    scale: Float[np.ndarray, " step"]
    root: Float[np.ndarray, "step step"]

    @classmethod
    def of(cls, location: Location, n_models: int) -> "Tree":
        variance = square(location.variance, n_models)
        spread, mean = np.sqrt(variance), square(location.centre, n_models, -1.0)
        # what is chosen by size is chosen by nine digits, so that rounding does not turn it
        ahead = mean.sum(1)
        lead = int(np.round(ahead / np.where(ahead.any(), np.abs(ahead).max(), 1.0), 9).argmin())
        with np.errstate(divide="ignore"):
            near = np.round(np.log(spread), 9)
        nearest, parent = near[lead].copy(), np.full(n_models, lead)
        rest, order = np.arange(n_models) != lead, []
        while rest.any():
            new = int(np.where(rest, nearest, np.inf).argmin())
            order.append(new)
            rest[new] = False
            closer = rest & (near[new] < nearest)
            nearest[closer], parent[closer] = near[new, closer], new
        model, path = np.array(order, np.int64), np.zeros((n_models, n_models - 1))
        for step, one in enumerate(order):
            path[one] = path[parent[one]]
            path[one, step] = 1.0
        ends = model, parent[model]
        root = _root(variance, *ends)
        return cls(*ends, path, mean[ends], spread[ends], root)

    def draw(self, margins: Sequence[Margin], shift: Steps, df: float) -> Float[np.ndarray, "draw model"]:
        """The models' means, the leader's being 0, from draws of the steps in units of their spreads."""
        n_models = len(self.path)
        pairs = pairs_of(np.arange(n_models))
        if n_models > LEADING:  # the margins that draws are moved to are those of the steps and of the leading models
            steps = np.sort(np.stack([self.model, self.parent], axis=1), axis=1)
            pairs = np.unique(np.concatenate([pairs_of(leading(self.path @ self.centre)), steps]), axis=0)
        chosen = [margins[row] for row in pair_rows_of(pairs, n_models)]
        scales = np.array([margin.scale for margin in chosen])
        along, size = self._along(pairs, scales)
        rows = np.flatnonzero(size > UNRESOLVED * UNRESOLVED)
        along, size, offset = (
            along[rows],
            size[rows],
            ((self.path[pairs[:, 0]] - self.path[pairs[:, 1]]) @ self.centre)[rows],
        )
        normal = along.T @ along
        np.fill_diagonal(normal, np.where(self.scale > 0, normal.diagonal(), 1.0))
        draws = np.zeros((len(shift), len(self.path)))
        for some in blocks(*draws.shape[::-1]):
            t = -(shift[some] @ along.T) / size
            wanted = [
                (chosen[row].at(other_df(values, df, chosen[row].df)) - start) / scales[row]
                for row, values, start in zip(rows, t.T, offset, strict=True)
            ]
            fitted = np.linalg.solve(normal, along.T @ np.array(wanted)) if wanted else np.zeros((len(normal), 1))
            for at, (model, parent) in enumerate(zip(self.model, self.parent, strict=True)):
                draws[some, model] = draws[some, parent] + self.centre[at] + self.scale[at] * fitted[at]
        return draws

    def t_of(self, pairs: Pairs, shift: Steps, variance: Float[np.ndarray, " pair"]) -> Float[np.ndarray, "pair draw"]:
        """The t-distributed variable behind the difference of each pair; 0 where it has no spread."""
        along, size = self._along(pairs, np.sqrt(variance))
        return np.asarray(-(along @ shift.T) / np.where(size > 0, size, 1.0)[:, None])

    def _along(self, pairs: Pairs, scales: np.ndarray) -> tuple[Float[np.ndarray, "pair step"], np.ndarray]:
        """Each pair's difference by steps, in units of the spreads, and the size of what the root makes of it."""
        whole = (self.path[pairs[:, 0]] - self.path[pairs[:, 1]]) * self.scale
        along = np.divide(whole, scales[:, None], out=np.zeros_like(whole), where=scales[:, None] > 0)
        return along, np.linalg.norm(along @ self.root, axis=1)


def blocks(n_models: int, n_draws: int) -> list[slice]:
    step = max(1, AT_ONCE // n_models)
    return [slice(start, start + step) for start in range(0, n_draws, step)]


def _root(variance: np.ndarray, model: np.ndarray, parent: np.ndarray) -> Float[np.ndarray, "step step"]:
    """A root of the steps' correlations, which follow from the variances of all pairs."""
    ends = np.stack(
        [variance[np.ix_(*two)] for two in ((model, parent), (parent, model), (model, model), (parent, parent))]
    )
    size = np.sqrt(np.outer(variance[model, parent], variance[model, parent]))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = (ends[0] + ends[1] - ends[2] - ends[3]) / 2 / size
        rounding = np.finfo(np.float64).eps * ends.max(0) / size
    correlation[~(rounding < UNRESOLVED)] = 0.0
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    if values[0] < 0:  # variances of pairs that no covariance has
        correlation = (vectors * np.maximum(values, 0.0)) @ vectors.T
    root = np.linalg.cholesky(correlation + RIDGE * np.eye(len(correlation)))
    return np.asarray(root / np.linalg.norm(root, axis=1, keepdims=True))


def closed_form(root: Float[np.ndarray, "step step"], df: float, draws: int, seed: int) -> Steps:
    """Independent draws of the steps in units of their spreads, as `program.comparison` has them."""
    rng = np.random.default_rng(seed)
    scale = rng.gamma(df / 2, 2 / df, CHAINS * draws)
    return np.asarray(rng.standard_normal((len(scale), len(root))) @ root.T / np.sqrt(scale)[:, None])


def decide(
    means: Float[np.ndarray, "*batch model"],
) -> tuple[Float[np.ndarray, "model rank"], Float[np.ndarray, " model"]]:
    """Each model's probability of each rank, and its expected regret, from draws; those that tie share their ranks."""
    draws = means.reshape(-1, means.shape[-1])
    n_models = draws.shape[1]
    rank, regret, chances = np.arange(n_models), np.zeros(n_models), np.zeros(n_models**2)
    for some in blocks(n_models, len(draws)):
        first, last = first_and_last(draws[some])
        tied = last - first + 1
        for further in range(int(tied.max())):
            cell = rank * n_models + np.minimum(first - 1 + further, n_models - 1)
            chances += np.bincount(cell.ravel(), np.where(further < tied, 1 / tied, 0.0).ravel(), n_models**2)
        regret += (draws[some] - draws[some].min(1, keepdims=True)).sum(0)
    return chances.reshape(n_models, n_models) / len(draws), regret / len(draws)


def tiers(
    drawn: Float[np.ndarray, "*batch model"], means: Float[np.ndarray, " model"], rope: float = 0.0
) -> Int[np.ndarray, " model"]:
    """The tier of each model, from 1, in the order of the mean scores."""
    draws = drawn.reshape(-1, drawn.shape[-1])
    order = np.argsort(means, kind="stable")
    chance = np.zeros(len(means) - 1)
    for some in blocks(len(means), len(draws)):
        sorted_draws = draws[some][:, order]
        above = np.maximum.accumulate(sorted_draws, axis=1)[:, :-1]
        below = np.minimum.accumulate(sorted_draws[:, ::-1], axis=1)[:, ::-1][:, 1:]
        chance += (below - above > rope).sum(0)
    apart = (chance >= CUT * len(draws)) & (np.diff(means[order]) > 0)
    tier = np.empty(len(means), np.int64)
    tier[order] = 1 + np.concatenate([[0], np.cumsum(apart)])
    return tier
