"""Methods whose classes are summed out and whose parameters are sampled by NUTS: from a program to a fit."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key
from scipy.optimize import linear_sum_assignment

from probtruth import check
from probtruth.errors import InputError
from probtruth.kernels.precision import float64_on_cpu
from probtruth.truth import em
from probtruth.truth.annotators import quality, sampled_columns
from probtruth.truth.fit import DRAW_BYTES, MethodFit, MethodRequest, class_rows
from probtruth.truth.flat import flatten

# R-hat at which sampling counts as converged: the largest over hundreds of parameters is seldom below 1.01.
SETTLED = 1.05

# Effective draws, bulk and tail, below which sampling does not count as converged (a single chain has no R-hat).
ENOUGH = 100.0

MOST_BYTES = 2**31  # Memory that all draws of the parameters may take while a method runs: 2 GiB

CHECKS = ("agreement", "agreement_spread")  # Statistics of answers that are compared with those of replicated ones

TIE = 1e-9  # Statistics closer than this are equal

# How far from the middle of the priors chains start: from far away, some stay where hardly any probability is.
NEAR = 0.1


def fit_by_nuts(request: MethodRequest, program: str, samples: int, warmup: int, chains: int) -> MethodFit:
    """Samples the program of that name in `probtruth.truth.programs`: `samples` draws in each chain, after `warmup`."""
    # numpyro loads here, not with the module: the other methods do without it and start a third of a second sooner
    from probtruth.inference import nuts
    from probtruth.inference.diagnostics import convergence
    from probtruth.truth import programs

    check.whole(samples, 4, "samples")
    check.whole(warmup, 1, "warmup")
    check.whole(chains, 1, "chains")
    flat = flatten(request)
    size = 8 * samples * chains * flat.n_annotators * flat.n_labels**2
    if size > MOST_BYTES:
        raise InputError(
            f"{flat.n_annotators} annotators and {flat.n_labels} labels, whose draws take {size / 2**30:.1f} GiB",
            f"at most {MOST_BYTES / 2**30:.0f} GiB",
            "This method samples every annotator's confusion: lower samples, or use 'ability' or 'pooled'.",
        )
    data = {"item": flat.item, "cell": flat.cell, "weight": flat.weight, "known": flat.known}
    drawn = nuts.sample(
        getattr(programs, program),
        data | {"annotators": np.zeros(flat.n_annotators)},
        request.seed,
        draws=samples,
        warmup=warmup,
        chains=chains,
        target_accept=0.8,
        start_width=NEAR,
    )
    log_marginals, log_rows = drawn.sites["log_marginals"], drawn.sites["log_confusion"]
    with float64_on_cpu():
        arrays = {name: jnp.asarray(part) for name, part in data.items()}
        each = jnp.asarray(flat.each())
        parts = (jnp.asarray(part.reshape(-1, *part.shape[2:])) for part in (log_marginals, log_rows))
        key = jax.random.key(request.seed)
        probs, of_draw = jax.tree.map(np.asarray, _summaries(key, *parts, programs.log_joint, each, **arrays))
    by_chain = {name: part.reshape(*log_marginals.shape[:2], *part.shape[1:]) for name, part in of_draw.items()}
    rhat, ess = convergence({"log_marginals": log_marginals, "log_confusion": log_rows})
    diagnostics = {
        "converged": settled(rhat, ess),
        "n_iterations": samples + warmup,
        "max_rhat": rhat,
        "min_ess": ess,
        "divergences": int(drawn.stats["diverging"].sum()),
        "label_switching": switching(log_rows) or em.label_switching(probs, flat),
    }
    item, label = (jnp.asarray(part[flat.each()]) for part in (flat.item, flat.label))
    for name, observed in zip(CHECKS, _agreement(item, label, flat.n_items, flat.n_labels), strict=True):
        above, same = of_draw[name] > observed + TIE, np.abs(of_draw[name] - observed) <= TIE
        diagnostics |= {name: float(observed), f"p_{name}": float(above.mean() + same.mean() / 2)}
    sampled = {
        "marginals": np.exp(log_marginals),
        "confusion": np.exp(log_rows).astype(np.float32),
        **{name: by_chain[name] for name in ("class", *CHECKS)},
        **drawn.stats,
    }
    if 4 * by_chain["log_likelihood"].size <= DRAW_BYTES:
        sampled["log_likelihood"] = by_chain["log_likelihood"].astype(np.float32)
    return MethodFit(
        probs,
        class_rows(of_draw["class"], flat.n_labels, request.draws),
        np.exp(log_marginals).mean((0, 1)),
        np.exp(log_rows).mean((0, 1)),
        diagnostics,
        sampled_columns(flat.n_annotations, *(of_draw[name] for name in ("accuracy", "skill", "information"))),
        sampled=sampled,
    )


@partial(jax.jit, static_argnames="log_joint")
def _summaries(
    key: Array,
    log_marginals: Float[Array, "draw label"],
    log_confusion: Float[Array, "draw annotator label label"],
    log_joint: Callable[..., Array],
    each: Int[Array, " answer"],
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    known: Float[Array, "item label"],
) -> tuple[Float[Array, "item label"], dict[str, Array]]:
    """Mean over draws of P(class), and of every draw its classes, annotators' quality and checks."""
    n_items, n_labels = known.shape

    def one(total: Array, now: tuple[Array, ...]) -> tuple[Array, dict[str, Array]]:
        key, marginals, rows = now
        class_key, answer_key = jax.random.split(key)
        joint = log_joint(marginals, rows, known, item, cell, weight)
        probs = jax.nn.softmax(joint, axis=1)
        classes = categorical(class_key, probs)
        accuracy, skill, information = quality(jnp.exp(rows), marginals)
        answers = categorical(answer_key, jnp.exp(rows[cell[each] // n_labels, classes[item[each]]]))
        by_draw = {
            "class": classes.astype(jnp.uint16),
            "log_likelihood": jax.nn.logsumexp(joint, axis=1),
            "accuracy": jnp.asarray(accuracy),
            "skill": jnp.asarray(skill),
            "information": jnp.asarray(information),
            **dict(zip(CHECKS, _agreement(item[each], answers, n_items, n_labels), strict=True)),
        }
        return total + probs, by_draw

    n_draws = len(log_marginals)
    keys = jax.random.split(key, n_draws)
    total, by_draw = jax.lax.scan(one, jnp.zeros((n_items, n_labels)), (keys, log_marginals, log_confusion))
    return total / n_draws, by_draw


def _agreement(
    item: Int[Array, " answer"], label: Int[Array, " answer"], n_items: int, n_labels: int
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Mean and standard deviation over items of the share of pairs of answers that agree (0 without any pair)."""
    counts = jnp.zeros((n_items, n_labels)).at[item, label].add(1.0)
    votes = counts.sum(1)
    pairs = votes * (votes - 1)
    share = (counts * (counts - 1)).sum(1) / jnp.maximum(pairs, 1.0)
    many = jnp.maximum((pairs > 0).sum(), 1)
    mean = share.sum() / many
    return mean, jnp.sqrt(jnp.where(pairs > 0, (share - mean) ** 2, 0.0).sum() / many)


def categorical(key: Key[Array, ""], weights: Float[Array, "row label"]) -> Int[Array, " row"]:
    """A position for each row, with probabilities in proportion to its weights (of which one must be positive)."""
    steps = jnp.cumsum(weights, axis=1)
    level = jax.random.uniform(key, (weights.shape[0], 1), weights.dtype) * steps[:, -1:]
    return jnp.minimum((level >= steps).sum(1), weights.shape[1] - 1)


def settled(rhat: float, ess: float) -> bool:
    """Whether the chains agree and hold enough effective draws (infinitely many where nothing varies)."""
    return rhat <= SETTLED and ess >= ENOUGH


def switching(log_rows: Float[np.ndarray, "chain draw annotator label label"]) -> bool:
    """Whether some chain gives the classes other names than the labels: not best on the diagonal."""
    for chain in np.exp(log_rows).mean((1, 2)):
        rows, columns = linear_sum_assignment(chain, maximize=True)
        if (columns != rows).any():
            return True
    return False
