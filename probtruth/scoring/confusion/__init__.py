"""Expected confusion when neither the label nor the response is certain, with the curves and metrics that follow."""

from probtruth.scoring.confusion.curves import precision_recall_curves, roc_curves
from probtruth.scoring.confusion.expected import degeneracy_report, expected_confusion

__all__ = (
    "degeneracy_report",
    "expected_confusion",
    "precision_recall_curves",
    "roc_curves",
)
