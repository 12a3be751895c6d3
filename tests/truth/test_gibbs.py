"""The sampler's tables and moves; that its sweeps keep the model's prior is shown in tests/slow/test_gibbs_prior.py."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import gammaln

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


def test_rising_is_the_dirichlet_multinomial() -> None:
    generator = np.random.default_rng(0)
    alpha, votes = generator.uniform(0.05, 2, (3, 3)), generator.integers(0, 9, (20, 3))
    found = jax.jit(gibbs.rising, static_argnums=2)(jnp.asarray(alpha, jnp.float32), jnp.asarray(votes), 8)
    expected = (gammaln(alpha + votes[:, None]) - gammaln(alpha)).sum(2)
    single = 1e-5
    np.testing.assert_allclose(found, expected, rtol=single, atol=single)


def test_log_gamma_function_against_scipy() -> None:
    x = np.geomspace(1e-4, 1e6, 400)
    single = 2e-6
    np.testing.assert_allclose(
        jax.jit(gibbs.log_gamma_function)(jnp.asarray(x, jnp.float32)),
        gammaln(x.astype(np.float32)),
        rtol=single,
        atol=single,
    )


def test_swap_keeps_rows_on_the_simplex() -> None:
    @jax.jit
    def before_and_after(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        first, second, third = jax.random.split(key, 3)
        state = from_prior(first)
        said = jnp.exp(state.log_theta).reshape(-1, N_LABELS)[answers(second, state).cell]
        return state.log_phi, gibbs.swap(third, state, DATA, said)

    before, after = before_and_after(jax.random.key(1))
    single = 1e-6
    np.testing.assert_allclose(np.sort(after, 1), np.sort(before, 1), rtol=single)
