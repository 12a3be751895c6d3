"""How each annotator votes: attention to what strengths say, ties, and the side, from the fit or from draws."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from scipy.special import betaincinv, ndtri

from probtruth import check
from probtruth.comparison.votes import Chances, Fit
from probtruth.types import Votes
from probtruth.types.comparison import Row

RANDOM = 0.5  # An annotator whose attention is surely below this is said to vote at random, or nearly so
ENDS = (0.025, 0.975)
Triple = tuple[float, float, float]  # A value and its 95% interval


def from_fit(votes: Votes, fit: Fit) -> list[Row]:
    """Attention is the slope of the votes over what strengths say, 0 at random; shares are those of the votes."""
    if votes.annotator is None:
        return []
    expected = Chances.of(fit.strength[votes.left] - fit.strength[votes.right], fit.tie_weight)
    rows: list[Row] = []
    for annotator, name in enumerate(votes.annotators):
        chosen = np.flatnonzero(votes.annotator == annotator)
        outcome = votes.outcome[chosen] / 2
        centred = expected.mean[chosen] - expected.mean[chosen].mean()
        square = float(np.square(centred).sum())
        slope = (np.nan, np.nan, np.nan)
        if square > 0:
            value = float(centred @ outcome) / square
            error = float(np.sqrt(np.square(centred) @ expected.variance[chosen])) / square
            slope = (value, value + float(ndtri(ENDS[0])) * error, value + float(ndtri(ENDS[1])) * error)
        ties = _share(float((outcome == 0).sum()), len(chosen))
        left = _share(float((outcome + 0.5).sum()), len(chosen))
        rows.append(_row(name, len(chosen), slope, ties, left))
    return rows


def from_draws(votes: Votes, sites: Mapping[str, np.ndarray]) -> list[Row]:
    """Attention is that of the program, 1 for the typical annotator; shares are those between equal answers."""
    assert votes.annotator is not None
    habits = sites["habits"].reshape(-1, len(votes.annotators), 3)
    attention = np.exp(sites["of_attention"].reshape(-1, 1) * habits[..., 0])
    log_ties = sites["log_ties"].reshape(-1, 1) + sites["of_ties"].reshape(-1, 1) * habits[..., 1]
    side = sites["side"].reshape(-1, 1) + sites["of_sides"].reshape(-1, 1) * habits[..., 2]
    total = np.exp(log_ties) + 2 * np.cosh(side / 2)
    ties = np.exp(log_ties) / total
    left = 0.5 + np.sinh(side / 2) / total
    n_votes = np.bincount(votes.annotator, minlength=len(votes.annotators))
    rows: list[Row] = []
    for at, name in enumerate(votes.annotators):
        rows.append(_row(name, int(n_votes[at]), _of(attention[:, at]), _of(ties[:, at]), _of(left[:, at])))
    return rows


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


def _row(name: str, n_votes: int, attention: Triple, ties: Triple, left: Triple) -> Row:
    row: dict[str, object] = {"annotator": name, "n_votes": n_votes}
    for what, values in (("attention", attention), ("ties", ties), ("left", left)):
        for end, value in zip(("", "_low", "_high"), values, strict=True):
            row[what + end] = None if np.isnan(value) else value
    row["at_random"] = attention[2] < RANDOM
    return row


def _share(number: float, of: int) -> Triple:
    """A share with Jeffreys' interval."""
    low, high = betaincinv(number + 0.5, of - number + 0.5, ENDS).tolist()
    return number / of, low, high


def _of(draws: Float[np.ndarray, " draw"]) -> Triple:
    low, middle, high = np.quantile(draws, [ENDS[0], 0.5, ENDS[1]]).tolist()
    return middle, low, high
