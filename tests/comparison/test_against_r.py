"""The classical tests against R 4.2.2 and its package sandwich 3.0-2; each command stands above its output."""

import numpy as np
import pytest

import probtruth as pt
from probtruth.comparison.results.tests import holm

D = [0.12, -0.31, 0.05, 0.48, 0.22, -0.07, 0.9, 0.13, -0.2, 0.35, 0.02, 0.61]
CLUSTER = [1, 1, 1, 2, 2, 3, 3, 3, 3, 4, 5, 5]
PRINTED = 1e-10  # Twelve significant digits are pasted


def model_free(clusters=None):
    items = [str(item) for item in range(len(D))]
    scores = pt.Scores(np.array([D, [0.0] * len(D)]), ("a", "b"), tuple(items), "loss")
    return pt.compare(scores, clusters=clusters, engine="exact").model_free[0]


def test_paired_t_and_wilcoxon():
    found = model_free()
    # t.test(d)[c("statistic", "parameter", "p.value")]
    assert (found["t"], found["df"]) == pytest.approx((1.91829014962, 11), rel=PRINTED)
    assert found["t_p"] == pytest.approx(0.0813885380583, rel=PRINTED)
    # wilcox.test(d, exact = TRUE)$p.value
    assert found["wilcoxon_p"] == pytest.approx(0.09228515625, rel=PRINTED)


def test_clusters():
    # m <- lm(d ~ 1); c(coef(m), sandwich::vcovCL(m, cluster = cl, type = "HC0", cadjust = TRUE)): the sum of squared
    # residual totals times C/(C - 1)/n^2; here each square counts (1 - 1/C)/(1 - n_c/n) of that (CR2)
    mean, variance, clusters = 0.19166666666667, 0.00605434992284, np.array(CLUSTER)
    sizes = np.bincount(clusters)[1:]
    square = np.bincount(clusters, np.array(D) - np.mean(D))[1:] ** 2
    variance *= (square * 0.8 / (1 - sizes / len(D))).sum() / square.sum()
    assert model_free(CLUSTER)["t"] == pytest.approx(mean / variance**0.5, rel=PRINTED)


def test_holm():
    # p.adjust(c(.01, .04, .03, .005, .5), "holm")
    assert holm([0.01, 0.04, 0.03, 0.005, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.5], rel=PRINTED)
