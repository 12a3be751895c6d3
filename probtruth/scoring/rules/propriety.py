"""Is a rule proper? A search for a report that beats the truth."""

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from probtruth import check
from probtruth.errors import InputError
from probtruth.scoring.rules.by_name import RuleLike, get_rule
from probtruth.scoring.rules.report_search import Asked, Loss, asked, polished, simplex_points, tempered_points
from probtruth.scoring.rules.rule import ScoringRule

TOLERANCE = 1e-9
"""A gain below this, relative to 1 plus the size of the loss, is rounding."""
APART = 0.01
"""Reports at this total variation count as different, for strict propriety."""


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


@check.checks_itself
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
    losses, points = asked(loss, n_labels, annotators), simplex_points(n_labels)
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


@check.checks_itself
def best_report(rule: RuleLike | Loss, truth: ArrayLike, annotators: int | None = None) -> Float[np.ndarray, " label"]:
    """The report with the least expected loss if labels follow `truth`: the truth itself if the rule is proper.

    Arguments: `rule`, `annotators` as in `check_proper`; `truth` is one distribution.

    Returns: a distribution, to about six digits where the loss has a unique minimum.

    Errors: as in `check_proper`, and for a truth that is not a distribution.

    Source: Gneiting and Raftery (2007), doi:10.1198/016214506000001437

    >>> import probtruth as pt
    >>> pt.rules.best_report(pt.rules.total_variation, [0.3, 0.7], annotators=5).round(3).tolist()
    [0.2, 0.8]
    """
    row = check.as_floats(truth, "label", "truth").astype(np.float64)
    check.simplex(row[None], "truth", lambda _: "the truth")
    losses = asked(as_loss(rule, len(row))[0], len(row), annotators)
    points = np.concatenate([row[None], simplex_points(len(row)), tempered_points(row)])
    return polished(losses, row, points[int(np.nanargmin(losses(points, row)))])[0]


def as_loss(rule: object, n_labels: int) -> tuple[Loss, str]:
    """The expected loss of (probs, truth) and its name, from a rule's name, a rule, or a function."""
    if isinstance(n_labels, bool) or not isinstance(n_labels, (int, np.integer)) or n_labels < 2:
        raise InputError(f"n_labels {n_labels!r}", "an integer of at least 2", "A rule judges between labels.")
    if callable(rule) and not isinstance(rule, ScoringRule):
        return rule, getattr(rule, "__name__", "the function")
    chosen = get_rule(rule)
    if chosen.n_labels not in (None, n_labels):
        raise InputError(
            f"{n_labels} labels", f"{chosen.n_labels} labels for the rule {chosen.name!r}", "Choose n_labels to fit."
        )
    return jax.jit(chosen.expected), chosen.name


def _rival(losses: Asked, truth: np.ndarray, points: np.ndarray, strict: bool) -> tuple[np.ndarray, float, float]:
    """The best report other than the truth, the loss of the truth and the loss of that report."""
    reports = np.concatenate([truth[None], points, tempered_points(truth)])
    tried = np.where(np.isnan(values := losses(reports, truth)), np.inf, values)
    same = np.abs(reports - truth).sum(1) / 2 < (APART if strict else TOLERANCE)
    position = int(np.argmin(np.where(same, np.inf, tried)))
    return reports[position], float(tried[0]), float(tried[position])
