"""What all methods share: names, estimands, options, checks, shares, draws, and that order and names change nothing."""

from functools import cache

import numpy as np
import pytest
from simulated_annotations import renamed, simulate

import probtruth as pt
from probtruth.truth import fit, infer
from probtruth.truth.infer import DEFAULTS, METHODS, infer_truth

ROUNDING = 1e-9  # Sums in another order differ by rounding, which iterative methods stop within 1e-9 of

COUNTS = pt.Annotations.from_counts([[3, 0, 1], [1, 2, 0], [0, 0, 2]], items=["a", "b", "c"], labels=["x", "y", "z"])
CROWD, _, _ = simulate(30, 9, 5, 3, seed=1)  # One crowd for all methods and tests: a method's kernels are compiled once


NUTS = ("dawid-skene", "hierarchical-dawid-skene")  # Methods that sample by NUTS
SLOW = (*NUTS, "glad")
EACH = [pytest.param(method, marks=[pytest.mark.long] * (method in SLOW)) for method in METHODS]
"""All methods; the programs of some take long to compile, and these methods have tests of their own."""


def options(method: str) -> dict[str, object]:
    if method in NUTS:
        return {"samples": 100, "warmup": 100, "chains": 2}
    return {}


@cache
def of_crowd(method: str) -> pt.Truth:
    """What several tests look at or compare with."""
    return infer_truth(CROWD, method, draws=7, **options(method))


LONG = pt.Annotations.from_long(
    {"item": ["a", "a", "b", "b", "c"], "annotator": ["p", "q", "p", "q", "p"], "label": ["x", "x", "y", "x", "y"]}
)


def test_defaults() -> None:
    assert infer_truth(COUNTS).method == DEFAULTS["distribution"]
    assert infer.choose(None, "class") == DEFAULTS["class"] == "pooled"
    assert infer.choose("glad", None) == "glad"


@pytest.mark.parametrize("method", EACH)
def test_every_method(method: str) -> None:
    truth = of_crowd(method)
    counts = CROWD.counts()
    assert truth.estimand == METHODS[method].estimand
    assert truth.method == method
    np.testing.assert_array_equal(truth.shares, counts / 5)
    np.testing.assert_array_equal(truth.n_votes, np.full(30, 5))
    np.testing.assert_allclose(truth.probs.sum(1), 1, rtol=ROUNDING)
    assert (truth.probs >= 0).all()
    assert truth.diagnostics["draws_asked"] == 7
    assert truth.diagnostics["draws"] == (0 if truth.draws is None else len(truth.draws))
    if truth.draws is not None:
        assert truth.draws.shape == (7, 30, 3)
        single = np.finfo(np.float32).eps * 4
        np.testing.assert_allclose(truth.draws.sum(2), 1, rtol=single)
    if truth.marginals is not None:
        np.testing.assert_allclose(truth.marginals.sum(), 1, rtol=ROUNDING)
    if truth.confusion is not None:
        rows, single = np.nansum(truth.confusion, 2), 1e-5
        assert ((np.abs(rows - 1) < single) | (rows == 0)).all()


@pytest.mark.parametrize("method", EACH)
def test_order_of_rows_changes_nothing(method: str) -> None:
    again = pt.Annotations(
        CROWD.item[::-1], CROWD.label[::-1], CROWD.annotator[::-1], CROWD.multiplicity[::-1], CROWD.index
    )
    first, second = of_crowd(method), infer_truth(again, method, draws=7, **options(method))
    np.testing.assert_array_equal(first.probs, second.probs)
    if first.draws is not None:
        np.testing.assert_array_equal(first.draws, second.draws)


@pytest.mark.parametrize("method", [method for method in METHODS if method not in NUTS])
def test_names_change_nothing(method: str) -> None:
    """To rounding, which iterative methods amplify; draws and sampled methods only within Monte Carlo error."""
    other, items, labels = renamed(CROWD, seed=2)
    first, second = of_crowd(method), infer_truth(other, method, draws=7, **options(method))
    amplified = 1e-6
    np.testing.assert_allclose(second.probs[items][:, labels], first.probs, rtol=amplified, atol=amplified)
    if first.marginals is not None:
        np.testing.assert_allclose(second.marginals[labels], first.marginals, rtol=amplified)


def test_seed_decides_draws() -> None:
    first, second, other = (infer_truth(COUNTS, seed=seed, draws=5).draws for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


def test_draws_are_thinned_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "DRAW_BYTES", 4 * 9 * 10)
    truth = infer_truth(COUNTS, draws=50)
    assert len(truth.draws) == 10
    assert truth.diagnostics["draws"] == 10
    assert truth.diagnostics["draws_asked"] == 50


def test_class_draws_have_the_probabilities_as_frequencies() -> None:
    probs = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    made = fit.class_draws(probs, 40_000, seed=0)
    assert set(np.unique(made)) == {0, 1}
    five_errors = 5 * 0.5 / np.sqrt(40_000)  # Monte Carlo: standard error of a frequency is at most this over five
    np.testing.assert_allclose(made.mean(0, dtype=float), probs, atol=five_errors)
    assert (made[:, 1, 0] == 1).all()


@pytest.mark.parametrize("shares", [pytest.param([0.25, 0.75], marks=pytest.mark.long), [0.5, 0.2, 0.3]])
def test_dirichlet_draws_of_vanishing_counts_are_corners(shares: list[float]) -> None:
    made = fit.dirichlet_draws(4e-5 * np.array([shares]), 20_000, seed=0)
    assert np.isfinite(made).all()
    five_errors = 5 * 0.5 / np.sqrt(20_000)
    np.testing.assert_allclose(made.mean((0, 1), dtype=float), shares, atol=five_errors)


EMPTY = pt.Annotations.from_counts([[1, 0], [0, 0]], items=["a", "b"])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: infer_truth([[1, 0]]), "got list, expected Annotations"),
        (lambda: infer_truth(COUNTS, "dirichelt"), "Did you mean 'dirichlet'"),
        (lambda: infer_truth(COUNTS, estimand="classes"), "estimand 'classes'"),
        (lambda: infer_truth(COUNTS, "majority", "distribution"), "which answers the estimand 'class'"),
        (lambda: infer_truth(COUNTS, "vote-share", "class"), "which answers the estimand 'distribution'"),
        (lambda: infer_truth(COUNTS, "dirichlet", smoothing=1), "option 'smoothing' for method 'dirichlet'"),
        (lambda: infer_truth(COUNTS, "dawid-skene-em"), "got counts, without annotators"),
        (lambda: infer_truth(COUNTS, draws=-1), "draws -1"),
        (lambda: infer_truth(COUNTS, draws=2.5), "draws 2.5"),
        (lambda: infer_truth(COUNTS, seed="x"), "seed 'x'"),
        (lambda: infer_truth(EMPTY), "item 'b': got no annotation for item 'b' (1 of 2 items)"),
        (lambda: infer_truth(EMPTY, "majority"), "annotations.annotated()"),
        (lambda: infer_truth(EMPTY, "vote-share", prior=[1, 2, 3]), "prior [1, 2, 3]"),
        (lambda: infer_truth(EMPTY, "dirichlet", prior=0), "2 positive numbers"),
        (lambda: infer_truth(LONG, "dawid-skene-em", diagonal=-1), "diagonal -1"),
        (lambda: infer_truth(LONG, "dawid-skene-em", restarts=0), "restarts 0"),
    ],
)
def test_errors(call, words: str) -> None:
    with pytest.raises(pt.InputError) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("method", ["vote-share", "majority", "dirichlet"])
def test_explicit_prior_speaks_for_items_without_votes(method: str) -> None:
    truth = infer_truth(EMPTY, method, prior=[1, 3])
    np.testing.assert_allclose(truth.probs[1], [0.25, 0.75])
    assert np.isnan(truth.shares[1]).all()
    assert truth.n_votes[1] == 0
