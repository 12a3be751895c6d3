"""What a report shows beyond the comparison, computed once; `result.analysis` holds it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from probtruth.line.analysis import annotators, calibration, curves, items, predictive_check
from probtruth.line.labelled import Labelled
from probtruth.scoring.calibration.decompositions import decompose_aligned
from probtruth.streaming.compare_files import Streamed
from probtruth.types import Comparison, Scores
from probtruth.types.shown import Brief


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(Brief):
    """The parts of a report, each computed when it is first asked for, and once.

    What needs labels is None (or empty) for bare scores; what needs every item is so where input was streamed.
    """

    scores: Scores | Streamed
    comparison: Comparison
    labelled: Labelled | None

    @property
    def _labelled_items(self) -> Labelled | None:
        """What is known of every item because it has labels."""
        return self.labelled if isinstance(self.scores, Scores) else None

    @cached_property
    def calibration(self) -> calibration.CalibrationAnalysis | None:
        """Reliability curves, risk profile and calibration error of the best models."""
        if self.labelled is None:
            return None
        return calibration.calibration_of(self.labelled, self.scores, self.comparison)

    @cached_property
    def accuracy(self) -> Mapping[str, float] | None:
        """Each model's expected accuracy: 1 minus the mean zero-one score."""
        return None if self._labelled_items is None else items.expected_accuracy(self._labelled_items)

    @cached_property
    def decomposition(self) -> Sequence[Mapping[str, Any]] | None:
        """The rows of `decompose`, one for each model."""
        known = self._labelled_items
        return (
            None if known is None else decompose_aligned(known.aligned, known.rule, self.scores.known.floor).to_dicts()
        )

    @cached_property
    def annotators(self) -> annotators.AnnotatorAnalysis:
        """How far annotators agree, how good each is, and which answer like copies of each other."""
        return annotators.annotators_of(self.labelled)

    @cached_property
    def disputed(self) -> Sequence[items.DisputedItem]:
        """The items on which the labels disagree most."""
        return [] if self._labelled_items is None else items.disputed_items(self._labelled_items)

    @cached_property
    def divided(self) -> Sequence[items.DividedItem]:
        """The items on which the two leading models differ most."""
        return items.divided_items(self.scores, self.comparison, self.labelled)

    @cached_property
    def listed(self) -> items.ListedItems | None:
        """The items with what is known of each; None where scores were streamed."""
        return items.listed_items(self.scores, self.comparison, self.labelled)

    @cached_property
    def curves(self) -> curves.DifferenceCurves | None:
        """The posterior of each pair's difference, as quantiles."""
        return curves.curves_of(self.comparison)

    @cached_property
    def replicates(self) -> predictive_check.ReplicatedDifferences | None:
        """Differences of the two leading models, item by item, beside replicated ones."""
        return predictive_check.replicates_of(self.scores, self.comparison)
