"""The named rules, and the values of an option `rule`."""

from collections.abc import Sequence

from probtruth import check
from probtruth.errors import InputError
from probtruth.scoring.rules.named import brier, linear, log, quadratic, ranked_probability, spherical, zero_one
from probtruth.scoring.rules.rule import ScoringRule
from probtruth.types.arguments import RuleName

RULES: dict[str, ScoringRule] = {
    rule.name: rule for rule in (log, brier, quadratic, spherical, ranked_probability, zero_one, linear)
}
"""The rules by name."""

type RuleLike = RuleName | ScoringRule
"""A rule, or the name of one."""


def get_rule(rule: object, order: Sequence[object] | None = None) -> ScoringRule:
    """The rule of that name, or the rule itself; `order` names the labels from low to high.

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
