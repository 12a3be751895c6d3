"""Whether P(a better) meant what it said, in the studies of a validation."""

import numpy as np
from matplotlib.axes import Axes

from probtruth import check
from probtruth.errors import InputError
from probtruth.report.plots.axes import BLUE, DASHES, INK, short, square
from probtruth.study.validation import Validation

BAR = 1.96
"""Standard errors on either side of a point."""


@check.checks_itself
def plot_validation(found: Validation, ax: Axes | None = None) -> Axes:
    """Calibration of P(a better): what was said in simulated studies, and how often it was so.

    Arguments: `found` is what `validate` returned; `ax` are the axes to draw on.

    Returns: the axes. Bars are 95 per cent intervals of the simulation; the dashed line is perfection.

    Errors: `InputError` for something else than a validation.

    >>> import numpy as np, probtruth as pt
    >>> loss = np.random.default_rng(0).normal([0.5, 0.56], 0.3, (60, 2))
    >>> rows = {"item": [*range(60)] * 2, "model": ["x"] * 60 + ["y"] * 60, "score": loss.T.ravel()}
    >>> found = pt.validate(pt.Scores.from_frame(rows, higher_is_better=False), replications=80)
    >>> pt.figures.plot_validation(found).get_xlabel()
    'P(a better) that was said'
    """
    if not isinstance(found, Validation):
        raise InputError(type(found).__name__, "a Validation", "Pass on what validate returned.")
    ax = square(ax, "P(a better) that was said", "share in which a was better")
    ax.plot([0, 1], [0, 1], color=INK, linewidth=1, linestyle=DASHES)
    said, was, studies = (
        np.array([float(str(row[key])) for row in found.bins]) for key in ("p_a_better", "a_was_better", "studies")
    )
    p = (was * studies + 2) / (studies + 4)
    ax.errorbar(said, was, BAR * np.sqrt(p * (1 - p) / (studies + 4)), color=BLUE, fmt="o", markersize=6, linewidth=1.5)
    row = next(row for row in found.rows if row["truth"] == "drawn")
    words = f"off by {short(float(str(found.calibration['error'])))}\n95% holds {short(float(str(row['coverage'])))}"
    ax.annotate(words, (0.04, 0.96), xycoords="axes fraction", va="top", color=INK, size=12, parse_math=False)
    return ax
