"""Tables of models side by side: the items that all have, and what was left out."""

from collections.abc import Sequence

from probtruth import check
from probtruth.errors import InputError
from probtruth.types import Audit, Index
from probtruth.types.index import sort_names


def common(models: Sequence[str], items: Sequence[Sequence[str]], index: Index | None) -> tuple[tuple[str, ...], Audit]:
    """The items that all models (and the index, if there is one with names) have, sorted, and the audit of the others.

    Errors: `InputError` with names from both sides where no item is left, or where a model has another number of items
    than an index without names.
    """
    if index is not None and index.positional_items:
        for model, names in zip(models, items, strict=True):
            check.length(len(names), len(index.items), f"items in model {check.quote(model)}")
    sets = [frozenset(names) for names in items]
    named = index is not None and not index.positional_items
    reference = frozenset(index.items) if index is not None and named else frozenset().union(*sets)
    common = reference.intersection(*sets)
    if not common:
        raise _nothing(models, items, index if named else None)
    counts = tuple((model, len(reference - own), len(own - reference)) for model, own in zip(models, sets, strict=True))
    extra = frozenset().union(*sets) - reference
    return sort_names(common), Audit(sort_names(reference - common), sort_names(extra), counts)


def _nothing(models: Sequence[str], items: Sequence[Sequence[str]], index: Index | None) -> InputError:
    """The error for no item in common, with names from the two sides that share none (or the first two)."""
    sides = [("the reference", index.items)] if index is not None else []
    sides += [(f"model {check.quote(model)}", tuple(names)) for model, names in zip(models, items, strict=True)]
    first = frozenset(sides[0][1])
    other = next((side for side in sides[1:] if first.isdisjoint(side[1])), sides[-1])
    return InputError(
        f"no item in common: {check.shortlist(sides[0][1], 3)} in {sides[0][0]}, {check.shortlist(other[1], 3)} in "
        f"{other[0]}",
        "the same item names in all",
        "Names are compared as text ('007' is not '7'); check the item columns.",
    )
