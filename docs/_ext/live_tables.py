"""Tables that are made from the code when the documentation is built: the rules and the methods."""

import re
from collections.abc import Callable, Sequence
from urllib.parse import quote

from probtruth.scoring.rules import RULES, ScoringRule
from probtruth.truth.infer import DEFAULTS, METHODS

_DOI = re.compile(r"doi:(\S+)")


def rules() -> tuple[Sequence[str], list[Sequence[str]]]:
    """Every scoring rule that has a name, from the facts that it carries."""
    head = ("rule", "loss if the label is y", "range", "proper", "local", "first published by")
    return head, [
        (
            f"`{rule.name}`",
            f"`{rule.formula}`",
            _range(rule),
            _proper(rule),
            "yes" if rule.local else "no",
            _linked(rule.source),
        )
        for rule in RULES.values()
    ]


def _proper(rule: ScoringRule) -> str:
    return "strictly" if rule.strictly_proper else "yes" if rule.proper else "**no**"


def _linked(source: str) -> str:
    """A source with its DOI as a link."""
    return _DOI.sub(lambda doi: f"[{doi[0]}](<https://doi.org/{quote(doi[1], safe='/()')}>)", source)


def _range(rule: ScoringRule) -> str:
    if rule.range_by_labels is not None:
        return "0 to K - 1"
    return " to ".join(f"{bound:g}" for bound in rule.range)


def methods() -> tuple[Sequence[str], list[Sequence[str]]]:
    """Every truth method: what it answers, the options it takes, and the first sentence of its description."""
    head = ("method", "estimand", "model", "options")
    return head, [
        (
            f"`{name}`" + (" (default)" if DEFAULTS[method.estimand] == name else ""),
            method.estimand,
            f"`{(method.fit.__doc__ or '').strip().splitlines()[0].rstrip('.')}`",
            ", ".join(f"`{option}`" for option in method.options) or "-",
        )
        for name, method in METHODS.items()
    ]


TABLES: dict[str, Callable[[], tuple[Sequence[str], list[Sequence[str]]]]] = {"rules": rules, "methods": methods}


def as_markdown(name: str) -> str:
    """A table of that name as Markdown."""
    head, rows = TABLES[name]()
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
