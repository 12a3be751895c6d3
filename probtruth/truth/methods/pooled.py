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
from probtruth.truth.methods.perceived_class import TINY, fit_perceived

SHARE_WEIGHT = 0.35  # Of smoothed vote shares, in the geometric mean with class probabilities

INDEPENDENT_WEIGHT = 0.3  # Of independent errors, in the mean with hard items

# Prior log odds of free marginals: so many nats for them, less so many over the number of votes an item. Of one vote
# an item, an error and the other class cannot be told apart, and free marginals follow chance.
FREE_ODDS, FREE_ODDS_LOST = 2.0, 4.0

LEAST = 1e-9  # Class probabilities below this enter the pool as this: its logarithm is finite


def pooled(
    request: MethodRequest,
    *,
    hard: float | None = None,
    share_weight: float = SHARE_WEIGHT,
    max_iterations: int = 500,
    tolerance: float = 1e-3,
) -> MethodFit:
    """q_ik proportional to m_ik^(1 - w) ((n_ik + 1/K) / (n_i + 1))^w; m the mean of hard items and independent errors.

    Each of the two is the mean of a fit with free and one with anchored class marginals, by their evidence.
    """
    flat = flatten(request)
    weight = check.number(share_weight, "share_weight", least=0, below=1, hint="The default is 0.35.")
    limits = em.EmLimits(max_iterations, tolerance)
    free_counts = np.ones(flat.n_labels)
    anchored_counts = ability.anchored_counts(flat)
    free = fit_perceived(request, flat, free_counts, hard, limits)
    anchored = fit_perceived(request, flat, anchored_counts, hard, limits)
    # with independent errors: hard items explain away what tells the two apart
    log_bayes_factor = _log_evidence(free.start, free_counts) - _log_evidence(anchored.start, anchored_counts)
    votes_of_item = flat.weight.sum() / flat.n_items
    log_prior_odds = FREE_ODDS - FREE_ODDS_LOST / max(votes_of_item, TINY)
    free_share = float(expit(log_bayes_factor + log_prior_odds))

    def mean(of_free: np.ndarray, of_anchored: np.ndarray) -> np.ndarray:
        return np.asarray(free_share * of_free + (1 - free_share) * of_anchored)

    classes = mean(free.run.probs, anchored.run.probs)
    independent = mean(free.start.probs, anchored.start.probs)
    marginals = mean(np.exp(free.run.log_marginals), np.exp(anchored.run.log_marginals))
    confusion = mean(free.confusion, anchored.confusion)
    both = INDEPENDENT_WEIGHT * independent + (1 - INDEPENDENT_WEIGHT) * classes
    probs = with_shares(both, flat, weight)
    better = free if free_share > 0.5 else anchored
    # hard items are likelier than independent errors by so many nats
    shared_errors = better.run.log_likelihood - better.start.log_likelihood
    shared_share = float(expit(shared_errors))
    calibrated = shared_share * classes + (1 - shared_share) * independent
    diagnostics = {
        **better.run.diagnostics,
        "converged": free.run.converged and anchored.run.converged,
        "free_marginals": free_share,
        "shared_errors": shared_errors,
    }
    # of an item with one annotator alone, only the prior says how often they are right
    pair = flat.item * flat.n_annotators + flat.annotator
    answered = np.bincount(np.unique(pair) // flat.n_annotators, minlength=flat.n_items)
    checked = (answered > 1) | (flat.known < 0).any(1)
    columns = annotator_columns(calibrated, marginals, confusion, flat, checked)
    return MethodFit(
        probs,
        class_draws(probs, request.draws, request.seed),
        marginals,
        confusion,
        diagnostics,
        columns,
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
    of_classes = np.log(np.maximum(classes, LEAST))
    logs = (1 - weight) * of_classes + weight * np.log(shares) + flat.known
    top = logs.max(1, keepdims=True)
    powers = np.exp(logs - top)
    total = powers.sum(1, keepdims=True)
    return np.asarray(powers / total)
