"""Geweke's joint test of the perceived-class sampler: `pytest tests/slow/test_gibbs_prior.py` (a minute or two)."""

import numpy as np

from probtruth.truth import gibbs

N_ITEMS, N_ANNOTATORS, N_LABELS = 4, 3, 2
ITEM = np.repeat(np.arange(N_ITEMS), N_ANNOTATORS)
ANNOTATOR = np.tile(np.arange(N_ANNOTATORS), N_ITEMS)
DATA = gibbs.GibbsData(
    ITEM,
    ANNOTATOR * N_LABELS,
    np.zeros((N_LABELS, N_ITEMS)),
    np.log([0.7, 0.3]),
    np.array([[0.0, 1.0], [1.0, 0.0]]),
)
PRIORS = gibbs.GibbsPriors((0.0, 0.5), (-1.0, 0.5), (1.5, 0.7), (4.0, 1.0))


def from_prior(random: np.random.Generator) -> gibbs.GibbsState:
    """One draw of everything from the prior."""
    ease = np.array([random.normal(*PRIORS.log_delta), random.normal(*PRIORS.log_epsilon)])
    log_kappa = random.normal(*PRIORS.log_kappa, (N_LABELS, 1))
    gammas = random.standard_gamma(np.where(np.eye(N_LABELS, dtype=bool), *PRIORS.confusion))
    habits = np.concatenate([log_kappa, np.log(gammas)], 1)
    classes = random.choice(N_LABELS, N_ITEMS, p=np.exp(DATA.log_marginals))
    log_phi = gibbs.log_dirichlet(random, gibbs.alphas(ease, DATA)[classes].T)
    rows = random.standard_gamma(np.repeat(gibbs.shared_counts(habits)[:, None], N_ANNOTATORS, 1)).clip(gibbs.TINY)
    said = (rows / rows.sum(2, keepdims=True)).reshape(N_LABELS, -1)
    return gibbs.GibbsState(log_phi, said, ease, habits, np.zeros(()), np.zeros(N_LABELS))


def answers(random: np.random.Generator, state: gibbs.GibbsState) -> gibbs.GibbsData:
    """Annotations given the state: what is perceived, then what is said."""
    seen = gibbs.categorical(random, np.exp(state.log_phi)[:, ITEM])
    each = state.confusion.reshape(N_LABELS, N_ANNOTATORS, N_LABELS)[seen, ANNOTATOR]
    return DATA._replace(cell=DATA.cell + gibbs.categorical(random, each.T))


def features(state: gibbs.GibbsState) -> np.ndarray:
    phi, theta = np.exp(state.log_phi[0]), state.confusion.reshape(N_LABELS, N_ANNOTATORS, N_LABELS)
    parts = [
        phi.mean(),
        (phi**2).mean(),
        phi[0] * phi[1],
        theta[0, :, 0].mean(),
        theta[0, 0, 0] * theta[0, 1, 0],
        (theta[1, :, 1] ** 2).mean(),
    ]
    return np.concatenate([parts, state.ease, state.ease**2, state.habits[0], state.habits[1, :1] ** 2])


def test_sweeps_leave_the_prior_as_it_is() -> None:
    """Geweke (2004): drawing data given the state and sweeping given the data, in turn, keeps the prior's moments."""
    sweeps, chains, prior_draws = 1500, 48, 20_000
    means = []
    for seed in range(chains):
        random = np.random.default_rng([5, seed])
        state, total = from_prior(random), np.zeros(14)
        for turn in range(sweeps):
            data = answers(random, state)
            if turn % gibbs.SWAP_EVERY == 0:
                state = state._replace(log_phi=gibbs.swap(random, state, data))
            state = gibbs.sweep(random, state, data, PRIORS, 0.0)[0]
            total += features(state)
        means.append(total / sweeps)
    random = np.random.default_rng(6)
    prior = np.array([features(from_prior(random)) for _ in range(prior_draws)])
    errors = np.sqrt(np.var(means, axis=0, ddof=1) / chains + prior.var(0) / prior_draws)
    distance = (np.mean(means, axis=0) - prior.mean(0)) / errors
    assert np.abs(distance).max() < 4.5, distance.round(2)  # fourteen features, chains independent
