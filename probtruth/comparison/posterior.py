"""The posterior that a comparison reports, by the engine that is named, and the decisions that follow from it.

`auto` takes the closed form for the differences of these items, and NUTS for the population of groups; `nuts` takes
draws for both, and `exact` closed form and quadrature.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtr

from probtruth.comparison.decisions import Decisions, decide, tiers
from probtruth.comparison.draws import CHAINS, Tree, closed_form
from probtruth.comparison.groups import Population, from_draws
from probtruth.comparison.location import Location
from probtruth.comparison.margin import DrawnMargin, Margin, margins
from probtruth.comparison.options import Options
from probtruth.comparison.pairs import LEADING, contrasts, leading, pairs_of

ACCEPT = 0.9  # Acceptance that NUTS aims at: with two or three groups, larger steps miss where they hardly differ
GROUP_DRAWS = 2000  # Of each chain, where NUTS draws the between-group sds alone

Progress = Callable[[int, int], None]
AnyMargin = Margin | DrawnMargin


@dataclass(frozen=True, eq=False)
class Run:
    """What NUTS drew, and the figures that gate it."""

    sites: Mapping[str, np.ndarray]
    stats: Mapping[str, np.ndarray]
    max_rhat: float
    min_ess: float

    @classmethod
    def of(cls, data: Mapping[str, np.ndarray], draws: int, seed: int, progress: Progress | None) -> "Run":
        from probtruth.comparison import program  # with JAX and NumPyro, which the closed form does without
        from probtruth.inference import diagnostics, nuts

        drawn = nuts.sample(
            program.comparison,
            data,
            seed,
            draws=draws,
            chains=CHAINS,
            target_accept=ACCEPT,
            on_progress=progress,
        )
        shown = {name: drawn.sites[name] for name in ("scale", "shift", "between") if name in drawn.sites}
        return cls(drawn.sites, drawn.stats, *diagnostics.convergence(shown))


@dataclass(frozen=True, eq=False)
class Posterior:
    """What was computed for the models with finite scores, in their order."""

    pairs: Location | None = None
    levels: Location | None = None
    margins: Sequence[AnyMargin] = ()
    own: Sequence[AnyMargin] = ()
    means: Float[np.ndarray, "chain draw model"] | None = None
    population: Population | None = None
    run: Run | None = None

    @property
    def n_models(self) -> int:
        return 0 if self.levels is None else len(self.levels.mean)

    @cached_property
    def leading(self) -> Int[np.ndarray, " leading"]:
        """The models, by their places in the order, of which every pair is looked at by itself."""
        if self.pairs is None or self.n_models <= LEADING:
            return np.arange(self.n_models)
        return leading(contrasts(self.pairs.mean, self.n_models))

    @cached_property
    def decisions(self) -> Decisions | None:
        """P(best), ranks and regret; None without draws."""
        if self.means is None:
            return None
        decided = decide(self.means)
        if self.n_models == 2:  # the margin itself, to the last digit
            best = np.array([self.margins[0].below(0.0), self.margins[0].above(0.0)])
            rank = np.stack([best, best[::-1]], axis=1)
            decided = Decisions(best, rank, rank @ np.array([1.0, 2.0]), decided.expected_regret)
        return decided

    def tiers(self, rope: float | None) -> Sequence[int] | None:
        """The tier of each model; None without draws."""
        if self.means is None or self.levels is None:
            return None
        found: list[int] = tiers(self.means, self.levels.mean, rope or 0.0).tolist()
        return found

    def diagnostics(self) -> dict[str, object]:
        """The figures of the draws that shown numbers come from; None where there are none."""
        run = self.run
        return {
            "engine": "exact" if run is None else "nuts",
            "sampler": None if run is None else f"NUTS, {CHAINS} chains of {run.stats['lp'].shape[1]:,} draws",
            "max_rhat": None if run is None else run.max_rhat,
            "min_ess": None if run is None else run.min_ess,
            "divergences": None if run is None else int(run.stats["diverging"].sum()),
            "max_mcse": None if run is None else self._largest_error(run),
            "engines_agree": None,  # one engine made every number
        }

    def _largest_error(self, run: Run) -> float:
        """The largest Monte Carlo standard error of P(a better), of these items or in the population."""
        from probtruth.inference.diagnostics import mean_with_error

        shape = run.stats["lp"].shape
        chances = [margin.favours.reshape(shape) for margin in self.margins if isinstance(margin, DrawnMargin)]
        if self.population is not None and "between" in run.sites:
            mixture = self.population.differences(False)
            with np.errstate(divide="ignore", invalid="ignore"):
                below = ndtr(-mixture.mean / mixture.sd)[self.population.varies]
            chances += list(below.reshape(-1, *shape))
        return max((mean_with_error(one)[1] for one in chances), default=0.0)


def posterior_of(
    pairs: Location,
    levels: Location,
    population: Population | None,
    options: Options,
    progress: Progress | None = None,
) -> Posterior:
    """The posterior of all pairs, models and groups; `pairs` and `levels` have every part of the variance."""
    n_models, df, draws, seed = len(levels.mean), pairs.total_df, options.draws, options.seed
    plain, plain_own = margins(pairs), margins(levels)
    of_pairs: Sequence[AnyMargin] = plain
    own: Sequence[AnyMargin] = plain_own
    tree = Tree.of(pairs, n_models) if n_models > 1 else None
    data: dict[str, np.ndarray] = {}
    if options.engine == "nuts":
        # one step more, of no correlation with the others, is for the models' own means
        root = np.eye(n_models)
        if tree is None:
            df = levels.total_df
        else:
            root[1:, 1:] = tree.root
        data = {"df": np.asarray(df), "root": root}
    if population is not None and options.engine != "exact":
        data |= population.data()
        draws = draws if options.engine == "nuts" else GROUP_DRAWS
    run = Run.of(data, draws, seed, progress) if data else None
    if run is not None and population is not None:
        between = run.sites["between"]
        population = replace(
            population, posterior=from_draws(population.groups, between.reshape(-1, between.shape[-1]))
        )
    if run is None or "shift" not in run.sites:
        shift, shape = (
            None if tree is None else closed_form(tree.root, df, options.draws, seed),
            (CHAINS, options.draws),
        )
    else:
        drawn, shape = run.sites["shift"].reshape(-1, n_models), (CHAINS, options.draws)
        shift = drawn[:, 1:]
        own = [DrawnMargin.of(margin, drawn[:, 0], levels.total_df) for margin in plain_own]
    means = None
    if tree is not None and shift is not None:
        means = tree.draw(plain, shift, df).reshape(*shape, n_models)
        if run is not None and "shift" in run.sites:
            t = tree.t_of(pairs_of(np.arange(n_models)), shift, pairs.variance)
            of_pairs = [DrawnMargin.of(margin, row, df) for margin, row in zip(plain, t, strict=True)]
    return Posterior(pairs, levels, of_pairs, own, means, population, run)
