"""A logarithmic opinion pool of forecasts, fitted to labels of which only likelihoods are known."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize
from scipy.special import softmax

from probtruth.kernels.shapes import ItemLabel, ModelItemLabel

Features = Float[np.ndarray, "feature item label"]

# A forecast's log-probability, as evidence about a class, is at least this; scores are not touched.
LOWEST = float(np.log(1e-6))
PRIOR_SD = 1.0  # Standard deviation of the normal prior of a pool's weights around the equal pool
POLISH = 3  # Newton steps after the search, which take the weights to rounding
DIGITS = 9  # Decimals that the weights are kept to, so that the order of sums leaves no trace in them


@dataclass(frozen=True, eq=False)
class LogPool:
    """Weights of the features, and the posterior precision of the weights."""

    weights: Float[np.ndarray, " feature"]
    precision: Float[np.ndarray, "feature feature"]


def pooled(features: Features, weights: Float[np.ndarray, " feature"]) -> ItemLabel:
    """The pool's probabilities: the softmax of the weighted sum of the features."""
    return np.asarray(softmax(np.einsum("fik,f->ik", features, weights), axis=1))


def features_of(log_probs: ModelItemLabel, marginals: Float[np.ndarray, " label"]) -> Features:
    """The models' log-probabilities and the labels' log-frequencies, each centred over the labels."""
    logs = np.maximum(log_probs.astype(np.float64), LOWEST)
    lacking = np.isnan(logs[..., 0])
    if lacking.any():  # whoever has a forecast speaks for who has none
        average = np.nanmean(logs, 0)
        logs = np.where(lacking[..., None], average, logs)
    positive = np.maximum(marginals, 1e-300)
    log_marginals = np.maximum(np.log(positive), LOWEST)
    of_all_items = np.broadcast_to(log_marginals, (1, *logs.shape[1:]))
    features = np.concatenate([logs, of_all_items])
    centre = features.mean(-1, keepdims=True)
    return features - centre


def fit_log_pool(likelihood: ItemLabel, features: Features) -> LogPool | None:
    """The posterior mode of the weights; None where it cannot be found."""
    n_models = len(features) - 1
    centre = np.append(np.full(n_models, 1 / n_models), 0.0)
    objective = partial(_objective, likelihood, features, centre)
    weights = minimize(objective, centre, jac=True, method="BFGS").x
    for _ in range(POLISH):
        precision = _precision(likelihood, features, weights)
        if not np.isfinite(precision).all():
            return None
        smallest = np.linalg.eigvalsh(precision)[0]
        if smallest <= 0:
            return None
        _, slope = objective(weights)
        weights = weights - np.linalg.solve(precision, slope)
    weights = np.round(weights, DIGITS)
    return LogPool(weights, _precision(likelihood, features, weights))


def posterior(likelihood: ItemLabel, forecast: ItemLabel) -> ItemLabel:
    """The forecast updated by the likelihood; where the two exclude each other, the likelihood alone."""
    product = likelihood * forecast
    product = np.where(product.sum(1, keepdims=True) > 0, product, likelihood)
    updated: np.ndarray = product / product.sum(1, keepdims=True)
    return updated


def covariances(
    probs: ItemLabel, a: Float[np.ndarray, "one item label"], b: Float[np.ndarray, "two item label"]
) -> Float[np.ndarray, "one two"]:
    """The covariances over the labels of two sets of functions, summed over the items."""
    centred = a - (probs * a).sum(-1, keepdims=True)
    total: np.ndarray = np.einsum("ik,aik,bik->ab", probs, centred, b, optimize=True)
    return total


def _objective(
    likelihood: np.ndarray, features: np.ndarray, centre: np.ndarray, weights: np.ndarray
) -> tuple[float, np.ndarray]:
    forecast = pooled(features, weights)
    mixed = np.maximum((likelihood * forecast).sum(1), 1e-300)
    change = posterior(likelihood, forecast) - forecast
    slope = np.einsum("ik,fik->f", change, features, optimize=True)
    distance = weights - centre
    pull = distance / PRIOR_SD**2
    value = 0.5 * pull @ distance - np.log(mixed).sum()
    return float(value), pull - slope


def _precision(likelihood: np.ndarray, features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    forecast = pooled(features, weights)
    of_forecast = covariances(forecast, features, features)
    of_posterior = covariances(posterior(likelihood, forecast), features, features)
    of_prior = np.eye(len(features)) / PRIOR_SD**2
    precision: np.ndarray = of_forecast - of_posterior + of_prior
    return precision
