"""Figures: take data and `ax=`, return the axes (matplotlib's object interface, no global state).

New axes belong to a figure of their own, `ax.figure`, which `savefig` writes. Colours are told apart by all readers and
stand out on white and on black; each curve is named where it runs.
"""

from probtruth.report.plots.annotators import plot_annotators as plot_annotators
from probtruth.report.plots.calibration import plot_decomposition as plot_decomposition
from probtruth.report.plots.calibration import plot_murphy as plot_murphy
from probtruth.report.plots.calibration import plot_reliability as plot_reliability
from probtruth.report.plots.comparison import plot_forest as plot_forest
from probtruth.report.plots.comparison import plot_matrix as plot_matrix
from probtruth.report.plots.comparison import plot_ranks as plot_ranks
from probtruth.report.plots.curves import plot_curves as plot_curves
from probtruth.report.plots.differences import plot_differences as plot_differences
from probtruth.report.plots.nelson import plot_divergence as plot_divergence
from probtruth.report.plots.nelson import plot_nelson as plot_nelson
from probtruth.report.plots.nelson import plot_spectrum as plot_spectrum
from probtruth.report.plots.over_time import plot_monitor as plot_monitor
from probtruth.report.plots.planning import plot_plan as plot_plan
from probtruth.report.plots.rules import plot_rule as plot_rule
from probtruth.report.plots.rules import plot_rules as plot_rules
from probtruth.report.plots.validation import plot_validation as plot_validation
