"""Parameters from the priors of the likelihoods and of the correlated hierarchy, and data from the parameters."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator

ITEMS, TIED = 32, 0.0
GROUPS, FOLDS, CORRELATION = 6, 5, 0.2
LIMIT = 500.0
"""Where the uniform priors of the correlated hierarchy end: as wide as that of the spread within data sets."""

World = tuple[dict[str, np.ndarray], dict[str, float]]


def _location(rng: Generator) -> dict[str, float]:
    return {"location": rng.standard_normal(), "scale": abs(rng.standard_normal())}


def _heavy(rng: Generator) -> dict[str, float]:
    return _location(rng) | {"df": 1 + rng.gamma(2.0, 10.0)}


def _skewed(rng: Generator) -> dict[str, float]:
    return _heavy(rng) | {"skew": float(rng.lognormal(0.0, 0.5))}


def _two_piece(rng: Generator, true: Mapping[str, float], n: int) -> np.ndarray:
    """Positive pieces are stretched by the skew, which has probability skew^2/(1 + skew^2) of being the side."""
    size, skew = np.abs(rng.standard_t(true["df"], n)), true["skew"]
    upper = rng.random(n) < skew**2 / (1 + skew**2)
    return true["location"] + true["scale"] * np.where(upper, size * skew, -size / skew)


def normal(rng: Generator) -> tuple[dict[str, float], np.ndarray]:
    true = _location(rng)
    return true, true["location"] + true["scale"] * rng.standard_normal(ITEMS)


def student_t(rng: Generator) -> tuple[dict[str, float], np.ndarray]:
    true = _heavy(rng)
    return true, true["location"] + true["scale"] * rng.standard_t(true["df"], ITEMS)


def skew_t(rng: Generator) -> tuple[dict[str, float], np.ndarray]:
    true = _skewed(rng)
    return true, _two_piece(rng, true, ITEMS)


def tie_spike(rng: Generator) -> tuple[dict[str, float], np.ndarray]:
    true = _skewed(rng) | {"tie_rate": rng.random()}
    tied = rng.random(ITEMS) < true["tie_rate"]
    return true, np.where(tied, TIED, _two_piece(rng, true, ITEMS))


def two_component(rng: Generator) -> tuple[dict[str, float], np.ndarray]:
    true = _location(rng)
    true |= {"share": rng.beta(1.0, 4.0), "other_location": 3 * rng.standard_normal()}
    true["wider"] = 2 + 5 * abs(rng.standard_normal())
    other = rng.random(ITEMS) < true["share"]
    centre = np.where(other, true["other_location"], true["location"])
    return true, centre + true["scale"] * np.where(other, true["wider"], 1.0) * rng.standard_normal(ITEMS)


LIKELIHOODS: dict[str, Callable[[Generator], tuple[dict[str, float], np.ndarray]]] = {
    "normal": normal,
    "student-t": student_t,
    "skew-t": skew_t,
    "tie-spike": tie_spike,
    "two-component": two_component,
}


def likelihood_world(name: str, rng: Generator) -> World:
    """What `likelihood.fit` hands to the program, for differences that are plugged in as they are."""
    true, values = LIKELIHOODS[name](rng)
    tied = values == TIED
    data = {"value": values, "weight": (~tied).astype(float), "ties": tied.sum() * 1.0, "zero": TIED}
    return {name: np.asarray(value, np.float64) for name, value in data.items()}, true


def folds_world(rng: Generator) -> World:
    """Folds of some data sets under the correlated hierarchy."""
    shape, rate = rng.uniform(0.5, 5.0), rng.uniform(0.05, 0.15)
    true = {"centre": rng.uniform(-LIMIT, LIMIT), "between": rng.uniform(0, LIMIT), "df": rng.gamma(shape, 1 / rate)}
    precision = rng.gamma(true["df"] / 2, 2 / true["df"], GROUPS)
    within = rng.uniform(0, 1000, GROUPS)
    of_group = true["centre"] + true["between"] / np.sqrt(precision) * rng.standard_normal(GROUPS)
    covariance = (1 - CORRELATION) * np.eye(FOLDS) + CORRELATION
    table = of_group[:, None] + within[:, None] * rng.multivariate_normal(np.zeros(FOLDS), covariance, GROUPS)
    square = ((table - table.mean(1, keepdims=True)) ** 2).sum(1)
    data = {
        "mean": table.mean(1),
        "square": square,
        "folds": FOLDS,
        "correlation": CORRELATION,
        "centre_limit": LIMIT,
        "between_limit": LIMIT,
    }
    true["first data set's spread"] = within[0]
    return {name: np.asarray(value, np.float64) for name, value in data.items()}, true
