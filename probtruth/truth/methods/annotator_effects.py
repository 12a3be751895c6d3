"""The distribution of opinions where annotators use some labels more than others, and not all answer all items."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from probtruth import check
from probtruth.kernels.precision import float64_on_cpu
from probtruth.truth.annotators.quality import with_interval
from probtruth.truth.fit import MethodFit, MethodRequest, affordable, evenly
from probtruth.truth.flat import flatten
from probtruth.truth.sampled import NutsSettings
from probtruth.types.index import sort_names

OTHERS = 16
"""Pairs of annotators of opposite bias over whom each draw's population is averaged."""


@check.checks_itself
def annotator_effects(request: MethodRequest, *, samples: int = 500, warmup: int = 300, chains: int = 4) -> MethodFit:
    """y_n ~ softmax(log p_i + b_j), p_i ~ Dirichlet(alpha m), b_j ~ N(0, sigma^2): q_i is the mean over annotators.

    An item's p_i is how a neutral annotator would answer, b_j how much more than others annotator j uses each label;
    the item's distribution q_i is the mean of softmax(log p_i + b) over the population that annotators come from, not
    over those who happened to answer it. Where annotators are assigned at random the vote shares have the same centre;
    where some items went to lenient and others to strict ones they do not. It needs items that link the annotators.
    All is sampled by NUTS: for small data. `usage` in `annotators()` is how far (total variation, 0 to 1) the
    annotator's answers are from the population's over these items, with an interval; `bias_<label>` the mean of b_j.
    With one vote an item the concentration is not identified: `diagnostics["concentration_identified"]`.

    Source: this package; a multinomial logit with crossed effects, as in Agresti (2013), Categorical Data Analysis.
    """
    # numpyro loads here, not with the module: the other methods do without it and start a third of a second sooner
    from probtruth.truth import programs

    flat, settings = flatten(request), NutsSettings(samples, warmup, chains)
    settings.need_memory(
        3 * (flat.n_items + flat.n_annotators) * flat.n_labels,
        f"{flat.n_items} items",
        "This method samples every item and annotator: lower samples, or use 'dirichlet' or 'dirichlet-mixture'.",
    )
    data = {
        "item": flat.item,
        "annotator": flat.annotator,
        "label": flat.label,
        "weight": flat.weight,
        "items": np.zeros(flat.n_items),
        "annotators": np.zeros(flat.n_annotators),
        "labels": np.zeros(flat.n_labels),
    }
    drawn = settings.draw(programs.annotator_effects, data, request.seed, target_accept=0.9)
    sites = drawn.sites
    with float64_on_cpu():
        parts = (jnp.asarray(sites[name].reshape(-1, *sites[name].shape[2:])) for name in ("log_p", "bias", "spread"))
        populations, usage = jax.tree.map(np.asarray, _populations(jax.random.key(request.seed), *parts))
    bias = sites["bias"].reshape(-1, *sites["bias"].shape[2:])
    bias = bias - bias.mean(2, keepdims=True)
    columns = {"n_annotations": flat.n_annotations, **with_interval("usage", usage)}
    labels = request.annotations.index.labels
    columns |= {f"bias_{name}": bias[:, :, labels.index(name)].mean(0) for name in sort_names(labels)}
    by_chain = {
        "population": populations.reshape(chains, -1, *populations.shape[1:]),
        "spread": sites["spread"],
        "log_concentration": sites["log_concentration"],
    }
    diagnostics = {
        **settings.diagnostics(drawn, by_chain),
        "concentration": float(np.exp(sites["log_concentration"]).mean()),
        "concentration_identified": bool((np.bincount(flat.item, flat.weight) > 1).any()),
        "bias_sd": float(sites["spread"].mean()),
    }
    probs = populations.mean(0)
    thinned = None
    if request.draws:
        length = affordable(min(request.draws, len(populations)), flat.n_items, flat.n_labels)
        thinned = populations[evenly(len(populations), length)].astype(np.float32)
    sampled = {
        "bias": bias.reshape(sites["bias"].shape).astype(np.float32),
        "bias_sd": sites["spread"],
        "concentration": np.exp(sites["log_concentration"]),
        **drawn.stats,
    }
    return MethodFit(probs, thinned, probs.mean(0), diagnostics=diagnostics, annotator_results=columns, sampled=sampled)


@jax.jit
def _populations(
    key: Array,
    log_p: Float[Array, "draw item label"],
    bias: Float[Array, "draw annotator label"],
    spread: Float[Array, " draw"],
) -> tuple[Float[Array, "draw item label"], Float[Array, "draw annotator"]]:
    """For each draw: how the population answers each item, and how far each annotator's usage is from it."""

    def one(now: tuple[Array, Array, Array, Array]) -> tuple[Array, Array]:
        key, log_p, bias, spread = now
        half = spread * jax.random.normal(key, (OTHERS, log_p.shape[1]), log_p.dtype)
        others = jnp.concatenate([half, -half])
        population = jax.vmap(lambda other: jax.nn.softmax(log_p + other, axis=1))(others).mean(0)
        usual = population.mean(0)
        own = jax.lax.map(lambda mine: jax.nn.softmax(log_p + mine, axis=1).mean(0), bias)
        return population, jnp.abs(own - usual).sum(1) / 2

    result: tuple[Array, Array] = jax.lax.map(one, (jax.random.split(key, len(log_p)), log_p, bias, spread))
    return result
