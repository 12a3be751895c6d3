"""The named rules: log, Brier, quadratic, spherical, ranked probability, zero-one, linear; two distances to shares."""

import copyreg
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels import simplex
from probtruth.scoring.rules import proper
from probtruth.scoring.rules.proper import Losses
from probtruth.scoring.rules.rule import OneTable, ScoringRule, TwoTables
from probtruth.types.arguments import RuleName

Rows = Float[Array, "*#batch label"]

INFINITE = float("inf")
LEWIDI = "Leonardelli et al. (2025), doi:10.48550/arXiv.2510.08460 (as an improper rule)"
GNEITING_RAFTERY = "Gneiting and Raftery (2007), doi:10.1198/016214506000001437"


def _squares(probs: Rows) -> Float[Array, "*batch 1"]:
    return (probs * probs).sum(-1, keepdims=True)


def _squared_distance(probs: Rows, truth: Rows) -> Losses:
    return ((probs - truth) ** 2).sum(-1)


def _ranked_losses(probs: Rows) -> Rows:
    below = jnp.cumsum(probs, -1)[..., :-1]
    nothing = jnp.zeros_like(probs[..., :1])
    before = jnp.cumsum(below**2, -1)
    above = (1 - below) ** 2
    from_last = jnp.cumsum(jnp.flip(above, -1), -1)
    after = jnp.flip(from_last, -1)
    lower = jnp.concatenate([nothing, before], -1)
    higher = jnp.concatenate([after, nothing], -1)
    return lower + higher


def _manhattan(probs: Rows, truth: Rows) -> Losses:
    return jnp.abs(probs - truth).sum(-1)


def _wasserstein(probs: Rows, truth: Rows) -> Losses:
    gap = jnp.cumsum(probs - truth, -1)[..., :-1]
    return jnp.abs(gap).sum(-1)


def _to_labels(distance: TwoTables) -> OneTable:
    """The distance to each label, as if all votes were for it."""

    def losses(probs: Rows) -> Rows:
        certain = jnp.eye(probs.shape[-1], dtype=probs.dtype)
        return distance(probs[..., None, :], certain)

    return losses


def _of_shares(name: str, formula: str, distance: TwoTables, proper_kin: str, **facts: Any) -> ScoringRule:
    """A distance to the shares of the votes as a rule: nothing of it is unavoidable, so that its entropy is 0."""
    return ScoringRule(
        name=name,
        formula=formula,
        source=LEWIDI,
        losses=_to_labels(distance),
        expected_kernel=distance,
        entropy_kernel=lambda truth: jnp.zeros_like(truth[..., 0]),
        divergence_kernel=distance,
        proper=False,
        strictly_proper=False,
        of_shares=True,
        proper_kin=proper_kin,
        **facts,
    )


def _regret(truth: Rows, share: Rows) -> Losses:
    lost = truth.max(-1, keepdims=True) - truth
    return (share * lost).sum(-1)


log = ScoringRule(
    name="log",
    formula="-log p_y",
    source="Good (1952), doi:10.1111/j.2517-6161.1952.tb00104.x",
    losses=lambda probs: -simplex.log(probs),
    expected_kernel=proper.log_score,
    entropy_kernel=proper.entropy,
    divergence_kernel=proper.kl_divergence,
    range=(0.0, INFINITE),
    local=True,
    log_losses=lambda log_probs: 0 - log_probs,  # no -0.0 for a perfect forecast
    log_divergence=lambda logs, truth: simplex.relative_entropy_terms(truth, jnp.exp(logs), logs).sum(-1),
)
brier = ScoringRule(
    name="brier",
    formula="|p - e_y|^2",
    source="Brier (1950), doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
    losses=lambda probs: (1 - probs) ** 2 + (_squares(probs) - probs * probs),
    expected_kernel=proper.brier_score,
    divergence_kernel=_squared_distance,
    range=(0.0, 2.0),
)
quadratic = ScoringRule(
    name="quadratic",
    formula="-2 p_y + |p|^2",
    source=GNEITING_RAFTERY,
    losses=lambda probs: _squares(probs) - 2 * probs,
    expected_kernel=proper.quadratic_score,
    divergence_kernel=_squared_distance,
    range=(-1.0, 1.0),
)
spherical = ScoringRule(
    name="spherical",
    formula="-p_y / |p|",
    source=GNEITING_RAFTERY,
    losses=lambda probs: -probs / jnp.sqrt(_squares(probs)),
    expected_kernel=proper.spherical_score,
    entropy_kernel=lambda truth: -jnp.sqrt((truth * truth).sum(-1)),
    range=(-1.0, 0.0),
)
ranked_probability = ScoringRule(
    name="ranked-probability",
    formula="sum_{j<K} (P_j - [y <= j])^2",
    source="Epstein (1969), doi:10.1175/1520-0450(1969)008<0985:ASSFPF>2.0.CO;2",
    losses=_ranked_losses,
    expected_kernel=proper.ranked_probability_score,
    divergence_kernel=lambda probs, truth: (jnp.cumsum(probs - truth, -1)[..., :-1] ** 2).sum(-1),
    range=(0.0, INFINITE),
    range_by_labels=lambda n_labels: (0.0, n_labels - 1.0),
    ordered=True,
)
zero_one = ScoringRule(
    name="zero-one",
    formula="1 - [y is the most probable label], ties share",
    source=GNEITING_RAFTERY,
    losses=lambda probs: 1 - simplex.shared_by_ties(probs),
    expected_kernel=proper.zero_one_score,
    divergence_kernel=lambda probs, truth: _regret(truth, simplex.shared_by_ties(probs)),
    range=(0.0, 1.0),
    strictly_proper=False,
)
linear = ScoringRule(
    name="linear",
    formula="-p_y",
    source=f"{GNEITING_RAFTERY} (as an improper rule)",
    losses=lambda probs: -probs,
    entropy_kernel=lambda truth: -truth.max(-1),
    divergence_kernel=lambda probs, truth: _regret(truth, probs),
    range=(-1.0, 0.0),
    local=True,
    proper=False,
    strictly_proper=False,
)
manhattan = _of_shares("manhattan", "sum_k |p_k - [y = k]|", _manhattan, "brier", range=(0.0, 2.0))
wasserstein = _of_shares(
    "wasserstein",
    "sum_{j<K} |P_j - [y <= j]|",
    _wasserstein,
    "ranked-probability",
    range=(0.0, INFINITE),
    range_by_labels=ranked_probability.range_by_labels,
    ordered=True,
)


RULES: dict[str, ScoringRule] = {
    rule.name: rule for rule in (log, brier, quadratic, spherical, ranked_probability, zero_one, linear)
}  # The rules by name
# Distances to the shares of the votes, by name: official scores of shared tasks, improper
DISTANCES: dict[str, ScoringRule] = {rule.name: rule for rule in (manhattan, wasserstein)}
NAMED = RULES | DISTANCES

type RuleLike = RuleName | ScoringRule
"""A rule, or the name of one."""


def get_rule(rule: object, order: Sequence[object] | None = None) -> ScoringRule:
    """The rule of that name, or the rule itself; `order` names the labels from low to high.

    Arguments:
        rule: as in `score`.
        order: the labels from low to high.

    Errors: `InputError` for an unknown name, with the nearest known one, or an order that the rule does not need.

    >>> get_rule("brier").range
    (0.0, 2.0)
    """
    if order is not None:
        return get_rule(rule).in_order(order)
    if isinstance(rule, ScoringRule):
        return rule
    if not isinstance(rule, str):
        hint = f"The names are: {check.shortlist(NAMED)}; families are in probtruth.rules."
        raise InputError(f"rule of type {type(rule).__name__}", "a name or a probtruth.ScoringRule", hint)
    return NAMED[check.one_of(rule, tuple(NAMED), "rule")]


def _sent(rule: ScoringRule) -> str | tuple[object, ...]:
    """A rule is sent to another process by its name, so that it is the same there, and compiled once."""
    has_name = NAMED.get(rule.name) == replace(rule, order=None)
    return (get_rule, (rule.name, rule.order)) if has_name else object.__reduce_ex__(rule, 2)


copyreg.pickle(ScoringRule, _sent)  # type: ignore[arg-type]
