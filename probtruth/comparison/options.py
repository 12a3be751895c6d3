"""The options of a comparison, checked once."""

import math
from dataclasses import dataclass

import numpy as np

from probtruth import check
from probtruth.errors import InputError

ENGINES = ("nuts", "exact")
POPULATIONS = ("new-items", "these-items")


@dataclass(frozen=True)
class Options:
    """How a comparison is computed; see `compare`."""

    engine: str
    population: str
    rope: float | None
    draws: int
    seed: int
    strict: bool

    @property
    def these_items(self) -> bool:
        """Whether the items are held fixed."""
        return self.population == "these-items"


def options(engine: object, population: object, rope: object, draws: object, seed: object, strict: object) -> Options:
    """The options; an error for one that cannot be used."""
    return Options(
        check.one_of(engine, ENGINES, "engine"),
        check.one_of(population, POPULATIONS, "population"),
        known_rope(rope),
        whole(draws, "draws", 1),
        whole(seed, "seed", 0),
        bool(strict),
    )


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
