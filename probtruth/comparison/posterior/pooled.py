r"""Models of one study resemble each other: P(best), ranks and regret partially pool them, their spread learned.

A flat prior on every difference makes the best-looking of many close models too sure of itself. Here the models' means
are $\theta_k \sim N(\mu, \tau^2)$, with flat priors of $\mu$ and $\tau$ (Gelman 2006, doi:10.1214/06-BA117A). Of
$\tau$ two models say nothing then: they are not pooled at all, so that P(best) of two is P(a better).

In directions $u_j$ of the contrasts that vary on their own (h_j the variance of the estimate there, z_j the estimate),
the mean and the noise of the draws shrink by $s_j = \tau^2/(\tau^2 + h_j)$ and its root. What that takes away is made
in steps from model to model, in units of their spreads: differences of any size keep all their digits.
"""

import numpy as np
from jaxtyping import Float
from scipy.cluster.hierarchy import cophenet, single

from probtruth.kernels.arrays import ratio
from probtruth.kernels.shapes import DrawFloats, DrawStep, ModelFloats, ModelModel, StepStep

GRID = 601  # Values of tau
RANGE = 1e3  # The largest value of tau, in units of the spread of the estimates; the least, one part of so many
PRECISE = 10.0  # A direction counts for tau by this times its variance over the average's, up to 1: twins say little

PerDirection = Float[np.ndarray, " direction"]


def steadier(variance: ModelModel, df: float) -> ModelModel:
    """The variances of all pairs, moved towards those of a tree of models, the more, the fewer items there are.

    Correlations between the differences of many models, estimated from few items, are mostly noise: some contrasts
    would seem to be known exactly.
    """
    n_models = len(variance)
    above = np.triu_indices(n_models, 1)
    of_pairs = variance[above]
    # where two variances are equal, or change places, nothing jumps: averages over sets of models would
    linked = cophenet(single(of_pairs))
    # the nearest of several models seem nearer than they are: on average pairs stay as they were
    linked *= ratio(of_pairs.sum(), linked.sum(), 1.0)
    of_tree = np.zeros_like(variance)
    of_tree[above] = linked
    of_tree += of_tree.T
    of_prior = min(1.0, 2 * n_models / (n_models + df))
    return (1 - of_prior) * variance + of_prior * of_tree


def pooled(
    mean: ModelFloats,
    steps: DrawStep,
    reach: Float[np.ndarray, "model step"],
    root: StepStep,
    seed: int,
) -> DrawStep:
    """Draws of the steps about their means, in units of their spreads, after pooling: with what the means lose.

    `reach` is what each step adds to each model's mean, in units of the score, and `root` that of the steps' covariance
    in units of their spreads.
    """
    by_step = reach - reach.mean(0)
    directions, size, turn = np.linalg.svd(by_step @ root, full_matrices=False)
    h = size**2
    if not h.any():
        return steps
    estimate = directions.T @ (mean - mean.mean())
    tau_square = spread_between(estimate, h, len(steps), seed)[:, None]
    noise = steps @ (by_step.T @ directions)  # draw, direction
    total = tau_square + h
    shrinkage = np.sqrt(tau_square / total)
    lost = size / total * (estimate + noise / (1 + shrinkage))
    to_steps = root @ turn.T
    return steps - lost @ to_steps.T


def spread_between(estimate: PerDirection, h: PerDirection, size: int, seed: int) -> DrawFloats:
    """Draws of the variance between models from its posterior, on a grid of the standard deviation's logarithm."""
    typical = h.mean()
    largest = np.square(estimate).max()
    low = np.sqrt(typical) / RANGE
    high = np.sqrt(typical + largest) * RANGE
    tau = np.geomspace(low, high, GRID)
    variance = tau[:, None] ** 2 + h
    weight = np.minimum(1.0, PRECISE * h / typical)
    of_direction = np.log(variance) + estimate**2 / variance
    log_density = np.log(tau) - 0.5 * of_direction @ weight
    density = np.exp(log_density - log_density.max())
    chance = density / density.sum()
    rng = np.random.default_rng(seed)
    return rng.choice(tau, size, p=chance) ** 2
