"""The named rules: log, Brier, quadratic, spherical, ranked probability, zero-one, linear.

The named rules, and the values of an option `rule`.
"""

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels import simplex
from probtruth.scoring.rules import proper
from probtruth.scoring.rules.proper import Losses, Probs
from probtruth.scoring.rules.rule import ScoringRule
from probtruth.types.arguments import RuleName

Rows = Float[Array, "*batch label"]

INFINITE = float("inf")
GNEITING_RAFTERY = "Gneiting and Raftery (2007), doi:10.1198/016214506000001437"


def _log_per_label(probs: Probs) -> Rows:
    (floats,) = simplex.as_floats(probs)
    return -simplex.log(floats)


def _log_losses(log_probs: Probs) -> Rows:
    (logs,) = simplex.as_floats(log_probs)
    return -logs


def _log_divergence_from_log(log_probs: Probs, truth: Probs) -> Losses:
    weights, logs = simplex.as_floats(truth, log_probs)
    return simplex.relative_entropy_terms_from_log(weights, logs).sum(-1)


def _squares(floats: Rows) -> Float[Array, "*batch 1"]:
    return (floats * floats).sum(-1, keepdims=True)


def _brier_per_label(probs: Probs) -> Rows:
    (floats,) = simplex.as_floats(probs)
    return (1 - floats) ** 2 + (_squares(floats) - floats * floats)


def _brier_entropy(truth: Probs) -> Losses:
    (weights,) = simplex.as_floats(truth)
    return (weights * (1 - weights)).sum(-1)


def _squared_distance(probs: Probs, truth: Probs) -> Losses:
    weights, floats = simplex.as_floats(truth, probs)
    return ((floats - weights) ** 2).sum(-1)


def _quadratic_per_label(probs: Probs) -> Rows:
    (floats,) = simplex.as_floats(probs)
    return _squares(floats) - 2 * floats


def _quadratic_entropy(truth: Probs) -> Losses:
    (weights,) = simplex.as_floats(truth)
    return -(weights * weights).sum(-1)


def _spherical_per_label(probs: Probs) -> Rows:
    (floats,) = simplex.as_floats(probs)
    return -floats / jnp.sqrt(_squares(floats))


def _spherical_entropy(truth: Probs) -> Losses:
    (weights,) = simplex.as_floats(truth)
    return -jnp.sqrt((weights * weights).sum(-1))


def _spherical_divergence(probs: Probs, truth: Probs) -> Losses:
    """|t| |u - v|^2 / 2 with u, v the unit vectors along p, t, whose difference is taken from p - t."""
    weights, floats = simplex.as_floats(truth, probs)
    length, other = jnp.sqrt(_squares(weights)), jnp.sqrt(_squares(floats))
    apart = floats - weights
    longer = (apart * (floats + weights)).sum(-1, keepdims=True) / (length + other)
    gap = (apart * length - weights * longer) / (length * other)
    return length[..., 0] * (gap * gap).sum(-1) / 2


def _ranked_per_label(probs: Probs) -> Rows:
    (floats,) = simplex.as_floats(probs)
    below = jnp.cumsum(floats, -1)[..., :-1]
    nothing = jnp.zeros_like(floats[..., :1])
    before = jnp.cumsum(below**2, -1)
    after = jnp.flip(jnp.cumsum(jnp.flip((1 - below) ** 2, -1), -1), -1)
    return jnp.concatenate([nothing, before], -1) + jnp.concatenate([after, nothing], -1)


def _ranked_entropy(truth: Probs) -> Losses:
    (weights,) = simplex.as_floats(truth)
    below = jnp.cumsum(weights, -1)[..., :-1]
    return (below * (1 - below)).sum(-1)


def _ranked_divergence(probs: Probs, truth: Probs) -> Losses:
    weights, floats = simplex.as_floats(truth, probs)
    return (jnp.cumsum(floats - weights, -1)[..., :-1] ** 2).sum(-1)


def _zero_one_per_label(probs: Probs) -> Rows:
    (floats,) = simplex.as_floats(probs)
    return 1 - proper.chosen(floats)


def _zero_one_entropy(truth: Probs) -> Losses:
    (weights,) = simplex.as_floats(truth)
    return 1 - weights.max(-1)


def _regret(weights: Array, share: Array) -> Array:
    return (share * (weights.max(-1, keepdims=True) - weights)).sum(-1)


def _zero_one_divergence(probs: Probs, truth: Probs) -> Losses:
    weights, floats = simplex.as_floats(truth, probs)
    return _regret(weights, proper.chosen(floats))


def _linear_per_label(probs: Probs) -> Rows:
    (floats,) = simplex.as_floats(probs)
    return -floats


def _linear_entropy(truth: Probs) -> Losses:
    (weights,) = simplex.as_floats(truth)
    return -weights.max(-1)


def _linear_divergence(probs: Probs, truth: Probs) -> Losses:
    weights, floats = simplex.as_floats(truth, probs)
    return _regret(weights, floats)


log = ScoringRule(
    name="log",
    formula="-log p_y",
    source="Good (1952), doi:10.1111/j.2517-6161.1952.tb00104.x",
    per_label=_log_per_label,
    expected=proper.log_score,
    entropy=proper.entropy,
    divergence=proper.kl_divergence,
    range=(0.0, INFINITE),
    local=True,
    log_losses=_log_losses,
    log_divergence=_log_divergence_from_log,
)
brier = ScoringRule(
    name="brier",
    formula="|p - e_y|^2",
    source="Brier (1950), doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
    per_label=_brier_per_label,
    expected=proper.brier_score,
    entropy=_brier_entropy,
    divergence=_squared_distance,
    range=(0.0, 2.0),
)
quadratic = ScoringRule(
    name="quadratic",
    formula="-2 p_y + |p|^2",
    source=GNEITING_RAFTERY,
    per_label=_quadratic_per_label,
    expected=proper.quadratic_score,
    entropy=_quadratic_entropy,
    divergence=_squared_distance,
    range=(-1.0, 1.0),
)
spherical = ScoringRule(
    name="spherical",
    formula="-p_y / |p|",
    source=GNEITING_RAFTERY,
    per_label=_spherical_per_label,
    expected=proper.spherical_score,
    entropy=_spherical_entropy,
    divergence=_spherical_divergence,
    range=(-1.0, 0.0),
)
ranked_probability = ScoringRule(
    name="ranked-probability",
    formula="sum_{j<K} (P_j - [y <= j])^2",
    source="Epstein (1969), doi:10.1175/1520-0450(1969)008<0985:ASSFPF>2.0.CO;2",
    per_label=_ranked_per_label,
    expected=proper.ranked_probability_score,
    entropy=_ranked_entropy,
    divergence=_ranked_divergence,
    range=(0.0, INFINITE),
    range_by_labels=lambda n_labels: (0.0, n_labels - 1.0),
    ordered=True,
)
zero_one = ScoringRule(
    name="zero-one",
    formula="1 - [y is the most probable label], ties share",
    source=GNEITING_RAFTERY,
    per_label=_zero_one_per_label,
    expected=proper.zero_one_score,
    entropy=_zero_one_entropy,
    divergence=_zero_one_divergence,
    range=(0.0, 1.0),
    strictly_proper=False,
)
linear = ScoringRule(
    name="linear",
    formula="-p_y",
    source=f"{GNEITING_RAFTERY} (as an improper rule)",
    per_label=_linear_per_label,
    expected=proper.linear_score,
    entropy=_linear_entropy,
    divergence=_linear_divergence,
    range=(-1.0, 0.0),
    local=True,
    proper=False,
    strictly_proper=False,
)


RULES: dict[str, ScoringRule] = {
    rule.name: rule for rule in (log, brier, quadratic, spherical, ranked_probability, zero_one, linear)
}
"""The rules by name."""

type RuleLike = RuleName | ScoringRule
"""A rule, or the name of one."""


def get_rule(rule: object, order: Sequence[object] | None = None) -> ScoringRule:
    """The rule of that name, or the rule itself; `order` names the labels from low to high.

    Errors: `InputError` for an unknown name, with the nearest known one, or an order that the rule does not need.

    >>> get_rule("brier").range
    (0.0, 2.0)
    """
    if order is not None:
        return get_rule(rule).in_order(order)
    if isinstance(rule, ScoringRule):
        return rule
    if not isinstance(rule, str):
        raise InputError(
            f"rule of type {type(rule).__name__}",
            "a name or a probtruth.ScoringRule",
            f"The names are: {check.shortlist(RULES)}; families are in probtruth.rules.",
        )
    return RULES[check.one_of(rule, tuple(RULES), "rule")]
