"""A scoring rule: a loss for each label, with its entropy and divergence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels import simplex
from probtruth.kernels.precision import float64_for_numpy
from probtruth.scoring.rules.proper import Losses, Probs
from probtruth.types.index import as_names
from probtruth.types.shown import Brief

OneTable = Callable[[Array], Array]
TwoTables = Callable[[Array, Array], Array]
Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True, repr=False)
class ScoringRule(Brief):
    """A rule that gives a forecast a loss (lower is better) once the label is known.

    `per_label(probs)` is the loss if the label were k, for every k; `expected(probs, truth)` its mean when the label
    is drawn from `truth`; `entropy(truth)` the least expected loss that any report can reach; `divergence(probs,
    truth)` the rest, so that expected = entropy + divergence. All are
    for jit, vmap and grad, last axis = label; NumPy arrays of float64 are computed in float64.

    `losses` is the kernel of `per_label`, from which the others follow for a proper rule; the optional fields are
    shorter or more exact ways to them, `log_losses` and `log_divergence` from log-probabilities. All take JAX arrays
    of one floating type.

    `proper`: reporting the truth is a best report. `strictly_proper`: it is the only one. `local`: the loss depends on
    the forecast only through the probability of the observed label. `range` bounds the loss over all numbers of labels
    (`range_for(n_labels)` for one number). `n_labels` is set if a rule is defined only for that number. `ordered`: the
    loss depends on the order of the labels, `order` from lowest to highest (None: the order of the axis). `of_shares`:
    the loss is a distance to the shares of the votes, which is not the mean of the losses of the single votes, with
    `proper_kin` as the name of the proper rule of its kind.
    """

    name: str
    formula: str
    source: str
    losses: OneTable
    range: Interval
    proper: bool = True
    strictly_proper: bool = True
    local: bool = False
    n_labels: int | None = None
    expected_kernel: TwoTables | None = None
    entropy_kernel: OneTable | None = None
    divergence_kernel: TwoTables | None = None
    log_losses: OneTable | None = None
    log_divergence: TwoTables | None = None
    range_by_labels: Callable[[int], Interval] | None = None
    ordered: bool = False
    order: tuple[str, ...] | None = None
    of_shares: bool = False
    proper_kin: str | None = None

    @float64_for_numpy
    def per_label(self, probs: Probs) -> Float[Array, "*batch label"]:
        """The loss if the label were k, for every k.

        Arguments:
            probs: probabilities; the last axis is the label.
        """
        return self.losses(*simplex.as_floats(probs))

    @float64_for_numpy
    def expected(self, probs: Probs, truth: Probs) -> Losses:
        """The mean loss when the label is drawn from `truth`; a label of probability 0 adds nothing.

        Arguments:
            probs: probabilities, one for each label on the last axis.
            truth: one-hot, or a distribution over labels; the last axis is the label.
        """
        floats, weights = simplex.as_floats(probs, truth)
        if self.expected_kernel is not None:
            return self.expected_kernel(floats, weights)
        return simplex.expectation(weights, self.losses(floats))

    @float64_for_numpy
    def entropy(self, truth: Probs) -> Losses:
        """The least expected loss that any report can reach.

        Arguments:
            truth: one-hot, or a distribution over labels; the last axis is the label.
        """
        (weights,) = simplex.as_floats(truth)
        return self.expected(weights, weights) if self.entropy_kernel is None else self.entropy_kernel(weights)

    @float64_for_numpy
    def divergence(self, probs: Probs, truth: Probs) -> Losses:
        """What of the expected loss is above the entropy; never negative.

        Arguments:
            probs: probabilities, one for each label on the last axis.
            truth: one-hot, or a distribution over labels; the last axis is the label.
        """
        floats, weights = simplex.as_floats(probs, truth)
        if self.divergence_kernel is not None:
            return self.divergence_kernel(floats, weights)
        return jnp.maximum(self.expected(floats, weights) - self.entropy(weights), 0)

    @float64_for_numpy
    def per_label_from_log(self, log_probs: Probs) -> Float[Array, "*batch label"]:
        """The loss if the label were k, from log-probabilities; exact if the rule is a function of logarithms.

        Arguments:
            log_probs: natural logarithms of the probabilities; the last axis is the label.
        """
        (logs,) = simplex.as_floats(log_probs)
        return self.losses(jnp.exp(logs)) if self.log_losses is None else self.log_losses(logs)

    @float64_for_numpy
    def expected_from_log(self, log_probs: Probs, truth: Probs) -> Losses:
        """The expected loss from log-probabilities; a label of probability 0 adds nothing.

        Arguments:
            log_probs: natural logarithms of the probabilities; the last axis is the label.
            truth: one-hot, or a distribution over labels; the last axis is the label.
        """
        logs, weights = simplex.as_floats(log_probs, truth)
        if self.of_shares:
            return self.expected(jnp.exp(logs), weights)
        return simplex.expectation(weights, self.per_label_from_log(logs))

    @float64_for_numpy
    def divergence_from_log(self, log_probs: Probs, truth: Probs) -> Losses:
        """The divergence from log-probabilities; exact if the rule is a function of logarithms.

        Arguments:
            log_probs: natural logarithms of the probabilities; the last axis is the label.
            truth: one-hot, or a distribution over labels; the last axis is the label.
        """
        logs, weights = simplex.as_floats(log_probs, truth)
        if self.log_divergence is not None:
            return self.log_divergence(logs, weights)
        if self.log_losses is None or self.divergence_kernel is not None:
            return self.divergence(jnp.exp(logs), weights)
        return jnp.maximum(self.expected_from_log(logs, weights) - self.entropy(weights), 0)

    def in_order(self, order: Sequence[object]) -> "ScoringRule":
        """The rule for labels whose names, from lowest to highest, are these.

        Arguments:
            order: the labels from low to high.

        Errors: `InputError` if the rule does not depend on an order, or a label occurs twice.

        >>> import probtruth as pt
        >>> pt.rules.ranked_probability.in_order(["low", "medium", "high"]).order
        ('low', 'medium', 'high')
        """
        if not self.ordered:
            raise InputError(f"an order of labels for the rule {self.name!r}", "a rule that has one", "Leave it out.")
        names = tuple(as_names(order, "order") or ())
        check.unique(names, "label")
        return replace(self, order=names)

    def for_labels(self, labels: Sequence[str]) -> "ScoringRule":
        """The rule on probabilities of these labels, in this order; for any labels if it does not depend on one.

        Numbers are ordered by value, text by `in_order`; two labels need no order.

        Arguments:
            labels: the names of the labels, in the order of the columns.

        Errors: `InputError` for another number of labels than the rule is defined for, text without an order, or an
        order that lacks a label.
        """
        if self.n_labels not in (None, len(labels)):
            wanted = f"{self.n_labels} labels for the rule {self.name!r}"
            raise InputError(f"{len(labels)} labels", wanted, "Choose a rule for any number.")
        if not self.ordered or (self.order is None and len(labels) <= 2):  # of two labels either may be the lower
            return self
        names = self.order or _by_value(self.name, labels)
        for label in labels:
            check.one_of(label, names, "order lacks the label")
        listed = list(labels)
        from_low = [name for name in names if name in listed]
        positions = tuple(listed.index(name) for name in from_low)
        return _permuted(replace(self, order=tuple(from_low)), positions)

    def range_for(self, n_labels: int) -> Interval:
        """Least and greatest loss for that number of labels.

        Arguments:
            n_labels: the number of labels.
        """
        return self.range if self.range_by_labels is None else self.range_by_labels(n_labels)


def _by_value(rule: str, labels: Sequence[str]) -> tuple[str, ...]:
    """Labels that are numbers, in ascending order."""
    try:
        values = dict(zip(labels, check.finite_numbers(labels, True), strict=True))
        return tuple(sorted(labels, key=values.__getitem__))
    except ValueError:
        raise InputError(
            f"the rule {rule!r} for the labels {check.shortlist(labels)}",
            "labels that are numbers, each another one, or their order",
            "Give order=[lowest, ..., highest] "
            f"(command line: --rule {rule}:lowest,...,highest); "
            f"where a function has no order, rule=probtruth.rules.get_rule({rule!r}, [...]).",
        ) from None


@cache
def _permuted(rule: ScoringRule, from_low: tuple[int, ...]) -> ScoringRule:
    """The rule on an axis of labels in another order, given the positions from the lowest label up."""
    low, back = np.array(from_low), np.argsort(from_low)
    if (low == np.arange(len(low))).all():
        return rule
    return replace(
        rule,
        losses=lambda probs: rule.losses(probs[..., low])[..., back],
        expected_kernel=lambda probs, truth: rule.expected(probs[..., low], truth[..., low]),
        entropy_kernel=lambda truth: rule.entropy(truth[..., low]),
        divergence_kernel=lambda probs, truth: rule.divergence(probs[..., low], truth[..., low]),
    )
