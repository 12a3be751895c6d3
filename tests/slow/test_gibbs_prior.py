"""Geweke's joint test of the perceived-class sampler: `pytest tests/slow/test_gibbs_prior.py` (a minute or two)."""

import jax
import jax.numpy as jnp
import numpy as np

from probtruth.truth import gibbs
from probtruth.truth.variates import categorical, log_dirichlet, log_gamma

N_ITEMS, N_ANNOTATORS, N_LABELS = 4, 3, 2
ITEM = jnp.repeat(jnp.arange(N_ITEMS), N_ANNOTATORS)
ANNOTATOR = jnp.tile(jnp.arange(N_ANNOTATORS), N_ITEMS)
DATA = gibbs.Data(
    ITEM,
    ANNOTATOR * N_LABELS,
    jnp.zeros((N_ITEMS, N_LABELS)),
    jnp.log(jnp.array([0.7, 0.3])),
    jnp.array([[0.0, 1.0], [1.0, 0.0]]),
)
PRIORS = gibbs.Priors(jnp.array([0.0, 0.5]), jnp.array([-1.0, 0.5]), jnp.array([1.5, 0.7]), jnp.array([4.0, 1.0]))


def from_prior(key: jax.Array) -> gibbs.State:
    """One draw of everything from the prior."""
    keys = jax.random.split(key, 6)
    ease = jnp.stack([PRIORS.log_delta[0], PRIORS.log_epsilon[0]]) + 0.5 * jax.random.normal(keys[0], (2,))
    log_kappa = PRIORS.log_kappa[0] + PRIORS.log_kappa[1] * jax.random.normal(keys[1], (N_LABELS, 1))
    counts = PRIORS.confusion[1] + (PRIORS.confusion[0] - PRIORS.confusion[1]) * jnp.eye(N_LABELS)
    habits = jnp.concatenate([log_kappa, log_gamma(keys[2], counts)], 1)
    classes = jax.random.categorical(keys[3], DATA.log_marginals, shape=(N_ITEMS,))
    log_phi = log_dirichlet(keys[4], gibbs.alphas(ease, DATA)[classes])
    pseudo = jnp.broadcast_to(gibbs.shared_counts(habits), (N_ANNOTATORS, N_LABELS, N_LABELS))
    log_theta = log_dirichlet(keys[5], pseudo).transpose(0, 2, 1)
    return gibbs.State(log_phi, log_theta, ease, habits, jnp.zeros(()), jnp.zeros(N_LABELS))


def answers(key: jax.Array, state: gibbs.State) -> gibbs.Data:
    """Annotations given the state: what is perceived, then what is said."""
    first, second = jax.random.split(key)
    seen = categorical(first, jnp.exp(state.log_phi)[ITEM])
    label = categorical(second, jnp.exp(state.log_theta)[ANNOTATOR, :, seen])
    return DATA._replace(cell=DATA.cell + label)


def features(state: gibbs.State) -> jax.Array:
    theta = jnp.exp(state.log_theta)
    parts = [
        jnp.exp(state.log_phi)[:, 0].mean(),
        (jnp.exp(state.log_phi)[:, 0] ** 2).mean(),
        jnp.exp(state.log_phi)[0, 0] * jnp.exp(state.log_phi)[1, 0],
        theta[:, 0, 0].mean(),
        theta[0, 0, 0] * theta[1, 0, 0],
        (theta[:, 1, 1] ** 2).mean(),
    ]
    return jnp.concatenate([jnp.stack(parts), state.ease, state.ease**2, state.habits[0], state.habits[1, :1] ** 2])


def test_sweeps_leave_the_prior_as_it_is() -> None:
    """Geweke (2004): drawing data given the state and sweeping given the data, in turn, keeps the prior's moments."""
    sweeps, chains = 1500, 64

    def turn(state: gibbs.State, key: jax.Array) -> tuple[gibbs.State, jax.Array]:
        first, second = jax.random.split(key)
        state = gibbs.sweep(second, state, answers(first, state), PRIORS, N_ANNOTATORS, N_ANNOTATORS, 1, 0.0)[0]
        return state, features(state)

    def chain(key: jax.Array) -> jax.Array:
        first, second = jax.random.split(key)
        return jax.lax.scan(turn, from_prior(first), jax.random.split(second, sweeps))[1].mean(0)

    means = np.asarray(jax.jit(jax.vmap(chain))(jax.random.split(jax.random.key(5), chains)), float)
    prior = np.asarray(
        jax.jit(jax.vmap(lambda key: features(from_prior(key))))(jax.random.split(jax.random.key(6), 40_000))
    )
    errors = np.sqrt(means.var(0, ddof=1) / chains + prior.var(0) / 40_000)
    distance = (means.mean(0) - prior.mean(0, dtype=float)) / errors
    assert np.abs(distance).max() < 4.5, distance.round(2)  # twelve features, chains independent
