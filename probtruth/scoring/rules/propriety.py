"""What a rule rewards: a search for a report that beats the truth, and the best report."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, permutations
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
TOLERANCE = 1e-9  # A gain below this, relative to 1 plus the size of the loss, is rounding
APART = 0.01  # Reports at this total variation count as different, for strict propriety
# Powers of the truth to try as reports: hedged below 1, sharpened above.
EXPONENTS = (0.0, 0.25, 0.5, 0.8, 0.95, 1.05, 1.25, 2.0, 4.0, 16.0)


def expected_loss(rule: object, n_labels: int, annotators: int | None) -> tuple[ExpectedLoss, str]:
    """The expected loss of many reports under one distribution of labels, and its name."""
    check.whole(n_labels, 2, "n_labels", "A rule judges between labels.")
    loss: Loss
    if callable(rule) and not isinstance(rule, ScoringRule):
        loss = rule
        name = getattr(rule, "__name__", "the function")
    else:
        chosen = get_rule(rule)
        if chosen.n_labels not in (None, n_labels):
            wanted = f"{chosen.n_labels} labels for the rule {chosen.name!r}"
            raise InputError(f"{n_labels} labels", wanted, "Choose n_labels to fit.")
        loss = jax.jit(chosen.expected)
        name = chosen.name
    shares = None if annotators is None else vote_shares(n_labels, annotators)

    def losses(reports: Float[np.ndarray, "report label"], truth: Distribution) -> Float[np.ndarray, " report"]:
        with jax.enable_x64(True), np.errstate(all="ignore"):
            rows = jnp.asarray(reports)
            if shares is None or annotators is None:
                expected = loss(rows, jnp.asarray(truth))
                return np.asarray(expected, np.float64)
            by_share = loss(rows[:, None], jnp.asarray(shares))
            each = np.asarray(by_share, np.float64)
        votes = shares * annotators  # whose probability is multinomial
        log_ways = gammaln(annotators + 1) - gammaln(votes + 1).sum(1)
        chance = np.exp(log_ways + xlogy(votes, truth).sum(1))
        return np.asarray(np.where(chance > 0, each, 0) @ chance)

    return losses, name


def vote_shares(n_labels: int, annotators: int) -> Float[np.ndarray, "share label"]:
    """All possible shares of the votes of this many annotators."""
    check.whole(annotators, 1, "annotators", "How many annotators vote on an item?")
    size = comb(annotators + n_labels - 1, n_labels - 1)
    if size > MOST_SHARES:
        got = f"{annotators} annotators and {n_labels} labels, which have {size} vote shares"
        hint = "Ask with fewer labels or annotators: a fault shows with two labels already."
        raise InputError(got, f"at most {MOST_SHARES}", hint)
    n_places = annotators + n_labels - 1  # of votes, and of bars between the votes of the labels
    bars = np.array(list(combinations(range(n_places), n_labels - 1)))
    votes = np.diff(bars, axis=1, prepend=-1, append=n_places) - 1
    return np.asarray(votes / annotators)


def simplex_points(n_labels: int) -> Float[np.ndarray, "point label"]:
    """A grid for two or three labels; corners, middle and a fixed random sample of sparse and even rows for more."""
    if n_labels == 2:
        first = np.linspace(0, 1, 101)
        return np.stack([1 - first, first], 1)
    if n_labels == 3:
        return vote_shares(3, 16)
    rng = np.random.default_rng(20_010)  # a fixed sample: the same question has the same answer
    size = int(np.clip(20_000 // n_labels, 20, 200))
    corners = np.eye(n_labels)[:10]
    middle = np.full((1, n_labels), 1 / n_labels)
    rows = [corners, middle]
    for concentration in (0.1, 0.5, 1, 5):
        alpha = np.full(n_labels, concentration)
        rows.append(rng.dirichlet(alpha, size // 4))
    return np.concatenate(rows)


def tempered_points(truth: Distribution) -> Float[np.ndarray, "point label"]:
    """Hedged and sharpened versions of a distribution, and the certainty of its most probable label."""
    exponents = np.array(EXPONENTS)[:, None]
    powered = np.where(truth > 0, truth**exponents, 0)
    total = powered.sum(1, keepdims=True)
    tempered = powered / total
    most_probable = int(np.argmax(truth))
    corner = np.eye(len(truth))[[most_probable]]
    near_corner = 0.9 * truth[None] + 0.1 * corner
    return np.concatenate([tempered, corner, near_corner])


def polished(losses: ExpectedLoss, truth: Distribution, report: Distribution) -> tuple[Distribution, float]:
    """The report after a descent: probability moves between two labels in steps that halve when none helps."""
    labels = np.argsort(-report - truth)[:12]
    one, other = np.array(list(permutations(labels, 2))).T
    rows = np.arange(len(one))
    value = float(losses(report[None], truth)[0])
    step = 0.05
    while step > 1e-8:
        moved = np.tile(report, (len(rows), 1))
        size = np.minimum(step, report[one])
        moved[rows, one] -= size
        moved[rows, other] += size
        tried = losses(moved, truth)
        best = int(np.nanargmin(tried))
        if tried[best] < value:
            report = moved[best]
            value = float(tried[best])
        else:
            step /= 2
    return report, value


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
        return (
            f"{self.rule}{condition}: where labels follow {_shown(self.truth)}, reporting {_shown(self.report)} is "
            f"expected to lose {self.loss_of_report:.6g}, reporting the truth {self.loss_of_truth:.6g}."
        )


def _shown(row: tuple[float, ...]) -> str:
    return f"({', '.join([f'{prob:.4g}' for prob in row])})"


def check_proper(
    rule: RuleLike | Loss, n_labels: int = 3, annotators: int | None = None, strict: bool = False
) -> CounterExample | None:
    """Searches the simplex for a distribution of labels under which another report beats the truth.

    Formula: a rule is proper if E[loss(p, y)] with y drawn from t is least at p = t, for every t. With `annotators`,
    y is the vote shares of so many annotators who answer independently: the right question for distances that are not
    linear in the label.

    Arguments:
        rule: a name, a `ScoringRule`, or any function of (probs, truth) whose last axis is the label, lower is better.
        n_labels: the number of labels.
        annotators: the number of votes of an item that the rule is given; the truth itself by default.
        strict: also returns a different report that is as good as the truth.

    Returns: the clearest counter-example that a search of the simplex found, or None, which is not a proof.

    Errors: `InputError` for fewer than 2 labels, a rule for another number of labels, or too many possible shares.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437

    >>> import probtruth as pt
    >>> pt.rules.check_proper("brier", n_labels=3) is None
    True
    >>> found = pt.rules.check_proper("linear", n_labels=2)
    >>> max(found.report), found.loss_of_report < found.loss_of_truth
    (1.0, True)
    """
    losses, name = expected_loss(rule, n_labels, annotators)
    points = simplex_points(n_labels)
    most = -np.inf  # the greatest gain of another report, with its truth, the report, and both losses
    clearest: tuple[Distribution, Distribution, float, float] | None = None
    for truth in points:
        reports = np.concatenate([truth[None], points, tempered_points(truth)])
        tried = losses(reports, truth)
        tried = np.where(np.isnan(tried), np.inf, tried)
        distance = np.abs(reports - truth).sum(1) / 2
        same = distance < (APART if strict else TOLERANCE)
        best = int(np.argmin(np.where(same, np.inf, tried)))
        of_truth, of_report = float(tried[0]), float(tried[best])
        gain = of_truth - of_report  # NaN where both are infinite
        margin = TOLERANCE * (1 + abs(of_truth))
        wins = gain >= -margin if strict else gain > margin
        if wins and gain > most:
            most = gain
            clearest = (truth, reports[best], of_truth, of_report)
    if clearest is None:
        return None
    truth, report, of_truth, of_report = clearest
    if not strict:
        report, of_report = polished(losses, truth, report)
    return CounterExample(name, tuple(truth.tolist()), tuple(report.tolist()), of_truth, of_report, annotators)


def best_report(rule: RuleLike | Loss, truth: ArrayLike, annotators: int | None = None) -> Distribution:
    """The report with the least expected loss if labels follow `truth`: the truth itself if the rule is proper.

    Arguments:
        rule, annotators: as in `check_proper`.
        truth: one distribution.

    Returns: a distribution, to about six digits where the loss has a unique minimum.

    Errors: as in `check_proper`, and for a truth that is not a distribution.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437

    >>> import probtruth as pt
    >>> def total_variation(probs, truth):
    ...     return abs(probs - truth).sum(-1) / 2
    >>> pt.rules.best_report(total_variation, [0.3, 0.7], annotators=5).round(3).tolist()
    [0.2, 0.8]
    """
    row = check_arrays.distribution(truth)
    losses, _ = expected_loss(rule, len(row), annotators)
    grid = simplex_points(len(row))
    points = np.concatenate([row[None], grid, tempered_points(row)])
    best = int(np.nanargmin(losses(points, row)))
    report, _ = polished(losses, row, points[best])
    return report
