"""Names of items, annotators and labels, and how two tables are put side by side by them."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.frames import name_text

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,999}")
"""A decimal integer, as Python writes it; longer ones than any that is meant as a number are text."""


def sort_names(names: Iterable[str]) -> tuple[str, ...]:
    """Sorted by value if every name is a decimal integer, else by code point."""
    listed = list(names)
    return tuple(sorted(listed, key=int if all(_INTEGER.fullmatch(name) for name in listed) else None))


@dataclass(frozen=True)
class Index:
    """Names along the axes. Positional names (from arrays without names) match any names of the same number.

    Items are a tuple, or a `frames.Names` where they are too many for Python's text.
    """

    items: Sequence[str]
    labels: tuple[str, ...]
    annotators: tuple[str, ...] = ()
    positional_items: bool = False
    positional_labels: bool = False

    @classmethod
    def of_array(
        cls, shape: Sequence[int], items: Iterable[object] | None = None, labels: Iterable[object] | None = None
    ) -> tuple["Index", Int[np.ndarray, " item"], Int[np.ndarray, " label"]]:
        """The sorted index of an array, and the rows and columns that bring the array into its order."""
        item_names, rows = _in_order(shape[0], as_names(items, "items"), "items")
        label_names, columns = _in_order(shape[1], as_names(labels, "labels"), "labels")
        return cls(item_names, label_names, (), items is None, labels is None), rows, columns


def as_names(names: Iterable[object] | None, what: str) -> tuple[str, ...] | None:
    """Names as text, in their order; None where there are none.

    Errors: `InputError` for a blank name, or for what is no list of names (a single text, a set).
    """
    if names is None:
        return None
    if isinstance(names, (str, bytes, Mapping, Set)):
        raise InputError(f"{what} as a {type(names).__name__}", f"a list of {what}", f"Give {what}=[...] in order.")
    listed = list(names)
    written = tuple(map(name_text, listed))
    for position, (name, text) in enumerate(zip(listed, written, strict=True)):
        if name is None or name != name or not text.strip():
            singular = what.rstrip("s")
            raise InputError(
                f"a blank name for {singular} {position}", f"a name for every {singular}", f"Name that {singular}."
            )
    return written


def _in_order(size: int, names: tuple[str, ...] | None, what: str) -> tuple[tuple[str, ...], Int[np.ndarray, " name"]]:
    if names is None:
        return tuple(map(str, range(size))), np.arange(size)
    check.length(size, len(names), what)
    check.unique(names, what.rstrip("s"))
    ordered = sort_names(names)
    return ordered, positions(names, ordered)


@dataclass(frozen=True)
class Audit:
    """What alignment by name left out.

    `missing` are items of the reference that some model lacks, `extra` are items that some model has and the reference
    lacks; `by_model` counts both for each model. `different` are items that are another question for some model. All
    of them are dropped for all models. `prompts` are items that were asked in other words of some model, and are kept.
    """

    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    by_model: tuple[tuple[str, int, int], ...] = ()
    different: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()

    @property
    def dropped(self) -> int:
        """Number of items that took no part in the comparison."""
        return len({*self.missing, *self.extra, *self.different})

    def counts(self) -> tuple[str, ...]:
        """What was left out and why, in words, each kind with its first items; empty where nothing was."""
        kinds = (
            (self.missing, "that some model lacks"),
            (self.extra, "without labels"),
            (self.different, "that are another question for some model"),
        )
        return tuple(f"{len(names)} {why} ({check.shortlist(names, 3)})" for names, why in kinds if names)

    def __add__(self, other: "Audit") -> "Audit":
        """Both audits as one."""
        counts = {model: (missing, extra) for model, missing, extra in self.by_model}
        for model, missing, extra in other.by_model:
            before = counts.get(model, (0, 0))
            counts[model] = (before[0] + missing, before[1] + extra)
        return Audit(
            sort_names(set(self.missing) | set(other.missing)),
            sort_names(set(self.extra) | set(other.extra)),
            tuple((model, *both) for model, both in counts.items()),
            sort_names({*self.different, *other.different}),
            sort_names({*self.prompts, *other.prompts}),
        )


def positions(names: Sequence[str], wanted: Sequence[str]) -> Int[np.ndarray, " wanted"]:
    """Where each wanted name stands in `names`; every wanted name must be there."""
    place = {name: position for position, name in enumerate(names)}
    return np.fromiter((place[name] for name in wanted), np.int64, len(wanted))


def common_items(reference: Index, other: Index, what: str) -> tuple[str, ...]:
    """The item names that both have, in the reference's order; an error where there is none."""
    if reference.positional_items or other.positional_items:
        check.length(len(other.items), len(reference.items), f"items in {what}")
        return tuple(other.items if reference.positional_items else reference.items)
    if reference.items == other.items:
        return tuple(reference.items)
    there = set(other.items)
    both = tuple(name for name in reference.items if name in there)
    if not both:
        raise InputError(
            f"no item in common: {check.shortlist(reference.items, 3)} "
            f"against {check.shortlist(other.items, 3)} in {what}",
            "the same item names in both",
            "Names are compared as text ('007' is not '7'); check the item column.",
        )
    return both


def common_labels(reference: Index, other: Index, what: str) -> tuple[str, ...]:
    """The labels of `other`, which must hold every label of the reference."""
    if reference.positional_labels or other.positional_labels:
        check.length(len(other.labels), len(reference.labels), f"labels in {what}")
        return other.labels if reference.positional_labels else reference.labels
    absent = [name for name in reference.labels if name not in set(other.labels)]
    if absent:
        raise InputError(
            f"label {check.shortlist(absent)} in the reference, but {what} has only {check.shortlist(other.labels)}",
            "a probability for every label that the reference uses",
            check.did_you_mean(absent[0], other.labels),
        )
    return other.labels
