from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import probtruth as pt
from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.moments import moments
from probtruth.comparison.posterior.population import agrees, population_of, sample_population

NO_PROGRESS = lambda done, total: None  # noqa: E731


def groups_of(values, n_groups):
    n_items = values.shape[1]
    return moments(values, Structure.of(np.arange(n_items) // (n_items // n_groups), None))


@pytest.mark.parametrize("centre", [0.0, 50.0])
@pytest.mark.parametrize("between", [0.0, 0.3, 10.0])
@pytest.mark.parametrize("n_groups", [2, 3, 6])
@pytest.mark.long
def test_population_by_both_engines(centre, between, n_groups):
    rng = np.random.default_rng(5)
    values = rng.normal(size=(3, 120)) + np.repeat(rng.normal(0, between, (3, n_groups)), 120 // n_groups, axis=1)
    values[0] += centre
    nuts = sample_population(population_of(groups_of(values, n_groups)), "nuts", 2500, 0, NO_PROGRESS)
    exact = sample_population(population_of(groups_of(values, n_groups)), "exact", 2500, 0, NO_PROGRESS)
    assert nuts.sampled.engines_agree is True
    mixture = nuts.differences(new_group=False)
    for drawn, _ in (nuts.draws(), exact.draws()):
        for p in (0.025, 0.5, 0.975):
            assert np.abs((drawn < mixture.quantile(p)).mean((0, 1)) - p).max() < 0.03
    assert (nuts.differences(new_group=True).quantile(0.975) > mixture.quantile(0.975)).all()
    moved = replace(nuts.quadrature, between=1.5 * nuts.quadrature.between)
    assert not agrees(nuts.sampled.sites, replace(nuts, quadrature=moved))


def test_another_number_of_groups_is_not_compiled_anew(compiled):
    rng = np.random.default_rng(5)
    for n_groups in (3, 5, 8):
        parts = groups_of(rng.gamma(1.0, size=(3, 240)), n_groups)
        sampled = sample_population(population_of(parts), "nuts", 200, 0, NO_PROGRESS).sampled
        assert sampled.engines_agree
        if n_groups > 3:
            assert not [name for name in compiled if "chunk" in name]
        compiled.clear()


def test_population_of_models_at_a_fixed_distance():
    rng = np.random.default_rng(6)
    row, other = rng.normal(size=(2, 60))
    parts = groups_of(np.stack([row, row + 0.5, row, other]), 4)
    population = sample_population(population_of(parts), "exact", 50, 0, NO_PROGRESS)
    mixture = population.differences(new_group=True)  # pairs (0, 1), (0, 2), (0, 3), ...
    assert (mixture.below(0.0)[1], mixture.average()[1]) == (0.5, 0.0)
    assert mixture.quantile(0.975)[0] == pytest.approx(-0.5, rel=1e-12)
    drawn, between = population.draws()
    assert np.ptp(drawn[..., 1]) == 0
    assert (between[..., 0] == 0).all()
    assert population.of_groups(1).average().tolist() == [0.0] * 4
    assert mixture.quantile(0.3)[4] == pytest.approx(mixture.quantile(0.3)[2] + 0.5)


def test_no_population_without_variance_within_groups():
    assert population_of(groups_of(np.ones((2, 8)), 2)) is None


def compared(differences, groups, **options):
    items = [str(item) for item in range(len(differences))]
    table = {
        "item": [*items, *items],
        "model": ["a"] * len(items) + ["b"] * len(items),
        "score": [*differences, *np.zeros(len(items))],
    }
    return pt.compare(
        pt.Scores.from_frame(table, higher_is_better=False), groups=dict(zip(items, groups, strict=True)), **options
    )


@pytest.mark.parametrize("engine", ["exact", pytest.param("nuts", marks=pytest.mark.long)])
def test_three_groups_that_all_say_a_half_have_a_population_near_a_half(engine):
    # items of sd .1 about -.50, -.55 and -.45: a prior of mu in item sds answered -.20 (-.41 to -.01)
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.1, (3, 40))
    means = np.array([-0.50, -0.55, -0.45])
    differences = (noise - noise.mean(1, keepdims=True) + means[:, None]).ravel()
    comparison = compared(differences, np.repeat(["x", "y", "z"], 40), engine=engine)
    (row,) = comparison.group_results["population of groups"]
    assert row["difference"] == pytest.approx(-0.5, abs=0.001)
    assert row["low"] < means.min() < means.max() < row["high"] < -0.3
    # at most the t of three means, at least what 120 items of one population would say
    half = (row["high"] - row["low"]) / 2
    assert 1.96 * 0.1 / 120**0.5 < half < 1.05 * stats.t.ppf(0.975, 2) * means.std(ddof=1) / 3**0.5
    assert row["p_a_better"] > 0.99
    assert comparison.diagnostics["engines_agree"] in (None, True)


def test_a_third_model_does_not_change_the_population_of_two_others():
    rng = np.random.default_rng(9)
    values = rng.normal(size=(3, 90)) + np.repeat(rng.normal(size=(3, 5)), 18, axis=1)
    items, groups = [str(item) for item in range(90)], np.repeat([*"vwxyz"], 18).tolist()
    rows = []
    for count in (2, 3):
        table = {
            "item": items * count,
            "model": np.repeat(["a", "b", "c"][:count], 90).tolist(),
            "score": values[:count].ravel(),
        }
        found = pt.compare(pt.Scores.from_frame(table, higher_is_better=False), groups=groups, engine="exact")
        rows.append([found.group_results[what][0] for what in ("population of groups", "one new group")])
    assert rows[0] == rows[1]
