"""Scoring rules: the named ones as values, the families as functions that return a rule."""

from collections.abc import Sequence

from probtruth import check
from probtruth.errors import InputError
from probtruth.scoring.rules.beta import beta as beta
from probtruth.scoring.rules.bregman import bregman as bregman
from probtruth.scoring.rules.named import brier as brier
from probtruth.scoring.rules.named import linear as linear
from probtruth.scoring.rules.named import log as log
from probtruth.scoring.rules.named import quadratic as quadratic
from probtruth.scoring.rules.named import ranked_probability as ranked_probability
from probtruth.scoring.rules.named import spherical as spherical
from probtruth.scoring.rules.named import zero_one as zero_one
from probtruth.scoring.rules.power import power as power
from probtruth.scoring.rules.power import tempered as tempered
from probtruth.scoring.rules.pseudospherical import pseudospherical as pseudospherical
from probtruth.scoring.rules.rule import ScoringRule as ScoringRule

RULES: dict[str, ScoringRule] = {
    rule.name: rule for rule in (log, brier, quadratic, spherical, ranked_probability, zero_one, linear)
}
"""The rules that can be asked for by name."""


def get_rule(rule: object, order: Sequence[object] | None = None) -> ScoringRule:
    """The rule of that name, or the rule itself; with `order`, for labels whose names from low to high are these.

    Errors: `InputError` for an unknown name, with the nearest known one, or an order that the rule does not need.

    >>> get_rule("brier").range
    (0.0, 2.0)
    """
    if order is not None:
        return get_rule(rule).in_order(order)
    if isinstance(rule, ScoringRule):
        return rule
    if not isinstance(rule, str):
        raise InputError(
            f"rule of type {type(rule).__name__}",
            "a name or a probtruth.ScoringRule",
            f"The names are: {check.shortlist(RULES)}; families are in probtruth.rules.",
        )
    return RULES[check.one_of(rule, tuple(RULES), "rule")]
