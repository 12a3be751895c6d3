"""(Predictions, Truth) -> Scores: the expected loss of every model on every item, under a rule."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from probtruth import check
from probtruth.kernels import simplex
from probtruth.kernels.arrays import Table, exponential, on_device, to_host
from probtruth.kernels.host import block_rows
from probtruth.kernels.precision import compiled
from probtruth.scoring.align import Aligned, align
from probtruth.scoring.rules import ScoringRule, get_rule, log
from probtruth.types.scores import LabelsBehind, RuleFacts, Scores

Rows = Float[np.ndarray, "item label"]
Items = Float[np.ndarray, " item"]


def score(
    predictions: object,
    truth: object,
    rule: object = "log",
    floor: object = None,
    order: Sequence[object] | None = None,
) -> Scores:
    """The scores of predictions that memory holds; arguments and errors are those of `probtruth.score`."""
    return score_aligned(align(predictions, truth), rule, floor, order)


def score_aligned(
    aligned: Aligned, rule: object = "log", floor: object = None, order: Sequence[object] | None = None
) -> Scores:
    """`score` of predictions and truth that are aligned."""
    chosen, least = asked(rule, floor, aligned.labels, order)
    logs = aligned.log_probs
    single_votes = aligned.n_votes is not None and (aligned.n_votes == 1).any()
    return Scores(
        model_losses(chosen, least, logs, aligned.truth),
        aligned.models,
        aligned.items,
        chosen.name,
        known=rule_facts(chosen, least, aligned.truth),
        labels=LabelsBehind(
            given=partial(all_label_losses, chosen, least),
            truth=aligned.truth,
            estimand=aligned.estimand,
            shares=aligned.shares,
            n_votes=aligned.n_votes,
            forecast=_mean_forecast(logs) if single_votes else None,
            log_probs=logs,
            sampled=sampled_items(*aligned.truth.shape),
        ),
        audit=aligned.audit,
        item_rows=aligned.item_rows,
        item_order=aligned.item_rows is not None,
    )


def model_losses(
    rule: ScoringRule,
    floor: float | None,
    log_probs: Float[Table, "model item label"],
    truth: Float[Table, "item label"],
) -> Float[np.ndarray, "model item"]:
    """The expected loss of every model on every item, computed where they lie."""
    if on_device(log_probs):
        return to_host(_expected_there(rule, floor, log_probs, truth)).astype(np.float64)
    truth, values = to_host(truth), np.empty(log_probs.shape[:2])
    for rows in _cuts(truth):
        weights = np.ascontiguousarray(truth[rows], np.float64)
        for model, own in enumerate(values):
            own[rows] = expectations(label_losses(rule, floored(log_probs[model, rows], floor)), weights)
    return values


def all_label_losses(
    rule: ScoringRule, floor: float | None, log_probs: Float[Table, "model some label"]
) -> Float[Table, "model some label"]:
    """The loss of every model if the label were k, where they lie."""
    if on_device(log_probs):
        return _label_losses_there(rule, floor, log_probs)
    return np.stack([label_losses(rule, floored(logs, floor)) for logs in log_probs])


@partial(compiled, static_argnums=(0, 1))
def _label_losses_there(rule: ScoringRule, floor: float | None, log_probs: Array) -> Array:
    logs = log_probs if floor is None else jnp.maximum(log_probs, np.asarray(np.log(floor), log_probs.dtype))
    return -logs if rule is log else rule.per_label_from_log(logs)


@partial(compiled, static_argnums=(0, 1))
def _expected_there(rule: ScoringRule, floor: float | None, log_probs: Array, truth: Table) -> Array:
    return simplex.expectation(truth, _label_losses_there(rule, floor, log_probs))


def _mean_forecast(log_probs: Float[Table, "model item label"]) -> Float[np.ndarray, "item label"]:
    """The models' mean probability of each label."""
    if on_device(log_probs):
        return to_host(exponential(log_probs)).mean(0)
    means = np.empty(log_probs.shape[1:])
    for rows in _cuts(means):
        means[rows] = np.exp(log_probs[:, rows]).mean(0)
    return means


def rule_facts(rule: ScoringRule, floor: float | None, truth: Float[Table, "item label"]) -> RuleFacts:
    """What is known of a rule where labels of these distributions are scored."""
    entropy, mean_label = truth_means(rule, truth)
    return RuleFacts(
        floor=floor,
        label_order=rule.order,
        range=rule.range_for(truth.shape[1]),
        proper=rule.proper and floor is None,
        entropy=entropy,
        baseline=baseline_of(rule, mean_label),
    )


def truth_means(rule: ScoringRule, truth: Float[Table, "item label"]) -> tuple[float, Float[np.ndarray, " label"]]:
    """The mean generalised entropy of the items' labels, and the mean label, computed where they lie."""
    if on_device(truth):
        entropy, label = map(to_host, _truth_means_there(rule, truth))
        return float(entropy), label
    return float(entropies(rule, truth).mean()), truth.mean(0, dtype=np.float64)


@partial(compiled, static_argnums=0)
def _truth_means_there(rule: ScoringRule, truth: Array) -> tuple[Array, Array]:
    return rule.entropy(truth).mean(dtype=jnp.float64), truth.mean(0, dtype=jnp.float64)


def asked(
    rule: object, floor: object, labels: Sequence[str], order: Sequence[object] | None = None
) -> tuple[ScoringRule, float | None]:
    """The rule for these labels, and the floor of their probabilities."""
    return get_rule(rule, order).for_labels(labels), check_floor(floor, len(labels))


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
    logs: np.ndarray = log_probs.astype(np.float64, copy=False)
    return logs if floor is None else np.maximum(logs, np.log(floor))


def expected_losses(rule: ScoringRule, log_probs: Rows, truth: Rows) -> Items:
    """The expected loss of one model on each item; the same bits in any batch."""
    values = np.empty(len(log_probs))
    for rows in _cuts(truth):
        values[rows] = expectations(label_losses(rule, log_probs[rows]), truth[rows])
    return values


def label_losses(rule: ScoringRule, log_probs: Rows) -> Rows:
    """The loss if the label were k."""
    if rule is log:  # a change of sign, which costs less than a call of what is compiled
        return -floored(log_probs, None)
    return _in_blocks(_label_losses, rule, log_probs, np.empty(log_probs.shape))


def expectations(label_values: Rows, weights: Rows) -> Items:
    """Sum over the labels of weight times value, row by row; a weight of 0 takes nothing of an infinite value."""
    wide, label_values = np.ascontiguousarray(weights, np.float64), np.ascontiguousarray(label_values)
    with np.errstate(invalid="ignore"):
        means: np.ndarray = np.einsum("ij,ij->i", wide, label_values)
    odd = ~np.isfinite(means)
    if odd.any():
        means[odd] = np.einsum("ij,ij->i", wide[odd], np.where(wide[odd] != 0, label_values[odd], 0.0))
    return means


def entropies(rule: ScoringRule, truth: Rows) -> Items:
    """The least expected loss on each item that any report can reach, the same in any batch."""
    values = np.empty(len(truth))
    if rule is log:
        for rows in _cuts(truth):
            some = truth[rows].astype(np.float64, copy=False)
            with np.errstate(divide="ignore"):
                values[rows] = expectations(-np.log(some), some)
        return values
    return _in_blocks(_entropies, rule, truth, values)


def baseline_of(rule: ScoringRule, mean_label: Float[np.ndarray, " label"]) -> float:
    """The mean score of the mean label, given for every item."""
    here = jax.local_devices(backend="cpu")[0]
    with jax.default_device(here), jax.transfer_guard("allow"), np.errstate(divide="ignore"):
        return float(expected_losses(rule, np.log(mean_label)[None], mean_label[None])[0])


def _in_blocks(
    kernel: Callable[[ScoringRule, np.ndarray], Array], rule: ScoringRule, table: Rows, values: np.ndarray
) -> np.ndarray:
    """The values of the items, written block by block; the last block is filled up with the last row."""
    for rows in _cuts(table):
        n_rows = rows.stop - rows.start
        short = block_rows(table.shape[1]) - n_rows
        block = np.pad(table[rows], ((0, short), (0, 0)), mode="edge") if short else table[rows]
        with jax.enable_x64(True):
            values[rows] = np.asarray(kernel(rule, block))[:n_rows]
    return values


def _cuts(table: Rows) -> Iterator[slice]:
    """The rows that are scored at once."""
    size = block_rows(table.shape[1])
    for start in range(0, len(table), size):
        yield slice(start, min(start + size, len(table)))


@partial(jax.jit, static_argnums=0)
def _label_losses(rule: ScoringRule, log_probs: np.ndarray | Array) -> Array:
    return rule.per_label_from_log(*simplex.as_floats(log_probs))


@partial(jax.jit, static_argnums=0)
def _entropies(rule: ScoringRule, truth: np.ndarray | Array) -> Array:
    return rule.entropy(*simplex.as_floats(truth))


MOST_ITEMS, MOST_CELLS = 10_000, 1_000_000  # Items, and items times labels, up to which all items are looked at


def sampled_items(n_items: int, n_labels: int) -> Int[np.ndarray, " sampled"]:
    """Positions of the items that are looked at, in order: all, or the same random ones for the same numbers."""
    most = min(MOST_ITEMS, max(1, MOST_CELLS // n_labels))
    if n_items <= most:
        return np.arange(n_items)
    return np.sort(np.random.default_rng(0).choice(n_items, most, replace=False))


CHUNK = 4_000_000  # Numbers held at once, so that many labels do not fill the memory


def corrected_entropy(rule: ScoringRule, shares: Rows, n_votes: Int[np.ndarray, " item"]) -> Items:
    """Generalised entropy of each item's distribution of opinions, the bias of few votes removed to first order.

    Formula: the jackknife, n H(q) - (n - 1) sum_k q_k H((n q - e_k)/(n - 1)), with q the vote shares of n votes. It is
    unbiased for the Brier, quadratic and ranked probability scores ((1 - |q|^2) n/(n - 1)), and has a bias of order
    1/n^2 for smooth entropies. The plug-in H(q) has one of order 1/n, always downwards: on 1,514 items with 100 votes
    each, log score, the mean is .563 (corrected), and five votes an item give .411 plain and .537 corrected.

    Returns: units of the rule; NaN for items with a single vote, about whose spread nothing is known. Single items
    scatter and may leave the range of an entropy: the mean over items is what it is for.

    Source: Zahl (1977), doi:10.2307/1936227; Efron and Stein (1981), doi:10.1214/aos/1176345462

    >>> import numpy as np, probtruth as pt
    >>> shares, n_votes = np.array([[0.6, 0.4], [1.0, 0.0]]), np.array([5, 5])
    >>> corrected_entropy(pt.rules.brier, shares, n_votes).round(3).tolist()
    [0.6, 0.0]
    """
    votes = shares * n_votes[:, None]
    item, label = np.nonzero(shares > 0)
    size = max(1, CHUNK // shares.shape[1])
    left_out = np.empty(len(item))
    entropy = jax.jit(rule.entropy)
    with jax.enable_x64(True):
        plain = np.asarray(entropy(shares.astype(np.float64)))
        for start in range(0, len(item), size):
            some = slice(start, start + size)
            fewer = votes[item[some]]
            fewer[np.arange(len(fewer)), label[some]] = np.maximum(fewer[np.arange(len(fewer)), label[some]] - 1, 0)
            left_out[some] = entropy(fewer / np.maximum(fewer.sum(1, keepdims=True), 1))
    mean_left_out = np.bincount(item, shares[item, label] * left_out, len(shares))
    corrected = n_votes * plain - (n_votes - 1) * mean_left_out
    return np.where(n_votes > 1, corrected, np.nan)


def mean_corrected_entropy(rule: ScoringRule, aligned: Aligned) -> float:
    """Mean of `corrected_entropy` over the items; NaN where the labels are not vote shares or an item has one vote."""
    if aligned.shares is None or aligned.n_votes is None or not aligned.by_votes:
        return float("nan")
    return float(corrected_entropy(rule, aligned.shares, aligned.n_votes).mean())
