"""Mean scores where the arrays lie on an accelerator: read once there, only totals of chunks come back."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from probtruth.kernels import simplex
from probtruth.scoring.rules import ScoringRule

CHUNK = 1 << 13
"""Terms added up in the arrays' own precision; totals of chunks are added up in float64 on the host."""

Parts = tuple[Float[Array, " chunk"], Int[Array, ""]]


def device_totals(
    forecast: object,
    truth: object,
    rules: tuple[ScoringRule, ...],
    powers: tuple[float, ...],
    confusion: bool,
    log_probs: bool,
) -> tuple[Float[np.ndarray, " total"], Int[np.ndarray, " total"]]:
    """Totals of the rules, of the powers and the counts, with how many items have an infinite term in each."""
    wide = any(getattr(array, "dtype", None) == np.float64 for array in (forecast, truth))
    with jax.enable_x64(wide or jax.config.jax_enable_x64):
        arrays = jnp.asarray(forecast), jnp.asarray(truth)
        found = [_rule(rule, log_probs, *arrays) for rule in rules]
        found += [_power(power, log_probs, *arrays) for power in powers]
        counts = np.asarray(_counts(log_probs, *arrays), np.float64).ravel() if confusion else np.zeros(0)
    totals = [float(np.asarray(parts).sum(dtype=np.float64)) for parts, _ in found]
    numbers = [int(number) for _, number in found]
    return np.concatenate([totals, counts]), np.array(numbers + [0] * counts.size, np.int64)


@partial(jax.jit, static_argnums=(0, 1))
def _rule(rule: ScoringRule, is_log: bool, forecast: Array, truth: Array) -> Parts:
    values, weights = simplex.as_floats(forecast, truth)
    if rule.name == "log":
        logs = values if is_log else jnp.log(values)
        return _chunked(_weighted(-logs, weights), _n_lost(logs, weights))
    probs = jnp.exp(values) if is_log else values
    if rule.name == "brier":
        return _chunked((probs - weights) ** 2 + weights * (1 - weights), jnp.zeros((), jnp.int32))
    losses = _spherical(probs, weights) if rule.name == "spherical" else _generic(rule, is_log, values, weights)
    infinite = jnp.isinf(losses)
    return _chunked(jnp.where(infinite, 0, losses), infinite.sum(dtype=jnp.int32))


@partial(jax.jit, static_argnums=(0, 1))
def _power(power: float, is_log: bool, forecast: Array, truth: Array) -> Parts:
    values, weights = simplex.as_floats(forecast, truth)
    logs = values if is_log else jnp.log(values)
    terms = logs if power == 0 else jnp.expm1(power * logs) / power
    return _chunked(_weighted(terms, weights), _n_lost(terms, weights))


@partial(jax.jit, static_argnums=0)
def _counts(is_log: bool, forecast: Array, truth: Array) -> Float[Array, "label response"]:
    values, weights = simplex.as_floats(forecast, truth)
    probs = jnp.exp(values) if is_log else values
    return jnp.matmul(weights.T, probs, precision="highest")


def _weighted(terms: Array, weights: Array) -> Array:
    """Weight times term where that is finite, by entry; a weight of 0 takes nothing."""
    return jnp.where((weights == 0) | jnp.isinf(terms), 0, weights * terms)


def _n_lost(terms: Array, weights: Array) -> Int[Array, ""]:
    """How many entries of positive weight are infinite (on the simplex, one an item where the truth is one label)."""
    return ((weights != 0) & jnp.isinf(terms)).any(-1).sum(dtype=jnp.int32)


def _spherical(probs: Array, weights: Array) -> Float[Array, " item"]:
    if probs.shape[1] > 64:
        return -(probs * weights).sum(-1) / jnp.sqrt((probs * probs).sum(-1))
    columns = range(probs.shape[1])  # columns one by one: a loop over a short last axis leaves a device idle
    overlap = sum(probs[:, k] * weights[:, k] for k in columns)
    return -overlap / jnp.sqrt(sum(probs[:, k] ** 2 for k in columns))


def _generic(rule: ScoringRule, is_log: bool, values: Array, weights: Array) -> Float[Array, " item"]:
    return rule.expected_from_log(values, weights) if is_log else rule.expected(values, weights)


def _chunked(terms: Array, number: Int[Array, ""]) -> Parts:
    """Totals of chunks of the terms, whatever their axes."""
    flat = terms.reshape(-1)
    whole = flat.size // CHUNK * CHUNK
    body = flat[:whole].reshape(-1, CHUNK).sum(-1)
    return jnp.append(body, flat[whole:].sum()), number
