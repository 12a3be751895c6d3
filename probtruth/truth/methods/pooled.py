"""The default for one true class: independent errors and hard items over likely class marginals, and vote shares."""

import numpy as np
from jaxtyping import Float
from scipy.special import expit, softmax

from probtruth import check
from probtruth.truth import em
from probtruth.truth.annotators import annotator_columns
from probtruth.truth.fit import INDEPENDENT, MethodFit, MethodRequest, class_draws
from probtruth.truth.flat import FlatAnnotations, flatten
from probtruth.truth.methods import ability
from probtruth.truth.methods.perceived_class import fit_perceived

# Class probabilities weigh so much in the geometric mean with vote shares, where votes and items are many. It is half
# of that at so many votes an item, and at so many items: from few of them little is learned about annotators.
CLASS_WEIGHT = 0.75
HALF_VOTES, HALF_ITEMS = 1, 40

SMOOTHING = 0.5  # Votes that are added to those of each item, in equal parts for every label

INDEPENDENT_WEIGHT = 0.3  # Of independent errors, in the mean with hard items

# Prior log odds of free marginals: so many nats for them, less so many over the number of votes an item. Of one vote
# an item, an error and the other class cannot be told apart, and free marginals follow chance.
FREE_ODDS, FREE_ODDS_LOST = 3.0, 8.0

# Pseudo-items in the prior of the marginals: of every label, and for those that anchor marginals. The latter fall with
# the third power of the number of votes an item.
EVEN, LEAN = 0.75, 3.0

LEAST = 1e-9  # Class probabilities below this enter the pool as this: its logarithm is finite


def pooled(
    request: MethodRequest,
    *,
    hard: float | None = None,
    share_weight: float | None = None,
    max_iterations: int = 500,
    tolerance: float = 1e-3,
) -> MethodFit:
    """q_ik proportional to m_ik^(1 - w) (p_k s_ik / mean_i s_ik)^w, with s_ik = (n_ik + 1/(2K)) / (n_i + 1/2).

    m is the mean of hard items and independent errors, both means over class marginals by their evidence; p is the mean
    of these marginals.
    """
    flat = flatten(request)
    weight = usual_share_weight(flat)
    if share_weight is not None:
        weight = check.number(share_weight, "share_weight", least=0, below=1, hint="Leave it out.")
    limits = em.EmLimits(max_iterations, tolerance)
    # with independent errors: hard items explain away what tells marginals apart
    starts = fits_at_marginals(request, flat, limits)
    weights = marginal_weights(starts, flat)
    likeliest = starts[int(weights.argmax())]
    fitted = fit_perceived(request, flat, likeliest, np.zeros(flat.n_labels), hard, limits, likeliest.log_marginals)

    log_marginals = np.array([start.log_marginals for start in starts])
    ratio = np.exp(log_marginals - likeliest.log_marginals)
    at_marginals = fitted.run.probs * ratio[:, None]
    at_marginals /= at_marginals.sum(2, keepdims=True)
    classes = np.tensordot(weights, at_marginals, 1)
    independent = np.tensordot(weights, [start.probs for start in starts], 1)
    marginals = weights @ np.exp(log_marginals)
    both = INDEPENDENT_WEIGHT * independent + (1 - INDEPENDENT_WEIGHT) * classes
    probs = with_shares(both, flat, weight, marginals)
    # hard items are likelier than independent errors by so many nats
    shared_errors = fitted.run.log_likelihood - likeliest.log_likelihood
    shared_share = expit(shared_errors)
    calibrated = shared_share * classes + (1 - shared_share) * independent
    diagnostics = {
        **fitted.run.diagnostics,
        "converged": fitted.run.converged and likeliest.converged,
        "shared_errors": shared_errors,
    }
    # of an item with one annotator alone, only the prior says how often they are right
    pair = flat.item * flat.n_annotators + flat.annotator
    answered = np.bincount(np.unique(pair) // flat.n_annotators, minlength=flat.n_items)
    checked = (answered > 1) | (flat.known < 0).any(1)
    columns = annotator_columns(calibrated, marginals, fitted.confusion, flat, checked)
    return MethodFit(
        probs,
        class_draws(probs, request.draws, request.seed),
        marginals,
        fitted.confusion,
        diagnostics,
        columns,
        {"difficulty": fitted.difficulty},
        {INDEPENDENT: independent},
    )


def fits_at_marginals(request: MethodRequest, flat: FlatAnnotations, limits: em.EmLimits) -> list[em.EmRun]:
    """Fits of `ability` with anchored and free class marginals, and with two as far beyond one of them each."""
    no_prior = np.zeros(flat.n_labels)
    ends = []
    for counts in (ability.anchored_counts(flat), no_prior + 1):
        ends.append(ability.fit_ability(request, flat, limits, counts))
    beyond = []
    for near, other in (ends, ends[::-1]):
        logs = 2 * near.log_marginals - other.log_marginals
        fixed = logs - em.log_total(logs, 0)
        run = em.solve(
            request,
            flat,
            ability.model_of(flat),
            near.parameters,
            no_prior,
            limits,
            near.probs,
            fixed,
        )
        beyond.append(run)
    return ends + beyond


def marginal_weights(starts: list[em.EmRun], flat: FlatAnnotations) -> Float[np.ndarray, " marginals"]:
    """The posterior of the fits' marginals; free ones stand at odd places."""
    votes_of_item = max(flat.weight.sum() / flat.n_items, 1.0)
    lean = LEAN / votes_of_item**3
    counts = EVEN + lean * (ability.anchored_counts(flat) - 1)
    evidence = [run.log_likelihood + ability.log_prior(run.parameters) for run in starts]
    log_marginals = np.array([run.log_marginals for run in starts])
    logs = evidence + log_marginals @ counts
    logs[1::2] += FREE_ODDS - FREE_ODDS_LOST / votes_of_item
    return softmax(logs)


def usual_share_weight(flat: FlatAnnotations) -> float:
    """The weight of vote shares: the less is known of annotators, the more they weigh."""
    votes_of_item = flat.weight.sum() / flat.n_items
    of_votes = votes_of_item / (votes_of_item + HALF_VOTES)
    of_items = flat.n_items / (flat.n_items + HALF_ITEMS)
    return float(1 - CLASS_WEIGHT * of_votes * of_items)


def with_shares(
    classes: Float[np.ndarray, "item label"],
    flat: FlatAnnotations,
    weight: float,
    marginals: Float[np.ndarray, " label"],
) -> Float[np.ndarray, "item label"]:
    """The geometric mean of class probabilities and smoothed vote shares; what is known stays known.

    Shares are divided by their means, so that a label which annotators prefer is not preferred because of it.
    """
    votes = flat.votes()
    shares = (votes + SMOOTHING / flat.n_labels) / (votes.sum(1, keepdims=True) + SMOOTHING)
    of_shares = np.log(shares) - np.log(shares.mean(0)) + np.log(marginals)
    of_classes = np.log(np.maximum(classes, LEAST))
    logs = (1 - weight) * of_classes + weight * of_shares + flat.known
    return softmax(logs, 1)
