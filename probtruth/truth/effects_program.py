"""The NumPyro program of the distribution of opinions with annotators who use some labels more than others."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jaxtyping import Array, Float, Int

BASE_COUNTS = 2.0
"""Prior pseudo-counts of every label in the mean distribution of the items."""


def annotator_effects(
    item: Int[Array, " annotation"],
    annotator: Int[Array, " annotation"],
    label: Int[Array, " annotation"],
    weight: Float[Array, " annotation"],
    items: Float[Array, " item"],
    annotators: Float[Array, " annotator"],
    labels: Float[Array, " label"],
) -> None:
    r"""$y_n \sim softmax(\log p_i + b_j)$, $p_i \sim Dirichlet(\alpha m)$, $b_j \sim N(0, \sigma^2)$ for each label.

    $m \sim Dirichlet(2)$, $\log \alpha \sim N(\log 2, 1)$, $\sigma \sim HalfNormal(1)$. `items`, `annotators` and
    `labels` only carry their numbers.
    """
    counts = jnp.full(len(labels), BASE_COUNTS)
    base = numpyro.sample("base_gammas", dist.Gamma(counts, counts).to_event(1))
    log_concentration = numpyro.sample("log_concentration", dist.Normal(jnp.log(2.0), 1.0))
    alpha = jnp.exp(log_concentration) * base / base.sum()
    shape = jnp.broadcast_to(alpha, (len(items), len(labels)))
    log_gamma = dist.TransformedDistribution(dist.Gamma(shape, 1.0), dist.transforms.ExpTransform().inv)
    log_gammas = numpyro.sample("log_gammas", log_gamma.to_event(2))
    log_p = jax.nn.log_softmax(log_gammas, axis=1)
    spread = numpyro.sample("spread", dist.HalfNormal(1.0))
    own = numpyro.sample("own", dist.Normal(0, 1).expand((len(annotators), len(labels))).to_event(2))
    bias = spread * own
    numpyro.deterministic("log_p", log_p)
    numpyro.deterministic("bias", bias)
    log_probs = jax.nn.log_softmax(log_p[item] + bias[annotator], axis=1)
    terms = jnp.take_along_axis(log_probs, label[:, None], axis=1)[:, 0]
    numpyro.factor("annotations", (terms * weight).sum())
