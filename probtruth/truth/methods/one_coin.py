"""One coin an annotator: right with one probability whatever the class, errors spread equally over the other labels."""

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float

from probtruth import check
from probtruth.truth import em
from probtruth.truth.annotators.quality import Values
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import flatten


@check.checks_itself
def one_coin(
    request: MethodRequest,
    *,
    prior: ArrayLike | None = None,
    right: float = 0,
    wrong: float = 0,
    restarts: int = 1,
    max_iterations: int = 2000,
    tolerance: float = 1e-9,
) -> MethodFit:
    """P(y_n = l | z_i = k) = a_j where l = k, (1 - a_j) / (K - 1) elsewhere; a and the marginals at their maximum.

    Arguments: `right` and `wrong` are pseudo-counts of every annotator's right and wrong answers; the others as in
    Dawid-Skene. Draws are of the class given the point estimate.

    Source: Zhang, Chen, Zhou and Jordan (2016), https://jmlr.org/papers/v17/14-511.html.
    """
    flat = flatten(request)
    pseudo = np.array([check.number(right, "right", least=0), check.number(wrong, "wrong", least=0)])
    limits = em.EmLimits(max_iterations, tolerance, restarts)
    first, class_counts = np.zeros((flat.n_annotators, 2)), em.class_counts(prior, flat.n_labels)
    solution = em.solve(request, flat, MODEL, (first,), (pseudo,), class_counts, limits)
    ability = np.exp(solution.parameters[0][:, 0])
    return em.as_fit(request, flat, solution, spread_errors(ability, flat.n_labels), {"ability": ability})


def _maximise(probs: Values, parameters: em.Parameters, data: em.SparseAnnotations, priors: em.Priors) -> em.Parameters:
    correct = probs[data.item, data.label]
    both = probs.__array_namespace__().stack([correct, 1 - correct], 1) * data.weight[:, None]
    counts = em.totals(both, data.annotator, len(parameters[0]))
    return (em.log_normalised(counts + priors[0], 1, 0.5)[0],)


def _log_terms(parameters: em.Parameters, data: em.SparseAnnotations) -> Values:
    log_right, log_wrong = parameters[0][data.annotator].T
    others = max(data.known.shape[1] - 1, 1)
    return em.right_or_wrong(log_right, log_wrong - np.log(others), data)


def _log_prior(parameters: em.Parameters, priors: em.Priors) -> em.Number:
    return em.log_pseudo(priors[0], parameters[0])


MODEL = em.EmModel(_maximise, _log_terms, _log_prior)
"""The parameters are each annotator's log P(right) and log P(wrong), the priors their pseudo-counts."""


def spread_errors(right: Float[np.ndarray, " annotator"], n_labels: int) -> Float[np.ndarray, "annotator label label"]:
    """Confusion matrices with `right` on the diagonal and the rest spread equally."""
    confusion = np.repeat((1 - right)[:, None, None] / max(n_labels - 1, 1), n_labels, 1).repeat(n_labels, 2)
    confusion[:, range(n_labels), range(n_labels)] = right[:, None] if n_labels > 1 else 1.0
    return confusion
