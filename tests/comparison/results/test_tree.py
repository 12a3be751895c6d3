import subprocess
import sys

import matplotlib
import numpy as np
import pytest
import xarray
from made_scores import make

import probtruth as pt

matplotlib.use("Agg")


@pytest.mark.long
def test_arviz_takes_the_tree_as_it_is(five_compared):
    import arviz as az

    tree = five_compared.datatree
    summary = az.summary(tree, ci_prob=0.95)
    assert "contrast[a]" in summary.index
    assert "difference[a - b]" in summary.index
    assert float(summary.loc["contrast[a]", "r_hat"]) < 1.01
    numbers = az.summary(tree, var_names=["difference"], kind="stats", ci_kind="eti", ci_prob=0.95, round_to="none")
    for row in five_compared.pairs:
        width = row["high"] - row["low"]
        said = numbers.loc[f"difference[{row['a']} - {row['b']}]"]
        for column, name in (("mean", "difference"), ("eti95_lb", "low"), ("eti95_ub", "high")):
            assert float(said[column]) == pytest.approx(row[name], abs=0.05 * width)
    az.plot_forest(tree, ci_probs=(0.5, 0.95))
    az.plot_rank(tree)
    matplotlib.pyplot.close("all")


@pytest.mark.long
def test_statistics_of_a_sampler_stand_where_one_was_needed(five_compared, grouped):
    assert "sample_stats" not in five_compared.datatree.children
    assert {"diverging", "energy", "lp"} <= set(grouped.datatree["sample_stats"].data_vars)


@pytest.mark.long
def test_the_prior_has_draws_of_what_is_proper_and_names_what_is_not(grouped):
    prior = grouped.datatree["prior"].dataset
    posterior = grouped.datatree["posterior"].dataset
    assert set(prior.data_vars) == {"between_group_sd", "spread_of_log_variance", "group_deviation"}
    assert prior["between_group_sd"].dims == posterior["between_group_sd"].dims
    assert set(posterior.data_vars) - set(prior.data_vars) >= {"population_difference", "typical_variance"}
    for name in ("population_difference", "typical_variance"):
        assert name in prior.attrs["improper"]
    # deviations over their sd are normal, and the spread is half-normal: 95% lie within 1.96
    standard = prior["group_deviation"] / prior["between_group_sd"]
    for draws in (standard, prior["spread_of_log_variance"]):
        assert float((np.abs(draws) < 1.96).mean()) == pytest.approx(0.95, abs=0.01)


def test_names_of_the_dimensions(five_compared):
    posterior = five_compared.datatree["posterior"].dataset
    assert posterior["contrast"].dims == ("chain", "draw", "model_name")
    assert posterior["difference"].dims == ("chain", "draw", "pair")
    np.testing.assert_allclose(
        posterior["difference"].sel(pair="a - e"),
        posterior["contrast"].sel(model_name="a") - posterior["contrast"].sel(model_name="e"),
    )
    chance = five_compared.datatree["ranking"]["rank_probability"]
    np.testing.assert_allclose(chance.sum("rank"), 1, rtol=1e-12)


def test_saved_and_loaded_by_netcdf(five_compared, grouped, tmp_path):
    import arviz

    for name, comparison in (("plain", five_compared), ("grouped", grouped)):
        path = tmp_path / f"{name}.nc"
        comparison.save(path)
        loaded = arviz.from_netcdf(path)
        for group in comparison.datatree.children:
            xarray.testing.assert_equal(loaded[group].to_dataset(), comparison.datatree[group].to_dataset())
    assert "population_difference" in loaded["posterior"]
    assert "between_group_sd" in loaded["posterior"]


def test_no_model_with_a_finite_mean(tmp_path):
    """The mean of nothing warned."""
    pt.compare(make([[np.inf, 1.0], [np.inf, 2.0]], "ab")).save(tmp_path / "x.nc")
    assert (tmp_path / "x.nc").stat().st_size > 0


SAVED = """
import sys
import probtruth as pt
rows = {"item": [0, 1, 2] * 2, "model": ["a"] * 3 + ["b"] * 3, "score": [0.1, 0.3, 0.2, 0.5, 0.4, 0.6]}
comparison = pt.compare(pt.read_scores(rows, higher_is_better=False), engine="exact")
comparison.save(sys.argv[1])
assert "distributed" not in sys.modules
comparison.datatree.to_netcdf(sys.argv[2], engine="h5netcdf")
"""


@pytest.mark.process
def test_saved_as_xarray_saves_it_without_loading_distributed(tmp_path):
    """Half of the time of saving was the import of `distributed`, where it is installed."""
    ours, theirs = tmp_path / "ours.nc", tmp_path / "theirs.nc"
    subprocess.run([sys.executable, "-c", SAVED, ours, theirs], check=True)
    assert ours.read_bytes() == theirs.read_bytes()


def test_differences_of_many_pairs_follow_from_the_contrasts(monkeypatch):
    """Of 100 models they took 405 MB; what is stored does not change what is said."""
    values = np.random.default_rng(0).normal(size=(4, 12))
    scores = make(values, "abcd")
    few, many = pt.compare(scores, engine="exact"), pt.compare(scores, engine="exact")
    full = few.datatree["posterior"].dataset
    monkeypatch.setattr("probtruth.comparison.results.tree.STORED_PAIRS", 5)
    short = many.datatree["posterior"].dataset
    assert ("difference" in full, "difference" in short) == (True, False)
    sides = many.datatree["constant_data"].dataset
    for pair in sides["pair"].values:
        a, b = (str(sides[side].sel(pair=pair).item()) for side in ("model_a", "model_b"))
        again = short["contrast"].sel(model_name=a) - short["contrast"].sel(model_name=b)
        np.testing.assert_allclose(again, full["difference"].sel(pair=pair), atol=1e-12)
    assert few.pairwise().equals(many.pairwise())
