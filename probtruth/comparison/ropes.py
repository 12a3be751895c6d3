"""How large a difference does not matter: absolute, relative to the best score, or a share of the attainable range."""

import re
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from probtruth.comparison.evidence.evidence import Facts
from probtruth.errors import InputError

WRITTEN = re.compile(r"\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(%|% of range)?\s*")
EXPECTED = "a number of at least 0, 'X%' (of the best mean score) or 'X% of range' (from the entropy to the baseline)"


@dataclass(frozen=True)
class Rope:
    """A width, and what it is a share of: `units`, `score` or `range`."""

    width: float
    of: str


def parse(given: object) -> Rope | None:
    """The rope as it was asked for; None where none is."""
    if given is None:
        return None
    kind, number = "units", given
    if isinstance(given, str):
        found = WRITTEN.fullmatch(given)
        if found is None:
            raise _error(given)
        kind = {None: "units", "%": "score", "% of range": "range"}[found[2]]
        try:
            number = float(found[1]) / (1 if kind == "units" else 100)
        except ValueError:
            raise _error(given) from None
    if isinstance(number, bool) or not isinstance(number, int | float | np.number) or not 0 <= float(number) < np.inf:
        raise _error(given)
    return Rope(float(number), kind)


def _error(given: object) -> InputError:
    return InputError(f"rope {given!r}", EXPECTED, "A plain number is in units of the score.")


def width(rope: Rope | None, facts: Facts, means: Float[np.ndarray, " model"]) -> float | None:
    """The width in units of the score; `means` are the mean losses, the lowest of which is the best."""
    if rope is None or rope.of == "units":
        return None if rope is None else rope.width
    if rope.of == "score":
        finite = means[np.isfinite(means)]
        if not len(finite) or finite.min() == 0:
            raise InputError("a rope relative to a best mean score of 0, or none", "a finite score", "Give a number.")
        return rope.width * abs(float(finite.min()))
    entropy, baseline = facts.known.entropy, facts.known.baseline
    if entropy is None or baseline is None or not entropy < baseline < np.inf:
        raise InputError(
            "a rope as a share of the range from entropy to baseline, which these scores do not have",
            "scores against labels",
            "Give it in units of the score, or as 'X%' of the best mean score.",
        )
    return rope.width * (baseline - entropy)
