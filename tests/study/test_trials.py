"""Shares, errors of sign and size, calibration, against sums by hand."""

import math

import numpy as np
import pytest

from probtruth.study.trials import Streams, Trials, average, share

NAMES = ("truth", "mean", "low", "high", "p")


def trials(*rows):
    return Trials(*np.array(rows, float).reshape(-1, len(NAMES)).T)


def test_errors_of_sign_and_size_by_hand():
    # truth, estimate, low, high, P(a better): a is better where the truth is negative
    found = trials(
        (-1.0, -2.0, -3.0, -1.5, 0.99),  # right, too far, misses
        (-1.0, -3.0, -4.0, -0.5, 0.98),  # right, holds
        (-1.0, 2.0, 1.0, 3.0, 0.01),  # wrong
        (-1.0, -0.2, -1.2, 0.8, 0.60),  # no verdict
    )
    row = found.row()
    assert row["coverage"] == 0.5
    assert row["width"] == pytest.approx((1.5 + 3.5 + 2 + 2) / 4)
    assert row["decides"] == 0.75
    assert row["wrong_sign"] == pytest.approx(1 / 3)
    assert row["exaggeration"] == pytest.approx((2 + 3 + 2) / 3)
    n = 8  # of Agresti and Coull: four studies, two hits and two misses added
    assert row["coverage_error"] == pytest.approx(math.sqrt(0.5 * 0.5 / n))


def test_no_verdict_no_sign():
    row = trials((0.0, 1.0, 0.5, 1.5, 0.001), (0.0, 0.1, -1, 1, 0.4)).row()
    assert row["wrong_sign"] is None
    assert row["exaggeration"] is None
    assert row["decides"] == 0.5
    assert share("x", np.zeros(0, bool)) == {"x": None, "x_error": None}
    assert average("x", np.array([2.0])) == {"x": 2.0, "x_error": None}


def test_true_differences_that_differ_have_no_exaggeration():
    assert trials((-1.0, -2.0, -3.0, -1.0, 0.99), (-2.0, -2.0, -3.0, -1.0, 0.99)).row()["exaggeration"] is None


def test_calibration_by_hand_and_by_chance():
    rng = np.random.default_rng(0)
    p = rng.random(4000)
    truth = np.where(rng.random(4000) < p, -1.0, 1.0)
    sound, bins = Trials(truth, truth, truth, truth, p).calibration(1)
    assert sound["error"] == pytest.approx(sound["by_chance"], abs=4 * sound["error_error"])
    assert sum(row["studies"] for row in bins) == 4000
    assert [round(row["p_a_better"], 1) for row in bins] == pytest.approx(
        [0.0 if at == 0 else round(at / 10 + 0.05, 1) for at in range(10)], abs=0.101
    )
    said = np.full(100, 0.95)
    truth = np.where(np.arange(100) < 60, -1.0, 1.0)
    boastful, bins = Trials(truth, truth, truth, truth, said).calibration(1)
    assert boastful["error"] == pytest.approx(0.35)
    assert len(bins) == 1
    assert (boastful["sure"], boastful["wrong_when_sure"]) == (0.0, None)


def test_streams_by_hand():
    found = Streams(np.array([10.0, 20.0, np.inf, 40.0]), np.array([True, False, False, True]))
    assert found.alarms()["false_alarms"] == 0.75
    real = found.findings(-0.5)
    assert real["wrong_sign"] == pytest.approx(1 / 3)
    assert real["median_items"] == 30
    assert Streams(np.full(3, np.inf), np.zeros(3, bool)).findings(-0.5)["median_items"] is None
