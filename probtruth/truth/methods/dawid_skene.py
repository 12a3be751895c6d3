"""Dawid and Skene's model in full: posterior draws by NUTS, with and without partial pooling of the annotators.

Dawid-Skene by expectation-maximisation: one confusion matrix an annotator.
"""

import numpy as np
from jax.typing import ArrayLike

from probtruth import check
from probtruth.truth import em
from probtruth.truth.annotators.quality import Values
from probtruth.truth.earlier import earlier_of, evidence
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import flatten
from probtruth.truth.sampled import NutsSettings, fit_by_nuts
from probtruth.types import Truth


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


KNOWN_MASS = 1e-10
"""Expected annotations on items of a class below which an annotator's row of confusion is unknown (NaN)."""


@check.checks_itself
def dawid_skene_em(
    request: MethodRequest,
    *,
    prior: ArrayLike | Truth | None = None,
    diagonal: float = 0,
    off_diagonal: float = 0,
    restarts: int = 1,
    max_iterations: int = 2000,
    tolerance: float = 1e-9,
) -> MethodFit:
    """y_n | z_i = k ~ theta_j[k, .], z_i ~ pi; theta and pi at their maximum, q_i = P(z_i | labels, theta, pi).

    Arguments: `prior` are pseudo-counts of the class marginals (none without it), or an earlier `Truth` whose posterior
    is taken as prior: its expected counts of annotators and classes are added, its items keep what they had, and
    annotators not seen before start from all earlier ones together. `diagonal` and `off_diagonal` are pseudo-counts of
    every confusion matrix, which make it a maximum of the posterior; `restarts` above 1 adds starts
    drawn around the vote shares and keeps the best; it stops when no class probability moves by more than `tolerance`
    in an iteration, and the log posterior does not rise by 100 times as much. Starts from the vote shares. Draws are
    of the class given the point estimate.

    Source: Dawid and Skene (1979), https://doi.org/10.2307/2346806.
    """
    earlier, flat = earlier_of(prior, request.annotations), flatten(request)
    extended, n_labels = earlier.extend(flat), flat.n_labels
    class_counts = earlier.class_counts if isinstance(prior, Truth) else em.class_counts(prior, n_labels)
    own = np.full((n_labels, n_labels), check.number(off_diagonal, "off_diagonal", least=0))
    np.fill_diagonal(own, check.number(diagonal, "diagonal", least=0))
    pseudo = (own + earlier.counts + earlier.newcomers()).transpose(0, 2, 1)
    limits = em.EmLimits(max_iterations, tolerance, restarts)
    solution = em.solve(request, extended, MODEL, (np.zeros_like(pseudo),), (pseudo,), class_counts, limits)
    learned = evidence(solution.probs, extended, earlier)
    mass = (learned["annotations"] + earlier.newcomers())[: flat.n_annotators].sum(2)
    unknown = mass < KNOWN_MASS
    confusion = np.exp(solution.parameters[0][: flat.n_annotators]).transpose(0, 2, 1)
    confusion = np.where(unknown[:, :, None], np.nan, confusion)
    solution.diagnostics["n_unidentified_rows"] = int(unknown.sum())
    return em.as_fit(request, flat, solution, confusion, {}, evidence=learned)


def _maximise(probs: Values, parameters: em.Parameters, data: em.SparseAnnotations, priors: em.Priors) -> em.Parameters:
    n_annotators, n_labels, _ = parameters[0].shape
    counts = em.answers_by_class(probs, data, n_annotators) + priors[0]
    return (em.log_normalised(counts, 1, 1 / n_labels)[0],)


def _log_terms(parameters: em.Parameters, data: em.SparseAnnotations) -> Values:
    log_answers = parameters[0]
    return log_answers.reshape(-1, log_answers.shape[2])[data.cell]


def _log_prior(parameters: em.Parameters, priors: em.Priors) -> em.Number:
    return em.log_pseudo(priors[0], parameters[0])


MODEL = em.EmModel(_maximise, _log_terms, _log_prior)
"""The parameter is log P(label | true class), by (annotator, label, true class), and so are the pseudo-counts."""
