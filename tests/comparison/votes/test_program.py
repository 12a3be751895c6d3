"""The program of votes: its likelihood by hand, its averages by simulation, and what `compare` shows of its draws."""

from dataclasses import replace
from functools import cache

import jax
import numpy as np
import pytest
from numpyro import handlers
from numpyro.distributions import Categorical

import probtruth as pt
from probtruth.comparison.votes.draws import averages, data_of
from probtruth.comparison.votes.likelihood import Preference as Likelihood
from probtruth.comparison.votes.program import Preference, program

EXACT = 1e-12  # Rounding of float64
STANDARD_ERRORS = 5.0  # Of a simulation


def made(seed: int, n: int = 500) -> pt.Votes:
    """Three models, 12 prompts, 8 annotators of which the first two answer at random; the left side is ahead."""
    rng = np.random.default_rng(seed)
    left = rng.integers(3, size=n)
    right = (left + rng.integers(1, 3, size=n)) % 3
    item = rng.integers(12, size=n)
    annotator = rng.integers(8, size=n)
    quality = np.array([-1.8, 0.0, 1.8])[:, None] + 0.4 * rng.standard_normal((3, 12))
    d = (quality[left, item] - quality[right, item]) * (annotator >= 2) + 0.3
    logits = np.stack([d / 2, np.full(n, -0.5), -d / 2])
    outcome = 1 - (logits + rng.gumbel(size=logits.shape)).argmax(0)
    names = tuple(f"u{at}" for at in range(8))
    return pt.Votes(item, left, right, outcome, ("x", "y", "z"), tuple(map(str, range(12))), annotator, names)


@cache
def compared(engine: str) -> pt.Comparison:
    return pt.compare(made(0), engine=engine, rope=0.05)


def test_a_vote_has_the_probabilities_of_davidsons_model() -> None:
    with jax.enable_x64(True):
        d = np.array([-1500.0, -2.0, 0.0, 0.7, 30.0])
        ties = np.array([0.3, -1.0, 0.0, 2.0, -40.0])
        vote = Preference(jax.numpy.asarray(d), jax.numpy.asarray(ties), jax.numpy.exp(ties))
        logits = np.stack([d / 2, ties, -d / 2], axis=-1)
        for outcome in range(3):
            theirs = Categorical(logits=logits).log_prob(np.full(5, outcome))
            np.testing.assert_allclose(vote.log_prob(np.full(5, outcome)), theirs, rtol=EXACT, atol=EXACT)
        drawn = 1 - np.asarray(vote.sample(jax.random.key(1), (20_000,)))
        error = drawn.std(0) / np.sqrt(20_000)
        assert (abs(drawn.mean(0) - (2 * Likelihood(np.exp(ties)).at(d) - 1)) <= STANDARD_ERRORS * error + 1e-9).all()


def test_votes_are_observed_and_effects_are_those_that_the_votes_can_tell() -> None:
    def sites_of(votes: pt.Votes) -> dict[str, bool]:
        data = jax.tree.map(jax.numpy.asarray, data_of(votes, np.arange(len(votes.models))))
        trace = handlers.trace(handlers.seed(program, jax.random.key(0))).get_trace(**data)
        return {name: site["is_observed"] for name, site in trace.items() if site["type"] == "sample"}

    votes = made(1, 300)
    whole = sites_of(votes)
    assert [name for name, observed in whole.items() if observed] == ["votes"]
    assert {"score_of_answers", "score_of_pairs", "score_of_attention"} <= set(whole)
    bare = set(sites_of(replace(votes, prompts_named=False, annotator=None, annotators=())))
    assert not bare & {"score_of_answers", "score_of_pairs", "score_of_attention", "score_of_ties"}
    data = data_of(replace(votes, placed=False, prompts_named=False, annotator=None), np.arange(3))
    assert data["sides"].size == 0
    assert data["count"].sum() == 300
    assert len(data["count"]) <= 3 * 3 * 2  # votes that say the same stand together
    # one who is named and has no vote has effects too, so that those of the others stay theirs
    with_nobody = replace(votes, annotators=(*votes.annotators, "nobody"))
    assert len(data_of(with_nobody, np.arange(3))["annotators"]) == 9


def test_averages_are_those_over_simulated_prompts_and_annotators() -> None:
    effects = {"of_answers": 0.6, "of_pairs": 0.4, "of_attention": 0.5, "of_ties": 0.7, "of_sides": 0.3}
    sites = {name: np.full((1, 1), value) for name, value in {"log_ties": -0.4, "side": 0.5, **effects}.items()}
    ((points, log_odds, share),) = averages(np.array([[0.0, 1.3]]), sites)
    z = np.random.default_rng(0).standard_normal((6, 400_000))
    ahead = 1.3 + 0.6 * (z[0] - z[1]) + 0.4 * z[2]
    side = np.where(np.arange(400_000) % 2, 0.5, -0.5) + 0.3 * z[5]
    d = np.exp(0.5 * z[3]) * ahead + side
    expected = Likelihood(np.exp(-0.4 + 0.7 * z[4])).at(d)
    error = expected.std() / np.sqrt(len(expected))
    assert 0.5 + np.interp(1.3, points, share) == pytest.approx(expected.mean(), abs=STANDARD_ERRORS * error)
    np.testing.assert_allclose(log_odds, -log_odds[::-1], atol=EXACT)


@pytest.mark.long
def test_the_shown_numbers_are_those_of_the_draws() -> None:
    found = compared("nuts")
    draws = found.datatree["posterior"]["difference"].to_numpy().reshape(-1, 3)
    for row, difference in zip(found.pairs, draws.T, strict=True):
        assert row.p_a_better == pytest.approx((difference > 0).mean(), abs=1e-12)
        assert row.low < row.difference < row.high
        assert row.p_a_preferred_low < row.p_a_preferred < row.p_a_preferred_high
    best = [rank.p_best for rank in found.ranks]
    assert sum(best) == pytest.approx(1.0)
    assert found.diagnostics["engine"] == "nuts"
    assert found.diagnostics["max_rhat"] < 1.01


@pytest.mark.long
def test_few_votes_hardly_diverge() -> None:
    """Effects in their own units, with chains that start anywhere, diverged in 64 of 4,800 draws: R-hat was 1.014."""
    figures = pt.compare(made(0, 200), engine="nuts").diagnostics
    assert figures["divergences"] <= 24  # data sets of this kind have 0 to 16, by chance
    assert figures["max_rhat"] <= 1.01


@pytest.mark.long
def test_both_engines_say_the_same_of_prompts_and_annotators_like_these() -> None:
    for one, other in zip(compared("auto").pairs, compared("nuts").pairs, strict=True):
        error = (one.p_a_preferred_high - one.p_a_preferred_low) / 4
        assert one.p_a_preferred == pytest.approx(other.p_a_preferred, abs=error)
        assert one.p_equivalent == pytest.approx(other.p_equivalent, abs=0.2)
    assert compared("auto").rope == pytest.approx(compared("nuts").rope, rel=0.05)


@pytest.mark.parametrize("engine", ["auto", pytest.param("nuts", marks=pytest.mark.long)])
def test_annotators_who_answer_at_random_are_named(engine: str) -> None:
    """The program draws annotators towards one another: it needs more votes to be sure of one."""
    n_votes = 1000 if engine == "nuts" else 500
    found = pt.compare(made(0, n_votes), engine=engine, rope=0.05)
    table = found.annotators()
    assert table.sort("attention")["annotator"].to_list()[:2] in (["u0", "u1"], ["u1", "u0"])
    named = table.filter(table["at_random"])["annotator"].to_list()
    assert named
    assert set(named) <= {"u0", "u1"}
    assert table["n_votes"].sum() == n_votes
    assert ((table["left_low"] < table["left"]) & (table["left"] < table["left_high"])).all()
    # exp(-0.5) : 2 cosh(0.15)
    true = float(np.exp(-0.5) / (np.exp(-0.5) + 2 * np.cosh(0.15)))
    inside = (table["ties_low"] < true) & (true < table["ties_high"])
    assert inside.sum() >= 6
    assert any("at random, or nearly so" in said and named[0] in said for said in found.warnings)


@pytest.mark.long
def test_other_votes_change_the_draws_and_the_order_of_models_does_not() -> None:
    votes = made(0)
    turned = replace(votes, left=2 - votes.left, right=2 - votes.right, models=("z", "y", "x"))
    opposite = pt.compare(replace(turned, outcome=-turned.outcome), engine="nuts")
    for one, other in zip(compared("nuts").pairs, opposite.pairs, strict=True):
        assert other.difference == pytest.approx(-one.difference, abs=(one.high - one.low) / 10)
