"""A table of all models that is made when it is first asked for; until then only what it is made from takes memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from probtruth.kernels.host import block_rows

type Rows = slice | Int[np.ndarray, " some"]
"""Some of the items: neighbours, or any."""


class Later:
    """How the rows of a table follow from what is at hand; `whole` is the table, made once for all who hold this.

    `rows(model, items)` makes some rows of one model. It has a shape and a type as arrays have.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, shape: tuple[int, int, int], rows: Callable[[int, Rows], Float[np.ndarray, "some label"]]):
        self.shape = shape
        self._rows: Callable[[int, Rows], np.ndarray] | None = rows
        self._whole: np.ndarray | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies, and what is sent to other processes, are the table."""
        return np.asarray, (self.whole(),)

    def rows(self, model: int, items: Rows) -> Float[np.ndarray, "some label"]:
        """Some rows of one model, made anew unless all were made before."""
        make = self._rows  # first, since another thread may be making the whole
        if self._whole is not None or make is None:
            rows: np.ndarray = self.whole()[model, items]
            return rows
        return make(model, items)

    def some_items(self, items: Int[np.ndarray, " some"]) -> Float[np.ndarray, "model some label"]:
        """The same of all models."""
        return np.stack([self.rows(model, items) for model in range(self.shape[0])])

    def whole(self) -> Float[np.ndarray, "model item label"]:
        """The table, after which what it was made from is let go."""
        if self._whole is None:
            table, size = np.empty(self.shape), block_rows(self.shape[2])
            for model, own in enumerate(table):
                for start in range(0, len(own), size):
                    some = slice(start, min(start + size, len(own)))
                    own[some] = self.rows(model, some)
            self._whole, self._rows = table, None
        return self._whole


def made_later[T](name: str) -> Callable[[type[T]], type[T]]:
    """Of a dataclass whose field of this name takes a table or a `Later`: whoever reads the field finds the table."""

    def with_table(owner: type[T]) -> type[T]:
        setattr(owner, name, _Table(name))
        return owner

    return with_table


class _Table:
    """The attribute that such a field is."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """The table; the class itself has none."""
        if instance is None:
            raise AttributeError(self._name)
        held = as_held(instance, self._name)
        return held.whole() if isinstance(held, Later) else held

    def __set__(self, instance: object, value: object) -> None:
        """Keeps what the field holds."""
        vars(instance)[self._name] = value


def as_held(instance: object, name: str) -> Any:
    """What such a field holds: the table, or a `Later` that nobody has asked for the table."""
    return vars(instance)[name]
