"""What is unsure about mean differences though the items are held fixed: their labels, or answers given again."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.location import Location
from probtruth.comparison.pairs import all_pairs
from probtruth.errors import InputError, PosteriorError
from probtruth.kernels.arrays import moments_around_mean, to_host
from probtruth.types import Replicates, Scores

LARGE_DF = 1e6  # Degrees of freedom where a variance is known rather than estimated
BLOCK = 1 << 12  # Items whose losses by label are in memory at once

ItemWeights = Float[np.ndarray, " item"]
MeanMoments = tuple[float, float, float]  # Variance, third central moment and degrees of freedom of a mean


@dataclass(frozen=True, eq=False)
class FixedLabels:
    """What the labels leave unsure; `influence` is what each item does through fitted weights."""

    scores: Scores
    item_weights: ItemWeights
    influence: Float[np.ndarray, "model item"] | None = None

    @property
    def _known(self) -> bool:
        """Whether it is known how unsure the labels are."""
        behind = self.scores.labels
        if behind is None or behind.estimand == "class":
            return behind is not None
        if behind.shares is None or behind.n_votes is None:
            return False
        return behind.log_probs is not None or not (behind.n_votes == 1).any()

    def _weights(self, rows: slice) -> tuple[Float[np.ndarray, "some label"], Int[np.ndarray, " some"] | None]:
        """The weight of each label and the votes behind it, of some items."""
        behind = self.scores.labels
        assert behind is not None
        if behind.estimand == "class" or behind.shares is None or behind.n_votes is None:
            return to_host(behind.truth[rows]), None
        shares, votes = behind.shares[rows], behind.n_votes[rows]
        single = votes == 1
        return np.where(single[:, None], behind.forecast(rows), shares) if single.any() else shares, votes

    def moments(self, a: int, b: int | None = None) -> MeanMoments:
        """Those of a model's mean loss, or of a difference of two, over the labels."""
        behind = self.scores.labels
        if behind is None or not self._known:
            raise InputError(
                "scores without votes or class probabilities behind them",
                "labels whose uncertainty is known, for population='these-items'",
                "Score against a truth inferred from annotations, or leave population out for new items.",
            )
        models, total = [a] if b is None else [a, b], np.zeros(3)
        for start in range(0, len(self.item_weights), BLOCK):
            rows = slice(start, start + BLOCK)
            (own, votes), share = self._weights(rows), self.item_weights[rows]
            loss = np.where(own > 0, to_host(behind.losses_of(np.array(models), rows)), 0.0)
            if not np.isfinite(loss).all():
                model, item, _ = np.argwhere(~np.isfinite(loss))[0]
                raise PosteriorError(
                    f"model {self.scores.models[models[model]]!r} has an infinite loss under a label that item "
                    f"{self.scores.items[start + item]!r} may have: the variance due to labels is infinite. "
                    "Hint: score with a floor, or with another rule."
                )
            second, third = moments_around_mean(loss[0] if b is None else loss[0] - loss[1], own)
            df: float | np.ndarray = np.inf
            if votes is not None:  # of the mean over the votes, without bias
                m = votes.astype(np.float64)
                df = np.where(m > 1, m - 1, np.inf)
                second = np.where(m > 1, second / np.maximum(m - 1, 1), second)
                third = np.where(m > 2, third / np.maximum((m - 1) * (m - 2), 1), np.where(m == 2, 0.0, third))
            second, third = second * share**2, third * share**3
            total += [second.sum(), third.sum(), (second**2 / df).sum()]
        variance, third, spread = total.tolist()
        return variance, third, min(variance**2 / spread, LARGE_DF) if spread > 0 else LARGE_DF

    def variance(self, a: int, b: int) -> float | None:
        """The labels' part of the variance of a mean difference; None where it is not known, or infinite."""
        if not self._known:
            return None
        try:
            within = self.moments(a, b)[0]
        except PosteriorError:
            return None
        if self.influence is None:
            return within
        expected = self.scores.losses[a] - self.scores.losses[b]
        weights, shifted = self.item_weights, expected + self.influence[a] - self.influence[b]
        one, other = (float(((row - row @ weights) ** 2) @ weights**2) for row in (shifted, expected))
        return max(one - other - within, 0.0)

    def locations(self, order: Int[np.ndarray, " finite"]) -> tuple[Location, Location]:
        return _located(self.scores, order, self.item_weights, self.moments)


@dataclass(frozen=True, eq=False)
class FixedReplicates:
    """What answers given again would change; `correlation` is that of folds."""

    scores: Scores
    replicates: Replicates
    item_weights: ItemWeights
    correlation: float | None

    def moments(self, a: int, b: int | None = None) -> MeanMoments:
        """Those of a model's mean, or of a difference of two, over the replicates."""
        models = [a] if b is None else [a, b]
        tables = self.replicates.values[models]
        if ((seen := (~np.isnan(tables)).sum(2)) < 2).any():
            model, item = np.argwhere(seen < 2)[0]
            raise InputError(
                "one replicate",
                "at least two of every item, for population='these-items'",
                "Repeat it, or leave population out for new items.",
                f"model {self.scores.models[models[model]]!r}, item {self.scores.items[item]!r}",
            )
        shared, variance, spread = 0.0, 0.0, 0.0
        if self.correlation is not None:
            shared = self.correlation / (1 - self.correlation)
            tables = tables if b is None else tables[:1] - tables[1:]
        for table in tables:
            n = (~np.isnan(table)).sum(1)
            if (n < 2).any():
                wanted = "the same folds for every model"
                raise InputError("folds that the two models do not share", wanted, "Name folds alike.")
            square = np.nansum((table - np.nanmean(table, axis=1, keepdims=True)) ** 2, axis=1) / (n - 1)
            part = self.item_weights**2 * square * (1 / n + shared)
            variance, spread = variance + float(part.sum()), spread + float((part**2 / (n - 1)).sum())
        return variance, 0.0, min(variance**2 / spread, LARGE_DF) if spread > 0 else LARGE_DF

    def variance(self, a: int, b: int) -> float | None:
        """The replicates' part of the variance of a mean difference; None where an item has only one."""
        if (np.isfinite(self.replicates.values[[a, b]]).sum(2) < 2).any():
            return None
        return FixedReplicates(self.scores, self.replicates, self.item_weights, None).moments(a, b)[0]

    def locations(self, order: Int[np.ndarray, " finite"]) -> tuple[Location, Location]:
        return _located(self.scores, order, self.item_weights, self.moments)


def _located(
    scores: Scores, order: Int[np.ndarray, " finite"], weights: ItemWeights, moments: Callable[..., MeanMoments]
) -> tuple[Location, Location]:
    """The posterior of the pairs' mean differences and of the models' mean scores."""
    models, losses, found = order.tolist(), scores.losses[order], []
    for rows in (all_pairs(len(models)), [(at,) for at in range(len(models))]):
        mean = np.array([float(((losses[a] - (losses[b[0]] if b else 0.0)) * weights).sum()) for a, *b in rows])
        parts = np.array([moments(*(models[at] for at in row)) for row in rows], np.float64).reshape(-1, 3)
        variance, third, df = parts.T
        found.append(Location(len(weights), mean, variance, mean, variance, third, df))
    return found[0], found[1]
