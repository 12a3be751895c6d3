"""Simulation-based calibration: parameters from the prior, answers from them, and the parameters' ranks among draws.

Source: Talts et al. (2018), https://doi.org/10.48550/arXiv.1804.06788.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpyro import handlers
from scipy.stats import chisquare

from probtruth.inference.nuts import STARTS, Chain
from probtruth.truth import programs
from probtruth.truth.annotators.quality import quality
from probtruth.truth.sampled import NEAR

N_ITEMS, N_ANNOTATORS, N_LABELS = 12, 4, 3
THINNED, BINS = 99, 20
"""Draws that a parameter is ranked among, so that the 100 ranks fall evenly into the bins."""

ITEM = np.repeat(np.arange(N_ITEMS), N_ANNOTATORS)
ANNOTATOR = np.tile(np.arange(N_ANNOTATORS), N_ITEMS)

Sites = Mapping[str, jax.Array]


def features(sites: Sites) -> jax.Array:
    """What is ranked: class marginals, cells of confusion, its average over annotators, accuracy."""
    said = jnp.exp(sites["log_confusion"])
    accuracy, _, information = quality(said, sites["log_marginals"])
    first = [sites["log_marginals"][0], sites["log_marginals"][-1], said[0, 0, 0], said[0, -1, 0], said[:, 1, 1].mean()]
    return jnp.stack([*first, accuracy[0], accuracy.mean(), information.mean()])


FEATURES = (
    "log pi of the first class",
    "log pi of the last class",
    "P(first said, first true), one annotator",
    "P(first said, last true), one annotator",
    "P(second said, second true), mean",
    "accuracy of one annotator",
    "mean accuracy",
    "mean information",
)


def answers(key: jax.Array, sites: Sites) -> tuple[jax.Array, jax.Array]:
    """Classes of the items, then what every annotator says of every item."""
    class_key, answer_key = jax.random.split(key)
    classes = jax.random.categorical(class_key, sites["log_marginals"], shape=(N_ITEMS,))
    return classes, jax.random.categorical(answer_key, sites["log_confusion"][ANNOTATOR, classes[ITEM]])


def simulations(
    program: Callable[..., None], many: int, warmup: int, thin: int, batch: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Ranks (simulation, feature), and P(class of the first item) less its indicator (simulation, label)."""

    def data(cell: jax.Array | np.ndarray, weight: float) -> dict[str, Any]:
        return {
            "item": jnp.asarray(ITEM),
            "cell": jnp.asarray(cell),
            "weight": jnp.full(len(ITEM), weight),
            "known": jnp.zeros((N_ITEMS, N_LABELS)),
            "annotators": jnp.zeros(N_ANNOTATORS),
        }

    def one(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        prior_key, answer_key, nuts_key = jax.random.split(key, 3)
        trace = handlers.trace(handlers.seed(program, prior_key)).get_trace(**data(ANNOTATOR * N_LABELS, 0.0))
        true = {name: trace[name]["value"] for name in ("log_marginals", "log_confusion")}
        classes, said = answers(answer_key, true)
        seen = data(ANNOTATOR * N_LABELS + said, 1.0)
        chain = Chain.of(program, seen, warmup, 0.8, NEAR)
        start_key, nuts_key = jax.random.split(nuts_key)
        points = jax.random.uniform(start_key, (STARTS, chain.n_parameters), minval=-NEAR, maxval=NEAR)
        state = chain.start(nuts_key, points, seen)
        step = chain.step(state, seen)
        state = lax.fori_loop(0, warmup, lambda _, now: step(now), state)

        def kept(state: Any, _: None) -> tuple[Any, tuple[jax.Array, jax.Array]]:
            state = lax.fori_loop(0, thin, lambda _, now: step(now), state)
            sites = chain.sites(state.z, seen)
            parts = [seen[name] for name in ("known", "item", "cell", "weight")]
            joint = programs.log_joint(sites["log_marginals"], sites["log_confusion"], *parts)
            return state, (features(sites), jax.nn.softmax(joint, axis=1)[0])

        _, (drawn, probs) = lax.scan(kept, state, None, THINNED)
        return (drawn < features(true)).sum(0), probs.mean(0) - (jnp.arange(N_LABELS) == classes[0])

    with jax.enable_x64(True):
        run = jax.jit(jax.vmap(one))
        keys = jax.random.split(jax.random.key(seed), many).reshape(-1, batch)
        found = [jax.device_get(run(part)) for part in keys]
    ranks, errors = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return ranks, errors


def p_values(ranks: np.ndarray, bins: int = BINS) -> np.ndarray:
    """P of Pearson's chi-squared for even ranks, one for each feature."""
    place = ranks * bins // (THINNED + 1)
    return np.array([chisquare(np.bincount(column, minlength=bins)).pvalue for column in place.T])


def z_values(errors: np.ndarray) -> np.ndarray:
    """The mean error of class probabilities over its standard error, one for each label."""
    values: np.ndarray = errors.mean(0) / (errors.std(0, ddof=1) / np.sqrt(len(errors)))
    return values
