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
from probtruth.truth.annotators.quality import flags
from probtruth.truth.annotators.summaries import categorical, quality
from probtruth.truth.fit import DRAW_BYTES, Fit, Request, affordable
from probtruth.truth.flat import Flat, flatten, whole

SETTLED = 1.05
"""R-hat at which sampling counts as converged: the largest over hundreds of parameters is seldom below 1.01."""

ENOUGH = 100.0
"""Effective draws, bulk and tail, below which sampling does not count as converged (a single chain has no R-hat)."""

MOST_BYTES = 2**31
"""What all draws of the annotators' confusion may take while a method runs: 2 GiB."""

CHECKS = ("agreement", "agreement_spread")
"""Statistics of answers that are compared with those of replicated ones."""

EXCLUDED = -1e30
"""Log-probability of a label that a known answer rules out: finite, so that it has a gradient; 0 as a probability."""

TIE = 1e-9
"""Statistics closer than this are equal."""

Kernel = Callable[..., Array]


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
    data = {"item": flat.item, "cell": flat.cell, "weight": flat.weight, "known": np.maximum(flat.known, EXCLUDED)}
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
        arrays["each"] = jnp.asarray(np.repeat(np.arange(len(flat.item)), flat.weight.astype(int)))
        parts = (jnp.asarray(part.reshape(-1, *part.shape[2:])) for part in (log_marginals, log_said))
        tools = {"log_places": programs.log_places, "log_confusion": programs.log_confusion}
        probs, of_draw = jax.tree.map(np.asarray, _summaries(jax.random.key(request.seed), *parts, **tools, **arrays))
    by_chain = {name: part.reshape(*log_marginals.shape[:2], *part.shape[1:]) for name, part in of_draw.items()}
    log_rows = by_chain["log_confusion"]
    rhat, ess = convergence({"log_marginals": log_marginals, "log_confusion": log_rows})
    columns = {"n_annotations": np.bincount(flat.annotator, flat.weight, flat.n_annotators).astype(np.int64)}
    for name in ("accuracy", "skill", "information"):
        values = of_draw[name]
        low, high = np.quantile(values, [0.025, 0.975], axis=0)
        columns |= {name: values.mean(0), f"{name}_low": low, f"{name}_high": high}
    columns["flag"] = flags(columns["skill_low"], columns["skill_high"])
    diagnostics: dict[str, object] = {
        "converged": settled(rhat, ess),
        "n_iterations": kept + warm,
        "max_rhat": rhat,
        "min_ess": ess,
        "divergences": int(drawn.stats["diverging"].sum()),
        "label_switching": switching(log_rows) or em.label_switching(probs, flat),
    }
    item, label = (jnp.asarray(np.repeat(part, flat.weight.astype(int))) for part in (flat.item, flat.label))
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
    return Fit(
        probs,
        _thinned(of_draw["class"], request, flat),
        np.exp(log_marginals).mean((0, 1)),
        np.exp(log_rows).mean((0, 1)),
        diagnostics,
        columns,
        sampled=sampled,
    )


@partial(jax.jit, static_argnames=("log_places", "log_confusion"))
def _summaries(
    key: Array,
    log_marginals: Float[Array, "draw label"],
    log_said: Float[Array, "draw annotator position label"],
    log_places: Kernel,
    log_confusion: Kernel,
    each: Int[Array, " answer"],
    item: Int[Array, " annotation"],
    cell: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    known: Float[Array, "item label"],
) -> tuple[Float[Array, "item label"], dict[str, Array]]:
    """Mean over draws of P(class), and what is kept of every draw: classes, figures of annotators, checks."""
    n_items, n_labels = known.shape

    def one(total: Array, now: tuple[Array, Array, Array]) -> tuple[Array, dict[str, Array]]:
        key, marginals, said = now
        place_key, answer_key = jax.random.split(key)
        joint = log_places(item, cell, weight, known, marginals, said).reshape(n_items, -1)
        places = jax.nn.softmax(joint, axis=1)
        place = categorical(place_key, places)
        rows = log_confusion(said)
        accuracy, skill, information = quality(jnp.exp(rows), marginals)
        answers = categorical(answer_key, jnp.exp(said[cell[each] // n_labels, place[item[each]]]))
        kept = {
            "class": (place // (joint.shape[1] // n_labels)).astype(jnp.uint16),
            "log_confusion": rows,
            "log_likelihood": jax.nn.logsumexp(joint, axis=1),
            "accuracy": accuracy,
            "skill": skill,
            "information": information,
            **dict(zip(CHECKS, _agreement(item[each], answers, n_items, n_labels), strict=True)),
        }
        return total + places.reshape(n_items, n_labels, -1).sum(2), kept

    n_draws = len(log_marginals)
    keys = jax.random.split(key, n_draws)
    total, kept = jax.lax.scan(one, jnp.zeros_like(known), (keys, log_marginals, log_said))
    return total / n_draws, kept


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
