"""Losses where predictions lie on devices: one compiled program for all models, of which values by item come back.

Losses of float32 arrays are computed in float32, each item's sum over the labels in the order that XLA chooses: an
item's loss is off by less than K eps times the sum of its terms' sizes (eps is 6e-8, K the number of labels). Totals
over items are pairs of floats (`kernels.compensated`), or sums of the items' values on the host, in float64. Cells of
files are scored in float64 (eps is 1e-16), on the device that a caller chose.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from probtruth.kernels import compensated, simplex
from probtruth.kernels.arrays import Table, on_device, to_host
from probtruth.kernels.compensated import Total
from probtruth.kernels.precision import compiled
from probtruth.scoring.rules import ScoringRule, log
from probtruth.types import Predictions

Tables = Float[Array, "model item label"]
Rows = Float[Table, "item label"]


def chosen_device() -> "jax.Device | None":
    """The device that files are scored on: the default that a caller chose, unless it is the host's own; else none."""
    chosen = jax.config.jax_default_device
    device = jax.local_devices(backend=chosen)[0] if isinstance(chosen, str) else chosen
    return None if device is None or device == jax.local_devices(backend="cpu")[0] else device


def placed(predictions: Predictions) -> Predictions:
    """The predictions on the chosen device, if there is one, in their own type."""
    device = chosen_device()
    if device is None or on_device(predictions.log_probs):
        return predictions
    with jax.enable_x64(True):
        return replace(predictions, log_probs=jax.device_put(predictions.log_probs, device))


def of_cells(
    rule: ScoringRule,
    floor: float | None,
    kind: str,
    cells: Float[np.ndarray, "item label"],
    truth: Float[np.ndarray, "item label"],
    device: "jax.Device",
) -> Callable[[], Float[np.ndarray, " item"]]:
    """The expected losses of checked cells of a file ("probs", "log-probs" or "logits"), computed on a device.

    Returns: what waits for them; until it is called, the device works while the host reads on.
    """
    with jax.enable_x64(True):
        values = _of_cells(rule, floor, kind, *jax.device_put((cells, truth), device))
    return lambda: _wide(values)


@partial(compiled, static_argnums=(0, 1, 2))
def _of_cells(rule: ScoringRule, floor: float | None, kind: str, cells: Array, truth: Array) -> Array:
    logs = cells
    if kind != "log-probs":
        logs = jax.nn.log_softmax(cells, axis=-1) if kind == "logits" else simplex.log(cells)
    return simplex.expectation(truth, _by_label(rule, _floored(logs, floor)))


def losses(
    rule: ScoringRule, floor: float | None, log_probs: Tables, truth: Rows
) -> tuple[Float[np.ndarray, "model item"], Tables]:
    """The expected loss of every model on every item (host), and the loss if the label were k (where they lie)."""
    values, by_label = _losses(rule, floor, log_probs, truth)
    return _wide(values), by_label


def parts(
    rule: ScoringRule, floor: float | None, log_probs: Tables, truth: Rows
) -> tuple[Float[np.ndarray, "model item"], Float[np.ndarray, "model item"]]:
    """The expected losses, and what of them is above the truth's own entropy.

    The latter is the divergence by its own formula, or expected minus entropy on rows that sum to 1 only within the
    tolerance of files (not within K eps), and with a floor.
    """
    values, rest = _parts(rule, floor, log_probs, truth)
    return _wide(values), _wide(rest)


def mean_of_probs(rule: ScoringRule, probs: Rows, truth: Rows) -> float:
    """The mean expected loss of one table of probabilities."""
    return float(_wide(_of_probs(rule, probs, truth)).mean())


def truth_means(rule: ScoringRule, truth: Rows) -> tuple[float, Float[np.ndarray, " label"]]:
    """The mean generalised entropy of the items' labels, and their mean distribution."""
    entropy, labels = _truth_totals(rule, truth)
    return float(_mean(entropy, len(truth))), _mean(labels, len(truth))


def _mean(total: Total, n: int) -> Float[np.ndarray, "*sum"]:
    return np.asarray(compensated.value(total) / n)


def _wide(values: Array) -> np.ndarray:
    return to_host(values).astype(np.float64)


def _floored(log_probs: Array, floor: float | None) -> Array:
    return log_probs if floor is None else jnp.maximum(log_probs, np.asarray(np.log(floor), log_probs.dtype))


def _by_label(rule: ScoringRule, log_probs: Array) -> Array:
    return -log_probs if rule is log else rule.per_label_from_log(log_probs)


@partial(compiled, static_argnums=(0, 1))
def _losses(rule: ScoringRule, floor: float | None, log_probs: Array, truth: Rows) -> tuple[Array, Array]:
    by_label = _by_label(rule, _floored(log_probs, floor))
    return simplex.expectation(truth, by_label), by_label


@partial(compiled, static_argnums=(0, 1))
def _parts(rule: ScoringRule, floor: float | None, log_probs: Array, truth: Rows) -> tuple[Array, Array]:
    logs = _floored(log_probs, floor)
    values = simplex.expectation(truth, _by_label(rule, logs))
    slack = float(np.finfo(truth.dtype).eps) * truth.shape[-1]
    off = (jnp.abs(jnp.exp(logs).sum(-1) - 1) > slack) | (jnp.abs(truth.sum(-1) - 1) > slack)
    return values, jnp.where(off, values - rule.entropy(truth), rule.divergence_from_log(logs, truth))


@partial(compiled, static_argnums=0)
def _of_probs(rule: ScoringRule, probs: Rows, truth: Rows) -> Array:
    return rule.expected_from_log(simplex.log(probs), truth)


@partial(compiled, static_argnums=0)
def _truth_totals(rule: ScoringRule, truth: Rows) -> tuple[Total, Total]:
    return compensated.total(rule.entropy(truth)), compensated.total(jnp.asarray(truth).T)
