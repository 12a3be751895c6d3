"""The posterior that a comparison reports, by the engine that is named, and the decisions that follow from it.

`auto` takes the closed form for the differences of these items, and NUTS for the population of groups; `nuts` takes
draws for both, and `exact` closed form and quadrature.

Joint draws of the models' means have the reported margins as nearly as K means can. The models are reached from the
leader in steps, each from its nearest in spread (a minimum spanning tree), so that the spread of every difference is at
least that of each step on its path: in units of these spreads all numbers are of order 1, whatever their ratio.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.estimation.estimate import Estimate, Part
from probtruth.comparison.estimation.pairs import LEADING, Pairs, first_and_last, leading, pair_rows_of, pairs_of
from probtruth.comparison.options import Options
from probtruth.comparison.posterior.groups import Population
from probtruth.comparison.posterior.margin import Margin, margins, other_df
from probtruth.comparison.posterior.pooled import pooled, steadier

if TYPE_CHECKING:
    from probtruth.comparison.posterior.drawn import Run

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
    growth: Float[np.ndarray, " step"]  # of each step's spread, of which the tree chose the smallest ones

    @classmethod
    def of(cls, margins: Sequence[Margin], n_models: int, df: float) -> "Tree":
        """From the margins of all pairs."""
        variance = square(np.array([one.scale**2 for one in margins]), n_models)
        spread = np.sqrt(variance)
        mean = square(np.array([one.centre for one in margins]), n_models, -1.0)
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
        steady = steadier(variance, df)
        root = _root(steady, *ends)
        growth = np.sqrt(np.divide(steady[ends], variance[ends], out=np.ones(len(order)), where=variance[ends] > 0))
        return cls(*ends, path, mean[ends], spread[ends], root, growth)

    def draw(self, margins: Sequence[Margin], shift: Steps, df: float) -> Steps:
        """Draws of the steps about their means, in units of their spreads, that have the margins of the pairs."""
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
        draws = np.zeros(shift.shape)
        for some in blocks(n_models, len(shift)):
            t = -(shift[some] @ along.T) / size
            wanted = [
                (chosen[row].at(other_df(values, df, chosen[row].df)) - start) / scales[row]
                for row, values, start in zip(rows, t.T, offset, strict=True)
            ]
            fitted = np.linalg.solve(normal, along.T @ np.array(wanted)) if wanted else np.zeros((len(normal), 1))
            draws[some] = fitted.T
        return draws

    def means(self, steps: Steps) -> Float[np.ndarray, "draw model"]:
        """The models' means, the leader's being 0, of draws of the steps."""
        means = np.zeros((len(steps), len(self.path)))
        for at, (model, parent) in enumerate(zip(self.model, self.parent, strict=True)):
            means[:, model] = means[:, parent] + self.centre[at] + self.scale[at] * steps[:, at]
        return means

    def pooled(self, steps: Steps, seed: int) -> Steps:
        """The steps where the models resemble each other as far as the data say."""
        reach = self.path * self.scale
        return pooled(self.path @ self.centre, steps, reach, self.root * self.growth[:, None], seed)

    def t_of(self, pairs: Pairs, shift: Steps, variance: Float[np.ndarray, " pair"]) -> Float[np.ndarray, "pair draw"]:
        """The t-distributed variable behind the difference of each pair; 0 where it has no spread."""
        along, size = self._along(pairs, np.sqrt(variance))
        return np.asarray(-(along @ shift.T) / np.where(size > 0, size, 1.0)[:, None])

    def _along(self, pairs: Pairs, scales: np.ndarray) -> tuple[Float[np.ndarray, "pair step"], np.ndarray]:
        """Each pair's difference by steps, in units of the spreads, and the size of what the root makes of it."""
        whole = (self.path[pairs[:, 0]] - self.path[pairs[:, 1]]) * self.scale
        along = np.divide(whole, scales[:, None], out=np.zeros_like(whole), where=scales[:, None] > 0)
        return along, np.linalg.norm(along @ self.root, axis=1)


def square(pairs: Float[np.ndarray, " pair"], n_models: int, sign: float = 1.0) -> Float[np.ndarray, "model model"]:
    """A matrix with the pairs' values above its diagonal and `sign` times them below."""
    matrix = np.zeros((n_models, n_models))
    above = np.triu_indices(n_models, 1)
    matrix[above] = pairs
    matrix.T[above] = sign * pairs
    return matrix


def blocks(n_models: int, n_draws: int) -> list[slice]:
    step = max(1, AT_ONCE // n_models)
    return [slice(start, start + step) for start in range(0, n_draws, step)]


def _root(variance: np.ndarray, model: np.ndarray, parent: np.ndarray) -> Float[np.ndarray, "step step"]:
    """A root of the steps' correlations, which follow from the variances of all pairs."""
    crossed = variance[np.ix_(model, parent)]
    of_models = variance[np.ix_(model, model)]
    of_parents = variance[np.ix_(parent, parent)]
    covariance = (crossed + crossed.T - of_models - of_parents) / 2
    largest = np.maximum.reduce([crossed, crossed.T, of_models, of_parents])
    of_step = variance[model, parent]
    size = np.sqrt(np.outer(of_step, of_step))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = covariance / size
        rounding = np.finfo(np.float64).eps * largest / size
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
    row = n_models * np.arange(n_models)  # of each model in the flattened table of ranks
    regret = np.zeros(n_models)
    chances = np.zeros(n_models**2)
    for block in blocks(n_models, len(draws)):
        drawn = draws[block]
        first, last = first_and_last(drawn)
        tied = last - first + 1
        for further in range(int(tied.max())):
            rank = np.minimum(first - 1 + further, n_models - 1)
            share = np.where(further < tied, 1 / tied, 0.0)
            cell = row + rank
            chances += np.bincount(cell.ravel(), share.ravel(), n_models**2)
        best = drawn.min(1, keepdims=True)
        regret += (drawn - best).sum(0)
    table = chances.reshape(n_models, n_models)
    return table / len(draws), regret / len(draws)


def tiers(
    drawn: Float[np.ndarray, "*batch model"], means: Float[np.ndarray, " model"], rope: float = 0.0
) -> Int[np.ndarray, " model"]:
    """The tier of each model, from 1, in the order of the mean scores."""
    draws = drawn.reshape(-1, drawn.shape[-1])
    order = np.argsort(means, kind="stable")
    chance = np.zeros(len(means) - 1)
    for block in blocks(len(means), len(draws)):
        sorted_draws = draws[block][:, order]
        worst_above = np.maximum.accumulate(sorted_draws, axis=1)
        from_the_last = np.minimum.accumulate(sorted_draws[:, ::-1], axis=1)
        best_below = from_the_last[:, ::-1]
        gap = best_below[:, 1:] - worst_above[:, :-1]
        chance += (gap > rope).sum(0)
    apart = (chance >= CUT * len(draws)) & (np.diff(means[order]) > 0)
    tier = np.empty(len(means), np.int64)
    tier[order] = 1 + np.concatenate([[0], np.cumsum(apart)])
    return tier


@dataclass(frozen=True, eq=False)
class Posterior:
    """What was computed for the models with finite scores, in their order; `estimate` is of these groups."""

    n_models: int = 0
    estimate: Estimate | None = None
    margins: Sequence[Margin] = ()
    means: Float[np.ndarray, "chain draw model"] | None = None
    ranked: Float[np.ndarray, "chain draw model"] | None = None  # partially pooled: for what compares all models
    population: Population | None = None
    run: "Run | None" = None  # that of these items
    of_groups: "Run | None" = None

    @cached_property
    def leading(self) -> Int[np.ndarray, " leading"]:
        """The models, by their places in the order, of which every pair is looked at by itself."""
        if self.estimate is None or self.n_models <= LEADING:
            return np.arange(self.n_models)
        return leading(square(self.estimate.mean[self.n_models :, 0], self.n_models, -1.0).mean(1))

    @cached_property
    def decisions(self) -> tuple[Float[np.ndarray, "model rank"], Float[np.ndarray, " model"]] | None:
        """Each model's probability of each rank, and its expected regret; None without draws."""
        if self.ranked is None:
            return None
        chances, regret = decide(self.ranked)
        if self.n_models == 2:  # the margin itself, to the last digit
            best = np.array([self.margins[-1].below(0.0), self.margins[-1].above(0.0)])
            chances = np.stack([best, best[::-1]], axis=1)
        return chances, regret

    def diagnostics(self) -> dict[str, object]:
        """The figures of the draws that shown numbers come from, the worst of all and by table; None where none is."""
        tables: dict[str, Mapping[str, object]] = {"pairwise": engine_of(self.run)}
        if self.population is not None:
            tables["groups"] = engine_of(self.of_groups)
        return summary(tables)


def engine_of(run: "Run | None") -> Mapping[str, object]:
    """The engine of a table, with the figures of its draws where there are any."""
    return {"engine": "exact"} if run is None else run.diagnostics()


def summary(tables: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """The figures of all tables' draws, the worst of each."""
    names = ("max_rhat", "min_ess", "divergences", "max_mcse", "end_mcse")
    found: dict[str, object] = {"engine": tables["pairwise"]["engine"], "sampler": None}
    found |= dict.fromkeys(names)
    drawn: list[Mapping[str, object]] = []
    samplers: dict[str, str] = {}  # each, with the last table that it made
    for name, table in tables.items():
        if table["engine"] == "nuts":
            drawn.append(table)
            samplers[str(table["sampler"])] = name
    if drawn:
        of_tables = [f"{sampler} ({name})" for sampler, name in samplers.items()]
        found["sampler"] = drawn[0]["sampler"] if len(samplers) == 1 else "; ".join(of_tables)
        for name in names:
            values: list[Any] = [table[name] for table in drawn]
            worst = min if name == "min_ess" else max
            found[name] = worst(values)
    return found | {"tables": tables}


def drawn_population(population: Population, options: Options) -> tuple[Population, "Run | None"]:
    """The population of groups with its posterior, by the engine that is asked for."""
    if options.engine == "exact":
        return population.by_quadrature(), None
    from probtruth.comparison.posterior.drawn import draw_population  # with JAX, which the closed form does without

    return draw_population(population, options)


def posterior_of(estimate: Estimate, population: Population | None, options: Options) -> Posterior:
    """The posterior of all models, pairs and groups."""
    n_models = estimate.n_models
    whole = estimate.over_groups()
    found = margins(whole)
    plain = found[n_models:]
    total = whole.total()
    pairs = total.of(slice(n_models, None))
    known = np.isfinite([one.centre + one.scale for one in found])
    connected = n_models > 1 and bool(known[n_models:].all())
    df = total_df(pairs if connected else total.of(np.flatnonzero(known)))
    tree = Tree.of(plain, n_models, df) if connected else None
    run: Run | None = None
    of_groups: Run | None = None
    if population is not None:
        population, of_groups = drawn_population(population, options)
    shift = np.zeros((0, 0))
    if options.engine == "nuts" and known.any():
        from probtruth.comparison.posterior.drawn import headline  # with JAX and NumPyro

        # one step more, of no correlation with the others, is for the models' own means
        own = found[int(known.argmax())]
        root = np.eye(n_models if connected else 1)
        centre = np.array([own.centre])
        scale = np.array([own.scale])
        if tree is not None:
            root[1:, 1:] = tree.root
            centre = np.concatenate([centre, tree.centre])
            scale = np.concatenate([scale, tree.scale])
        run, drawn = headline(centre, scale, root, df, options)
        shift = drawn[:, 1:]
        found = [margin.drawn(-drawn[:, 0], df) for margin in found]
        if tree is not None:
            t = tree.t_of(pairs_of(np.arange(n_models)), shift, pairs.variance[:, 0])
            found[n_models:] = [margin.drawn(row, df) for margin, row in zip(plain, t, strict=True)]
    elif tree is not None:
        shift = closed_form(tree.root, df, options.draws, options.seed)
    means = None
    ranked = None
    if tree is not None:
        steps = tree.draw(plain, shift, df)
        shape = (CHAINS, options.draws, n_models)
        means = tree.means(steps).reshape(shape)
        ranked = tree.means(tree.pooled(steps, options.seed)).reshape(shape) if n_models > 2 else means
    return Posterior(n_models, whole, found, means, ranked, population, run, of_groups)


def total_df(part: Part) -> float:
    """Degrees of freedom for all rows at once: those of the rows, weighted by their variances."""
    total = float(part.variance.sum())
    if total > 0:
        return float((part.variance / total * part.df).sum())
    return float(part.df.max(initial=0.0))
