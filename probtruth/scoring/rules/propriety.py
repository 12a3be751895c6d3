"""Is a rule proper? A search for a report that beats the truth, and which report is best."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy

from probtruth import check, check_arrays
from probtruth.errors import InputError
from probtruth.scoring.rules.named import RuleLike, get_rule
from probtruth.scoring.rules.rule import ScoringRule

Distribution = Float[np.ndarray, " label"]
Loss = Callable[..., object]
ExpectedLoss = Callable[[Float[np.ndarray, "report label"], Distribution], Float[np.ndarray, " report"]]

MOST_SHARES = 20_000  # The largest number of vote shares to list; five annotators and ten labels have 2,002
# Powers of the truth to try as reports: hedged below 1, sharpened above.
EXPONENTS = (0.0, 0.25, 0.5, 0.8, 0.95, 1.05, 1.25, 2.0, 4.0, 16.0)


def expected_loss(loss: Loss, n_labels: int, annotators: int | None) -> ExpectedLoss:
    """The expected loss of many reports under one distribution of labels, as a function of both."""
    shares = None if annotators is None else vote_shares(n_labels, annotators)

    def losses(reports: Float[np.ndarray, "report label"], truth: Distribution) -> Float[np.ndarray, " report"]:
        with jax.enable_x64(True), np.errstate(all="ignore"):
            if shares is None or annotators is None:
                return np.asarray(loss(jnp.asarray(reports), jnp.asarray(truth)), np.float64)
            each = np.asarray(loss(jnp.asarray(reports)[:, None], jnp.asarray(shares)), np.float64)
        votes = shares * annotators  # in the multinomial probability of each share
        chance = np.exp(gammaln(annotators + 1) - gammaln(votes + 1).sum(1) + xlogy(votes, truth).sum(1))
        return np.asarray((np.where(chance > 0, each, 0) * chance).sum(1))

    return losses


def vote_shares(n_labels: int, annotators: int) -> Float[np.ndarray, "share label"]:
    """All possible shares of the votes of this many annotators."""
    check.whole(annotators, 1, "annotators", "How many annotators vote on an item?")
    size = comb(annotators + n_labels - 1, n_labels - 1)
    if size > MOST_SHARES:
        raise InputError(
            f"{annotators} annotators and {n_labels} labels, which have {size} vote shares",
            f"at most {MOST_SHARES}",
            "Ask with fewer labels or annotators: a fault shows with two labels already.",
        )
    places = annotators + n_labels - 1  # votes and the bars between labels
    bars = np.array(list(combinations(range(places), n_labels - 1)), int).reshape(size, -1)
    return np.asarray((np.diff(bars, axis=1, prepend=-1, append=places) - 1) / annotators)


def simplex_points(n_labels: int) -> Float[np.ndarray, "point label"]:
    """A grid for two or three labels; corners, middle and a fixed random sample of sparse and even rows for more."""
    if n_labels == 2:
        first = np.linspace(0, 1, 101)
        return np.stack([1 - first, first], 1)
    if n_labels == 3:
        return vote_shares(3, 16)
    rng = np.random.default_rng(20_010)  # a fixed sample: the same question has the same answer
    size = int(np.clip(20_000 // n_labels, 20, 200))
    rows = [rng.dirichlet(np.full(n_labels, concentration), size // 4) for concentration in (0.1, 0.5, 1, 5)]
    return np.concatenate([np.eye(n_labels)[:10], np.full((1, n_labels), 1 / n_labels), *rows])


def tempered_points(truth: Distribution) -> Float[np.ndarray, "point label"]:
    """Hedged and sharpened versions of a distribution, and the certainty of its most probable label."""
    powered = np.where(truth > 0, truth ** np.array(EXPONENTS)[:, None], 0)
    corner = np.eye(len(truth))[[int(np.argmax(truth))]]
    return np.concatenate([powered / powered.sum(1, keepdims=True), corner, 0.9 * truth[None] + 0.1 * corner])


def polished(losses: ExpectedLoss, truth: Distribution, report: Distribution) -> tuple[Distribution, float]:
    """The report after a descent: probability moves between two labels in steps that halve when none helps."""
    n_labels = len(report)
    labels = np.arange(n_labels) if n_labels <= 12 else np.argsort(report * -1 - truth)[:12]
    pairs = [(one, other) for one in labels for other in labels if one != other]
    value, step = float(losses(report[None], truth)[0]), 0.05
    while step > 1e-8:
        moved = np.repeat(report[None], len(pairs), 0)
        for row, (one, other) in enumerate(pairs):
            size = min(step, report[one])
            moved[row, one] -= size
            moved[row, other] += size
        tried = losses(moved, truth)
        best = int(np.nanargmin(tried))
        if tried[best] < value:
            report, value = moved[best], float(tried[best])
        else:
            step /= 2
    return report, value


TOLERANCE = 1e-9  # A gain below this, relative to 1 plus the size of the loss, is rounding
APART = 0.01  # Reports at this total variation count as different, for strict propriety


@dataclass(frozen=True)
class CounterExample:
    """A report with a lower expected loss than the truth (or, under `strict`, an equal one)."""

    rule: str
    truth: tuple[float, ...]
    report: tuple[float, ...]
    loss_of_truth: float
    loss_of_report: float
    annotators: int | None = None

    def __str__(self) -> str:
        """The counter-example in a sentence."""
        condition = "" if self.annotators is None else f" against the vote shares of {self.annotators} annotators"
        shown = [f"({', '.join(f'{prob:.4g}' for prob in row)})" for row in (self.truth, self.report)]
        return (
            f"{self.rule}{condition}: where labels follow {shown[0]}, reporting {shown[1]} is expected to lose "
            f"{self.loss_of_report:.6g}, reporting the truth {self.loss_of_truth:.6g}."
        )


def check_proper(
    rule: RuleLike | Loss, n_labels: int = 3, annotators: int | None = None, strict: bool = False
) -> CounterExample | None:
    """Searches the simplex for a distribution of labels under which another report beats the truth.

    Formula: a rule is proper if E[loss(p, y)] with y drawn from t is least at p = t, for every t. With `annotators` =
    m, the label is the vote shares of m annotators who answer independently, weighted by their multinomial
    probability; this is the right question for distances that are not linear in the label.

    Arguments: `rule` is a name, a `ScoringRule`, or any function of (probs, truth) whose last axis is the label, lower
    is better; `strict` also returns a different report that is as good as the truth.

    Returns: the clearest counter-example found, or None. None is not a proof: the search is a grid or a random sample
    of the simplex, transforms of each truth, and a local search from the best pair.

    Errors: `InputError` for fewer than 2 labels, a rule for another number of labels, or too many possible shares.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437

    >>> import probtruth as pt
    >>> pt.rules.check_proper("brier", n_labels=3) is None
    True
    >>> found = pt.rules.check_proper("linear", n_labels=2)
    >>> max(found.report), found.loss_of_report < found.loss_of_truth
    (1.0, True)
    """
    loss, name = as_loss(rule, n_labels)
    losses, points = expected_loss(loss, n_labels, annotators), simplex_points(n_labels)
    rivals = [_rival(losses, truth, points, strict) for truth in points]
    own, gain = (np.array(column) for column in zip(*[(pair[1], pair[1] - pair[2]) for pair in rivals], strict=True))
    margin = TOLERANCE * (1 + np.abs(own))
    wins = gain >= -margin if strict else gain > margin
    if not wins.any():
        return None
    position = int(np.argmax(np.where(wins, gain, -np.inf)))
    report, mine, value = rivals[position]
    if not strict:
        report, value = polished(losses, points[position], report)
    return CounterExample(name, tuple(points[position].tolist()), tuple(report.tolist()), mine, value, annotators)


def best_report(rule: RuleLike | Loss, truth: ArrayLike, annotators: int | None = None) -> Distribution:
    """The report with the least expected loss if labels follow `truth`: the truth itself if the rule is proper.

    Arguments: `rule`, `annotators` as in `check_proper`; `truth` is one distribution.

    Returns: a distribution, to about six digits where the loss has a unique minimum.

    Errors: as in `check_proper`, and for a truth that is not a distribution.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437

    >>> import probtruth as pt
    >>> def total_variation(probs, truth):
    ...     return abs(probs - truth).sum(-1) / 2
    >>> pt.rules.best_report(total_variation, [0.3, 0.7], annotators=5).round(3).tolist()
    [0.2, 0.8]
    """
    row = check_arrays.distribution(truth, "truth")
    losses = expected_loss(as_loss(rule, len(row))[0], len(row), annotators)
    points = np.concatenate([row[None], simplex_points(len(row)), tempered_points(row)])
    return polished(losses, row, points[int(np.nanargmin(losses(points, row)))])[0]


def as_loss(rule: object, n_labels: int) -> tuple[Loss, str]:
    """The expected loss of (probs, truth) and its name, from a rule's name, a rule, or a function."""
    check.whole(n_labels, 2, "n_labels", "A rule judges between labels.")
    if callable(rule) and not isinstance(rule, ScoringRule):
        return rule, getattr(rule, "__name__", "the function")
    chosen = get_rule(rule)
    if chosen.n_labels not in (None, n_labels):
        raise InputError(
            f"{n_labels} labels", f"{chosen.n_labels} labels for the rule {chosen.name!r}", "Choose n_labels to fit."
        )
    return jax.jit(chosen.expected), chosen.name


def _rival(
    losses: ExpectedLoss, truth: np.ndarray, points: np.ndarray, strict: bool
) -> tuple[np.ndarray, float, float]:
    """The best report other than the truth, the loss of the truth and the loss of that report."""
    reports = np.concatenate([truth[None], points, tempered_points(truth)])
    tried = np.where(np.isnan(values := losses(reports, truth)), np.inf, values)
    same = np.abs(reports - truth).sum(1) / 2 < (APART if strict else TOLERANCE)
    position = int(np.argmin(np.where(same, np.inf, tried)))
    return reports[position], float(tried[0]), float(tried[position])
