"""A mixture of Dirichlet priors, learned from the data; each item's posterior, again a mixture, in closed form."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp, psi

from probtruth import check
from probtruth.truth.fit import MethodFit, MethodRequest, categorical, dirichlet_rows, draw_tables
from probtruth.truth.methods.dirichlet import learn_dirichlet

MOST_COMPONENTS = 8
"""Components where no number is given: one a label and one for mixed opinions, at most this many."""

LOG_CONCENTRATION_SPREAD = 2.0
"""Prior sd of a component's log concentration around 0: components may be sharper than the population."""


@dataclass(frozen=True, eq=False)
class DirichletMixture:
    """Weights and pseudo-counts of the components."""

    weights: Float[np.ndarray, " component"]
    alphas: Float[np.ndarray, "component label"]
    log_likelihood: float
    n_iterations: int
    converged: bool


@check.checks_itself
def dirichlet_mixture(
    request: MethodRequest,
    *,
    components: int | None = None,
    prior: Literal["learned"] | None = None,
    max_iterations: int = 500,
) -> MethodFit:
    """p_i ~ sum_t w_t Dirichlet(alpha_t), n_i ~ Multinomial(p_i); w and alpha at the maximum of their posterior.

    Arguments: `components` is the number of Dirichlets (one a label and one more, at most 8, without it);
    `prior="learned"` gives items without any annotation the learned prior. Weak priors: w ~ Dirichlet(2), base
    measures ~ Dirichlet(2), log concentrations ~ N(0, 2^2). The data identify the components' shape only from items
    with several votes; with one vote an item `diagnostics["concentration_identified"]` is False and the mixture is a
    single Dirichlet.

    Source: Minka (2000), Estimating a Dirichlet distribution; Sjolander et al. (1996),
    https://doi.org/10.1093/bioinformatics/12.4.327.
    """
    if prior is not None:
        check.one_of(prior, ("learned",), "prior")
    counts = request.annotations.counts()
    n_labels = counts.shape[1]
    identified = bool((counts.sum(1) > 1).any())
    many = min(n_labels + 1, MOST_COMPONENTS) if components is None else check.whole(components, 1, "components")
    mixture = learn_mixture(counts, many if identified else 1, check.whole(max_iterations, 1, "max_iterations"))
    log_evidence = _log_evidence(counts, mixture.weights, mixture.alphas)
    shares = np.exp(log_evidence - logsumexp(log_evidence, axis=1, keepdims=True))
    totals = counts.sum(1, keepdims=True) + mixture.alphas.sum(1)
    means = (shares / totals) @ mixture.alphas + (shares / totals).sum(1, keepdims=True) * counts
    diagnostics = {
        "weights": mixture.weights.tolist(),
        "concentrations": mixture.alphas.sum(1).tolist(),
        "concentration_identified": identified,
        "log_likelihood": mixture.log_likelihood,
        "n_iterations": mixture.n_iterations,
        "converged": mixture.converged,
    }
    marginals = mixture.weights @ (mixture.alphas / mixture.alphas.sum(1, keepdims=True))
    cumulative = np.cumsum(shares, axis=1)

    def draw(generator: np.random.Generator) -> np.ndarray:
        return dirichlet_rows(generator, counts + mixture.alphas[categorical(generator, cumulative)])

    draws = draw_tables(draw, counts.shape, request.draws, np.random.default_rng(request.seed))
    return MethodFit(means / means.sum(1, keepdims=True), draws, marginals, diagnostics=diagnostics)


def learn_mixture(
    counts: Int[np.ndarray, "item label"], components: int, max_iterations: int = 500
) -> DirichletMixture:
    """Weights and pseudo-counts of highest posterior density, by L-BFGS on the distinct count vectors."""
    base, _, _ = learn_dirichlet(counts)
    vectors, often = np.unique(counts, axis=0, return_counts=True)
    if components == 1:
        start = np.concatenate([[0.0], np.log(base)])
    else:
        start = np.concatenate([np.zeros(components), np.log(_spread(base, components)).ravel()])
    best = minimize(
        _objective,
        start,
        args=(vectors, often.astype(float), components),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iterations, "maxfun": 4 * max_iterations, "ftol": 1e-13, "gtol": 1e-7 * len(counts)},
    )
    weights, alphas = _unpack(best.x, components)
    evidence = logsumexp(_log_evidence(vectors, weights, alphas), axis=1)
    return DirichletMixture(weights, alphas, float(often @ evidence), int(best.nit), bool(best.success))


def _spread(base: Float[np.ndarray, " label"], components: int) -> Float[np.ndarray, "component label"]:
    """Where the climb starts: one component near each of the most used labels, the others at the population's mean.

    Those at the mean have concentrations 1, 2, 4, ... times the number of labels.
    """
    share = base / base.sum()
    n_labels = len(base)
    corners = np.argsort(-share, kind="stable")[: max(components - 1, 0)]
    near = 4 * (0.2 * share + 0.8 * np.eye(n_labels)[corners])
    mixed = [n_labels * 2.0**power * share for power in range(components - len(corners))]
    return np.concatenate([near, np.array(mixed)])


def _unpack(point: np.ndarray, components: int) -> tuple[np.ndarray, np.ndarray]:
    weights = np.exp(point[:components] - logsumexp(point[:components]))
    return weights, np.exp(point[components:]).reshape(components, -1)


def _objective(point: np.ndarray, vectors: np.ndarray, often: np.ndarray, components: int) -> tuple[float, np.ndarray]:
    """Minus the log posterior and its gradient, in unnormalised log weights and log pseudo-counts."""
    weights, alphas = _unpack(point, components)
    log_evidence = _log_evidence(vectors, weights, alphas)
    evidence = logsumexp(log_evidence, axis=1, keepdims=True)
    mass = np.exp(log_evidence - evidence) * often[:, None]
    totals, wholes = vectors.sum(1), alphas.sum(1)
    concentration, base = np.log(wholes), alphas / wholes[:, None]
    value = often @ evidence[:, 0] + np.log(weights).sum() + np.log(base).sum()
    value -= 0.5 * (concentration**2).sum() / LOG_CONCENTRATION_SPREAD**2

    slope_weights = mass.sum(0) - often.sum() * weights + 1 - components * weights
    common = (mass * (psi(wholes + totals[:, None]) - psi(wholes))).sum(0)
    slope = np.empty_like(alphas)
    for label in range(alphas.shape[1]):
        distinct, row = np.unique(vectors[:, label], return_inverse=True)
        own = np.zeros((len(distinct), components))
        np.add.at(own, row, mass)
        slope[:, label] = (own * (psi(alphas[:, label] + distinct[:, None]) - psi(alphas[:, label]))).sum(0)
    slope = alphas * (slope - common[:, None]) + 1 - alphas.shape[1] * base
    slope -= base * (concentration / LOG_CONCENTRATION_SPREAD**2)[:, None]
    return -float(value), -np.concatenate([slope_weights, slope.ravel()])


def _log_evidence(
    counts: Int[np.ndarray, "item label"],
    weights: Float[np.ndarray, " component"],
    alphas: Float[np.ndarray, "component label"],
) -> Float[np.ndarray, "item component"]:
    """log w_t + log P(votes in order | component t)."""
    wholes = alphas.sum(1)
    terms = np.log(weights) + gammaln(wholes) - gammaln(wholes + counts.sum(1)[:, None])
    for label in range(alphas.shape[1]):
        distinct, row = np.unique(counts[:, label], return_inverse=True)
        terms += (gammaln(alphas[:, label] + distinct[:, None]) - gammaln(alphas[:, label]))[row]
    result: np.ndarray = terms
    return result
