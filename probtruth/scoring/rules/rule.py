"""A scoring rule: a loss for each label, with its entropy and divergence."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.frames import name_text
from probtruth.kernels import simplex
from probtruth.scoring.rules.proper import Losses, Probs
from probtruth.types.shown import Shown

OneArgument = Callable[[Probs], Array]
TwoArguments = Callable[[Probs, Probs], Array]
Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True, repr=False)
class ScoringRule(Shown):
    """A rule that gives a forecast a loss (lower is better) once the label is known.

    `per_label(probs)` is the loss if the label were k, for every k; `expected(probs, truth)` its mean when the label
    is drawn from `truth`; `entropy(truth)` the least expected loss that any report can reach; `divergence(probs,
    truth)` the rest, computed by its own formula, so that expected = entropy + divergence. All are pure kernels for
    jit, vmap and grad, last axis = label.

    `proper`: reporting the truth is a best report. `strictly_proper`: it is the only one. `local`: the loss depends on
    the forecast only through the probability of the observed label. `range` bounds the loss over all numbers of labels
    (`range_for(n_labels)` for one number). `n_labels` is set if a rule is defined only for that number. `ordered`: the
    loss depends on the order of the labels, `order` from lowest to highest (None: the order of the axis).
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
    ordered: bool = False
    order: tuple[str, ...] | None = None

    def in_order(self, order: Sequence[object]) -> "ScoringRule":
        """The rule for labels whose names, from lowest to highest, are these.

        Errors: `InputError` if the rule does not depend on an order, or a label occurs twice.

        >>> import probtruth as pt
        >>> pt.rules.ranked_probability.in_order(["low", "medium", "high"]).order
        ('low', 'medium', 'high')
        """
        if not self.ordered:
            raise InputError(f"an order of labels for the rule {self.name!r}", "a rule that has one", "Leave it out.")
        listed = tuple(order) if isinstance(order, Iterable) and not isinstance(order, str) else ()
        names = tuple(map(name_text, listed))
        if not names:
            raise InputError(f"the order {order!r}", "a list of labels", "Write order=['low', 'medium', 'high'].")
        check.unique(names, "label")
        return replace(self, order=names)

    def for_labels(self, labels: Sequence[str]) -> "ScoringRule":
        """The rule on probabilities of these labels, in this order; for any labels if it does not depend on one.

        Numbers are ordered by value, text by `in_order`; two labels need no order.

        Errors: `InputError` for another number of labels than the rule is defined for, text without an order, or an
        order that lacks a label.
        """
        if self.n_labels not in (None, len(labels)):
            raise InputError(
                f"{len(labels)} labels",
                f"{self.n_labels} labels for the rule {self.name!r}",
                "Choose a rule for any number.",
            )
        if not self.ordered or (self.order is None and len(labels) <= 2):  # of two labels either may be the lower
            return self
        names = self.order or _by_value(self.name, labels)
        for label in labels:
            check.one_of(label, names, "order lacks the label")
        there = tuple(name for name in names if name in labels)
        from_low = np.array([tuple(labels).index(name) for name in there])
        return _permuted(replace(self, order=there), from_low)

    def per_label_from_log(self, log_probs: Probs) -> Float[Array, "*batch label"]:
        """The loss if the label were k, from log-probabilities; exact if the rule is a function of logarithms."""
        if self.log_losses is not None:
            return self.log_losses(log_probs)
        return self.per_label(jnp.exp(*simplex.as_floats(log_probs)))

    def expected_from_log(self, log_probs: Probs, truth: Probs) -> Losses:
        """The expected loss from log-probabilities; a label of probability 0 adds nothing, even if its loss is
        infinite."""
        logs, weights = simplex.as_floats(log_probs, truth)
        return simplex.expectation(weights, self.per_label_from_log(logs))

    def divergence_from_log(self, log_probs: Probs, truth: Probs) -> Losses:
        """The divergence from log-probabilities; exact if the rule is a function of logarithms."""
        if self.log_divergence is not None:
            return self.log_divergence(log_probs, truth)
        weights, logs = simplex.as_floats(truth, log_probs)
        return self.divergence(jnp.exp(logs), weights)

    def range_for(self, n_labels: int) -> Interval:
        """Least and greatest loss for that number of labels."""
        return self.range if self.range_by_labels is None else self.range_by_labels(n_labels)


@partial(jax.jit, static_argnums=0)
def expected_of(rule: ScoringRule, probs: Probs, truth: Probs) -> Losses:
    """`rule.expected`, compiled once for each rule and shape."""
    return rule.expected(probs, truth)


@partial(jax.jit, static_argnums=0)
def expected_from_log_of(rule: ScoringRule, log_probs: Probs, truth: Probs) -> Losses:
    """`rule.expected_from_log`, compiled once for each rule and shape."""
    return rule.expected_from_log(log_probs, truth)


def _by_value(rule: str, labels: Sequence[str]) -> tuple[str, ...]:
    """Labels that are numbers, in ascending order."""
    try:
        value_of = dict(zip(labels, check.finite_numbers(labels, distinct=True), strict=True))
        return tuple(sorted(labels, key=value_of.__getitem__))
    except ValueError:
        raise InputError(
            f"the rule {rule!r} for the labels {check.shortlist(labels)}",
            "labels that are numbers, each another one, or their order",
            "Give order=[lowest, ..., highest] (command line: --label-order lowest,...,highest); where a function has "
            f"no order, rule=probtruth.rules.RULES[{rule!r}].in_order([...]).",
        ) from None


def _permuted(rule: ScoringRule, from_low: Int[np.ndarray, " label"]) -> ScoringRule:
    """The rule on an axis of labels in another order; `from_low` are their positions from the lowest label up."""
    if (from_low == np.arange(len(from_low))).all():
        return rule
    return _permutation(rule, tuple(from_low.tolist()))


@cache
def _permutation(rule: ScoringRule, from_low: tuple[int, ...]) -> ScoringRule:
    """One rule for each order, so that its code is compiled once."""
    back, low = np.argsort(from_low), np.array(from_low)
    return replace(
        rule,
        per_label=lambda probs: rule.per_label(jnp.asarray(probs)[..., low])[..., back],
        expected=lambda probs, truth: rule.expected(jnp.asarray(probs)[..., low], jnp.asarray(truth)[..., low]),
        entropy=lambda truth: rule.entropy(jnp.asarray(truth)[..., low]),
        divergence=lambda truth, probs: rule.divergence(jnp.asarray(truth)[..., low], jnp.asarray(probs)[..., low]),
    )
