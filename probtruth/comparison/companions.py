"""Model-free tests that stand beside the posterior: paired t and Wilcoxon signed-rank, Holm-adjusted over pairs."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from probtruth.comparison.margins import Margin


def companions(
    differences: Sequence[Float[np.ndarray, " item"]], margins: Sequence[Margin | None]
) -> list[dict[str, float | None]]:
    """One row for each pair: t statistic and two-sided p of the mean difference, and Wilcoxon's p of its pseudo-median.

    The t statistic uses the comparison's own standard error and degrees of freedom (clusters and groups heeded); the
    signed-rank test drops zero differences and knows nothing of clusters. None where a test does not exist.

    Source: Student 1908, doi:10.1093/biomet/6.1.1; Wilcoxon 1945, doi:10.2307/3001968; Holm 1979.
    """
    from scipy.stats import t, wilcoxon

    rows: list[dict[str, float | None]] = []
    for difference, margin in zip(differences, margins, strict=True):
        row: dict[str, float | None] = {"t": None, "df": None, "t_p": None, "wilcoxon_p": None}
        if margin is not None and margin.scale > 0:
            statistic = margin.centre / margin.scale
            row |= {"t": statistic, "df": margin.df, "t_p": float(2 * t.sf(abs(statistic), margin.df))}
        if margin is not None and np.count_nonzero(difference) > 0:
            row["wilcoxon_p"] = float(wilcoxon(np.sort(difference)).pvalue)
        rows.append(row)
    for test in ("t_p", "wilcoxon_p"):
        for row, adjusted in zip(rows, holm([row[test] for row in rows]), strict=True):
            row[f"{test}_holm"] = adjusted
    return rows


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjustment over the p-values that exist (family-wise error, any dependence)."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None and not math.isnan(p))
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for step, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - step) * p))
        adjusted[place] = largest
    return adjusted
