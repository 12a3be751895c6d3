"""What is kept of each posterior draw of class models: classes, and the annotators' quality, as JAX kernels."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key


def categorical(key: Key[Array, ""], weights: Float[Array, "row label"]) -> Int[Array, " row"]:
    """A position for each row, with probabilities in proportion to its weights (of which one must be positive)."""
    steps = jnp.cumsum(weights, axis=1)
    level = jax.random.uniform(key, (weights.shape[0], 1), weights.dtype) * steps[:, -1:]
    return jnp.minimum((level >= steps).sum(1), weights.shape[1] - 1)


def quality(
    confusion: Float[Array, "annotator label label"], log_marginals: Float[Array, " label"]
) -> tuple[Float[Array, " annotator"], Float[Array, " annotator"], Float[Array, " annotator"]]:
    """P(an annotator says the true class), their kappa with the truth, and mutual information of both in nats."""
    marginals = jnp.exp(log_marginals)
    joint = marginals[:, None] * confusion
    accuracy = jnp.trace(joint, axis1=1, axis2=2)
    said = joint.sum(1, keepdims=True)
    chance = (said[:, 0] * marginals).sum(1)
    skill = (accuracy - chance) / jnp.maximum(1 - chance, 1e-30)
    ratio = jnp.where(confusion > 0, confusion, 1.0) / jnp.where(said > 0, said, 1.0)
    return accuracy, skill, (joint * jnp.log(ratio)).sum((1, 2))
