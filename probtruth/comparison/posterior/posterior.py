"""What was computed for the models of a comparison, and the decisions that follow from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.companions.paired_tests import Companion
from probtruth.comparison.evidence.moments import Location, contrasts
from probtruth.comparison.evidence.sweeps import LEADING, leading, pair_rows_of, pairs_of
from probtruth.comparison.posterior.decisions import Decisions, decide, interchangeable, symmetric, tiers
from probtruth.comparison.posterior.engines import Sampled
from probtruth.comparison.posterior.joint_draws import rake
from probtruth.comparison.posterior.margins import Margin
from probtruth.comparison.posterior.population import Population

if TYPE_CHECKING:
    from probtruth.comparison.likelihoods.fit import Fitted


@dataclass(frozen=True, eq=False)
class Posterior:
    """What was computed for the models with finite scores, in their order.

    `margins` are the reported posteriors of the pairs' differences; `tests` are the companions where they are not those
    of a mean.
    """

    pairs: Location | None = None
    levels: Location | None = None
    margins: Sequence[Margin] = ()
    sampled: Sampled | None = None
    population: Population | None = None
    fitted: "Fitted | None" = None
    tests: Sequence[Companion] | None = None

    @property
    def n_models(self) -> int:
        """Number of models with finite scores."""
        return 0 if self.levels is None else len(self.levels.mean)

    @property
    def runs(self) -> dict[str, Sampled]:
        """The draws (or their diagnostics alone), by what they are of."""
        runs = {
            "items": self.sampled,
            "population": None if self.population is None else self.population.sampled,
            "likelihood": None if self.fitted is None else self.fitted.run,
        }
        return {name: run for name, run in runs.items() if run is not None}

    @cached_property
    def share(self) -> Float[np.ndarray, " draw"]:
        """The draws' weights under which every pair of leading models is ordered as often as its margin says.

        Were all pairs of many models to be so, most draws would be left without weight.
        """
        if self.sampled is None:
            return np.zeros(0)
        contrast = self.sampled.sites["contrast"][..., self.leading]
        return rake(contrast, [self.margins[row] for row in self.leading_rows])

    @cached_property
    def leading(self) -> Int[np.ndarray, " leading"]:
        """The models, by their places in the order, of which every pair is looked at by itself."""
        if self.pairs is None or self.n_models <= LEADING:
            return np.arange(self.n_models)
        return leading(contrasts(self.pairs.mean, self.n_models))

    @cached_property
    def leading_rows(self) -> Int[np.ndarray, " row"]:
        """The rows of the pairs of leading models."""
        return pair_rows_of(pairs_of(self.leading), self.n_models)

    @cached_property
    def decisions(self) -> Decisions | None:
        """P(best), ranks and regret; None without draws."""
        if self.sampled is None or self.pairs is None:
            return None
        decided = decide(self.sampled.sites["contrast"], self.share)
        if self.n_models == 2:  # the margin itself, to the last digit
            best = np.array([self.margins[0].below(0.0), self.margins[0].above(0.0)])
            rank = np.stack([best, best[::-1]], axis=1)
            decided = Decisions(best, rank, rank @ np.array([1.0, 2.0]), decided.expected_regret)
        return symmetric(decided, interchangeable(self.pairs, self.n_models))

    def tiers(self, rope: float | None) -> Sequence[int] | None:
        """The tier of each model; None without draws."""
        if self.sampled is None or self.levels is None:
            return None
        found: list[int] = tiers(self.sampled.sites["contrast"], self.share, self.levels.mean, rope or 0.0).tolist()
        return found
