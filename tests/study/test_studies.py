"""studies.py: studies of clusters that differ in size, against the comparison's own sums."""

import numpy as np
import pytest
from made_scores import make

import probtruth as pt
from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.moments import combine, moments
from probtruth.comparison.posterior.margins import margins
from probtruth.study.studies import of_uneven

ROUNDING = 1e-9


def clustered(rng, count, spread=0.5):
    """Clusters of very different sizes: each item's cluster, and its difference."""
    size = np.maximum(1, np.round(10 * np.exp(1.5 * rng.standard_normal(count)))).astype(int)
    unit = np.repeat(np.arange(count), size)
    return unit, spread * rng.standard_normal(count)[unit] + rng.standard_normal(len(unit))


@pytest.mark.parametrize("count", [3, 10])
def test_a_study_of_uneven_clusters_is_judged_as_by_compare(count):
    unit, difference = clustered(np.random.default_rng(count), count)
    parts = moments(np.stack([difference, 0 * difference]), Structure.ungrouped(len(unit), unit))
    location = combine(parts, parts.pairs, np.ones(1))
    (margin,) = margins(location)
    totals, sizes = np.bincount(unit, difference), np.bincount(unit).astype(float)
    found = of_uneven(totals[None], sizes[None], 1.0, 4)
    assert found.error[0] == pytest.approx(margin.scale, rel=ROUNDING)
    assert np.asarray(found.df)[0] == pytest.approx(margin.df, rel=ROUNDING)
    assert found.skewness[0] == pytest.approx(margin.skewness, rel=ROUNDING)


def test_a_plan_for_few_uneven_clusters_has_their_freedom():
    """With C - 1 degrees of freedom, and as if all were of one size, the plan was 18% too narrow."""
    rng = np.random.default_rng(1)
    unit, difference = clustered(rng, 300)
    totals = [difference[unit == one] for one in range(300)]
    widths = []
    for _ in range(600):
        chosen = rng.integers(300, size=10)
        rows = np.concatenate([totals[one] for one in chosen])
        names = np.repeat(np.arange(10), [len(totals[one]) for one in chosen])
        parts = moments(np.stack([rows, 0 * rows]), Structure.ungrouped(len(rows), names))
        widths.append(np.ptp(margins(combine(parts, parts.pairs, np.ones(1)))[0].interval()))
    made = pt.plan(make([difference, 0 * difference], "ab"), clusters=list(map(str, unit)), n_clusters=10)
    assert made.designs[1]["width"] == pytest.approx(np.mean(widths), rel=0.1)


def test_few_uneven_clusters_and_bare_comparisons_are_warned_of():
    unit, difference = clustered(np.random.default_rng(2), 10)
    made = pt.plan(make([difference, 0 * difference], "ab"), clusters=list(map(str, unit)))
    assert any("no very large one" in said for said in made.warnings)
    skewed = np.random.default_rng(5).exponential(size=30) ** 2
    alone = pt.plan(pt.compare(make([skewed, 0 * skewed], "ab"), engine="exact"))
    assert any("a comparison alone does not say" in said for said in alone.warnings)
