"""What a report shows beyond the comparison, computed once; `result.analysis` holds it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from probtruth.line.analysis import items
from probtruth.line.analysis.annotators import AnnotatorAnalysis, Unlike, annotators_of, unlike_the_rest
from probtruth.line.analysis.calibration import CalibrationAnalysis, MostAccurate, calibration_of, most_accurate
from probtruth.line.labelled import Labelled
from probtruth.scoring.calibration.decompositions import decompose
from probtruth.scoring.calibration.events import events
from probtruth.types import Comparison, Scores
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars

MOST_LISTED = 200  # Items that a page lists: those on which the two leading models differ most


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(Brief):
    """The parts of a report, each computed when it is first read, and once.

    What needs labels is None (or empty) for bare scores; what needs every item is so where scores were not kept.
    """

    scores: Scores
    comparison: Comparison
    labelled: Labelled | None

    @property
    def _labelled_items(self) -> Labelled | None:
        known = self.labelled
        if known is None or not self.scores.values.size or known.aligned.lacking.any(0).all():
            return None
        return known

    @cached_property
    def calibration(self) -> CalibrationAnalysis | None:
        if self.labelled is None:
            return None
        return calibration_of(self.labelled, self.scores, self.comparison)

    @cached_property
    def accuracy(self) -> Mapping[str, float] | None:
        """How often each model's most probable label is right, expected under the reference; ties share the choice."""
        known = self._labelled_items
        if known is None:
            return None
        aligned = known.aligned.common()
        accuracy = {}
        for model, logs in aligned.tables():  # by plain NumPy: what a first page shows compiles nothing
            ((_, _, right),) = events(logs, aligned.truth, aligned.labels, "top-label")
            accuracy[model] = float(right.mean())
        return accuracy

    @cached_property
    def most_accurate(self) -> MostAccurate | None:
        """The most accurate model where it is not the leading one, and why its score is worse."""
        if self.accuracy is None or self.calibration is None or self.items is None or not self.scores.known.proper:
            return None
        confidence = {}
        for model in self.accuracy:
            confidence[model] = float(self.items[f"p_{model}"].drop_nulls().to_numpy().mean())
        return most_accurate(self.comparison, self.accuracy, self.calibration, confidence)

    @cached_property
    def decomposition(self) -> Sequence[Mapping[str, Any]] | None:
        """The rows of `decompose`, one for each model."""
        known = self._labelled_items
        if known is None:
            return None
        sides: tuple[Any, Any] = (known.aligned, None)  # what stands side by side takes the place of both
        return decompose(*sides, known.options.rule, self.scores.known.floor).to_dicts()

    @cached_property
    def annotators(self) -> AnnotatorAnalysis:
        return annotators_of(self.labelled)

    @cached_property
    def unlike_the_rest(self) -> Unlike | None:
        return unlike_the_rest(self.scores, self.comparison)

    @cached_property
    def items(self) -> "polars.DataFrame | None":
        return items.items_frame(self.scores, self.comparison, self.labelled)

    @cached_property
    def listed(self) -> "polars.DataFrame | None":
        """The items that a page lists, those first on which the two leading models differ most."""
        frame = self.items
        if frame is None:
            return None
        rows = np.arange(min(MOST_LISTED, frame.height))
        column = next((name for name in ("difference", "entropy") if name in frame.columns), None)
        if column is not None:  # where the labels of one model disagree most
            rows = np.argsort(-np.abs(frame[column].to_numpy()), kind="stable")[:MOST_LISTED]
        return frame[rows].with_row_index().with_columns(index=rows)

    def named_shares(self, rows: Sequence[int]) -> list[list[tuple[str, float]]]:
        """The labels of items, by their positions, with their shares of the votes, the largest first."""
        if self.labelled is None:
            return []
        return items.named_shares(self.labelled.aligned, rows)
