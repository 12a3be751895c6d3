"""Dawid and Skene's model in full: posterior draws by NUTS, with and without partial pooling of the annotators."""

from probtruth import check
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.sampled import NutsSettings, fit_by_nuts


@check.checks_itself
def dawid_skene(request: MethodRequest, *, samples: int = 500, warmup: int = 300, chains: int = 4) -> MethodFit:
    """theta_jk ~ Dirichlet, heavier on the diagonal (8 pseudo-counts, 60 per cent of them right), pi ~ Dirichlet(2).

    The classes are summed out and the rest is sampled by NUTS, so it is for small data: a minute for ten thousand
    annotations. `samples` is the number of draws in each of `chains` chains, after `warmup`. Item probabilities are
    the mean over draws of P(z_i | labels, theta, pi); draws are of the class for each of those.

    Source: Dawid and Skene (1979), https://doi.org/10.2307/2346806; Paun et al. (2018),
    https://doi.org/10.1162/tacl_a_00040.
    """
    return fit_by_nuts(request, "dawid_skene", NutsSettings(samples, warmup, chains))


@check.checks_itself
def hierarchical_dawid_skene(
    request: MethodRequest, *, samples: int = 500, warmup: int = 300, chains: int = 4
) -> MethodFit:
    """theta_jk = softmax(beta_k + sigma_k z_jk): annotators' confusion partially pooled towards a shared one.

    beta_kl ~ N(2 [k = l], 1), sigma_kl ~ HalfNormal(1), z ~ N(0, 1), pi ~ Dirichlet(2); options as in `dawid-skene`.

    Source: Paun et al. (2018), Comparing Bayesian Models of Annotation, https://doi.org/10.1162/tacl_a_00040.
    """
    return fit_by_nuts(request, "hierarchical_dawid_skene", NutsSettings(samples, warmup, chains))
