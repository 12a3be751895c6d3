"""The DataTree of a truth: groups, dimensions, and ArviZ's leave-one-item-out comparison of truth models."""

import warnings

import numpy as np
import pytest
from scipy.special import logsumexp
from simulated_annotations import SAMPLED, TWELVE, simulate

import probtruth as pt

CROWD, _, _ = simulate(30, 9, 5, 3, seed=1)
QUICK = {"samples": 100, "warmup": 100, "chains": 2}
"""As in tests/truth/test_infer.py, whose compiled programs are used again where both run."""


@pytest.fixture(scope="module")
def flat() -> pt.Truth:
    return pt.infer_truth(CROWD, "dawid-skene", **QUICK)


@pytest.mark.long
def test_groups_and_dimensions(flat: pt.Truth) -> None:
    tree = flat.datatree()
    assert dict(tree["posterior"]["confusion"].sizes) == {
        "chain": 2, "draw": 100, "annotator": 9, "label": 3, "answer": 3,
    }  # fmt: skip
    assert tree["posterior"]["class"].dims == ("chain", "draw", "item")
    assert tree["log_likelihood"]["annotations"].dims == ("chain", "draw", "item")
    assert tree["constant_data"]["probs"].dims == ("item", "label")
    assert list(tree["constant_data"]["item"].values) == list(CROWD.index.items)
    assert tree.attrs["method"] == "dawid-skene"
    assert "diverging" in tree["sample_stats"]


@pytest.fixture(scope="module")
def twelve() -> pt.Truth:
    return pt.infer_truth(TWELVE, "dawid-skene", gold={"b": "y", "e": "y"}, **SAMPLED)


@pytest.mark.long
def test_log_likelihood_is_that_of_the_draws(twelve: pt.Truth) -> None:
    tree = twelve.datatree()
    chain, draw, item = 1, 57, 2
    marginals = tree["posterior"]["marginals"].values[chain, draw]
    confusion = tree["posterior"]["confusion"].values[chain, draw].astype(float)
    rows = TWELVE.item == item
    said = np.log(confusion[TWELVE.annotator[rows], :, TWELVE.label[rows]]).sum(0)
    single = np.finfo(np.float32).eps * 64
    expected = logsumexp(np.log(marginals) + said)
    np.testing.assert_allclose(tree["log_likelihood"]["annotations"].values[chain, draw, item], expected, rtol=single)


@pytest.mark.long
def test_replicated_agreement_stands_beside_the_observed(twelve: pt.Truth) -> None:
    tree = twelve.datatree()
    counts = TWELVE.counts().astype(float)
    votes = counts.sum(1)
    counts, votes = counts[votes > 1], votes[votes > 1]
    observed = float(((counts * (counts - 1)).sum(1) / (votes * (votes - 1))).mean())
    assert tree["observed_data"]["agreement"].item() == pytest.approx(observed)
    replicated = tree["posterior_predictive"]["agreement"].values
    assert replicated.min() <= observed <= replicated.max()
    tied = np.isclose(replicated, observed)
    above = (replicated[~tied] > observed).sum() / replicated.size + tied.mean() / 2
    assert twelve.diagnostics["p_agreement"] == pytest.approx(above, abs=1e-6)


@pytest.mark.long
def test_arviz_compares_truth_models_over_items(flat: pt.Truth) -> None:
    import arviz

    other = pt.infer_truth(CROWD, "hierarchical-dawid-skene", **QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 200 draws leave some Pareto shapes above their limit, which ArviZ says
        found = arviz.loo(flat.datatree())
        table = arviz.compare({"flat": flat.datatree(), "pooled": other.datatree()})
    assert found.n_data_points == 30
    assert np.isfinite(found.elpd)
    assert set(table.index) == {"flat", "pooled"}


def test_methods_without_parameters_give_their_draws() -> None:
    truth = pt.infer_truth(CROWD, "dirichlet", draws=7)
    tree = truth.datatree()
    assert dict(tree["posterior"]["distribution"].sizes) == {"chain": 1, "draw": 7, "item": 30, "label": 3}
    assert "log_likelihood" not in tree.children
    given = pt.Truth.from_probs([[0.5, 0.5]]).datatree()
    assert list(given.children) == ["constant_data"]
