"""What scores are called."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from probtruth.check import as_float
from probtruth.report.names import plain
from probtruth.report.numbers import exact

if TYPE_CHECKING:
    from probtruth.types import Comparison

# What each rule's score is called
MEASURES: Mapping[str, str] = {
    "log": "log loss",
    "brier": "Brier score",
    "quadratic": "quadratic score",
    "spherical": "spherical score",
    "ranked-probability": "ranked probability score",
    "zero-one": "zero-one loss",
    "linear": "linear score",
    "manhattan": "Manhattan distance",
    "wasserstein": "Wasserstein distance",
}


def measure(rule: str) -> str:
    """What the rule's score is called; a metric of the user's own keeps its name."""
    return MEASURES.get(rule) or plain(rule)


def unit(rule: str, before: str = "") -> str:
    return f"{before}nats" if rule == "log" else ""


def with_unit(rule: str) -> str:
    """The measure with its unit, for the title of an axis or a column: `log loss (nats)`."""
    name, of = measure(rule), unit(rule)
    return f"{name} ({of})" if of else name


def item_of(comparison: "Comparison") -> str:
    """What an item is called: of votes a prompt."""
    return "prompt" if "votes" in comparison.settings else "item"


def unit_of(comparison: "Comparison") -> str:
    """What the spread is between: items, or clusters of them."""
    return "item" if comparison.settings.get("clusters") is None else "cluster"


def rope_of(comparison: "Comparison") -> str:
    """The ROPE as it was given: of votes in points of their share."""
    points = as_float(comparison.settings.get("rope_in_points"))
    return exact(comparison.rope) if points is None else f"{exact(100 * points)}%"


def mean_of(comparison: "Comparison", with_units: bool = False) -> str:
    """What is compared: the mean of a score, or a metric of all items together; on an axis with its unit."""
    name = with_unit(comparison.rule) if with_units else measure(comparison.rule)
    return name if comparison.settings.get("metric") else f"mean {name}"
