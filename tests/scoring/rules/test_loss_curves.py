import numpy as np
import pytest

import probtruth as pt

ROUNDING = 1e-12
PUBLISHED = 5e-4


def test_minimum_at_the_truth():
    # B. Carpenter (2010): for a label of .7 the log loss has its least value .6109 at .7
    curve = pt.rules.loss_curve(0.7, rules="log")
    place = int(curve["loss"].arg_min())
    assert round(curve["report"][place], 6) == 0.7
    assert abs(curve["loss"][place] - 0.6109) < PUBLISHED
    np.testing.assert_allclose(curve["least"][0], curve["loss"][place], rtol=ROUNDING)
    assert curve["loss"][0] == curve["loss"][-1] == np.inf


def test_brier_matched_to_log_at_one_half():
    # D. Rosenberg (2021): the squared error times 4 log 2 = 2.7726; at .99 and .999 it costs 2.77e-4 and 2.77e-6
    curve = pt.rules.loss_curve(1.0, reports=[0.5, 0.99, 0.999], match_at=0.5)
    log, brier = (curve.filter(rule=rule)["loss"].to_numpy() for rule in ("log", "brier"))
    np.testing.assert_allclose(log, [np.log(2), 0.01005, 0.0010005], rtol=PUBLISHED)
    np.testing.assert_allclose(brier, [np.log(2), 2.7726e-4, 2.7726e-6], rtol=PUBLISHED)


@pytest.mark.parametrize(
    "rule", ["quadratic", "spherical", pt.rules.power(3), pt.rules.bregman(lambda p: (p**4).sum())]
)
def test_any_rule_meets_the_first_at_the_chosen_report(rule):
    curve = pt.rules.loss_curve(1.0, rules=["log", rule], reports=[0.3, 1.0], match_at=0.3)
    losses = curve["loss"].to_numpy().reshape(2, 2)
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-9, atol=1e-9)


def test_matched_losses_are_those_above_the_least_as_the_figure_draws_them():
    # by hand, at a label of .7: KL of .7 from .5 is log 2 - .6109, the squared distance 2 * .04 = .08
    curve = pt.rules.loss_curve(0.7, reports=[0.5, 0.7, 0.9], match_at=0.5)
    log, brier = (curve.filter(rule=rule)["loss"].to_numpy() for rule in ("log", "brier"))
    np.testing.assert_allclose(log[0], np.log(2) - 0.6108643, rtol=1e-6)
    np.testing.assert_allclose(brier, log[0] * np.array([1, 0, 1]), atol=ROUNDING)
    assert curve["least"].unique().to_list() == [0]


def test_three_labels_share_what_is_left_as_the_truth_does():
    curve = pt.rules.loss_curve([0.5, 0.3, 0.2], rules="brier", reports=[0.2, 0.6], label=0)
    expected = [
        float(pt.brier_score(np.array(p), np.array([0.5, 0.3, 0.2]))) for p in ([0.2, 0.48, 0.32], [0.6, 0.24, 0.16])
    ]
    np.testing.assert_allclose(curve["loss"].to_numpy(), expected, rtol=ROUNDING)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.4],), "sum to 0.9"),
        ((1.5,), "truth"),
        ((0.7, "logg"), "Did you mean 'log'"),
        ((0.7, "log", [1.2]), "report outside 0 to 1"),
        ((0.7, "log", None, 5), "label 5"),
        ((0.7, "log", None, "1"), "label '1'"),
        ((0.7, "log", None, 0.5), "label 0.5"),
        ((0.7, ["log", "brier"], None, 1, "x"), "match_at 'x'"),
        ((0.7, ["log", "brier"], None, 1, 1.0), "match_at 1.0"),
        ((0.7, ["log", "brier"], None, 1, 0.0), "match_at 0.0"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(pt.InputError, match=message):
        pt.rules.loss_curve(*arguments)
