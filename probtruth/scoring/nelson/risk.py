"""The result of `risk_profile`: means of reported and of source probabilities, and their plot."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from probtruth import frames
from probtruth.errors import InputError
from probtruth.types.index import Audit
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars

MARKS = {"decisiveness": 1.0, "accuracy": 0.0, "robustness": -2 / 3}  # The three powers of the paper


@dataclass(frozen=True, eq=False, repr=False)
class RiskProfile(Brief):
    """The spectrum of generalised means of each model and of its source, on the scale of probabilities.

    `model[i, m]` is the mean of order `powers[m]` of the probabilities that model i reported for what happened,
    `source[i, m]` that of the source probabilities; the `by_label` arrays are the same for one label's events.
    `p_sigma` is exp(-sd of the log-probabilities). `impossible` names, for each model, the items where something
    happened that the model called impossible. Higher is better, but only the accuracy (power 0) is a proper criterion,
    through its logarithm, and not with a floor.
    """

    models: tuple[str, ...]
    labels: tuple[str, ...]
    powers: tuple[float, ...]
    model: Float[np.ndarray, "model power"]
    source: Float[np.ndarray, "model power"]
    model_by_label: Float[np.ndarray, "model label power"]
    source_by_label: Float[np.ndarray, "model label power"]
    p_sigma: Float[np.ndarray, " model"]
    impossible: tuple[tuple[str, ...], ...]
    source_method: str
    floor: float | None
    bins: tuple[dict[str, object], ...] = field(repr=False, default=())
    audit: Audit = field(default_factory=Audit)

    @property
    def divergence(self) -> Float[np.ndarray, "model power"]:
        """Divergence probability, model over source: P_model = P_source * P_div."""
        value: np.ndarray = self.model / self.source
        return value

    @property
    def decisiveness(self) -> Float[np.ndarray, " model"]:
        """Arithmetic mean (power 1) of the reported probabilities; rewards over-confidence."""
        return self.at(MARKS["decisiveness"])

    @property
    def accuracy(self) -> Float[np.ndarray, " model"]:
        """Geometric mean (power 0), exp(-log score)."""
        return self.at(MARKS["accuracy"])

    @property
    def robustness(self) -> Float[np.ndarray, " model"]:
        """Mean of power -2/3; rewards under-confidence."""
        return self.at(MARKS["robustness"])

    def at(self, power: int | float) -> Float[np.ndarray, " model"]:
        """The models' mean of one of the powers.

        Errors: `InputError` for a power that is not in the spectrum.
        """
        if power not in self.powers:
            raise InputError(
                f"power {power!r}", "a power of the profile", "Give it in risk_profile(..., powers=[...])."
            )
        return self.model[:, self.powers.index(power)]

    @property
    def angle(self) -> Float[np.ndarray, " model"]:
        """Degrees of the line from robustness to decisiveness in the plot of model against source.

        45 for a calibrated model, more if it is over-confident, less if it is under-confident.
        """
        high, low = (self.powers.index(MARKS[name]) for name in ("decisiveness", "robustness"))
        rise, run = (table[:, high] - table[:, low] for table in (self.model, self.source))
        degrees: np.ndarray = np.degrees(np.arctan2(rise, run))
        return degrees

    @property
    def log_sd_band(self) -> Float[np.ndarray, "model 2"]:
        """Accuracy times and divided by `p_sigma`; the upper end can exceed 1, which is why the paper turns to powers.

        Source: Nelson (2017), Equation 10 (which lost the minus before the root).
        """
        return np.stack([self.accuracy * self.p_sigma, self.accuracy / self.p_sigma], -1)

    def table(self) -> "polars.DataFrame":
        """One row for each model: the three means of model, source and divergence, angle, log-sd band, impossibles."""
        positions = {name: self.powers.index(power) for name, power in MARKS.items()}
        rows = []
        for i, model in enumerate(self.models):
            row: dict[str, object] = {"model": model}
            for kind, values in (("", self.model), ("source_", self.source), ("divergence_", self.divergence)):
                row |= {kind + name: float(values[i, position]) for name, position in positions.items()}
            low, high = self.log_sd_band[i]
            row |= {"angle": float(self.angle[i]), "low": float(low), "high": float(high)}
            rows.append(row | {"impossible": len(self.impossible[i])})
        return frames.from_rows(rows)

    def spectrum(self) -> "polars.DataFrame":
        """One row for each model and power: the probabilities of model, source and divergence."""
        rows = [
            {
                "model": model,
                "power": power,
                "model_probability": float(self.model[i, j]),
                "source_probability": float(self.source[i, j]),
                "divergence_probability": float(self.divergence[i, j]),
            }
            for i, model in enumerate(self.models)
            for j, power in enumerate(self.powers)
        ]
        return frames.from_rows(rows)

    def marks(self) -> "polars.DataFrame":
        """The marks of the plot of model (y) against source (x): three for each model, and three for each label."""
        rows = []
        for i, model in enumerate(self.models):
            for name, power in MARKS.items():
                at = self.powers.index(power)
                pairs = [(None, self.source[i, at], self.model[i, at])]
                labels = zip(self.labels, self.source_by_label[i, :, at], self.model_by_label[i, :, at], strict=True)
                for label, source, reported in [*pairs, *labels]:
                    coordinates = {"source": float(source), "reported": float(reported)}
                    rows.append({"model": model, "label": label, "mark": name, "power": power, **coordinates})
        return frames.from_rows(rows)

    def bubbles(self) -> "polars.DataFrame":
        """The bubbles of that plot: bins of equal counts for each model and label.

        `source` is the frequency of true events, `reported` the geometric mean of the reported probabilities of the
        true events (NaN without any), `reported_all` that of all entries, `contribution` the share of true events
        times the logarithm of `reported`: over all labels' bins the contributions sum to the log of the accuracy.
        """
        columns = ["model", "label", "bin", "source", "reported", "reported_all", "n", "n_true", "contribution"]
        return frames.from_rows(self.bins, columns)
