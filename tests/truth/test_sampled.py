"""What a sampled truth says of its fit: how far annotators agree, in the data and as often as drawn anew."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from simulated_annotations import simulate

import probtruth as pt
from probtruth.truth.sampled import _agreement, categorical


def test_agreement_pair_by_pair() -> None:
    """The share of pairs of answers to an item that agree, its mean and spread over items with a pair."""
    answers = {0: [0, 0, 1, 2], 1: [1, 1], 2: [2], 3: [0, 1, 1]}
    shares = []
    for said in answers.values():
        pairs = [(one, other) for place, one in enumerate(said) for other in said[place + 1 :]]
        shares += [np.mean([one == other for one, other in pairs])] if pairs else []
    item = np.array([number for number, said in answers.items() for _ in said])
    label = np.array([one for said in answers.values() for one in said])
    mean, spread = _agreement(jnp.asarray(item), jnp.asarray(label), len(answers), 3)
    assert float(mean) == pytest.approx(np.mean(shares), rel=1e-6)
    assert float(spread) == pytest.approx(np.std(shares), rel=1e-6)


def test_data_that_a_program_made_agree_as_much_as_it_says() -> None:
    crowd, _, _ = simulate(60, 8, 4, 3, seed=3)
    found = pt.infer_truth(crowd, "dawid-skene", samples=300, warmup=300, chains=2)
    for name in ("p_agreement", "p_agreement_spread"):
        assert 0.05 < found.diagnostics[name] < 0.95


def test_categorical_draws_in_proportion_and_never_what_is_impossible() -> None:
    weights = jnp.tile(jnp.array([0.0, 2.0, 6.0, 0.0]), (8000, 1))
    drawn = np.asarray(jax.jit(categorical)(jax.random.key(3), weights))
    assert set(drawn) == {1, 2}
    five_errors = 5 * np.sqrt(0.25 * 0.75 / 8000)
    assert abs((drawn == 1).mean() - 0.25) < five_errors
