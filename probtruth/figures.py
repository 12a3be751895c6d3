"""Figures: take data and `ax=`, return the axes (matplotlib's object interface, no global state).

New axes belong to a figure of their own, `ax.figure`, which `savefig` writes. Colours are told apart by all readers and
stand out on white and on black; each curve is named where it runs.
"""

from probtruth.report.plots.calibration import plot_curves, plot_reliability
from probtruth.report.plots.comparison import plot_forest, plot_frontier, plot_groups, plot_ranks
from probtruth.report.plots.nelson import plot_divergence, plot_nelson
from probtruth.report.plots.rules import plot_rules
from probtruth.report.plots.study import plot_monitor, plot_plan

__all__ = (
    "plot_curves",
    "plot_divergence",
    "plot_forest",
    "plot_frontier",
    "plot_groups",
    "plot_monitor",
    "plot_nelson",
    "plot_plan",
    "plot_ranks",
    "plot_reliability",
    "plot_rules",
)
