"""How each annotator votes: attention to what strengths say, ties, and the side, from the fit or from draws."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy.special import betaincinv, ndtri

from probtruth import check
from probtruth.comparison.votes.fit import Fit
from probtruth.comparison.votes.likelihood import Chances
from probtruth.types import Votes
from probtruth.types.comparison import Row

RANDOM = 0.5  # An annotator whose attention is surely below this is said to vote at random, or nearly so
ENDS = (0.025, 0.975)
Ends = Float[np.ndarray, "end annotator"]  # A value and its 95% interval


def from_fit(votes: Votes, fit: Fit) -> list[Row]:
    """Attention is the slope of the votes over what strengths say, 0 at random; shares are those of the votes."""
    if votes.annotator is None:
        return []
    expected = Chances.of(fit.strength[votes.left] - fit.strength[votes.right], fit.preference.tie_weight)
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
    n_annotators = len(votes.annotators)
    attention = np.exp(sites["effects_of_attention"].reshape(-1, n_annotators))
    weight = np.exp(sites["log_ties"].reshape(-1, 1) + sites["effects_of_ties"].reshape(-1, n_annotators))
    side = np.zeros((1, 1))
    if "side" in sites:
        side = sites["side"].reshape(-1, 1) + sites["effects_of_sides"].reshape(-1, n_annotators)
    total = weight + 2 * np.cosh(side / 2)
    ties = weight / total
    left = 0.5 + np.sinh(side / 2) / total
    n_votes = np.bincount(votes.annotator, minlength=len(votes.annotators))
    return _rows(votes, n_votes, _of(attention), _of(ties), _of(left))


def covariates_from_draws(votes: Votes, sites: Mapping[str, np.ndarray]) -> list[Row]:
    """What each covariate adds to the log-odds, in units of its spread."""
    slopes = _of(np.concatenate(sites["slopes"]))
    names = ("effect", "low", "high")
    return [
        {"covariate": name, **dict(zip(names, row, strict=True))}
        for name, row in zip(votes.covariates, slopes.T.tolist(), strict=True)
    ]


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
