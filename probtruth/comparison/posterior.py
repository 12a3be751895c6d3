"""The posterior that a comparison reports, by the engine that is named, and the decisions that follow from it.

`auto` takes the closed form for the differences of these items, and NUTS for the population of groups; `nuts` takes
draws for both, and `exact` closed form and quadrature.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtr

from probtruth.comparison.draws import CHAINS, Tree, closed_form, decide
from probtruth.comparison.groups import Population
from probtruth.comparison.location import Location
from probtruth.comparison.margin import Margin, margins
from probtruth.comparison.options import Options
from probtruth.comparison.pairs import LEADING, contrasts, leading, pairs_of

if TYPE_CHECKING:
    from probtruth.inference.nuts import Draws

ACCEPT = 0.9  # Acceptance that NUTS aims at: with two or three groups, larger steps miss where they hardly differ
GROUP_DRAWS = 2000  # Of each chain, where NUTS draws the between-group sds alone

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Posterior:
    """What was computed for the models with finite scores, in their order; `rows` are these, then their pairs."""

    n_models: int = 0
    rows: Location | None = None
    margins: Sequence[Margin] = ()
    means: Float[np.ndarray, "chain draw model"] | None = None
    population: Population | None = None
    run: "Draws | None" = None

    @cached_property
    def leading(self) -> Int[np.ndarray, " leading"]:
        """The models, by their places in the order, of which every pair is looked at by itself."""
        if self.rows is None or self.n_models <= LEADING:
            return np.arange(self.n_models)
        return leading(contrasts(self.rows.mean[self.n_models :], self.n_models))

    @cached_property
    def decisions(self) -> tuple[Float[np.ndarray, "model rank"], Float[np.ndarray, " model"]] | None:
        """Each model's probability of each rank, and its expected regret; None without draws."""
        if self.means is None:
            return None
        chances, regret = decide(self.means)
        if self.n_models == 2:  # the margin itself, to the last digit
            best = np.array([self.margins[-1].below(0.0), self.margins[-1].above(0.0)])
            chances = np.stack([best, best[::-1]], axis=1)
        return chances, regret

    def diagnostics(self) -> dict[str, object]:
        """The figures of the draws that shown numbers come from; None where there are none."""
        found: dict[str, object] = {"engine": "exact"}
        found |= dict.fromkeys(("sampler", "max_rhat", "min_ess", "divergences", "max_mcse", "engines_agree"))
        if self.run is None:
            return found
        from probtruth.inference.diagnostics import convergence, mean_with_error

        sites, shape = self.run.sites, self.run.stats["lp"].shape
        rhat, ess = convergence({name: sites[name] for name in ("scale", "shift", "between") if name in sites})
        # of P(a better), of these items and in the population
        chances = [(one.draws < 0) * 1.0 for one in self.margins[self.n_models :] if one.draws is not None]
        if self.population is not None and "between" in sites:
            mixture = self.population.differences(False)
            with np.errstate(divide="ignore", invalid="ignore"):
                chances += list(ndtr(-mixture.mean / mixture.sd)[self.population.varies])
        return found | {
            "engine": "nuts",
            "sampler": f"NUTS, {CHAINS} chains of {shape[1]:,} draws",
            "max_rhat": rhat,
            "min_ess": ess,
            "divergences": int(self.run.stats["diverging"].sum()),
            "max_mcse": max((mean_with_error(one.reshape(shape))[1] for one in chances), default=0.0),
        }


def posterior_of(
    rows: Location, n_models: int, population: Population | None, options: Options, progress: Progress | None = None
) -> Posterior:
    """The posterior of all models, pairs and groups, from locations that have every part of the variance."""
    levels, pairs, found = rows.of(slice(n_models)), rows.of(slice(n_models, None)), margins(rows)
    tree = Tree.of(pairs, n_models) if n_models > 1 else None
    df = levels.total_df if tree is None else pairs.total_df
    data: dict[str, np.ndarray] = {}
    run, means, nuts = None, None, options.engine == "nuts"
    if nuts:  # one step more, of no correlation with the others, is for the models' own means
        root = np.eye(n_models)
        root[1:, 1:] = np.empty((0, 0)) if tree is None else tree.root
        data = {"df": np.asarray(df), "root": root}
    if population is not None and options.engine != "exact":
        data |= population.data()
    if data:
        from probtruth.comparison import program  # with JAX and NumPyro, which the closed form does without
        from probtruth.inference.nuts import sample

        draws = options.draws if nuts else GROUP_DRAWS
        run = sample(
            program.comparison,
            data,
            options.seed,
            draws=draws,
            chains=CHAINS,
            target_accept=ACCEPT,
            on_progress=progress,
        )
        population = None if population is None else population.from_draws(run.sites["between"])
    plain = found[n_models:]
    if run is not None and nuts:
        drawn = run.sites["shift"].reshape(-1, n_models)
        shift = drawn[:, 1:]
        found = [margin.drawn(drawn[:, 0], levels.total_df) for margin in found[:n_models]]
        if tree is not None:
            t = tree.t_of(pairs_of(np.arange(n_models)), shift, pairs.variance)
            found += [margin.drawn(row, df) for margin, row in zip(plain, t, strict=True)]
    elif tree is not None:
        shift = closed_form(tree.root, df, options.draws, options.seed)
    if tree is not None:
        means = tree.draw(plain, shift, df).reshape(CHAINS, options.draws, n_models)
    return Posterior(n_models, rows, found, means, population, run)
