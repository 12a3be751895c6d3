"""The strengths of the largest likelihood, with half a vote each way on every pair that was compared: none is infinite.

The half votes are rows after those of the votes, as every pair stood left and right.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_matrix, hstack
from scipy.sparse.csgraph import connected_components

from probtruth.comparison.votes.likelihood import Chances, Preference
from probtruth.errors import PosteriorError
from probtruth.types import Votes

HALF = 0.5  # Votes each way that are added to every pair that was compared
STEPS = 100  # Newton's steps, far more than are needed
CLOSE = 1e-11  # The last step of the fit
SOLVED = 1e-11  # Eigenvalues of the information below this share of the largest are 0
UNDECIDED = 16.0  # Votes, as it were, that say that the side does not matter, where every pair stands both ways round
SLOPES = 1.0  # Precision of the prior of what a covariate adds, as in the program
LEAST_EVEN = 1e-6  # Added to the squared balance of sides, by which these votes are divided

PerVote = Float[np.ndarray, " vote"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """The ordered pairs of models that votes are on, how many each has, and its share of both orders."""

    left: Int[np.ndarray, " pair"]
    right: Int[np.ndarray, " pair"]
    size: Int[np.ndarray, " pair"]
    share: Float[np.ndarray, " pair"]
    of_vote: Int[np.ndarray, " vote"]

    @classmethod
    def of(cls, votes: Votes) -> "Pairs":
        n_models = len(votes.models)
        stood, of_vote, size = np.unique(votes.left * n_models + votes.right, return_inverse=True, return_counts=True)
        left, right = np.divmod(stood, n_models)
        both = np.minimum(left, right) * n_models + np.maximum(left, right)
        _, of_pair = np.unique(both, return_inverse=True)
        return cls(left, right, size, size / np.bincount(of_pair, size)[of_pair], of_vote)

    @property
    def balance(self) -> float:
        """How evenly the pairs stand both ways round, from 0 to 1."""
        even = np.minimum(1.0, (1 - self.share) / self.share)
        return float((self.size * even).sum() / self.size.sum())


@dataclass(frozen=True, eq=False)
class Fit:
    """The parameters: strengths, covariates, the side; what differences of strengths mean; the inverse information.

    The last row and column of that are of ties. `scores` are what each row says beyond the strengths about each of
    these, times the root of its weight: their squares then add up to what a row of that weight varies by.
    """

    value: Float[np.ndarray, " column"]
    preference: Preference
    inverse: Float[np.ndarray, "parameter parameter"]
    of_set: Int[np.ndarray, " model"]  # models that a chain of votes connects have one number
    scores: csr_matrix
    mean: PerVote  # outcome that is expected of each vote, and its variance
    variance: PerVote
    pairs: Pairs

    @property
    def strength(self) -> Float[np.ndarray, " model"]:
        return self.value[: len(self.of_set)]

    @classmethod
    def of(cls, votes: Votes, added: float = HALF) -> "Fit":
        n_models = len(votes.models)
        pairs = Pairs.of(votes)
        left = np.concatenate([votes.left, pairs.left, pairs.left])
        right = np.concatenate([votes.right, pairs.right, pairs.right])
        won = np.ones_like(pairs.left)
        outcome = np.concatenate([votes.outcome, won, -won])
        weight = np.concatenate([np.ones(len(votes.outcome)), np.tile(added * pairs.share, 2)])
        even = pairs.balance if votes.placed else 0.0
        given = np.zeros((len(left), len(votes.covariates)))
        given[: len(votes.outcome)] = votes.standardised
        of_model = csr_matrix(np.eye(n_models))
        side = np.full((len(left), 1), float(even > 0))
        contrast = hstack([of_model[left] - of_model[right], given, side], "csr")
        n_parameters = contrast.shape[1] + 1
        met = csr_matrix((pairs.size, (pairs.left, pairs.right)), (n_models, n_models))
        _, of_set = connected_components(met, directed=False)
        prior = np.zeros(n_parameters)
        prior[n_models:-2] = SLOPES
        # votes of a model against itself, as it were, that say that sides do not matter
        prior[-2] = UNDECIDED / 4 / (even**2 + LEAST_EVEN) if even > 0 else 0.0
        tied = outcome == 0
        n_tied = float(weight @ tied)
        value = np.zeros(n_parameters)
        value[-1] = -math.inf
        if n_tied > 0:
            value[-1] = math.log(2 * n_tied / (weight.sum() - n_tied))
        for _ in range(STEPS):
            chances = Chances.of(contrast @ value[:-1], math.exp(value[-1]))
            beyond = outcome / 2 - chances.mean
            tied_beyond = tied - chances.tie
            scores = hstack([contrast.multiply(beyond[:, None]), tied_beyond[:, None]], "csr")
            gradient = scores.T @ weight
            information = np.diag(prior)
            variance = weight * chances.variance
            of_strengths = contrast.T @ contrast.multiply(variance[:, None])
            information[:-1, :-1] += of_strengths.toarray()
            ties = weight * chances.tie
            with_ties = contrast.T @ (-ties * chances.mean)
            information[:-1, -1] = with_ties
            information[-1, :-1] = with_ties
            information[-1, -1] = ties @ (1 - chances.tie)
            gradient[:-1] -= prior[:-1] * value[:-1]
            inverse = np.linalg.pinv(information, rcond=SOLVED, hermitian=True)
            step = inverse @ gradient
            size = float(np.abs(step).max())
            value = value + step * min(1.0, 2.0 / max(size, CLOSE))  # a first step may be too long
            if size < CLOSE:
                break
        else:
            raise PosteriorError("got votes to which no strengths were fitted. Hint: report this with the votes.")
        preference = Preference(math.exp(value[-1]), float(value[-2]))
        scores = csr_matrix(scores.multiply(np.sqrt(weight)[:, None]))
        n = len(votes.outcome)
        return cls(value[:-1], preference, inverse, of_set, scores, chances.mean[:n], chances.variance[:n], pairs)
