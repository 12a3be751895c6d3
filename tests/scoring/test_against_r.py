"""The calibration decomposition against isotonic regression in R 4.2.2; the commands stand above their output."""

import numpy as np
import pytest

import probtruth as pt

P = np.array([0.1, 0.9, 0.35, 0.62, 0.48, 0.8, 0.27, 0.55, 0.7, 0.4, 0.62, 0.15])
Y = np.array([0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1])

# a <- aggregate(y, list(p = p), mean); w <- aggregate(y, list(p = p), length)$x
# rc <- isoreg(rep(a$p, w), rep(a$x, w))$yf[match(p, rep(a$p, w))]
# miscalibration S(p) - S(rc), discrimination S(ub) - S(rc), uncertainty S(ub), with ub = mean(y)
# S <- function(q) mean((q - y)^2), of one label, which is half the Brier score
# S <- function(q) -mean(ifelse(y == 1, log(q), log1p(-q)))
FROM_R = {
    "brier": (2 * 0.0621888888889, 2 * 0.0763888888889, 2 * 0.25),
    "log": (0.169939464339, 0.187445048206, 0.69314718056),
}
PRINTED = 1e-10
"""Twelve significant digits are pasted."""


@pytest.mark.parametrize("rule", FROM_R)
def test_parts(rule):
    pred = pt.Predictions.from_probs({"a": np.stack([1 - P, P], 1)})
    table = pt.calibration.calibration_decomposition(pred, pt.Truth.from_labels(Y, n_labels=2), rule=rule)
    row = table.row(-1, named=True)
    found = [row["miscalibration"], row["discrimination"], row["uncertainty"]]
    assert found == pytest.approx(list(FROM_R[rule]), rel=PRINTED)
