"""Dawid and Skene's model in full: posterior draws by NUTS, with and without partial pooling of the annotators.

Dawid-Skene by expectation-maximisation: one confusion matrix an annotator.
"""

import numpy as np
from jax.typing import ArrayLike

from probtruth import check
from probtruth.truth import em
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import flatten
from probtruth.truth.sampled import fit_by_nuts


def dawid_skene(request: MethodRequest, *, samples: int = 500, warmup: int = 300, chains: int = 4) -> MethodFit:
    """theta_jk ~ Dirichlet, heavier on the diagonal (8 pseudo-counts, 60 per cent of them right), pi ~ Dirichlet(2)."""
    return fit_by_nuts(request, "dawid_skene", samples, warmup, chains)


def hierarchical_dawid_skene(
    request: MethodRequest, *, samples: int = 500, warmup: int = 300, chains: int = 4
) -> MethodFit:
    """theta_jk = softmax(beta_k + sigma_k z_jk): annotators' confusion partially pooled towards a shared one."""
    return fit_by_nuts(request, "hierarchical_dawid_skene", samples, warmup, chains)


# Expected annotations on items of a class below which an annotator's row of confusion is unknown (NaN).
KNOWN_MASS = 1e-10


def dawid_skene_em(
    request: MethodRequest,
    *,
    prior: ArrayLike | None = None,
    diagonal: float = 0,
    off_diagonal: float = 0,
    restarts: int = 1,
    max_iterations: int = 500,
    tolerance: float = 1e-9,
) -> MethodFit:
    """y_n | z_i = k ~ theta_j[k, .], z_i ~ pi; theta and pi at their maximum, q_i = P(z_i | labels, theta, pi)."""
    flat = flatten(request)
    class_counts = em.class_counts(prior, flat.n_labels)
    wrong_counts = check.number(off_diagonal, "off_diagonal", least=0)
    right_counts = check.number(diagonal, "diagonal", least=0)
    names_the_class = np.eye(flat.n_labels, dtype=bool)
    pseudo = np.where(names_the_class, right_counts, wrong_counts)

    def maximise(counts: em.Expected, _: em.Parameters) -> em.Parameters:
        answers = em.by_class(counts, flat) + pseudo
        return (em.log_normalised(answers, 1, 1 / flat.n_labels),)

    # the parameter is log P(label | true class), by (annotator, label, true class)
    model = em.EmModel(
        lambda probs, _: em.expected_answers(probs, flat),
        maximise,
        lambda parameters: em.log_joint(parameters[0], flat),
        lambda parameters: em.log_pseudo(pseudo, parameters[0]),
    )
    limits = em.EmLimits(max_iterations, tolerance, restarts)
    solution = em.solve(request, flat, model, (), class_counts, limits)
    answers = em.by_class(em.expected_answers(solution.probs, flat), flat)
    unknown = answers.sum(1) < KNOWN_MASS
    confusion = np.exp(solution.parameters[0]).transpose(0, 2, 1)
    confusion = np.where(unknown[:, :, None], np.nan, confusion)
    diagnostics = {**solution.diagnostics, "n_unidentified_rows": int(unknown.sum())}
    return em.as_fit(request, flat, solution._replace(diagnostics=diagnostics), confusion, {})
