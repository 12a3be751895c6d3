"""The exact distribution of the whole table of counts, if few tables are possible."""

import numpy as np
from jaxtyping import Float

from probtruth.scoring.confusion.measures import Summary, measure_table, ratio

MOST_TABLES = 30_000
"""Above this many possible tables (two labels: 54 items; three: 9) the averages over labels are simulated."""

SURE = 1e-15
"""Probabilities below this are rounding."""


def table_distribution(
    truth: Float[np.ndarray, "item label"], answer: Float[np.ndarray, "item label"]
) -> tuple[Float[np.ndarray, "table label label"], Float[np.ndarray, " table"]] | None:
    """Every possible table of counts and its probability; None if there are more than `MOST_TABLES`."""
    n_items, n_labels = truth.shape
    if n_labels**2 * np.log2(n_items + 1) > 62:
        return None
    place = (n_items + 1) ** np.arange(n_labels**2, dtype=np.int64)
    codes, mass = np.zeros(1, np.int64), np.ones(1)
    for label, response in zip(truth, answer, strict=True):
        cells = np.outer(label, response).ravel()
        possible = cells > 0
        codes, inverse = np.unique((codes[:, None] + place[possible]).ravel(), return_inverse=True)
        mass = np.bincount(inverse, (mass[:, None] * cells[possible]).ravel())
        if len(codes) > MOST_TABLES:
            return None
    tables = codes[:, None] // place % (n_items + 1)
    return tables.reshape(-1, n_labels, n_labels).astype(np.float64), mass


def table_measures(
    truth: Float[np.ndarray, "item label"], answers: Float[np.ndarray, "model item label"]
) -> Summary | None:
    """Exact expectation, spread and interval of every measure; None if there are too many tables."""
    rows = []
    for answer in answers:
        distribution = table_distribution(truth, answer)
        if distribution is None:
            return None
        tables, mass = distribution
        values, undefined = measure_table(tables)
        each = [distribution_summary(column, mass[None]) for column in values.T]
        mean, sd, low, high = (np.array([float(one[part][0]) for one in each]) for part in range(4))
        rows.append((mean, mass @ undefined / mass.sum(), sd, low, high, np.zeros_like(mean)))
    return Summary(*(np.stack(part) for part in zip(*rows, strict=True)))


def distribution_summary(
    values: Float[np.ndarray, " value"], mass: Float[np.ndarray, "label value"]
) -> tuple[
    Float[np.ndarray, " label"], Float[np.ndarray, " label"], Float[np.ndarray, " label"], Float[np.ndarray, " label"]
]:
    """Mean, sd and equal-tailed 95% interval over the values that are not NaN, for each row of masses."""
    order = np.argsort(values, kind="stable")[: int((~np.isnan(values)).sum())]
    if order.size == 0:
        nothing = np.full(len(mass), np.nan)
        return nothing, nothing, nothing, nothing
    value, part = values[order], mass[:, order]
    share = ratio(part, part.sum(1, keepdims=True))
    mean = share @ value
    sd = np.sqrt((share * (value - mean[:, None]) ** 2).sum(1))
    reached = np.cumsum(share, axis=1)
    ends = [value[(reached >= level - SURE).argmax(1)] for level in (0.025, 0.975)]
    low, high = (np.where(np.isnan(mean), np.nan, end) for end in ends)
    return mean, sd, low, high
