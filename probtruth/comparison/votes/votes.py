r"""From votes on pairs of answers to the strengths of the models, with prompts and annotators as parts of the variance.

Bradley and Terry's model with Davidson's ties: with d the strength of the left model minus that of the right one,

    P(left) : P(tie) : P(right) = exp(d/2) : nu : exp(-d/2)

plus, where votes say what stood left, the advantage of that side, which is part of d.

The strengths are those of the largest likelihood with half a vote each way on every pair that was compared, so that
none is infinite. What a vote does to them (its influence) is summed by prompt and by annotator: the variance needs no
more than that prompts, and annotators, are independent. The half votes count as prompts of their own: they are what is
left of the variance where one model wins every vote, or every vote is a tie. Effective numbers of both come from the
information of their votes.

Bradley and Terry 1952, doi:10.2307/2334029; Davidson 1970, doi:10.1080/01621459.1970.10481082.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import brentq
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtr

from probtruth import check
from probtruth.comparison.estimation.estimate import About, Estimate, power_sums, rows_from_models
from probtruth.comparison.estimation.pairs import pair_rows_of, pairs_of
from probtruth.errors import PosteriorError
from probtruth.types import Votes
from probtruth.types.pairs import Pair

HALF = 0.5  # Votes each way that are added to every pair that was compared
STEPS = 100  # Newton's steps, far more than are needed
CLOSE = 1e-11  # The last step of the fit
SOLVED = 1e-11  # Eigenvalues of the information below this share of the largest are 0
FEW_ANNOTATORS = 5  # Effective annotators below which a note says so
FEW_VOTES, FEW_PROMPTS = 10, 5  # A pair with fewer is not asked whether strengths explain it
UNDECIDED = 16.0  # Votes, as it were, that say that the side does not matter, where every pair stands both ways round
LEAST_EVEN = 1e-6  # Added to the squared balance of sides, by which these votes are divided
AT_ONCE = 64  # Rows of which the units are in memory at once
CHANCE = 0.01  # Probability, over all pairs, of a deviation from the strengths that is said without a reason
RULE = "strength (log-odds)"
UNKNOWN = "no chain of votes connects the two models"

PerVote = Float[np.ndarray, " vote"]


@dataclass(frozen=True, eq=False)
class Chances:
    """The probabilities of the three outcomes at differences of strength."""

    left: np.ndarray
    tie: np.ndarray
    right: np.ndarray

    @classmethod
    def of(cls, difference: np.ndarray, tie_weight: float) -> "Chances":
        # divided by the larger of both, so that no difference overflows
        smaller = np.exp(-np.abs(difference))
        tie = tie_weight * np.exp(-np.abs(difference) / 2)
        total = 1.0 + smaller + tie
        ahead = np.asarray(difference) >= 0
        return cls(np.where(ahead, 1.0, smaller) / total, tie / total, np.where(ahead, smaller, 1.0) / total)

    @property
    def mean(self) -> np.ndarray:
        """Of the outcome, 1/2 for the left model, 0 for a tie, -1/2 for the right one."""
        return np.asarray((self.left - self.right) / 2)

    @property
    def variance(self) -> np.ndarray:
        return np.asarray((self.left + self.right) / 4 - self.mean**2)


def preferred(difference: np.ndarray | float, tie_weight: float, side: float = 0.0) -> np.ndarray:
    """The probability that the first model is preferred, ties counted half, as often on the left as on the right."""
    of_both = np.asarray(difference, np.float64)
    on_left = Chances.of(of_both + side, tie_weight).mean
    on_right = Chances.of(of_both - side, tie_weight).mean
    return np.asarray(0.5 + (on_left + on_right) / 2)


def difference_at(points: float, tie_weight: float, side: float = 0.0) -> float:
    """The difference of strengths at which the probability of preference is one half and so many points."""
    if points >= 0.5:
        return math.inf
    most = 2 * math.log(2 * (1 + tie_weight) / (0.5 - points)) + 2 * abs(side)
    return float(brentq(lambda difference: preferred(difference, tie_weight, side) - 0.5 - points, -1e-9, most))


def balance(votes: Votes) -> float:
    """How evenly the pairs of models stand both ways round, from 0 to 1; 0 where nothing says what stood left."""
    if not votes.placed:
        return 0.0
    _, of_vote = _pairs(votes)
    size = np.bincount(of_vote)
    forward = np.bincount(of_vote, votes.left < votes.right)
    return float(2 * np.minimum(forward, size - forward).sum() / size.sum())


def _pairs(votes: Votes) -> tuple[Int[np.ndarray, " pair"], Int[np.ndarray, " vote"]]:
    """The pairs of models that votes are on, as one number each, and which of them each vote is on."""
    first = np.minimum(votes.left, votes.right)
    second = np.maximum(votes.left, votes.right)
    pairs, of_vote = np.unique(first * len(votes.models) + second, return_inverse=True)
    return pairs, of_vote


@dataclass(frozen=True, eq=False)
class Fit:
    """Strengths, the advantage of the left side and the weight of ties, and the inverse information of all of them.

    The last row and column are of ties, those before of the side.
    """

    strength: Float[np.ndarray, " model"]
    side: float
    tie_weight: float
    inverse: Float[np.ndarray, "parameter parameter"]
    of_set: Int[np.ndarray, " model"]  # models that a chain of votes connects have one number

    @classmethod
    def of(cls, votes: Votes, added: float = HALF) -> "Fit":
        n_models = len(votes.models)
        rows, of_vote = np.unique(votes.left * n_models + votes.right, return_inverse=True)
        left = rows // n_models
        right = rows % n_models
        _, pair = np.unique(np.minimum(left, right) * n_models + np.maximum(left, right), return_inverse=True)
        size = np.bincount(of_vote)
        half = added * size / np.bincount(pair, size)[pair]  # what is added to a pair, by how often each stood left
        won = np.bincount(of_vote, votes.outcome == 1) + half
        lost = np.bincount(of_vote, votes.outcome == -1) + half
        tied = np.bincount(of_vote, votes.outcome == 0).astype(np.float64)
        n_votes = won + lost + tied
        any_ties = bool(tied.sum() > 0)
        even = balance(votes)
        # votes of a model against itself, as it were, that say that sides do not matter
        firm = UNDECIDED / 4 / (even**2 + LEAST_EVEN) if even > 0 else 0.0
        contrast = np.zeros((len(rows), n_models + 1))
        contrast[np.arange(len(rows)), left] = 1.0
        contrast[np.arange(len(rows)), right] = -1.0
        _, of_set = connected_components(contrast.T[:-1] @ contrast[:, :-1] != 0, directed=False)
        contrast[:, -1] = float(even > 0)
        value = np.zeros(n_models + 1)
        log_ties = math.log(2 * tied.sum() / (won + lost).sum()) if any_ties else -math.inf
        inverse = np.zeros((n_models + 2, n_models + 2))
        for _ in range(STEPS):
            chances = Chances.of(contrast @ value, math.exp(log_ties))
            gradient = np.append(contrast.T @ ((won - lost) / 2 - n_votes * chances.mean), 0.0)
            gradient[-2] -= firm * value[-1]
            information = np.zeros_like(inverse)
            information[:-1, :-1] = (contrast.T * (n_votes * chances.variance)) @ contrast
            information[-2, -2] += firm
            if any_ties:
                gradient[-1] = (tied - n_votes * chances.tie).sum()
                information[:-1, -1] = -contrast.T @ (n_votes * chances.mean * chances.tie)
                information[-1, :-1] = information[:-1, -1]
                information[-1, -1] = (n_votes * chances.tie * (1 - chances.tie)).sum()
            inverse = np.linalg.pinv(information, rcond=SOLVED, hermitian=True)
            step = inverse @ gradient
            size_of_step = float(np.abs(step).max())
            step *= min(1.0, 2.0 / size_of_step) if size_of_step > 0 else 1.0  # a first step may be too long
            value = value + step[:-1]
            log_ties += step[-1] if any_ties else 0.0
            if size_of_step < CLOSE:
                break
        else:
            raise PosteriorError("got votes to which no strengths were fitted. Hint: report this with the votes.")
        return cls(value[:-1], float(value[-1]), math.exp(log_ties), inverse, np.asarray(of_set))

    def residuals(self, votes: Votes) -> tuple[PerVote, PerVote, Chances]:
        """What each vote says beyond the strengths: of its outcome, of its being a tie, and the chances."""
        ahead = self.strength[votes.left] - self.strength[votes.right] + self.side
        chances = Chances.of(ahead, self.tie_weight)
        return votes.outcome / 2 - chances.mean, (votes.outcome == 0) - chances.tie, chances

    def preferred(self, difference: float) -> float:
        return float(preferred(difference, self.tie_weight, self.side))


def estimate_of_votes(votes: Votes) -> tuple[Estimate, Fit]:
    """The estimate of the strengths, as losses, and the fit; prompts and annotators are its units."""
    fit = Fit.of(votes)
    by_name = np.argsort(np.array(votes.models), kind="stable")
    names = [votes.models[at] for at in by_name.tolist()]
    outcome, tie, chances = fit.residuals(votes)
    toward = fit.inverse[by_name]  # from scores to strengths, in the order of the names
    cells, cell = np.unique(_cells(votes), return_inverse=True)
    influence = np.zeros((len(names), len(cells)))
    for model, row in enumerate(toward):
        of_vote = (row[votes.left] - row[votes.right] + row[-2]) * outcome + row[-1] * tie
        influence[model] = np.bincount(cell, of_vote, len(cells))
    width = max(len(votes.annotators), 1)
    item = np.unique(cells // width, return_inverse=True)[1]
    information = Information.of(votes, toward, chances.variance)
    item_df = np.maximum(information.effective(votes.item) - 1, 1.0)
    annotators = None
    if votes.annotator is not None:
        annotators = cells % width, information.effective(votes.annotator) - 1
    notes = _notes(votes, fit, outcome)
    over = "new prompts like these"
    if annotators is not None and len(votes.annotators) < 2:
        annotators = None
        notes.append("one annotator: how others would vote is not known")
    elif annotators is not None and annotators[1].min() < FEW_ANNOTATORS - 1:
        few = 1 + float(annotators[1].min())
        notes.append(
            f"the votes count as those of {few:.1f} annotators of like weight: how others would vote is hardly known"
        )

    def preference(row: Pair) -> tuple[float, float, float]:
        assert row.difference is not None
        assert row.low is not None
        assert row.high is not None
        return fit.preferred(row.difference), fit.preferred(row.low), fit.preferred(row.high)

    about = About(
        rule=RULE,
        higher_is_better=True,
        models=votes.models,
        over=over,
        of_means=False,
        notes=tuple(notes),
        unknown=UNKNOWN,
        preference=preference,
    )
    estimate = Estimate.of_influence(names, -fit.strength[by_name], -influence, about, (item, item_df), annotators)
    items = estimate.items
    added = power_sums(_influence_of_halves(votes, fit, toward))[0]
    estimate = replace(estimate, parts={**estimate.parts, "items": replace(items, variance=items.variance + added)})
    of_chance = information.total()

    def chance(a: int, b: int) -> float:
        (place,) = pair_rows_of(np.array([[a, b]]), len(names))
        return float(of_chance[len(names) + place])

    estimate = replace(estimate, within={"votes": chance})
    apart = fit.of_set[by_name]
    if apart.any():
        first, second = pairs_of(np.arange(len(names))).T
        estimate.mean[len(names) :][apart[first] != apart[second]] = np.nan
    return estimate, fit


def _influence_of_halves(
    votes: Votes, fit: Fit, toward: Float[np.ndarray, "model parameter"]
) -> Float[np.ndarray, "model half"]:
    """What the half vote each way that is added to every pair of models does to the strengths."""
    pairs, of_vote = _pairs(votes)
    size = np.bincount(of_vote)
    first = pairs // len(votes.models)
    second = pairs % len(votes.models)
    influence = np.zeros((2, len(toward), len(pairs)))
    for sign in (1, -1):  # the first model on the left, then the second one
        share = HALF * np.bincount(of_vote, sign * (votes.right - votes.left) > 0) / size
        chances = Chances.of(sign * (fit.strength[first] - fit.strength[second]) + fit.side, fit.tie_weight)
        of_outcome = sign * (toward[:, first] - toward[:, second]) + toward[:, -2:-1]
        for place, winner in enumerate((1, -1)):
            beyond = sign * winner / 2 - chances.mean
            influence[place] += share * (of_outcome * beyond - toward[:, -1:] * chances.tie)
    return np.concatenate(influence, axis=1)


def _cells(votes: Votes) -> Int[np.ndarray, " vote"]:
    """A number for each prompt and annotator."""
    if votes.annotator is None:
        return votes.item
    return np.asarray(votes.item * len(votes.annotators) + votes.annotator)


@dataclass(frozen=True, eq=False)
class Information:
    """What each vote has of the variance of each row, if votes were independent; votes on a pair weigh alike."""

    of_pair: Float[np.ndarray, "row pair"]
    pair: Int[np.ndarray, " vote"]  # of models, in this order
    variance: PerVote

    @classmethod
    def of(cls, votes: Votes, toward: Float[np.ndarray, "model parameter"], variance: PerVote) -> "Information":
        n_models = len(votes.models)
        pairs, pair = np.unique(votes.left * n_models + votes.right, return_inverse=True)
        rows = rows_from_models(toward[:, :-1])
        of_pair = rows[:, pairs // n_models] - rows[:, pairs % n_models] + rows[:, -1:]
        return cls(np.square(of_pair), pair, variance)

    def total(self) -> Float[np.ndarray, " row"]:
        """The variance of each row by chance alone, as if prompts and annotators were all alike."""
        of_pair: Float[np.ndarray, " row"] = self.of_pair @ np.bincount(self.pair, self.variance)
        return of_pair

    def effective(self, unit: Int[np.ndarray, " vote"]) -> Float[np.ndarray, " row"]:
        """The number of units of like weight (Kish 1965), for each row."""
        size = (self.of_pair.shape[1], int(unit.max()) + 1)
        by_unit = csr_matrix((self.variance, (self.pair, unit)), size)
        effective = np.empty(len(self.of_pair))
        for start in range(0, len(effective), AT_ONCE):
            of_unit = self.of_pair[start : start + AT_ONCE] @ by_unit
            with np.errstate(divide="ignore", invalid="ignore"):
                effective[start : start + AT_ONCE] = of_unit.sum(1) ** 2 / np.square(of_unit).sum(1)
        # NaN where nothing connects two models
        return np.fmax(effective, 1.0)


def _notes(votes: Votes, fit: Fit, residual: PerVote) -> list[str]:
    notes = []
    if not votes.prompts_named:
        notes.append("no column of prompts: every vote counts as a prompt of its own; votes on one prompt go together")
    if votes.annotator is None:
        notes.append("no column of annotators: what their tastes add to the uncertainty is left out")
    if fit.of_set.any():
        sets = []
        for one in range(int(fit.of_set.max()) + 1):
            members = [votes.models[at] for at in np.flatnonzero(fit.of_set == one).tolist()]
            sets.append(check.shortlist(members, 3))
        notes.append(f"no chain of votes connects these sets of models: {'; '.join(sets[:3])}")
    return notes + _unexplained(votes, residual)


def _unexplained(votes: Votes, residual: PerVote) -> list[str]:
    """A sentence on the pair whose votes differ most from what the strengths say, if not by chance."""
    n_models = len(votes.models)
    signed = np.where(votes.left < votes.right, residual, -residual)
    pairs, of_vote = _pairs(votes)
    found: tuple[float, int] | None = None
    looked_at = 0
    for pair in range(len(pairs)):
        chosen = np.flatnonzero(of_vote == pair)
        prompts, of_prompt = np.unique(votes.item[chosen], return_inverse=True)
        if len(chosen) < FEW_VOTES or len(prompts) < FEW_PROMPTS:
            continue
        looked_at += 1
        sums = np.bincount(of_prompt, signed[chosen])
        spread = math.sqrt(float(np.square(sums).sum()) * len(prompts) / (len(prompts) - 1))
        if spread > 0:
            t = abs(float(sums.sum())) / spread
            p = _two_sided(t, len(prompts) - 1)
            if found is None or p < found[0]:
                found = (p, pair)
    if n_models < 3 or found is None or found[0] * looked_at > CHANCE:  # Bonferroni, over all pairs
        return []
    chosen = np.flatnonzero(of_vote == found[1])
    outcome = np.where(votes.left < votes.right, votes.outcome, -votes.outcome)[chosen]
    share = float(outcome.mean() / 2 + 0.5)
    expected = share - float(signed[chosen].mean())
    one, other = divmod(int(pairs[found[1]]), n_models)
    return [
        f"{check.quote(votes.models[one])} is preferred to {check.quote(votes.models[other])} in {share:.0%} of their "
        f"{len(chosen):,} votes, where the strengths of all models say {expected:.0%}: one strength a model does not "
        "explain who beats whom"
    ]


def _two_sided(t: float, df: int) -> float:
    return 2 * float(stdtr(df, -t))
