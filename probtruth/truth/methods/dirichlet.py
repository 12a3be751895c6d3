"""One Dirichlet prior for all items, learned from the data; each item's posterior in closed form."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float, Int
from scipy.optimize import minimize
from scipy.special import gammaln, polygamma, psi

from probtruth import check_arrays
from probtruth.errors import InputError
from probtruth.kernels.host import empty_like
from probtruth.truth.fit import MethodFit, MethodRequest, dirichlet_draws

# Prior sd of the log concentration around 0, where two annotators agree half the time beyond chance.
CONCENTRATION_SPREAD = 1.0


def dirichlet(request: MethodRequest, *, prior: ArrayLike | Literal["learned"] | None = None) -> MethodFit:
    """n_i ~ DirichletMultinomial(alpha); q_i = (n_i + alpha) / (n_i. + alpha.), draws from Dirichlet(n_i + alpha)."""
    counts, n_labels = request.annotations.counts(), request.annotations.n_labels
    cells, totals = histograms(counts)
    learned = prior is None or (isinstance(prior, str) and prior == "learned")
    if learned:
        alpha, steps, converged = learn_dirichlet(n_labels, cells, totals)
    else:
        alpha, steps, converged = check_arrays.positive_row(prior, n_labels, "prior"), 0, True
    probs = np.add(counts, alpha, out=empty_like(counts))
    draws = dirichlet_draws(probs, request.draws, request.seed)
    probs /= probs.sum(1, keepdims=True)
    diagnostics = {
        "concentration": float(alpha.sum()),
        "concentration_identified": not learned or bool((totals[1] > 1).any()),
        "log_likelihood": float(_log_likelihood(np.log(alpha), cells, totals)),
        "n_iterations": steps,
        "converged": converged,
    }
    return MethodFit(probs, draws, marginals=alpha / alpha.sum(), diagnostics=diagnostics)


# Labels (0 for totals), counts, and how many items have them.
Histogram = tuple[np.ndarray, np.ndarray, np.ndarray]


def learn_dirichlet(
    n_labels: int, cells: Histogram, totals: Histogram
) -> tuple[Float[np.ndarray, " label"], int, bool]:
    """The pseudo-counts of highest posterior density, the Newton steps taken, and whether they converged."""
    label, count, many = cells
    votes = np.bincount(label, count * many, n_labels)
    start = np.log((votes + 1.0) / (votes.sum() + n_labels) * n_labels)

    def gradient(log_alpha: np.ndarray) -> np.ndarray:
        slope: np.ndarray = _derivatives(log_alpha, cells, totals)[0] + _log_prior(log_alpha)[1]
        return -slope

    def hessian_times(log_alpha: np.ndarray, step: np.ndarray) -> np.ndarray:
        (_, own, common), (_, _, more, shared) = _derivatives(log_alpha, cells, totals), _log_prior(log_alpha)
        alpha = np.exp(log_alpha)
        return np.asarray((common + shared) * alpha * (alpha @ step) - (own + more) * step)

    scale = max(float(votes.sum()), 1.0)
    density, options = log_posterior(cells, totals), {"gtol": 1e-9 * scale}
    best = minimize(
        lambda x: -density(x), start, jac=gradient, hessp=hessian_times, method="trust-ncg", options=options
    )
    if not np.isfinite(best.x).all():
        raise InputError("counts whose Dirichlet cannot be fitted", "finite counts", "Give prior=[...] yourself.")
    at_rest = float(np.abs(best.jac).max()) < 1e-6 * scale
    return np.exp(best.x), int(best.nit), bool(best.success or at_rest)


def log_posterior(cells: Histogram, totals: Histogram) -> Callable[[Float[np.ndarray, " label"]], np.ndarray]:
    """The log posterior density of log pseudo-counts, up to a constant, given the votes."""
    return lambda log_alpha: np.asarray(_log_likelihood(log_alpha, cells, totals) + _log_prior(log_alpha)[0])


def histograms(counts: Int[np.ndarray, "item label"]) -> tuple[Histogram, Histogram]:
    """How many items have each count above 0 of each label, and each total."""
    found = [_often(column) for column in (*counts.T, counts.sum(1))]
    *of_labels, (totals, often) = [(count[count > 0], many[count > 0]) for count, many in found]
    label = np.repeat(np.arange(len(of_labels)), [len(count) for count, _ in of_labels])
    count, many = (np.concatenate(parts) for parts in zip(*of_labels, strict=True))
    return (label, count, many), (np.zeros_like(totals), totals, often)


def _often(numbers: Int[np.ndarray, " item"]) -> tuple[np.ndarray, np.ndarray]:
    if numbers.max(initial=0) > len(numbers):
        found, often = np.unique(numbers, return_counts=True)
    else:
        often = np.bincount(numbers)
        found = np.flatnonzero(often)
        often = often[found]
    return found, often.astype(float)


def _log_likelihood(log_alpha: np.ndarray, cells: Histogram, totals: Histogram) -> float:
    """Log marginal likelihood of the votes in order (without the multinomial coefficients, which hold no alpha)."""
    alpha = np.exp(log_alpha)
    label, count, many = cells
    _, votes, often = totals
    own = many @ (gammaln(alpha[label] + count) - gammaln(alpha[label]))
    return float(own - often @ (gammaln(alpha.sum() + votes) - gammaln(alpha.sum())))


def _derivatives(log_alpha: np.ndarray, cells: Histogram, totals: Histogram) -> tuple[np.ndarray, np.ndarray, float]:
    """Gradient of the log likelihood in log alpha, and its Hessian: diag(second) - third alpha alpha'."""
    alpha = np.exp(log_alpha)
    label, count, many = cells
    _, votes, often = totals
    size = len(alpha)
    first = np.bincount(label, many * (psi(alpha[label] + count) - psi(alpha[label])), size)
    second = np.bincount(label, many * (polygamma(1, alpha[label] + count) - polygamma(1, alpha[label])), size)
    whole = alpha.sum()
    first -= often @ (psi(whole + votes) - psi(whole))
    common = often @ (polygamma(1, whole + votes) - polygamma(1, whole))
    return alpha * first, alpha * first + alpha**2 * second, float(common)


def _log_prior(log_alpha: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, float]:
    """Value and gradient in log alpha of: base measure ~ Dirichlet(2), log concentration ~ normal; Hessian as above."""
    alpha = np.exp(log_alpha)
    size, base = len(alpha), alpha / alpha.sum()
    slope = np.log(alpha.sum()) / CONCENTRATION_SPREAD**2
    value = float(np.log(base).sum() - 0.5 * slope**2 * CONCENTRATION_SPREAD**2)
    gradient = 1 - size * base - slope * base
    common = (1 / CONCENTRATION_SPREAD**2 - size - slope) / alpha.sum() ** 2
    return value, gradient, -(size + slope) * base, float(common)
