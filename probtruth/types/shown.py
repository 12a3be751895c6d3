"""How objects show themselves: a short `repr`, and for results what the module that is registered for them makes."""

from dataclasses import fields, is_dataclass
from reprlib import Repr
from typing import TYPE_CHECKING, Any

from probtruth import display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 10  # of a `repr`


class Brief:
    """A dataclass whose `repr` gives the size of what it holds instead of all of it."""

    def __repr__(self) -> str:
        """The fields that hold something, each in a few words."""
        shown = [field.name for field in fields(self) if field.repr]  # type: ignore[arg-type]
        words = [f"{name}={SIZES.repr(value)}" for name in shown if (value := getattr(self, name)) is not None]
        return f"{type(self).__name__}({', '.join(words)})"


class _Sizes(Repr):
    """Arrays by type and shape, other data classes by name."""

    def repr_ndarray(self, array: Any, level: int) -> str:
        return f"{array.dtype}{list(array.shape)}"

    repr_ArrayImpl = repr_ndarray

    def repr_instance(self, value: Any, level: int) -> str:
        return f"{type(value).__name__}(...)" if is_dataclass(value) else super().repr_instance(value, level)


SIZES = _Sizes(maxtuple=3, maxlist=3, maxdict=3, maxset=3, maxstring=60, maxother=60)


class Reported(Brief):
    """A result of a comparison, or a plan of a study: shown by what it says, and with a figure."""

    def __repr__(self) -> str:
        """The verdict and the ranking, or what designs would show; ten lines at most."""
        lines = display.module().first_lines(self).split("\n")
        if len(lines) > MOST_LINES:
            lines = [*lines[: MOST_LINES - 1], "..."]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return str(display.module().in_notebook(self))

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """The differences of all pairs with their intervals; of one model its reliability; of a plan its power.

        Arguments: `ax` are the axes to draw on; new ones belong to a figure of their own, `ax.figure`.

        Errors: `InputError` for one model without labels.
        """
        drawn: Axes = display.module().plot(self, ax)
        return drawn
