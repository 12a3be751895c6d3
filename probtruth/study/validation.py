"""The result of `validate`: how far to trust the answers on this design."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from probtruth import frames

if TYPE_CHECKING:
    import polars

Row = Mapping[str, object]
MEASURES = ("coverage", "width", "decides", "wrong_sign", "exaggeration")
COLUMNS = ("truth", "difference", *(name for one in MEASURES for name in (one, f"{one}_error")))
BINS = ("p_a_better", "a_was_better", "studies")


@dataclass(frozen=True, eq=False)
class Validation:
    """How well the default comparison and the monitor did in studies drawn from the user's own items.

    `rows` are those of `table()`, `bins` those of `curve()`. `calibration` holds the expected calibration error of P(a
    better) (`error`; `by_chance` is the error of perfect probabilities), how often P is above 0.975 for one of the
    models (`sure`) and how often it is then wrong (`wrong_when_sure`); `monitor` holds the false alarms of a monitor
    that looks after every unit, how often it decides at the true difference and after how many items (the median, None
    if fewer than half of the streams end in a decision). Every key that ends in `_error` is a Monte Carlo standard
    error.
    """

    a: str
    b: str
    n_items: int
    n_units: int
    n_groups: int
    clustered: bool
    difference: float
    standard_error: float
    replications: int
    seed: int
    rows: Sequence[Row]
    calibration: Mapping[str, float | None]
    bins: Sequence[Row]
    monitor: Mapping[str, object]
    warnings: tuple[str, ...] = ()

    def table(self) -> "polars.DataFrame":
        """One row for each true difference: none, half of the requested one, the requested one, and some drawn from
        N(0, (2 SE)^2).

        `coverage` and `width` are those of the 95% interval; `decides` is how often it excludes 0, `wrong_sign` how
        often it is then on the wrong side (type S) and `exaggeration` the factor by which the estimate is then too
        large (type M).
        """
        return frames.from_rows(self.rows, COLUMNS)

    def curve(self) -> "polars.DataFrame":
        """The calibration of P(a better): mean probability and frequency, in up to ten bins."""
        return frames.from_rows(self.bins, BINS)

    def to_dict(self) -> dict[str, object]:
        """All of it, as plain values."""
        names = ("a", "b", "n_items", "n_units", "n_groups", "clustered", "difference", "standard_error")
        rows = {"table": [dict(row) for row in self.rows], "calibration": dict(self.calibration)}
        more = {"curve": [dict(row) for row in self.bins], "monitor": dict(self.monitor)}
        facts = {name: getattr(self, name) for name in (*names, "replications", "seed")}
        return {**facts, **rows, **more, "warnings": list(self.warnings)}
