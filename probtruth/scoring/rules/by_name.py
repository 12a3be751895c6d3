"""The rules that have names, and what an option `rule` may be."""

from probtruth import check
from probtruth.errors import InputError
from probtruth.scoring.rules.named import brier, linear, log, quadratic, ranked_probability, spherical, zero_one
from probtruth.scoring.rules.rule import ScoringRule

RULES: dict[str, ScoringRule] = {
    rule.name: rule for rule in (log, brier, quadratic, spherical, ranked_probability, zero_one, linear)
}
"""The rules that can be asked for by name."""


def get_rule(rule: object) -> ScoringRule:
    """The rule of that name, or the rule itself.

    Errors: `InputError` for an unknown name, with the nearest known one.

    >>> get_rule("brier").range
    (0.0, 2.0)
    """
    if isinstance(rule, ScoringRule):
        return rule
    if not isinstance(rule, str):
        raise InputError(
            f"rule of type {type(rule).__name__}",
            "a name or a probtruth.ScoringRule",
            f"The names are: {check.shortlist(RULES)}; families are in probtruth.rules.",
        )
    return RULES[check.one_of(rule, tuple(RULES), "rule")]


def check_labels(rule: ScoringRule, n_labels: int) -> None:
    """Raises where the rule is defined for another number of labels."""
    if rule.n_labels not in (None, n_labels):
        raise InputError(
            f"{n_labels} labels", f"{rule.n_labels} labels for the rule {rule.name!r}", "Choose a rule for any number."
        )
