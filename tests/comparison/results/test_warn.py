import math

import numpy as np
import pytest
from made_scores import make

from probtruth.comparison.estimation.design import design
from probtruth.comparison.options import checked_options
from probtruth.comparison.results.rows import TWINS
from probtruth.comparison.results.warn import warnings_of
from probtruth.comparison.sources import of_scores
from probtruth.types import Audit
from probtruth.types.pairs import Pair

FINE = {"max_rhat": 1.001, "min_ess": 5000.0, "divergences": 0}
SCORES = make(np.random.default_rng(0).normal(size=(2, 20)), "ab")


def said(scores=SCORES, diagnostics=FINE, pairs=(), population="new-items", **structure):
    plan = design(scores, *(structure.get(name) for name in ("groups", "clusters", "weights")))
    options = checked_options("exact", population, None, 1, 0, False)
    return warnings_of(of_scores(scores, plan, options), options, diagnostics, pairs)


def test_nothing_to_say():
    assert said() == ()
    assert said(diagnostics=dict.fromkeys(FINE)) == ()


@pytest.mark.parametrize(
    ("figure", "value", "words"),
    [
        ("max_rhat", 1.2, "R-hat 1.200 is above 1.01"),
        ("max_rhat", math.nan, "R-hat nan"),
        ("min_ess", 20.0, "effective sample size 20 is below 400"),
        ("min_ess", math.nan, "effective sample size nan"),
        ("divergences", 3, "3 divergent transitions"),
    ],
)
def test_figures_that_fail(figure, value, words):
    (warning,) = said(diagnostics={**FINE, figure: value})
    assert warning.startswith("sampling: ")
    assert words in warning


def test_few_clusters_and_dropped_items():
    assert any("only 4 clusters" in warning for warning in said(clusters=np.arange(20) % 4))
    audit = Audit(("p", "q"), ("r",), ())
    (warning,) = said(make(SCORES.values, "ab", audit=audit))
    assert warning.startswith(
        "3 items dropped for all models: 2 that some model lacks ('p', 'q'), 1 without labels ('r')"
    )


@pytest.mark.parametrize(("tied", "sentence"), [(True, True), (False, False)])
def test_clusters_whose_size_goes_with_their_difference(tied, sentence):
    """Pareto sizes: intervals cover 0.45 to 0.70 where the largest clusters differ most, with 5 as with 200 of them."""
    rng = np.random.default_rng(3)
    u, other = rng.random((2, 60))
    size = np.minimum(np.round(5 * u ** (-1 / 1.5)), 80).astype(int)
    unit = np.repeat(np.arange(60), size)
    difference = -np.log(u if tied else other)[unit] + rng.normal(size=len(unit))
    warnings = said(make([difference, 0 * difference], "ab"), clusters=unit)
    assert any("the size of a cluster goes with its difference, so" in warning for warning in warnings) == sentence
    assert not any("only" in warning for warning in warnings)


def test_few_clusters_are_few_by_their_effective_number():
    unit = np.repeat(np.arange(20), [200, *[2] * 19])
    difference = np.random.default_rng(4).normal(size=len(unit))
    (warning,) = (line for line in said(make([difference, 0 * difference], "ab"), clusters=unit) if "only" in line)
    assert "only 20 clusters, which count as 1 of equal size" in warning
    assert not any("only" in line for line in said(clusters=np.arange(20) // 2))


def test_few_clusters_of_uneven_sizes():
    few, by_size = said(clusters=np.repeat([0, 1, 2, 3], [2, 4, 4, 10]))
    assert few.startswith("only 4 clusters")
    assert "if the size of a cluster goes with its difference" in by_size
    (by_size,) = said(make(np.zeros((2, 110)), "ab"), clusters=np.repeat(np.arange(20), [15, *[5] * 19]))
    assert by_size.startswith("20 clusters, which count as 17")
    (warning,) = (line for line in said(clusters=np.arange(20) % 4) if "only 4 clusters" in line)
    assert "size" not in warning


def test_many_constant_pairs_are_one_warning():
    rows = [Pair("a", str(b), difference=0.0, low=0.0, high=0.0, reason=TWINS) for b in range(9)]
    (warning,) = said(pairs=rows)
    assert "'a - 0'" in warning
    assert "and 6 more" in warning
