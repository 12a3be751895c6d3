"""The options of a comparison, checked once."""

from contextlib import suppress
from dataclasses import dataclass

from probtruth import check
from probtruth.errors import InputError
from probtruth.types.arguments import Engine, ItemPopulation, ReplicateKind


@dataclass(frozen=True)
class Options:
    engine: str
    population: str
    rope: float | None
    draws: int
    seed: int
    strict: bool
    replicates: str | None
    fold_correlation: float | None
    these_items: bool  # whether the items are held fixed


def checked_options(
    engine: object = "auto",
    population: object = "new-items",
    rope: object = None,
    draws: object = 2500,
    seed: object = 0,
    strict: object = False,
    replicates: object = None,
    fold_correlation: object = None,
) -> Options:
    """The options; an error for one that cannot be used."""
    if replicates == "folds":
        hint = "For k folds it is 1/k, the share of the data that is tested on."
        fold_correlation = check.number(fold_correlation, "fold_correlation", hint, least=0, below=1)
    elif fold_correlation is not None:
        raise InputError("fold_correlation without replicates='folds'", "both or neither", "Add replicates='folds'.")
    hint = "A number in units of the score; of a proportion also 'X%', which is so many points."
    return Options(
        check.literal(engine, Engine, "engine"),
        check.literal(population, ItemPopulation, "population"),
        None if rope is None else check.number(in_numbers(rope), "rope", hint, least=0),
        check.whole(draws, 1, "draws"),
        check.whole(seed, 0, "seed"),
        bool(strict),
        None if replicates is None else check.literal(replicates, ReplicateKind, "replicates"),
        fold_correlation,
        population == "these-items",
    )


def in_numbers(rope: object) -> object:
    """A number that was written as text, as a number; anything else unchanged."""
    with suppress(ValueError):
        return float(rope) if isinstance(rope, str) else rope
    return rope
