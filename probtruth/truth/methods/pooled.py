"""The default for one true class: perceived classes under two priors of the marginals, pooled with vote shares."""

import numpy as np
from jaxtyping import Float
from scipy.special import expit, gammaln

from probtruth import check
from probtruth.truth import em
from probtruth.truth.annotators import annotator_columns
from probtruth.truth.fit import INDEPENDENT, MethodFit, MethodRequest, class_draws
from probtruth.truth.flat import FlatAnnotations, flatten
from probtruth.truth.methods import ability
from probtruth.truth.methods.perceived_class import HARD_SHARE, PerceptionSettings, fit_perceived

LEAST = 1e-9  # Class probabilities below this enter the pool as this: its logarithm is finite


def pooled(
    request: MethodRequest,
    *,
    hard: float = HARD_SHARE,
    share_weight: float = 0.25,
    max_iterations: int = 500,
    tolerance: float = 1e-3,
) -> MethodFit:
    """q_ik proportional to m_ik^(1 - w) ((n_ik + 1/K) / (n_i + 1))^w; m the mean of two fits by their evidence."""
    flat = flatten(request)
    weight = check.number(share_weight, "share_weight", least=0, below=1, hint="The default is 0.25.")
    settings = PerceptionSettings(hard, max_iterations, tolerance)
    free_counts = np.ones(flat.n_labels)
    anchored_counts = ability.anchored_counts(flat)
    free_start = ability.fit_ability(request, flat, free_counts, max_iterations, tolerance)
    anchored_start = ability.fit_ability(request, flat, anchored_counts, max_iterations, tolerance)
    free = fit_perceived(request, flat, free_start, free_counts, settings)
    anchored = fit_perceived(request, flat, anchored_start, anchored_counts, settings)
    # log Bayes factors of the free marginals, with errors that are independent and with hard items
    independent_factor = _log_evidence(free_start, free_counts) - _log_evidence(anchored_start, anchored_counts)
    shared_factor = _log_evidence(free.run, free_counts) - _log_evidence(anchored.run, anchored_counts)
    free_share = float(expit((independent_factor + shared_factor) / 2))

    def mean(of_free: np.ndarray, of_anchored: np.ndarray) -> np.ndarray:
        return np.asarray(free_share * of_free + (1 - free_share) * of_anchored)

    classes = mean(free.run.probs, anchored.run.probs)
    independent = mean(free_start.probs, anchored_start.probs)
    marginals = mean(free.marginals, anchored.marginals)
    confusion = mean(free.confusion, anchored.confusion)
    probs = with_shares(classes, flat, weight)
    better, start = (free, free_start) if free_share > 0.5 else (anchored, anchored_start)
    # hard items are likelier than independent errors by so many nats
    shared_errors = better.run.log_likelihood - start.log_likelihood
    shared_share = float(expit(shared_errors))
    calibrated = shared_share * classes + (1 - shared_share) * independent
    diagnostics = {
        **better.run.diagnostics,
        "converged": free.run.converged and anchored.run.converged,
        "free_marginals": free_share,
        "hard_items": float(mean(np.asarray(free.hard), np.asarray(anchored.hard))),
        "shared_errors": shared_errors,
    }
    return MethodFit(
        probs,
        class_draws(probs, request.draws, request.seed),
        marginals,
        confusion,
        diagnostics,
        annotator_columns(calibrated, marginals, confusion, flat),
        {"difficulty": mean(free.difficulty, anchored.difficulty)},
        {INDEPENDENT: independent},
    )


def _log_evidence(run: em.EmRun, class_counts: Float[np.ndarray, " label"]) -> float:
    """The log posterior density at its maximum, with the marginals' Dirichlet prior normalised."""
    alpha = 1 + class_counts
    return float(run.objective + gammaln(alpha.sum()) - gammaln(alpha).sum())


def with_shares(
    classes: Float[np.ndarray, "item label"], flat: FlatAnnotations, weight: float
) -> Float[np.ndarray, "item label"]:
    """The geometric mean of class probabilities and smoothed vote shares; what is known stays known."""
    votes = flat.votes()
    shares = (votes + 1 / flat.n_labels) / (votes.sum(1, keepdims=True) + 1)
    logs = (1 - weight) * np.log(np.maximum(classes, LEAST)) + weight * np.log(shares) + flat.known
    powers = np.exp(logs - logs.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True))
