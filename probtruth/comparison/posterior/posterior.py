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
from scipy.linalg import block_diag

from probtruth.comparison.estimation.design import LEADING, Pairs, leading, pair_rows_of, pairs_of, square_of
from probtruth.comparison.estimation.estimate import Estimate, Part
from probtruth.comparison.options import Options
from probtruth.comparison.posterior.groups import Population
from probtruth.comparison.posterior.margin import Margin, margins, other_df
from probtruth.comparison.posterior.pooled import pooled, steadier
from probtruth.kernels.arrays import ratio
from probtruth.kernels.shapes import DrawStep, ModelFloats, ModelInts, PairFloats, StepFloats, StepStep

if TYPE_CHECKING:
    from probtruth.comparison.posterior.drawn import Run

CHAINS = 4
RIDGE = 1e-10  # Added to the correlations, so that their root exists and moves no more than they do
UNRESOLVED = 0.05  # Correlations that rounding moves by more than this are taken for 0
CUT = 0.975  # Probability that every model above a cut is better than every model below it, from which the cut is made


@dataclass(frozen=True, eq=False)
class Tree:
    """Each model but the leader (`model`) with the one that it is reached from (`parent`), in an order of reaching."""

    model: Int[np.ndarray, " step"]
    parent: Int[np.ndarray, " step"]
    path: Float[np.ndarray, "model step"]
    centre: StepFloats
    scale: StepFloats
    root: StepStep
    growth: StepFloats  # of each step's spread, of which the tree chose the smallest ones

    @classmethod
    def of(cls, margins: Sequence[Margin], n_models: int, df: float) -> "Tree":
        """From the margins of all pairs."""
        variance = square_of(np.array([margin.scale**2 for margin in margins]), n_models)
        spread = np.sqrt(variance)
        mean = square_of(np.array([margin.centre for margin in margins]), n_models, -1.0)
        # what is chosen by size is chosen by nine digits, so that rounding does not turn it
        ahead = mean.sum(1)
        largest = np.abs(ahead).max() or 1.0
        leader = int(np.round(ahead / largest, 9).argmin())
        with np.errstate(divide="ignore"):
            distance = np.round(np.log(spread), 9)
        # Prim's algorithm: of the models outside the tree, the nearest to any inside is the next
        to_tree = distance[leader].copy()
        parent = np.full(n_models, leader)
        path = np.zeros((n_models, n_models - 1))
        model = np.zeros(n_models - 1, np.int64)
        outside = np.arange(n_models) != leader
        for step in range(n_models - 1):
            new = int(np.where(outside, to_tree, np.inf).argmin())
            model[step] = new
            path[new] = path[parent[new]]
            path[new, step] = 1.0
            outside[new] = False
            closer = outside & (distance[new] < to_tree)
            to_tree[closer] = distance[new, closer]
            parent[closer] = new
        ends = model, parent[model]
        steady = steadier(variance, df) if n_models > 2 else variance
        root = _root(steady, *ends)
        growth = np.sqrt(ratio(steady[ends], variance[ends], 1.0))
        return cls(
            model=model,
            parent=parent[model],
            path=path,
            centre=mean[ends],
            scale=spread[ends],
            root=root,
            growth=growth,
        )

    def draw(self, margins: Sequence[Margin], shift: DrawStep, df: float) -> DrawStep:
        """Draws of the steps about their means, in units of their spreads, that have the margins of the pairs."""
        n_models = len(self.path)
        pairs = pairs_of(np.arange(n_models))
        if n_models > LEADING:  # the margins that draws are moved to are those of the steps and of the leading models
            steps = np.sort(np.stack([self.model, self.parent], axis=1), axis=1)
            of_leading = pairs_of(leading(self.path @ self.centre))
            pairs = np.unique(np.concatenate([of_leading, steps]), axis=0)
        of_pairs = [margins[row] for row in pair_rows_of(pairs, n_models)]
        scales = np.array([margin.scale for margin in of_pairs])
        along, size = self._along(pairs, scales)
        resolved = np.flatnonzero(size > UNRESOLVED**2)
        along = along[resolved]
        means = self.path @ self.centre
        if not len(resolved):
            return np.zeros(shift.shape)
        normal = along.T @ along
        diagonal = np.where(self.scale > 0, normal.diagonal(), 1.0)
        np.fill_diagonal(normal, diagonal)
        t = -(along @ shift.T) / size[resolved, None]
        wanted = np.empty(t.shape)
        for place, row in enumerate(resolved):
            margin = of_pairs[row]
            first, second = pairs[row]
            difference = margin.at(other_df(t[place], df, margin.df))
            difference -= means[first] - means[second]
            wanted[place] = difference / margin.scale
        return np.linalg.solve(normal, along.T @ wanted).T

    def means(self, steps: DrawStep) -> Float[np.ndarray, "draw model"]:
        """The models' means, the leader's being 0, of draws of the steps."""
        means = np.zeros((len(steps), len(self.path)))
        for step, model in enumerate(self.model):
            parent = self.parent[step]
            about_mean = self.scale[step] * steps[:, step]
            difference = self.centre[step] + about_mean
            means[:, model] = means[:, parent] + difference
        return means

    def pooled(self, steps: DrawStep, seed: int) -> DrawStep:
        """The steps where the models resemble each other as far as the data say."""
        mean = self.path @ self.centre
        by_step = self.path * self.scale
        root = self.root * self.growth[:, None]
        return pooled(mean, steps, by_step, root, seed)

    def t_of(self, pairs: Pairs, shift: DrawStep, variance: PairFloats) -> Float[np.ndarray, "pair draw"]:
        """The t-distributed variable behind the difference of each pair; 0 where it has no spread."""
        along, size = self._along(pairs, np.sqrt(variance))
        return ratio(-(along @ shift.T), size[:, None])

    def _along(self, pairs: Pairs, scales: np.ndarray) -> tuple[Float[np.ndarray, "pair step"], np.ndarray]:
        """Each pair's difference by steps, in units of the spreads, and the size of what the root makes of it."""
        first, second = pairs.T
        steps = self.path[first] - self.path[second]
        along = ratio(steps * self.scale, scales[:, None])
        return along, np.linalg.norm(along @ self.root, axis=1)


def _root(variance: np.ndarray, model: np.ndarray, parent: np.ndarray) -> StepStep:
    """A root of the steps' correlations, which follow from the variances of all pairs."""
    # axes: step, other step
    crossed = variance[np.ix_(model, parent)]
    of_models = variance[np.ix_(model, model)]
    of_parents = variance[np.ix_(parent, parent)]
    twice = crossed + crossed.T - of_models - of_parents
    covariance = twice / 2
    largest = np.maximum.reduce([crossed, crossed.T, of_models, of_parents])
    rounding = np.finfo(np.float64).eps * largest
    of_step = variance[model, parent]
    size = np.sqrt(np.outer(of_step, of_step))
    resolved = rounding < UNRESOLVED * size
    correlation = ratio(covariance, size)
    correlation[~resolved] = 0.0
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    if values[0] < 0:  # variances of pairs that no covariance has
        scaled = vectors * np.maximum(values, 0.0)
        correlation = scaled @ vectors.T
    ridge = RIDGE * np.eye(len(correlation))
    root = np.linalg.cholesky(correlation + ridge)
    return root / np.linalg.norm(root, axis=1, keepdims=True)


def closed_form(root: StepStep, df: float, draws: int, seed: int) -> DrawStep:
    """Independent draws of the steps in units of their spreads, as `program.comparison` has them."""
    rng = np.random.default_rng(seed)
    n_draws = CHAINS * draws
    precision = rng.gamma(df / 2, 2 / df, n_draws)
    steps = rng.standard_normal((n_draws, len(root))) @ root.T
    steps /= np.sqrt(precision)[:, None]
    return steps


def decide(
    means: Float[np.ndarray, "*batch model"],
) -> tuple[Float[np.ndarray, "model rank"], ModelFloats]:
    """Each model's probability of each rank, and its expected regret, from draws; twins share their ranks."""
    draws = means.reshape(-1, means.shape[-1])
    n_models = draws.shape[1]
    counts = np.zeros((n_models, n_models))
    order = np.argsort(draws, axis=1, kind="stable")  # draw, rank
    for rank in range(n_models):
        counts[:, rank] = np.bincount(order[:, rank], minlength=n_models)
    regret = (draws - draws.min(1, keepdims=True)).mean(0)
    # draws of models that differ never tie, and those of twins always do
    for value in np.unique(draws[0]):
        twins = draws[0] == value
        counts[twins] = counts[twins].mean(0)
    return counts / len(draws), regret


def tiers(drawn: Float[np.ndarray, "*batch model"], means: ModelFloats, rope: float = 0.0) -> ModelInts:
    """The tier of each model, from 1, in the order of the mean scores."""
    n_models = len(means)
    draws = drawn.reshape(-1, n_models)
    order = np.argsort(means, kind="stable")
    sorted_draws = draws[:, order]
    worst_above = np.maximum.accumulate(sorted_draws, axis=1)
    from_the_last = np.minimum.accumulate(sorted_draws[:, ::-1], axis=1)
    gap = from_the_last[:, -2::-1] - worst_above[:, :-1]
    chance = (gap > rope).sum(0)
    likely = chance >= CUT * len(draws)
    differ = np.diff(means[order]) > 0
    tier = np.ones(n_models, np.int64)
    tier[order[1:]] += np.cumsum(likely & differ)
    return tier


@dataclass(frozen=True, eq=False)
class Posterior:
    """What was computed for the models with finite scores, in their order; `estimate` is of these groups."""

    estimate: Estimate
    margins: Sequence[Margin] = ()
    means: Float[np.ndarray, "chain draw model"] | None = None
    ranked: Float[np.ndarray, "chain draw model"] | None = None  # partially pooled: for what compares all models
    population: Population | None = None
    run: "Run | None" = None  # that of these items
    of_groups: "Run | None" = None

    @cached_property
    def leading(self) -> Int[np.ndarray, " leading"]:
        """The models, by their places in the order, of which every pair is looked at by itself."""
        n_models = self.estimate.n_models
        return leading(self.estimate.mean[:n_models, 0])

    @cached_property
    def decisions(self) -> tuple[Float[np.ndarray, "model rank"], ModelFloats] | None:
        """Each model's probability of each rank, and its expected regret; None without draws."""
        if self.ranked is None:
            return None
        chances, regret = decide(self.ranked)
        if self.estimate.n_models == 2:  # the margin itself, to the last digit
            margin = self.margins[-1]
            first = [margin.below(0.0), margin.above(0.0)]
            chances = np.array([first, first[::-1]])
        return chances, regret


def engine_of(run: "Run | None") -> Mapping[str, object]:
    """The engine of a table, with the figures of its draws where there are any."""
    return {"engine": "exact"} if run is None else run.diagnostics()


def summary(tables: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """The figures of all tables' draws, the worst of each."""
    names = ("max_rhat", "min_ess", "divergences", "max_mcse", "end_mcse")
    found: dict[str, Any] = dict.fromkeys(("engine", "sampler", *names))
    found["engine"] = tables["pairwise"]["engine"]
    drawn: list[Mapping[str, Any]] = [figures for figures in tables.values() if figures["engine"] == "nuts"]
    if drawn:
        found["sampler"] = "; ".join(dict.fromkeys(figures["sampler"] for figures in drawn))
    for name in names:
        worst = min if name == "min_ess" else max
        values = [figures[name] for figures in drawn if figures[name] is not None]
        found[name] = worst(values, default=None)
    return {**found, "tables": tables}


def drawn_population(population: Population, options: Options) -> tuple[Population, "Run | None"]:
    """The population of groups with its posterior, by the engine that is asked for."""
    if options.engine == "exact":
        return population.by_quadrature(), None
    from probtruth.comparison.posterior.drawn import draw_population  # with JAX, which the closed form does without

    return draw_population(population, options)


def posterior_of(estimate: Estimate, population: Population | None, options: Options) -> Posterior:
    """The posterior of all models, pairs and groups."""
    n_models = estimate.n_models
    over_groups = estimate.over_groups()
    all_margins = margins(over_groups)
    of_pairs = all_margins[n_models:]
    total = over_groups.total()
    identified = np.isfinite([margin.centre + margin.scale for margin in all_margins])
    connected = n_models > 1 and bool(identified[n_models:].all())
    rows = np.flatnonzero(identified)
    if connected:
        rows = np.arange(n_models, len(identified))
    total = total.of(rows)
    df = total_df(total)
    tree = Tree.of(of_pairs, n_models, df) if connected else None
    run: Run | None = None
    of_groups: Run | None = None
    if population is not None:
        population, of_groups = drawn_population(population, options)
    shift = np.zeros((0, 0))
    if options.engine == "nuts" and identified.any():
        from probtruth.comparison.posterior.drawn import headline  # with JAX and NumPyro

        # one step more, of no correlation with the others, is for the models' own means
        of_model = all_margins[int(identified.argmax())]
        root = np.eye(1)
        centre = np.array([of_model.centre])
        scale = np.array([of_model.scale])
        if tree is not None:
            root = block_diag(root, tree.root)
            centre = np.append(centre, tree.centre)
            scale = np.append(scale, tree.scale)
        run, drawn = headline(centre, scale, root, df, options)
        shift = drawn[:, 1:]
        all_margins = [margin.drawn(-drawn[:, 0], df) for margin in all_margins]
        if tree is not None:
            pairs = pairs_of(np.arange(n_models))
            t = tree.t_of(pairs, shift, total.variance[:, 0])
            for at, margin in enumerate(of_pairs):
                all_margins[n_models + at] = margin.drawn(t[at], df)
    elif tree is not None:
        shift = closed_form(tree.root, df, options.draws, options.seed)
    means = None
    ranked = None
    if tree is not None:
        steps = tree.draw(of_pairs, shift, df)
        shape = (CHAINS, options.draws, n_models)
        means = tree.means(steps).reshape(shape)
        ranked = means
        if n_models > 2:
            resembling = tree.pooled(steps, options.seed)
            ranked = tree.means(resembling).reshape(shape)
    return Posterior(
        estimate=over_groups,
        margins=all_margins,
        means=means,
        ranked=ranked,
        population=population,
        run=run,
        of_groups=of_groups,
    )


def total_df(part: Part) -> float:
    """Degrees of freedom for all rows at once: those of the rows, weighted by their variances."""
    total = float(part.variance.sum())
    if total == 0:
        return float(part.df.max(initial=0.0))
    share = part.variance / total
    return float((share * part.df).sum())
