"""How each annotator votes: attention to what strengths say, ties, and the side, from the fit or from draws."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from jaxtyping import Float
from scipy.special import betaincinv, ndtri

from probtruth import check
from probtruth.comparison.votes.fit import Fit
from probtruth.comparison.votes.likelihood import Chances
from probtruth.types import Votes
from probtruth.types.comparison import Row

RANDOM = 0.5  # An annotator whose attention is surely below this is said to vote at random, or nearly so
ENDS = (0.025, 0.975)
COLUMNS = (
    "attention",
    "attention_low",
    "attention_high",
    "ties",
    "ties_low",
    "ties_high",
    "left",
    "left_low",
    "left_high",
)
Ends = Float[np.ndarray, "end column"]  # Values and their 95% intervals


def from_fit(votes: Votes, fit: Fit) -> list[Row]:
    """Attention is the slope of the votes over what strengths say, 0 at random; shares are those of the votes.

    A few votes alone give any slope: before them attention is 1, with an sd of 1.
    """
    if votes.annotator is None:
        return []
    expected = Chances.of(fit.strength[votes.left] - fit.strength[votes.right], fit.preference.tie_weight)
    outcome = votes.outcome / 2
    annotator = votes.annotator
    n_votes = np.bincount(annotator, minlength=len(votes.annotators))

    def total(of_votes: np.ndarray) -> Float[np.ndarray, " annotator"]:
        return np.bincount(annotator, of_votes, len(votes.annotators))

    def share(of_votes: np.ndarray) -> Ends:
        number = total(of_votes)
        low, high = betaincinv(number + 0.5, n_votes - number + 0.5, np.array(ENDS)[:, None])  # Jeffreys' interval
        return np.stack([number / n_votes, low, high])

    with np.errstate(invalid="ignore", divide="ignore"):
        centred = expected.mean - (total(expected.mean) / n_votes)[annotator]
        square = total(np.square(centred))
        slope = total(centred * outcome) / square
        error = np.sqrt(total(np.square(centred) * expected.variance)) / square
        of_votes = 1 / (1 + error**2)  # what an annotator's votes count beside a prior of mean 1 and sd 1
        attention = 1 + of_votes * (slope - 1) + np.outer([0.0, *ndtri(ENDS)], error * np.sqrt(of_votes))
        return _rows(votes, attention, share(outcome == 0), share(outcome + 0.5))


def from_draws(votes: Votes, sites: Mapping[str, np.ndarray]) -> list[Row]:
    """Attention is that of the program, 1 for the typical annotator; shares are those between equal answers."""

    def effects(name: str) -> Float[np.ndarray, "draw annotator"]:
        return sites[f"effects_of_{name}"].reshape(-1, len(votes.annotators))

    weight = np.exp(sites["log_ties"].reshape(-1, 1) + effects("ties"))
    side = np.zeros((1, 1))
    if "side" in sites:
        side = sites["side"].reshape(-1, 1) + effects("sides")
    total = weight + 2 * np.cosh(side / 2)
    left = 0.5 + np.sinh(side / 2) / total
    return _rows(votes, ends_of(np.exp(effects("attention"))), ends_of(weight / total), ends_of(left))


def of_covariates(names: Iterable[str], ends: Ends) -> list[Row]:
    """What each covariate adds to the log-odds, in units of its root mean square, with its 95% interval."""
    rows: list[Row] = []
    for name, (effect, low, high) in zip(names, ends.T.tolist(), strict=True):
        rows.append({"covariate": name, "effect": effect, "low": low, "high": high})
    return rows


def sentences(rows: Sequence[Row]) -> list[str]:
    """Who votes at random, or nearly so."""
    found = [str(row["annotator"]) for row in rows if row["at_random"]]
    if not found:
        return []
    return [
        f"votes at random, or nearly so, by {check.count(len(found), 'annotator')}: {check.shortlist(found, 5)} "
        f"(attention surely below {RANDOM}; 1 is as the strengths say)"
    ]


def _rows(votes: Votes, attention: Ends, ties: Ends, left: Ends) -> list[Row]:
    rows: list[Row] = []
    counts = np.zeros(0) if votes.annotator is None else np.bincount(votes.annotator)
    ends = np.concatenate([attention, ties, left])
    for name, n_votes, values in zip(votes.annotators, counts.tolist(), ends.T.tolist(), strict=False):
        if n_votes:
            row: dict[str, object] = {"annotator": name, "n_votes": n_votes}
            for column, value in zip(COLUMNS, values, strict=True):
                row[column] = value if math.isfinite(value) else None
            rows.append({**row, "at_random": values[2] < RANDOM})
    return rows


def ends_of(draws: Float[np.ndarray, "draw annotator"]) -> Ends:
    return np.asarray(np.quantile(draws, [0.5, *ENDS], axis=0))
