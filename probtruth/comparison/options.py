"""The options of a comparison, checked once."""

import math
from dataclasses import dataclass

import numpy as np

from probtruth import check
from probtruth.comparison.ropes import Rope, parse
from probtruth.errors import InputError

ENGINES = ("nuts", "exact")
POPULATIONS = ("new-items", "these-items")
LIKELIHOODS = ("auto", "normal", "student-t", "skew-t", "tie-spike", "two-component")
REPLICATES = ("independent", "crossed", "folds")


@dataclass(frozen=True)
class Options:
    """How a comparison is computed; see `compare`."""

    engine: str
    population: str
    rope: float | None
    draws: int
    seed: int
    strict: bool
    replicates: str | None = None
    fold_correlation: float | None = None
    rope_asked: Rope | None = None
    likelihood: str = "auto"

    @property
    def dependent(self) -> bool:
        """Whether items are not the independent units that resampling needs."""
        return self.these_items or self.replicates in ("crossed", "folds")

    @property
    def these_items(self) -> bool:
        """Whether the items are held fixed."""
        return self.population == "these-items"


PLAIN = Options("nuts", "new-items", None, 2500, 0, False)
"""Those of `compare` where nothing is asked for."""


def options(
    engine: object,
    population: object,
    rope: object,
    draws: object,
    seed: object,
    strict: object,
    replicates: object = None,
    fold_correlation: object = None,
    likelihood: object = "auto",
) -> Options:
    """The options; an error for one that cannot be used."""
    asked = parse(rope)
    return Options(
        check.one_of(engine, ENGINES, "engine"),
        check.one_of(population, POPULATIONS, "population"),
        asked.width if asked is not None and asked.of == "units" else None,
        whole(draws, "draws", 1),
        whole(seed, "seed", 0),
        bool(strict),
        None if replicates is None else check.one_of(replicates, REPLICATES, "replicates"),
        _fold_correlation(fold_correlation, replicates),
        asked,
        check.one_of(likelihood, LIKELIHOODS, "likelihood"),
    )


def _fold_correlation(given: object, replicates: object) -> float | None:
    if replicates != "folds":
        if given is not None:
            raise InputError(
                "fold_correlation without replicates='folds'", "both or neither", "Add replicates='folds'."
            )
        return None
    return known_correlation(given, "fold_correlation")


def known_correlation(given: object, what: str = "correlation") -> float:
    """A correlation from 0 up to, not including, 1."""
    if isinstance(given, bool) or not isinstance(given, int | float | np.number) or not 0 <= float(given) < 1:
        raise InputError(
            f"{what} {given!r}",
            "a number from 0 up to, not including, 1",
            "For k folds it is 1/k, the share of the data that is tested on.",
        )
    return float(given)


def known_rope(given: object) -> float | None:
    """A finite number of at least 0; None where none is given."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float | np.number) or not 0 <= float(given) < math.inf:
        raise InputError(f"rope {given!r}", "a finite number of at least 0", "Give it in units of the score.")
    return float(given)


def whole(given: object, what: str, least: int) -> int:
    """An integer of at least `least`."""
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not least <= given < 2**31:
        raise InputError(f"{what} {given!r}", f"an integer of at least {least}", "Leave it out for the default.")
    return int(given)
