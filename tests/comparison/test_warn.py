import math

import numpy as np
import pytest
from made_scores import make

from probtruth.comparison.evidence.design import design
from probtruth.comparison.evidence.from_scores import of_scores
from probtruth.comparison.options import checked_options
from probtruth.comparison.warn import disagreements, warnings_of
from probtruth.types import Audit

FINE = {"max_rhat": 1.001, "min_ess": 5000.0, "divergences": 0, "engines_agree": True}
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
        ("engines_agree", False, "disagree beyond Monte Carlo error"),
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


def test_few_clusters_of_uneven_sizes():
    (warning,) = (line for line in said(clusters=np.repeat([0, 1, 2, 3], [2, 4, 4, 10])) if "only 4 clusters" in line)
    assert "where the size of a cluster goes with its difference" in warning
    (warning,) = (line for line in said(clusters=np.arange(20) % 4) if "only 4 clusters" in line)
    assert "size" not in warning


def test_infinite_scores_name_their_items():
    values = SCORES.values.copy()
    values[0, [2, 5]] = math.inf
    assert "infinite score on 2 of 20 items ('2', '5')" in said(make(values, "ab"))[0]


def test_many_constant_pairs_are_one_warning():
    rows = [{"a": "a", "b": str(b), "difference": 0.0, "low": 0.0, "high": 0.0} for b in range(9)]
    (warning,) = said(pairs=rows)
    assert "'a' and '0'" in warning
    assert "and 6 more pairs" in warning


def pair(p, **tests):
    row = {"a": "a", "b": "b", "t_p": None, "sign_flip_p": None, "wilcoxon_p": 1e-9, "bootstrap_p_a_better": None}
    return {"a": "a", "b": "b", "p_a_better": p, "p_b_better": None if p is None else 1 - p}, {**row, **tests}


@pytest.mark.parametrize(
    ("p", "tests", "words"),
    [
        (0.97, {"t_p": 0.04}, "paired t p = 0.040"),
        (0.99, {"t_p": 0.02, "sign_flip_p": 0.06}, "but sign-flip p = 0.060"),
        (0.01, {"bootstrap_p_a_better": 0.04}, "Bayesian bootstrap P(a better) = 0.040"),
        (0.9, {"t_p": 1e-5}, "<0.001"),
    ],
)
def test_tests_that_would_decide_otherwise(p, tests, words):
    one, other = pair(p, **tests)
    (warning,) = disagreements([one], [other])
    assert words in warning


@pytest.mark.parametrize(
    ("p", "tests"),
    [
        (0.97, {"t_p": 0.06}),
        (0.99, {"t_p": 0.02, "sign_flip_p": 0.03, "bootstrap_p_a_better": 0.98}),
        (0.99, {"sign_flip_p": 0.06, "sign_flip_p_error": 0.02}),
        (0.96, {"bootstrap_p_a_better": 0.98, "bootstrap_p_a_better_error": 0.01}),
        (None, {"t_p": 0.02}),
    ],
)
def test_tests_that_agree_and_pairs_that_are_not_known(p, tests):
    one, other = pair(p, **tests)
    assert disagreements([one], [other]) == ()


def test_many_disagreements_are_one_warning():
    one, other = pair(0.9, t_p=0.01)
    (warning,) = disagreements([one] * 9, [other] * 9)
    assert "and 6 more pairs" in warning
