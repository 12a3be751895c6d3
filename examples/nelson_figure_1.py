"""Figure 1: two ten-dimensional Gaussians, their means and covariances learned from 25 samples of each class.

With a Gaussian model the accuracy peaks and then falls as dimensions are added (over-fitting), and the robustness is 0;
a heavy tail (kappa = 0.162) keeps it; compact support (kappa = -0.095, printed without its minus) fails from the start.
The paper shows one draw; here are medians over 40. Run: python examples/nelson_figure_1.py [--out FOLDER]
"""

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import nelson
import numpy as np

import probtruth as pt

DIMENSIONS, KAPPAS = (2, 4, 6, 8, 10), (0.0, 0.162, -0.095)
TRAINING, TEST, DRAWS = 25, 500, 40
PUBLISHED = {(0.0, 6): ".63, the maximum", (-0.095, 2): "0"} | {(0.162, dim): ".69" for dim in (6, 8, 10)}


def worlds() -> tuple[np.ndarray, np.ndarray]:
    """Training and test samples (draw, class, sample, dimension); the classes are one apart in every dimension."""
    rng = np.random.default_rng(0)
    shift = np.array([0.0, 1.0])[:, None, None]
    return tuple(rng.normal(size=(DRAWS, 2, number, max(DIMENSIONS))) + shift for number in (TRAINING, TEST))


@jax.jit
def reported(train: jax.Array, test: jax.Array, kappa: jax.Array) -> jax.Array:
    """Probability that the learned model gives to the true class of each test sample of one draw."""

    def density(samples: jax.Array) -> jax.Array:
        loc, scale = samples.mean(0), jnp.cov(samples.T)
        return pt.nelson.coupled_gaussian.multivariate_log_density(test, loc, scale, kappa)

    logs = jnp.stack([density(samples) for samples in train], -1)
    probs = jnp.exp(pt.nelson.coupled_gaussian.log_posterior(logs, jnp.array([0.5, 0.5])))
    # where both classes are impossible the model has nothing to say, and gives what happened no probability
    return jnp.nan_to_num(jnp.stack([probs[0, :, 0], probs[1, :, 1]]).ravel())


def main() -> None:
    training, test = worlds()
    powers = (1.0, 0.0, -2 / 3)
    results = {}
    with jax.enable_x64(True):
        for dim in DIMENSIONS:
            for kappa in KAPPAS:
                probs = jax.vmap(reported, (0, 0, None))(training[..., :dim], test[..., :dim], kappa)
                means = [np.asarray(pt.nelson.generalized_mean(probs, power)) for power in powers]
                results[kappa, dim] = [np.median(row) for row in (*means, (probs > 0.5).mean(1))]
    rows = [
        (f"kappa {kappa:6}, {dim:2} dimensions: accuracy", results[kappa, dim][1], PUBLISHED.get((kappa, dim), ""))
        for kappa in KAPPAS
        for dim in DIMENSIONS
    ]
    decisive, _, robust, right = results[0.0, 6]
    rows.append(("kappa 0, 6 dimensions: decisiveness", decisive, f"about the classification rate ({right:.3f})"))
    rows.append(("kappa 0, 6 dimensions: robustness", robust, "0"))
    nelson.show(rows)

    figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharey=True, layout="constrained")
    for axis, kappa in zip(axes, KAPPAS, strict=True):
        decisive, accurate, robust, right = np.array([results[kappa, dim] for dim in DIMENSIONS]).T
        axis.bar(DIMENSIONS, right, color="burlywood", label="classified rightly")
        errors = np.abs(np.stack([accurate - robust, decisive - accurate]))
        axis.errorbar(
            DIMENSIONS, accurate, errors, fmt="s", color="dimgray", capsize=4, label="-2/3, geometric, arithmetic"
        )
        axis.set(title=f"kappa = {kappa}", xlabel="dimensions", ylim=(0, 1))
    axes[0].set_ylabel("probability")
    axes[2].legend(loc="upper right")
    nelson.save(figure, "nelson_figure_1")


if __name__ == "__main__":
    main()
