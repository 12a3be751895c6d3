import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import probtruth as pt

RULES = ("log", "brier", "spherical", "quadratic", "linear")
OWN_ROUNDING = {"float32": 2e-6, "float64": 1e-12}  # of terms in that type


def table(items=70_000, labels=5, seed=0, kind="float64"):
    """More than one block; some forecasts are certain and right."""
    rng = np.random.default_rng(seed)
    probs, truth = (rng.dirichlet(np.full(labels, 0.3), items).astype(kind) for _ in range(2))
    probs[:20, 0], probs[:20, 1:] = 1, 0
    truth[:20] = probs[:20]
    return np.maximum(probs, np.finfo(kind).tiny) if kind == "float32" else probs, truth


@pytest.mark.parametrize("log_probs", [False, True])
@pytest.mark.parametrize("kind", OWN_ROUNDING)
def test_means_are_those_of_the_items(kind, log_probs):
    probs, truth = table(kind=kind)
    with np.errstate(divide="ignore"):
        given = np.log(probs) if log_probs else probs
    found = pt.rules.mean_scores(given, truth, RULES, log_probs=log_probs)
    wide, weights = probs.astype(np.float64), truth.astype(np.float64)
    losses = [pt.rules.get_rule(rule).expected(wide, weights) for rule in RULES]
    np.testing.assert_allclose(found.means, np.mean(losses, 1), rtol=OWN_ROUNDING[kind])
    assert found.n_items == len(probs)


def test_parts_add_up():
    probs, truth = table()
    whole = pt.rules.mean_scores(probs, truth)
    parts = [pt.rules.mean_scores(probs[i::3], truth[i::3]) for i in range(3)]
    both = parts[2] + parts[0] + parts[1]
    np.testing.assert_allclose(both.means, whole.means, rtol=1e-12)
    assert both.n_items == whole.n_items
    with pytest.raises(pt.InputError, match="sums of different rules"):
        parts[0] + pt.rules.mean_scores(probs, truth, ("log",))


def test_an_impossible_label():
    probs, truth = np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.5, 0.5], [1.0, 0.0]])
    found = pt.rules.mean_scores(probs, truth, ("log", "brier"))
    assert found.means[0] == math.inf
    assert found.n_infinite.tolist() == [1, 0]
    assert np.isnan(pt.rules.mean_scores([[np.nan, 1.0]], [[1.0, 0.0]]).means[:2]).all()


def test_arrays_of_jax_lists_and_other_layouts():
    probs, truth = table(items=1000, kind="float32")
    here = pt.rules.mean_scores(probs, truth, RULES).means
    for other in (
        (jnp.asarray(probs), jnp.asarray(truth)),
        (probs, jnp.asarray(truth)),
        (np.asfortranarray(probs), truth),
    ):
        np.testing.assert_allclose(pt.rules.mean_scores(*other, RULES).means, here, rtol=1e-6)
    assert pt.rules.mean_scores([[1, 0], [0, 1]], [[1, 0], [1, 0]], "brier").means.tolist() == [1.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pt.rules.mean_scores(np.ones((2, 2)), np.ones((3, 2))), r"shape \(2, 2\) and truth of shape \(3, 2\)"),
        (lambda: pt.rules.mean_scores(np.ones(2), np.ones(2)), "2 axes"),
        (lambda: pt.rules.mean_scores(np.ones((0, 2)), np.ones((0, 2))), "at least one item"),
        (lambda: pt.rules.mean_scores(np.ones((2, 2)), np.ones((2, 2)), "logg"), "Did you mean 'log'"),
        (lambda: pt.rules.mean_scores(np.ones((2, 2)), np.ones((2, 2)), ("log", "log")), "more than once"),
        (lambda: pt.rules.mean_scores([["a", "b"]], [[1, 0]]), "not numbers"),
        (lambda: jax.jit(lambda p: pt.rules.mean_scores(p, p).means)(np.ones((2, 2))), "being traced"),
    ],
)
def test_errors(call, words):
    with pytest.raises(pt.InputError, match=words):
        call()
