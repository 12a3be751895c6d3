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
    counts = request.annotations.counts()
    n_labels = request.annotations.n_labels
    cells, totals = histograms(counts)
    learned = prior is None or (isinstance(prior, str) and prior == "learned")
    if learned:
        alpha, steps, converged = learn_dirichlet(n_labels, cells, totals)
    else:
        alpha = check_arrays.positive_row(prior, n_labels)
        steps = 0
        converged = True
    probs = np.add(counts, alpha, out=empty_like(counts))
    draws = dirichlet_draws(probs, request.draws, request.seed)
    probs /= probs.sum(1, keepdims=True)
    _, n_votes, _ = totals
    repeated = bool((n_votes > 1).any())
    diagnostics = {
        "concentration": float(alpha.sum()),
        "concentration_identified": not learned or repeated,
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
    n_votes = float(votes.sum())
    shares = (votes + 1.0) / (n_votes + n_labels)
    start = np.log(shares * n_labels)

    def gradient(log_alpha: np.ndarray) -> np.ndarray:
        of_votes, _, _ = _derivatives(log_alpha, cells, totals)
        _, of_prior, _, _ = _log_prior(log_alpha)
        return -of_votes - of_prior

    def hessian_times(log_alpha: np.ndarray, step: np.ndarray) -> np.ndarray:
        _, diagonal, common = _derivatives(log_alpha, cells, totals)
        _, _, prior_diagonal, prior_common = _log_prior(log_alpha)
        alpha = np.exp(log_alpha)
        outer = (common + prior_common) * alpha * (alpha @ step)
        return outer - (diagonal + prior_diagonal) * step

    scale = max(n_votes, 1.0)
    density = log_posterior(cells, totals)
    best = minimize(
        lambda log_alpha: -density(log_alpha),
        start,
        jac=gradient,
        hessp=hessian_times,
        method="trust-ncg",
        options={"gtol": 1e-9 * scale},
    )
    if not np.isfinite(best.x).all():
        raise InputError("counts whose Dirichlet cannot be fitted", "finite counts", "Give prior=[...] yourself.")
    at_rest = float(np.abs(best.jac).max()) < 1e-6 * scale
    converged = bool(best.success or at_rest)
    return np.exp(best.x), int(best.nit), converged


def log_posterior(cells: Histogram, totals: Histogram) -> Callable[[Float[np.ndarray, " label"]], np.ndarray]:
    """The log posterior density of log pseudo-counts, up to a constant, given the votes."""

    def density(log_alpha: Float[np.ndarray, " label"]) -> np.ndarray:
        log_prior, _, _, _ = _log_prior(log_alpha)
        return np.asarray(_log_likelihood(log_alpha, cells, totals) + log_prior)

    return density


def histograms(counts: Int[np.ndarray, "item label"]) -> tuple[Histogram, Histogram]:
    """How many items have each count above 0 of each label, and each total."""
    labels = []
    of_labels = []
    how_many = []
    for label, column in enumerate(counts.T):
        count, many = _often(column)
        labels.append(np.full_like(count, label))
        of_labels.append(count)
        how_many.append(many)
    cells = np.concatenate(labels), np.concatenate(of_labels), np.concatenate(how_many)
    totals, often = _often(counts.sum(1))
    return cells, (np.zeros_like(totals), totals, often)


def _often(numbers: Int[np.ndarray, " item"]) -> tuple[np.ndarray, np.ndarray]:
    """The numbers above 0 that occur, and how often each does."""
    found, often = np.unique(numbers[numbers > 0], return_counts=True)
    return found, often.astype(float)


def _log_likelihood(log_alpha: np.ndarray, cells: Histogram, totals: Histogram) -> float:
    """Log marginal likelihood of the votes in order (without the multinomial coefficients, which hold no alpha)."""
    alpha = np.exp(log_alpha)
    label, count, many = cells
    _, votes, often = totals
    of_cell = alpha[label]
    total = alpha.sum()
    of_labels = many @ (gammaln(of_cell + count) - gammaln(of_cell))
    of_totals = often @ (gammaln(total + votes) - gammaln(total))
    return float(of_labels - of_totals)


def _derivatives(log_alpha: np.ndarray, cells: Histogram, totals: Histogram) -> tuple[np.ndarray, np.ndarray, float]:
    """Gradient of the log likelihood in log alpha, and its Hessian: diag(second) - third alpha alpha'."""
    alpha = np.exp(log_alpha)
    label, count, many = cells
    _, votes, often = totals
    of_cell = alpha[label]
    total = alpha.sum()
    slope_of_cell = psi(of_cell + count) - psi(of_cell)
    bend_of_cell = polygamma(1, of_cell + count) - polygamma(1, of_cell)
    slope_of_total = often @ (psi(total + votes) - psi(total))
    bend_of_total = often @ (polygamma(1, total + votes) - polygamma(1, total))
    slope = np.bincount(label, many * slope_of_cell, len(alpha)) - slope_of_total
    bend = np.bincount(label, many * bend_of_cell, len(alpha))
    gradient = alpha * slope
    return gradient, gradient + alpha**2 * bend, float(bend_of_total)


def _log_prior(log_alpha: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, float]:
    """Value and gradient in log alpha of: base measure ~ Dirichlet(2), log concentration ~ normal; Hessian as above."""
    alpha = np.exp(log_alpha)
    size = len(alpha)
    total = alpha.sum()
    base = alpha / total
    precision = 1 / CONCENTRATION_SPREAD**2
    slope = precision * np.log(total)
    of_base = np.log(base).sum()
    of_total = -0.5 * slope**2 / precision
    gradient = 1 - size * base - slope * base
    diagonal = -(size + slope) * base
    common = (precision - size - slope) / total**2
    return float(of_base + of_total), gradient, diagonal, float(common)
