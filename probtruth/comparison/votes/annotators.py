"""How each annotator votes: attention to what strengths say, ties, and the side, from the fit or from draws."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy.special import betaincinv, ndtri

from probtruth import check
from probtruth.comparison.votes.votes import Chances, Fit
from probtruth.types import Votes
from probtruth.types.comparison import Row

RANDOM = 0.5  # An annotator whose attention is surely below this is said to vote at random, or nearly so
ENDS = (0.025, 0.975)
Ends = Float[np.ndarray, "end annotator"]  # A value and its 95% interval


def from_fit(votes: Votes, fit: Fit) -> list[Row]:
    """Attention is the slope of the votes over what strengths say, 0 at random; shares are those of the votes."""
    if votes.annotator is None:
        return []
    expected = Chances.of(fit.strength[votes.left] - fit.strength[votes.right], fit.tie_weight)
    outcome = votes.outcome / 2
    annotator = votes.annotator
    n_votes = np.bincount(annotator, minlength=len(votes.annotators))

    def total(of_votes: np.ndarray) -> Float[np.ndarray, " annotator"]:
        return np.bincount(annotator, of_votes, len(votes.annotators))

    with np.errstate(invalid="ignore", divide="ignore"):
        centred = expected.mean - (total(expected.mean) / n_votes)[annotator]
        square = total(np.square(centred))
        slope = total(centred * outcome) / square
        error = np.sqrt(total(np.square(centred) * expected.variance)) / square
        attention = slope + np.array([[0.0], ndtri(ENDS[:1]), ndtri(ENDS[1:])]) * error
        ties = _shares(total(outcome == 0), n_votes)
        left = _shares(total(outcome + 0.5), n_votes)
    return _rows(votes, n_votes, attention, ties, left)


def from_draws(votes: Votes, sites: Mapping[str, np.ndarray]) -> list[Row]:
    """Attention is that of the program, 1 for the typical annotator; shares are those between equal answers."""
    assert votes.annotator is not None
    habits = sites["habits"].reshape(-1, len(votes.annotators), 3)
    spread = {name: sites[name].reshape(-1, 1) for name in ("of_attention", "of_ties", "of_sides")}
    attention = np.exp(spread["of_attention"] * habits[..., 0])
    log_ties = sites["log_ties"].reshape(-1, 1)
    log_ties = log_ties + spread["of_ties"] * habits[..., 1]
    side = sites["side"].reshape(-1, 1)
    side = side + spread["of_sides"] * habits[..., 2]
    total = np.exp(log_ties) + 2 * np.cosh(side / 2)
    ties = np.exp(log_ties) / total
    left = 0.5 + np.sinh(side / 2) / total
    n_votes = np.bincount(votes.annotator, minlength=len(votes.annotators))
    return _rows(votes, n_votes, _of(attention), _of(ties), _of(left))


def sentences(rows: Sequence[Row]) -> list[str]:
    """Who votes at random, or nearly so."""
    found = [str(row["annotator"]) for row in rows if row["at_random"]]
    if not found:
        return []
    one = len(found) == 1
    return [
        f"{check.count(len(found), 'annotator')} {'votes' if one else 'vote'} at random, or nearly so: "
        f"{check.shortlist(found, 5)} (attention surely below {RANDOM}; 1 is as the strengths say)"
    ]


def _rows(votes: Votes, n_votes: Int[np.ndarray, " annotator"], attention: Ends, ties: Ends, left: Ends) -> list[Row]:
    rows: list[Row] = []
    for at, name in enumerate(votes.annotators):
        if not n_votes[at]:
            continue
        row: dict[str, object] = {"annotator": name, "n_votes": int(n_votes[at])}
        for what, values in (("attention", attention), ("ties", ties), ("left", left)):
            for end, value in zip(("", "_low", "_high"), values[:, at].tolist(), strict=True):
                row[what + end] = value if np.isfinite(value) else None
        row["at_random"] = bool(attention[2, at] < RANDOM)
        rows.append(row)
    return rows


def _shares(number: Float[np.ndarray, " annotator"], of: Int[np.ndarray, " annotator"]) -> Ends:
    """Shares with Jeffreys' intervals."""
    low, high = betaincinv(number + 0.5, of - number + 0.5, np.array(ENDS)[:, None])
    return np.stack([number / of, low, high])


def _of(draws: Float[np.ndarray, "draw annotator"]) -> Ends:
    return np.asarray(np.quantile(draws, [0.5, *ENDS], axis=0))
