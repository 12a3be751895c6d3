"""Methods whose classes are summed out and whose parameters are sampled by NUTS: from a program to a `Fit`."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt
from scipy.optimize import linear_sum_assignment

from probtruth.errors import InputError
from probtruth.truth import em
from probtruth.truth.fit import Fit, Request, affordable
from probtruth.truth.flat import Flat, flatten, whole
from probtruth.truth.quality import flags
from probtruth.truth.summaries import categorical, quality

SETTLED = 1.05
"""R-hat at which sampling counts as converged: the largest over hundreds of parameters is seldom below 1.01."""

MOST_BYTES = 2**31
"""What all draws of the annotators' confusion may take while a method runs: 2 GiB."""

LogJoint = Callable[..., Array]


def fit_by_nuts(request: Request, program: str, samples: object, warmup: object, chains: object) -> Fit:
    """Samples the program of that name in `probtruth.truth.programs`."""
    # numpyro loads here, not with the module: the other methods do without it and start a third of a second sooner
    from probtruth.inference import nuts
    from probtruth.inference.diagnostics import convergence
    from probtruth.truth import programs

    flat = flatten(request)
    kept, warm = whole(samples, 4, "samples"), whole(warmup, 1, "warmup")
    many = whole(chains, 1, "chains")
    _affordable_at_all(flat, kept * many, programs.POSITIONS if program == "ordinal" else 1)
    data = {"item": flat.item, "cell": flat.cell, "weight": flat.weight, "known": flat.known}
    drawn = nuts.sample(
        getattr(programs, program),
        data | {"annotators": np.zeros(flat.n_annotators)},
        request.seed,
        draws=kept,
        warmup=warm,
        chains=many,
        target_accept=0.9,
    )
    log_marginals, log_said = drawn.sites["log_marginals"], drawn.sites["log_said"]
    with jax.enable_x64(True):
        arrays = {name: jnp.asarray(part) for name, part in data.items()}
        parts = (jnp.asarray(part.reshape(-1, *part.shape[2:])) for part in (log_marginals, log_said))
        tools = {"log_joint": programs.log_joint, "log_confusion": programs.log_confusion}
        probs, classes, log_rows, accuracy, skill, information = jax.tree.map(
            np.asarray, _summaries(jax.random.key(request.seed), *parts, **tools, **arrays)
        )
    log_rows = log_rows.reshape(*log_marginals.shape[:2], *log_rows.shape[1:])
    rhat, ess = convergence({"log_marginals": log_marginals, "log_confusion": log_rows})
    columns = {"n_annotations": np.bincount(flat.annotator, flat.weight, flat.n_annotators).astype(np.int64)}
    for name, values in (("accuracy", accuracy), ("skill", skill), ("information", information)):
        low, high = np.quantile(values, [0.025, 0.975], axis=0)
        columns |= {name: values.mean(0), f"{name}_low": low, f"{name}_high": high}
    columns["flag"] = flags(columns["skill_low"], columns["skill_high"])
    diagnostics = {
        "converged": bool(rhat <= SETTLED),
        "n_iterations": kept + warm,
        "max_rhat": rhat,
        "min_ess": ess,
        "divergences": int(drawn.stats["diverging"].sum()),
        "label_switching": switching(log_rows) or em.label_switching(probs, flat),
    }
    confusion = np.exp(log_rows).mean((0, 1))
    return Fit(
        probs, _thinned(classes, request, flat), np.exp(log_marginals).mean((0, 1)), confusion, diagnostics, columns
    )


@partial(jax.jit, static_argnames=("log_joint", "log_confusion"))
def _summaries(
    key: Array,
    log_marginals: Float[Array, "draw label"],
    log_said: Float[Array, "draw annotator position label"],
    log_joint: LogJoint,
    log_confusion: LogJoint,
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    known: Float[Array, "item label"],
) -> tuple[Array, ...]:
    """Mean over draws of P(class); for each, classes, log confusion, annotators' accuracy, skill and information."""

    def one(total: Array, now: tuple[Array, Array, Array]) -> tuple[Array, tuple[Array, ...]]:
        key, marginals, said = now
        probs = jax.nn.softmax(log_joint(item, cell, weight, known, marginals, said), axis=1)
        rows = log_confusion(said)
        return total + probs, (categorical(key, probs).astype(jnp.uint16), rows, *quality(jnp.exp(rows), marginals))

    n_draws = len(log_marginals)
    keys = jax.random.split(key, n_draws)
    total, kept = jax.lax.scan(one, jnp.zeros_like(known), (keys, log_marginals, log_said))
    return total / n_draws, *kept


def _thinned(
    classes: UInt[np.ndarray, "draw item"], request: Request, flat: Flat
) -> Float[np.ndarray, "kept item label"] | None:
    """Draws spread evenly over the chains, as rows with a single 1."""
    if not request.draws:
        return None
    kept = affordable(min(request.draws, len(classes)), flat.n_items, flat.n_labels)
    chosen = np.linspace(0, len(classes) - 1, kept).round().astype(int)
    draws: np.ndarray = np.eye(flat.n_labels, dtype=np.float32)[classes[chosen]]
    return draws


def _affordable_at_all(flat: Flat, draws: int, positions: int) -> None:
    size = 8 * draws * flat.n_annotators * flat.n_labels**2 * positions
    if size > MOST_BYTES:
        raise InputError(
            f"{flat.n_annotators} annotators and {flat.n_labels} labels, whose draws take {size / 2**30:.1f} GiB",
            f"at most {MOST_BYTES / 2**30:.0f} GiB",
            "This method samples every annotator's confusion: lower samples, or use 'ability' or 'pooled'.",
        )


def switching(log_rows: Float[np.ndarray, "chain draw annotator label label"]) -> bool:
    """Whether some chain gives the classes other names than the labels: not best on the diagonal."""
    for chain in np.exp(log_rows).mean((1, 2)):
        rows, columns = linear_sum_assignment(chain, maximize=True)
        if (columns != rows).any():
            return True
    return False
