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
def test_distances_to_the_vote_shares_of_five_annotators_reward_another_report(name, best):
    # where the truth is 0.7: computed independently over the six possible vote shares
    assert abs(pt.rules.best_report(NOT_SCORES[name], [0.3, 0.7], annotators=5)[1] - best) < SEARCH
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
    ("function", "arguments", "message"),
    [
        (pt.rules.check_proper, ("logg",), "Did you mean 'log'"),
        (pt.rules.check_proper, ("log", 1), "n_labels 1, expected an integer of at least 2"),
        (pt.rules.check_proper, ("log", 3, 0), "annotators 0"),
        (pt.rules.check_proper, ("log", 10, 50), "expected at most 20000"),
        (pt.rules.check_proper, (pt.rules.beta(1, 1), 3), "3 labels, expected 2 labels"),
        (pt.rules.best_report, ("log", [0.5, 0.4]), r"sum to 0\.9"),
    ],
)
def test_errors(function, arguments, message):
    with pytest.raises(pt.InputError, match=message):
        function(*arguments)
