"""Dawid and Skene's model in full: posterior draws by NUTS, with and without partial pooling of the annotators."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import linear_sum_assignment

from probtruth.truth import em
from probtruth.truth.fit import Fit, Request, affordable
from probtruth.truth.flat import flatten, whole
from probtruth.truth.gibbs import quality
from probtruth.truth.quality import flags
from probtruth.truth.variates import categorical

SETTLED = 1.05
"""R-hat at which sampling counts as converged: the largest over hundreds of parameters is seldom below 1.01."""


def dawid_skene(request: Request, *, samples: object = 500, warmup: object = 300, chains: object = 4) -> Fit:
    """theta_jk ~ Dirichlet, heavier on the diagonal (8 pseudo-counts, 60 per cent of them right), pi ~ Dirichlet(2).

    The classes are summed out and the rest is sampled by NUTS, so it is for small data: a minute for ten thousand
    annotations. `samples` are kept in each of `chains` chains after `warmup`. Item probabilities are the mean over
    draws of P(z_i | labels, theta, pi); draws are of the class given each of those.

    Source: Dawid and Skene (1979), https://doi.org/10.2307/2346806; Paun et al. (2018),
    https://doi.org/10.1162/tacl_a_00040.
    """
    return _sampled(request, "dawid_skene", samples, warmup, chains)


def hierarchical_dawid_skene(
    request: Request, *, samples: object = 500, warmup: object = 300, chains: object = 4
) -> Fit:
    """theta_jk = softmax(beta_k + sigma_k z_jk): annotators' confusion partially pooled towards a shared one.

    Priors and options as in the program `probtruth.truth.programs.hierarchical_dawid_skene` and in `dawid-skene`.

    Source: Paun et al. (2018), Comparing Bayesian Models of Annotation, https://doi.org/10.1162/tacl_a_00040.
    """
    return _sampled(request, "hierarchical_dawid_skene", samples, warmup, chains)


def _sampled(request: Request, program: str, samples: object, warmup: object, chains: object) -> Fit:
    # numpyro loads here, not with the module: the other methods do without it and start a third of a second sooner
    from probtruth.inference import nuts
    from probtruth.inference.diagnostics import convergence
    from probtruth.truth import programs

    flat = flatten(request)
    data = {
        "item": flat.item,
        "cell": flat.cell,
        "weight": flat.weight,
        "known": flat.known,
        "annotators": np.zeros(flat.n_annotators),
    }
    drawn = nuts.sample(
        getattr(programs, program),
        data,
        request.seed,
        draws=whole(samples, 4, "samples"),
        warmup=whole(warmup, 1, "warmup"),
        chains=whole(chains, 1, "chains"),
        target_accept=0.9,
    )
    log_marginals, log_said = drawn.sites["log_marginals"], drawn.sites["log_said"]
    with jax.enable_x64(True):
        arrays = {name: jnp.asarray(part) for name, part in data.items() if name != "annotators"}
        parts = (jnp.asarray(part.reshape(-1, *part.shape[2:])) for part in (log_marginals, log_said))
        probs, classes, accuracy, skill, information = jax.tree.map(
            np.asarray, _summaries(jax.random.key(request.seed), *parts, log_joint=programs.log_joint, **arrays)
        )
    rhat, ess = convergence({"log_marginals": log_marginals, "log_said": log_said})
    confusion = np.exp(log_said).mean((0, 1))
    columns = {"n_annotations": np.bincount(flat.annotator, flat.weight, flat.n_annotators).astype(np.int64)}
    for name, values in (("accuracy", accuracy), ("skill", skill), ("information", information)):
        low, high = np.quantile(values, [0.025, 0.975], axis=0)
        columns |= {name: values.mean(0), f"{name}_low": low, f"{name}_high": high}
    columns["flag"] = flags(columns["skill_low"], columns["skill_high"])
    diagnostics = {
        "converged": bool(rhat <= SETTLED),
        "n_iterations": log_said.shape[1] + whole(warmup, 1, "warmup"),
        "max_rhat": rhat,
        "min_ess": ess,
        "divergences": int(drawn.stats["diverging"].sum()),
        "label_switching": _switching(log_said) or em.label_switching(probs, flat),
    }
    kept = affordable(min(request.draws, len(classes)), flat.n_items, flat.n_labels) if request.draws else 0
    chosen = np.linspace(0, len(classes) - 1, kept).round().astype(int)
    draws = np.eye(flat.n_labels, dtype=np.float32)[classes[chosen]] if kept else None
    return Fit(probs, draws, np.exp(log_marginals).mean((0, 1)), confusion, diagnostics, columns)


@partial(jax.jit, static_argnames="log_joint")
def _summaries(
    key: Array, log_marginals: Float[Array, "draw label"], log_said: Array, log_joint: object, **data: Array
) -> tuple[Array, ...]:
    """Mean over draws of P(class), a draw of the classes for each, and annotators' accuracy, skill and information."""

    def one(total: Array, now: tuple[Array, Array, Array]) -> tuple[Array, tuple[Array, ...]]:
        key, marginals, said = now
        probs = jax.nn.softmax(log_joint(**data, log_marginals=marginals, log_said=said), axis=1)  # type: ignore[operator]
        return total + probs, (categorical(key, probs).astype(jnp.uint16), *quality(jnp.exp(said), marginals))

    n_draws = len(log_marginals)
    keys = jax.random.split(key, n_draws)
    total, kept = jax.lax.scan(one, jnp.zeros_like(data["known"]), (keys, log_marginals, log_said))
    return total / n_draws, *kept


def _switching(log_said: Float[np.ndarray, "chain draw annotator label label"]) -> bool:
    """Whether some chain gives the classes other names than the labels: not best on the diagonal."""
    for chain in np.exp(log_said).mean((1, 2)):
        rows, columns = linear_sum_assignment(chain, maximize=True)
        if (columns != rows).any():
            return True
    return False
