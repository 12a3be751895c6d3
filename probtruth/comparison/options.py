"""The options of a comparison, checked once.

How large a difference does not matter: absolute, relative to the best score, or a share of the attainable range.
"""

import re
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.errors import InputError
from probtruth.types import RuleFacts
from probtruth.types.arguments import Engine, ItemPopulation, ReplicateKind

WRITTEN = re.compile(r"\s*((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*(%|% of range)?\s*")
EXPECTED = "a number of at least 0, 'X%' (of the best mean score) or 'X% of range' (from the entropy to the baseline)"


@dataclass(frozen=True)
class Rope:
    """A width, and what it is a share of: `units`, `score` or `range`."""

    width: float
    of: str


def parse(value: object) -> Rope | None:
    """The rope as it was asked for; None where none is."""
    if value is None:
        return None
    kind, match = "units", WRITTEN.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        kind = {None: "units", "%": "score", "% of range": "range"}[match[2]]
        value = float(match[1]) / (1 if kind == "units" else 100)
    hint = "A plain number is in units of the score."
    return Rope(check.number(value, "rope", hint, least=0, wanted=EXPECTED), kind)


def width(rope: Rope | None, known: RuleFacts, means: Float[np.ndarray, " model"]) -> float | None:
    """The width in units of the score; `means` are the mean losses, the lowest of which is the best."""
    if rope is None or rope.of == "units":
        return None if rope is None else rope.width
    if rope.of == "score":
        finite = means[np.isfinite(means)]
        if not len(finite) or finite.min() == 0:
            raise InputError("a rope relative to a best mean score of 0, or none", "a finite score", "Give a number.")
        return rope.width * abs(float(finite.min()))
    entropy, baseline = known.entropy, known.baseline
    if entropy is None or baseline is None or not entropy < baseline < np.inf:
        raise InputError(
            "a rope as a share of the range from entropy to baseline, which these scores do not have",
            "scores against labels",
            "Give it in units of the score, or as 'X%' of the best mean score.",
        )
    return rope.width * (baseline - entropy)


@dataclass(frozen=True)
class Options:
    """How a comparison is computed; see `compare`."""

    engine: str
    population: str
    rope: Rope | None
    draws: int
    seed: int
    strict: bool
    replicates: str | None = None
    fold_correlation: float | None = None

    @property
    def dependent(self) -> bool:
        """Whether items are not the independent units that resampling needs."""
        return self.these_items or self.replicates in ("crossed", "folds")

    @property
    def these_items(self) -> bool:
        """Whether the items are held fixed."""
        return self.population == "these-items"


def checked_options(
    engine: object,
    population: object,
    rope: object,
    draws: object,
    seed: object,
    strict: object,
    replicates: object = None,
    fold_correlation: object = None,
) -> Options:
    """The options; an error for one that cannot be used."""
    return Options(
        check.literal(engine, Engine, "engine"),
        check.literal(population, ItemPopulation, "population"),
        parse(rope),
        check.whole(draws, 1, "draws"),
        check.whole(seed, 0, "seed"),
        bool(strict),
        None if replicates is None else check.literal(replicates, ReplicateKind, "replicates"),
        _fold_correlation(fold_correlation, replicates),
    )


def _fold_correlation(value: object, replicates: object) -> float | None:
    if replicates != "folds":
        if value is not None:
            raise InputError(
                "fold_correlation without replicates='folds'", "both or neither", "Add replicates='folds'."
            )
        return None
    return known_correlation(value, "fold_correlation")


def known_correlation(value: object, what: str = "correlation") -> float:
    """A correlation from 0 up to, not including, 1."""
    hint = "For k folds it is 1/k, the share of the data that is tested on."
    return check.number(value, what, hint, least=0, below=1)
