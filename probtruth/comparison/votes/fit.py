"""The strengths of the largest likelihood, with half a vote each way for every model but one: none is infinite.

A pair that was compared has its leverage of these half votes: all of one where nothing else connects its two models,
little where many others do (Firth 1993, doi:10.1093/biomet/80.1.27, at equal strengths). They are rows after those of
the votes, as every pair stood left and right.
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

HALF = 0.5  # Votes each way that are added for every model but one
STEPS = 100  # Newton's steps, far more than are needed
CLOSE = 1e-11  # The last step of the fit
SOLVED = 1e-11  # Eigenvalues of the information below this share of the largest are 0
UNDECIDED = 16.0  # Votes, as it were, that say that the side does not matter, where every pair stands both ways round
SLOPES = 1.0  # Precision of the prior of what a covariate adds, as in the program
NO_TIES = -700.0  # Logarithm of the weight of a tie where there are none
LEAST_EVEN = 1e-6  # Added to the squared balance of sides, by which these votes are divided

PerVote = Float[np.ndarray, " vote"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs that votes are on, first with the lower one on the left, then all of them the other way round."""

    left: Int[np.ndarray, " pair"]
    right: Int[np.ndarray, " pair"]
    size: Int[np.ndarray, " pair"]
    of_vote: Int[np.ndarray, " vote"]

    @classmethod
    def of(cls, left: Int[np.ndarray, " vote"], right: Int[np.ndarray, " vote"]) -> "Pairs":
        upper = np.maximum(left, right)
        n_models = int(upper.max()) + 1
        both, of_vote = np.unique(np.minimum(left, right) * n_models + upper, return_inverse=True)
        first, second = np.divmod(both, n_models)
        of_vote = of_vote + len(first) * (left > right)
        size = np.bincount(of_vote, minlength=2 * len(first))
        return cls(np.append(first, second), np.append(second, first), size, of_vote)

    @property
    def turned(self) -> Int[np.ndarray, " pair"]:
        """The size of each the other way round."""
        return np.roll(self.size, len(self.size) // 2)

    @property
    def balance(self) -> float:
        """How evenly the pairs stand both ways round, from 0 to 1."""
        return float(np.minimum(self.size, self.turned).sum() / self.size.sum())


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
        n_votes = len(votes.outcome)
        pairs = Pairs.of(votes.left, votes.right)
        n_ways = len(pairs.size)
        pair = np.append(pairs.of_vote, np.tile(np.arange(n_ways), 2))
        outcome = np.append(votes.outcome, np.repeat([1, -1], n_ways))
        even = pairs.balance if votes.placed else 0.0
        given = np.zeros((len(pair), len(votes.covariates)))
        given[:n_votes] = votes.standardised
        of_model = csr_matrix(np.eye(n_models))
        of_pair = of_model[pairs.left] - of_model[pairs.right]
        of_votes = of_pair.T @ of_pair.multiply(pairs.size[:, None])
        known = np.linalg.pinv(of_votes.toarray(), rcond=SOLVED, hermitian=True)
        apart = known.diagonal()[pairs.left] + known.diagonal()[pairs.right] - 2 * known[pairs.left, pairs.right]
        weight = np.append(np.ones(n_votes), np.tile(added * pairs.size * apart, 2))
        side = np.full((len(pair), 1), float(even > 0))
        contrast = hstack([of_pair[pair], given, side], "csr")
        _, of_set = connected_components(of_pair.T @ of_pair, directed=False)
        prior = np.zeros(contrast.shape[1] + 1)
        prior[n_models:-2] = SLOPES
        # votes of a model against itself, as it were, that say that sides do not matter
        prior[-2] = UNDECIDED / 4 / (even**2 + LEAST_EVEN)
        tied = outcome == 0
        value = np.zeros_like(prior)
        if not tied.any():
            value[-1] = NO_TIES
        for _ in range(STEPS):
            chances = Chances.of(contrast @ value[:-1], math.exp(value[-1]))
            beyond = outcome / 2 - chances.mean
            tied_beyond = tied - chances.tie
            scores = hstack([contrast.multiply(beyond[:, None]), tied_beyond[:, None]], "csr")
            information = np.diag(prior)
            variance = weight * chances.variance
            of_strengths = contrast.T @ contrast.multiply(variance[:, None])
            information[:-1, :-1] += of_strengths.toarray()
            ties = weight * chances.tie
            with_ties = contrast.T @ (-ties * chances.mean)
            information[:-1, -1] = with_ties
            information[-1, :-1] = with_ties
            information[-1, -1] = ties @ (1 - chances.tie)
            inverse = np.linalg.pinv(information, rcond=SOLVED, hermitian=True)
            step = inverse @ (scores.T @ weight - prior * value)
            size = float(np.abs(step).max())
            value = value + step * min(1.0, 2.0 / max(size, CLOSE))  # a first step may be too long
            if size < CLOSE:
                break
        else:
            raise PosteriorError("got votes to which no strengths were fitted. Hint: report this with the votes.")
        preference = Preference(math.exp(value[-1]), float(value[-2]))
        scores = csr_matrix(scores.multiply(np.sqrt(weight)[:, None]))
        mean = chances.mean[:n_votes]
        return cls(value[:-1], preference, inverse, of_set, scores, mean, chances.variance[:n_votes], pairs)
