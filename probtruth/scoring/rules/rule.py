"""What a scoring rule is: a loss for each label, with the entropy and the divergence that belong to it."""

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from probtruth.kernels import simplex
from probtruth.scoring.proper import Losses, Probs

OneArgument = Callable[[Probs], Array]
TwoArguments = Callable[[Probs, Probs], Array]
Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class ScoringRule:
    """A rule that gives a loss (lower is better) to a forecast once the label is known.

    `per_label(probs)` is the loss if the label were k, for every k; `expected(probs, truth)` its mean when the label is
    drawn from `truth`; `entropy(truth)` the least expected loss that any report can reach; `divergence(probs, truth)`
    the rest, computed by a formula of its own, so that expected = entropy + divergence. All are pure kernels for jit,
    vmap and grad, last axis = label.

    `proper`: reporting the truth is a best report. `strictly_proper`: it is the only one. `local`: the loss depends on
    the forecast only through the probability of the label that came. `range` bounds the loss over all numbers of
    labels (`range_for(n_labels)` for one number). `n_labels` is set where a rule is defined for that number only.
    """

    name: str
    formula: str
    source: str
    per_label: OneArgument
    expected: TwoArguments
    entropy: OneArgument
    divergence: TwoArguments
    range: Interval
    proper: bool = True
    strictly_proper: bool = True
    local: bool = False
    n_labels: int | None = None
    log_losses: OneArgument | None = None
    log_divergence: TwoArguments | None = None
    range_by_labels: Callable[[int], Interval] | None = None

    def per_label_from_log(self, log_probs: Probs) -> Float[Array, "*batch label"]:
        """The loss if the label were k, from log-probabilities; exact where the rule is a function of logarithms."""
        if self.log_losses is not None:
            return self.log_losses(log_probs)
        return self.per_label(jnp.exp(*simplex.as_floats(log_probs)))

    def expected_from_log(self, log_probs: Probs, truth: Probs) -> Losses:
        """The expected loss from log-probabilities; a label of probability 0 takes nothing of an infinite loss."""
        logs, weights = simplex.as_floats(log_probs, truth)
        return simplex.expectation(weights, self.per_label_from_log(logs))

    def divergence_from_log(self, log_probs: Probs, truth: Probs) -> Losses:
        """The divergence from log-probabilities; exact where the rule is a function of logarithms."""
        if self.log_divergence is not None:
            return self.log_divergence(log_probs, truth)
        weights, logs = simplex.as_floats(truth, log_probs)
        return self.divergence(jnp.exp(logs), weights)

    def range_for(self, n_labels: int) -> Interval:
        """Least and greatest loss for that number of labels."""
        return self.range if self.range_by_labels is None else self.range_by_labels(n_labels)
