import jax
import jax.numpy as jnp
import numpy as np
import pytest

import probtruth as pt

SEARCH = 5e-4  # Three digits are given


@jax.jit
def total_variation(probs, truth):
    return abs(probs - truth).sum(-1) / 2


@jax.jit
def squared_hellinger(probs, truth):
    return 1 - jnp.sqrt(probs * truth).sum(-1)


@jax.jit
def jensen_shannon(probs, truth):
    middle = (probs + truth) / 2
    return (pt.kl_divergence(middle, truth) + pt.kl_divergence(middle, probs)) / 2


NOT_SCORES = {
    "total variation": total_variation,
    "squared Hellinger": squared_hellinger,
    "Jensen-Shannon": jensen_shannon,
}


@pytest.mark.parametrize(
    ("name", "best"),
    [
        ("total variation", 0.8),
        ("squared Hellinger", 0.742),
        pytest.param("Jensen-Shannon", 0.723, marks=pytest.mark.long),
    ],
)
def test_best_report_to_five_annotators_where_the_truth_is_point_seven(name, best):
    # computed independently over the six possible vote shares
    assert abs(pt.rules.best_report(NOT_SCORES[name], [0.3, 0.7], annotators=5)[1] - best) < SEARCH


@pytest.mark.parametrize("rule", ["log", "brier"])
def test_scores_are_least_at_the_truth_whatever_the_number_of_annotators(rule):
    np.testing.assert_allclose(pt.rules.best_report(rule, [0.3, 0.7], annotators=5), [0.3, 0.7], atol=1e-6)
    assert pt.rules.check_proper(rule, 2, annotators=5) is None


@pytest.mark.parametrize("name", [*list(NOT_SCORES)[:2], pytest.param("Jensen-Shannon", marks=pytest.mark.long)])
def test_distances_to_vote_shares_reward_another_report(name):
    found = pt.rules.check_proper(NOT_SCORES[name], 2, annotators=5)
    assert found.loss_of_report < found.loss_of_truth
    assert found.annotators == 5
    assert "vote shares of 5 annotators" in str(found)
    assert pt.rules.check_proper(NOT_SCORES[name], 2) is None, "with the distribution itself known they hold"


@pytest.mark.parametrize("n_labels", [2, 3, pytest.param(7, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "rule",
    [*pt.rules.RULES.values(), pt.rules.power(0.5), pt.rules.pseudospherical(3), pt.rules.power(1.7)],
    ids=lambda rule: rule.name,
)
def test_flags_of_the_rules(rule, n_labels):
    assert (pt.rules.check_proper(rule, n_labels) is None) == rule.proper
    if n_labels == 3:
        assert (pt.rules.check_proper(rule, n_labels, strict=True) is None) == rule.strictly_proper


def test_beta_family_and_a_generated_rule():
    assert pt.rules.check_proper(pt.rules.beta(-0.5, 2), 2, strict=True) is None
    assert pt.rules.check_proper(pt.rules.bregman(lambda p: (p**4).sum()), 3) is None
    assert pt.rules.check_proper(pt.rules.bregman(lambda p: -(p**4).sum()), 3) is not None, "not convex"


def test_a_floor_makes_the_log_score_improper():
    @jax.jit
    def floored(probs, truth):
        return pt.log_score(jnp.maximum(probs, 0.03), truth)

    found = pt.rules.check_proper(floored, 2)
    assert min(found.truth) <= 0.03
    assert min(found.report) == 0


def test_the_local_quadratic_is_improper_from_three_labels_on():
    # (1 - p_y)^2: for two labels half the Brier score; at (.5, .3, .2) the best report is (.613, .355, .032)
    @jax.jit
    def local(probs, truth):
        return (truth * (1 - probs) ** 2).sum(-1)

    assert pt.rules.check_proper(local, 2) is None
    np.testing.assert_allclose(pt.rules.best_report(local, [0.5, 0.3, 0.2]), [0.613, 0.355, 0.032], atol=SEARCH)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("logg",), "Did you mean 'log'"),
        (("log", 1), "n_labels 1, expected an integer of at least 2"),
        (("log", 3, 0), "annotators 0"),
        (("log", 10, 50), "expected at most 20000"),
        ((pt.rules.beta(1, 1), 3), "3 labels, expected 2 labels"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(pt.InputError, match=message):
        pt.rules.check_proper(*arguments)


def test_best_report_wants_a_distribution():
    with pytest.raises(pt.InputError, match=r"sum to 0\.9"):
        pt.rules.best_report("log", [0.5, 0.4])


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


def test_matched_losses_are_those_above_the_least_as_the_figure_draws_them():
    # by hand, at a label of .7: KL of .7 from .5 is log 2 - .6109, the squared distance 2 * .04 = .08
    curve = pt.rules.loss_curve(0.7, reports=[0.5, 0.7, 0.9], match_at=0.5)
    log, brier = (curve.filter(rule=rule)["loss"].to_numpy() for rule in ("log", "brier"))
    np.testing.assert_allclose(log[0], np.log(2) - 0.6108643, rtol=1e-6)
    np.testing.assert_allclose(brier, log[0] * np.array([1, 0, 1]), atol=ROUNDING)
    assert curve["least"].unique().to_list() == [0]


def test_three_labels_share_what_is_left_as_the_truth_does():
    truth = [0.3, 0.2, 0.5]
    curve = pt.rules.loss_curve(truth, rules="brier", reports=[0.2, 0.6])
    expected = [float(pt.brier_score(np.array(p), np.array(truth))) for p in ([0.48, 0.32, 0.2], [0.24, 0.16, 0.6])]
    np.testing.assert_allclose(curve["loss"].to_numpy(), expected, rtol=ROUNDING)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.4],), "sum to 0.9"),
        ((1.5,), "truth"),
        ((0.7, "logg"), "Did you mean 'log'"),
        ((0.7, "log", [1.2]), "report outside 0 to 1"),
        ((0.7, ["log", "brier"], None, "x"), "match_at 'x'"),
        ((0.7, ["log", "brier"], None, 1.0), "match_at 1.0"),
        ((0.7, ["log", "brier"], None, 0.0), "match_at 0.0"),
    ],
)
def test_errors_of_loss_curves(arguments, message):
    with pytest.raises(pt.InputError, match=message):
        pt.rules.loss_curve(*arguments)
