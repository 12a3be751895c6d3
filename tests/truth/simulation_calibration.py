"""Simulation-based calibration: parameters from the prior, answers from them, and the parameters' ranks among draws.

Source: Talts et al. (2018), https://doi.org/10.48550/arXiv.1804.06788.
"""

from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
import numpy as np
from numpyro import handlers
from scipy.stats import chisquare

from probtruth.inference import nuts
from probtruth.truth import programs
from probtruth.truth.annotators import quality
from probtruth.truth.sampled import NEAR

N_ITEMS, N_ANNOTATORS, N_LABELS = 12, 4, 3
THINNED, BINS = 99, 20  # Draws that a parameter is ranked among, so that the 100 ranks fall evenly into the bins

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


def simulations(
    program: Callable[..., None], many: int, warmup: int, thin: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Ranks (simulation, feature), and P(class of the first item) less its indicator (simulation, label)."""

    def data(cell: np.ndarray) -> dict[str, np.ndarray]:
        known = np.zeros((N_ITEMS, N_LABELS))
        return {
            "item": ITEM,
            "cell": cell,
            "weight": np.ones(len(ITEM)),
            "known": known,
            "annotators": np.zeros(N_ANNOTATORS),
        }

    @jax.jit
    def prior(key: jax.Array) -> tuple[dict[str, jax.Array], jax.Array, jax.Array]:
        prior_key, class_key, answer_key = jax.random.split(key, 3)
        nothing = jax.tree.map(jnp.asarray, data(ANNOTATOR * N_LABELS))
        trace = handlers.trace(handlers.seed(program, prior_key)).get_trace(**nothing)
        true = {name: trace[name]["value"] for name in ("log_marginals", "log_confusion")}
        classes = jax.random.categorical(class_key, true["log_marginals"], shape=(N_ITEMS,))
        return true, classes, jax.random.categorical(answer_key, true["log_confusion"][ANNOTATOR, classes[ITEM]])

    @jax.jit
    def found(sites: Sites, seen: Sites) -> tuple[jax.Array, jax.Array]:
        parts = [seen[name] for name in ("known", "item", "cell", "weight")]
        joint = programs.log_joint(sites["log_marginals"], sites["log_confusion"], *parts)
        return features(sites), jax.nn.softmax(joint, axis=1)[0]

    ranks, errors = [], []
    with jax.enable_x64(True):
        for simulation in range(many):
            true, classes, labels = jax.device_get(prior(jax.random.fold_in(jax.random.key(seed), simulation)))
            seen = data(ANNOTATOR * N_LABELS + labels)
            drawn = nuts.sample(
                program, seen, simulation, draws=thin * THINNED, warmup=warmup, chains=1, start_width=NEAR
            )
            thinned = {name: drawn.sites[name][0, thin - 1 :: thin] for name in true}
            ranked, probs = jax.vmap(found, in_axes=(0, None))(thinned, seen)
            ranks.append(np.asarray((ranked < features(true)).sum(0)))
            errors.append(np.asarray(probs.mean(0)) - (np.arange(N_LABELS) == classes[0]))
    return np.stack(ranks), np.stack(errors)


def p_values(ranks: np.ndarray, bins: int = BINS) -> np.ndarray:
    """P of Pearson's chi-squared for even ranks, one for each feature."""
    place = ranks * bins // (THINNED + 1)
    return np.array([chisquare(np.bincount(column, minlength=bins)).pvalue for column in place.T])


def z_values(errors: np.ndarray) -> np.ndarray:
    """The mean error of class probabilities over its standard error, one for each label."""
    values: np.ndarray = errors.mean(0) / (errors.std(0, ddof=1) / np.sqrt(len(errors)))
    return values
