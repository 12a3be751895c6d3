"""(Predictions, Truth) -> Scores: the expected loss of every model on every item, under a rule."""

from collections.abc import Callable, Sequence
from functools import partial
from math import log

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels.arrays import Table, on_device, to_host
from probtruth.kernels.host import block_rows, empty_array, lies_on_disk
from probtruth.kernels.precision import compiled
from probtruth.kernels.shapes import ItemFloats, ItemLabel
from probtruth.scoring import rules
from probtruth.scoring.align import Aligned
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.types.scores import LabelsBehind, RuleFacts, Scores


def score_aligned(
    aligned: Aligned, rule: object = "log", floor: object = None, order: Sequence[object] | None = None
) -> Scores:
    """`probtruth.score` of predictions and truth that are aligned."""
    chosen, least = rule_and_floor(rule, floor, aligned.labels, order)
    if chosen.of_shares and aligned.estimand == "class":
        hint = f"Score by {chosen.proper_kin!r}, the proper rule of its kind."
        raise InputError(f"the rule {chosen.name!r} under the estimand 'class'", "shares of annotators' labels", hint)
    logs, truth = aligned.log_probs, aligned.truth
    if on_device(logs):
        values, entropy, mean = map(to_host, _scores_there(chosen, least, logs, truth))
    else:
        weights = to_host(truth)
        values = empty_array(logs.shape[:2], lies_on_disk(logs))
        entropy = entropies(chosen, weights)
        mean = weights.mean(0, dtype=np.float64)
        for row, table in zip(values, logs, strict=True):
            row[:] = expected_losses(chosen, least, table, weights)
    behind = None
    by_proper_rule = None
    if chosen.of_shares:
        by_proper_rule = score_aligned(aligned, get_rule(chosen.proper_kin, chosen.order), floor)
    else:
        behind = LabelsBehind(
            label_losses=partial(_losses, chosen, least),
            truth=truth,
            estimand=aligned.estimand,
            shares=aligned.shares,
            n_votes=aligned.n_votes,
            log_probs=logs,
            annotations=aligned.annotations,
        )
    return Scores(
        values.astype(np.float64, copy=False),
        aligned.models,
        aligned.items,
        chosen.name,
        known=_rule_facts(chosen, least, float(entropy.mean()), mean),
        labels=behind,
        audit=aligned.audit,
        item_rows=aligned.item_rows,
        item_order=aligned.item_rows is not None,
        cautions=(_of_distance(chosen),) if chosen.of_shares else (),
        by_proper_rule=by_proper_rule,
    )


def _of_distance(rule: ScoringRule) -> str:
    """What every comparison by a distance to vote shares says."""
    return (
        f"{rule.name!r} is a distance to the shares of the votes: with few votes an item, other reports than the true "
        "shares get the best score, and what the choice of annotators adds to the uncertainty is left out"
    )


def rule_and_floor(
    rule: object, floor: object, labels: Sequence[str], order: Sequence[object] | None = None
) -> tuple[ScoringRule, float | None]:
    """The rule for these labels, and the floor of their probabilities."""
    chosen = get_rule(rule, order).for_labels(labels)
    return chosen, check_floor(floor, len(labels))


def check_floor(floor: object, n_labels: int) -> float | None:
    """The floor as a number, or None where there is none."""
    if floor is None:
        return None
    limit = 1 / n_labels
    wanted = f"a probability above 0 and below 1/K = {limit:g} for {n_labels} labels"
    hint = "Leave the floor out to keep infinite losses infinite."
    return check.number(floor, "floor", hint, above=0, below=limit, wanted=wanted)


def floored(log_probs: Float[np.ndarray, "*batch label"], floor: float | None) -> Float[np.ndarray, "*batch label"]:
    """The log-probabilities in float64, those below the floor replaced by it."""
    return np.asarray(_raised(log_probs.astype(np.float64, copy=False), floor))


def _raised(log_probs: Table, floor: float | None) -> Table:
    return log_probs if floor is None else log_probs.clip(log(floor))


def expectations(label_values: ItemLabel, weights: ItemLabel) -> ItemFloats:
    """Sum over the labels of weight times value, row by row; a weight of 0 takes nothing of an infinite value."""
    in_float64 = np.ascontiguousarray(weights, np.float64)
    label_values = np.ascontiguousarray(label_values)
    with np.errstate(invalid="ignore"):
        means: np.ndarray = np.einsum("ij,ij->i", in_float64, label_values)
    odd = ~np.isfinite(means)
    if odd.any():
        weight = in_float64[odd]
        values = np.where(weight != 0, label_values[odd], 0.0)
        means[odd] = np.einsum("ij,ij->i", weight, values)
    return means


def expected_losses(rule: ScoringRule, floor: float | None, log_probs: ItemLabel, truth: ItemLabel) -> ItemFloats:
    """The expected loss of one model on each item, on the host."""

    def of_block(logs: ItemLabel, weights: ItemLabel) -> ItemFloats:
        if not rule.of_shares:
            return expectations(_losses_here(rule, floor, logs), weights)
        probs = np.exp(floored(logs, floor))
        return np.asarray(rule.expected(probs, weights.astype(np.float64)))

    return _by_block(of_block, log_probs, truth)


def entropies(rule: ScoringRule, truth: ItemLabel) -> ItemFloats:
    """The generalised entropy of each item's labels, on the host."""
    if rule is not rules.log:
        return _by_block(partial(_padded, rule.entropy), truth)
    return _by_block(_shannon, truth)


def _shannon(truth: ItemLabel) -> ItemFloats:
    with np.errstate(divide="ignore"):
        losses = -np.log(truth.astype(np.float64))
    return expectations(losses, truth)


def _losses(
    rule: ScoringRule, floor: float | None, log_probs: Float[Table, "model some label"]
) -> Float[Table, "model some label"]:
    """The loss of every model if the label were k, where they lie."""
    if on_device(log_probs):
        return _losses_there(rule, floor, log_probs)
    return np.stack([_by_block(partial(_losses_here, rule, floor), table) for table in log_probs])


def _rule_facts(rule: ScoringRule, floor: float | None, entropy: float, mean: Float[np.ndarray, " label"]) -> RuleFacts:
    here = jax.local_devices(backend="cpu")[0]
    with jax.default_device(here), jax.transfer_guard("allow"), np.errstate(divide="ignore"):
        baseline = expected_losses(rule, None, np.log(mean)[None], mean[None])
    return RuleFacts(
        floor=floor,
        label_order=rule.order,
        range=rule.range_for(len(mean)),
        proper=rule.proper and floor is None,
        entropy=entropy,
        baseline=float(baseline[0]),
    )


@partial(compiled, static_argnums=(0, 1))
def _losses_there(rule: ScoringRule, floor: float | None, log_probs: Array) -> Array:
    return rule.per_label_from_log(_raised(log_probs, floor))


@partial(compiled, static_argnums=(0, 1))
def _scores_there(rule: ScoringRule, floor: float | None, log_probs: Array, truth: Table) -> tuple[Table, ...]:
    expected = rule.expected_from_log(_raised(log_probs, floor), truth)
    return expected, rule.entropy(truth).mean(dtype=jnp.float64), truth.mean(0, dtype=jnp.float64)


def _by_block(kernel: Callable[..., np.ndarray], *tables: ItemLabel) -> np.ndarray:
    """What the kernel gives of all rows, a block of them at a time, so that they stay in the processor's cache."""
    n_rows, n_columns = tables[0].shape
    size = block_rows(n_columns)
    found = []
    for start in range(0, max(n_rows, 1), size):
        rows = slice(start, start + size)
        found.append(kernel(*[table[rows] for table in tables]))
    return np.concatenate(found)


def _losses_here(rule: ScoringRule, floor: float | None, log_probs: ItemLabel) -> ItemLabel:
    logs = floored(log_probs, floor)
    losses = -logs if rule is rules.log else _padded(rule.per_label_from_log, logs)  # log needs nothing compiled
    lacking = np.isnan(logs[:, :1])
    return np.where(lacking, np.nan, losses) if lacking.any() else losses


def _padded(kernel: Callable[..., Array], block: ItemLabel) -> np.ndarray:
    """The values of a block, which is filled up with its last row, so that the kernel is compiled once."""
    n_rows, n_columns = block.shape
    n_missing = block_rows(n_columns) - n_rows
    filled = np.pad(block, ((0, n_missing), (0, 0)), mode="edge")
    with jax.enable_x64(True):
        values = np.asarray(_compiled(kernel, filled))
    return values[:n_rows]


_compiled = jax.jit(lambda kernel, table: kernel(table), static_argnums=0)  # once for each method of a rule
