"""Methods whose classes are summed out and whose parameters are sampled by NUTS: from a program to a fit."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
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
        flat_marginals = jnp.asarray(log_marginals.reshape(-1, *log_marginals.shape[2:]))
        flat_rows = jnp.asarray(log_rows.reshape(-1, *log_rows.shape[2:]))
        key = jax.random.key(request.seed)
        summaries = _summaries(key, flat_marginals, flat_rows, programs.log_joint, each, **arrays)
        probs, of_draw = jax.tree.map(np.asarray, summaries)
    chains_and_draws = log_marginals.shape[:2]
    by_chain = {}
    for name, part in of_draw.items():
        by_chain[name] = part.reshape(*chains_and_draws, *part.shape[1:])
    rhat, ess = convergence({"log_marginals": log_marginals, "log_confusion": log_rows})
    diagnostics = {
        "converged": settled(rhat, ess),
        "n_iterations": samples + warmup,
        "max_rhat": rhat,
        "min_ess": ess,
        "divergences": int(drawn.stats["diverging"].sum()),
        "label_switching": switching(log_rows) or em.label_switching(probs, flat),
    }
    item = jnp.asarray(flat.item[flat.each()])
    label = jnp.asarray(flat.label[flat.each()])
    checks = _agreement(item, label, flat.n_items, flat.n_labels)
    for name, observed in zip(CHECKS, checks, strict=True):
        replicated = of_draw[name]
        above = (replicated > observed + TIE).mean()
        same = (np.abs(replicated - observed) <= TIE).mean()
        diagnostics[name] = float(observed)
        diagnostics[f"p_{name}"] = float(above + same / 2)
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
        sampled_columns(flat.n_annotations, of_draw["accuracy"], of_draw["skill"], of_draw["information"]),
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
        classes = jax.random.categorical(class_key, joint)
        accuracy, skill, information = quality(jnp.exp(rows), marginals)
        annotator = cell[each] // n_labels
        row_of_answer = rows[annotator, classes[item[each]]]
        answers = jax.random.categorical(answer_key, row_of_answer)
        agreement, spread = _agreement(item[each], answers, n_items, n_labels)
        by_draw = {
            "class": classes.astype(jnp.uint16),
            "log_likelihood": jax.nn.logsumexp(joint, axis=1),
            "accuracy": jnp.asarray(accuracy),
            "skill": jnp.asarray(skill),
            "information": jnp.asarray(information),
            "agreement": agreement,
            "agreement_spread": spread,
        }
        return total + probs, by_draw

    n_draws = len(log_marginals)
    keys = jax.random.split(key, n_draws)
    nothing = jnp.zeros((n_items, n_labels))
    total, by_draw = jax.lax.scan(one, nothing, (keys, log_marginals, log_confusion))
    return total / n_draws, by_draw


def _agreement(
    item: Int[Array, " answer"], label: Int[Array, " answer"], n_items: int, n_labels: int
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Mean and standard deviation over items of the share of pairs of answers that agree (0 without any pair)."""
    counts = jnp.zeros((n_items, n_labels)).at[item, label].add(1.0)
    votes = counts.sum(1)
    pairs = votes * (votes - 1)
    agreeing = (counts * (counts - 1)).sum(1)
    share = agreeing / jnp.maximum(pairs, 1.0)
    compared = pairs > 0
    many = jnp.maximum(compared.sum(), 1)
    mean = share.sum() / many
    squares = jnp.where(compared, (share - mean) ** 2, 0.0)
    variance = squares.sum() / many
    return mean, jnp.sqrt(variance)


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
