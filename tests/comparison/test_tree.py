import arviz as az
import matplotlib
import numpy as np
import pytest
import xarray

matplotlib.use("Agg")


@pytest.mark.long
def test_arviz_takes_the_tree_as_it_is(five_compared):
    tree = five_compared.datatree
    summary = az.summary(tree, ci_prob=0.95)
    assert "contrast[a]" in summary.index
    assert "difference[a - b]" in summary.index
    assert float(summary.loc["contrast[a]", "r_hat"]) < 1.01
    az.plot_forest(tree, ci_probs=(0.5, 0.95))
    az.plot_rank(tree)
    matplotlib.pyplot.close("all")


def test_statistics_of_a_sampler_stand_where_one_was_needed(five_compared, grouped):
    assert "diverging" not in five_compared.datatree["sample_stats"].data_vars
    assert {"diverging", "energy", "lp"} <= set(grouped.datatree["sample_stats"].data_vars)


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
    for name, comparison in (("plain", five_compared), ("grouped", grouped)):
        path = tmp_path / f"{name}.nc"
        comparison.save(path)
        loaded = az.from_netcdf(path)
        for group in comparison.datatree.children:
            xarray.testing.assert_equal(loaded[group].to_dataset(), comparison.datatree[group].to_dataset())
    assert "population_difference" in loaded["posterior"]
    assert "between_group_sd" in loaded["posterior"]
