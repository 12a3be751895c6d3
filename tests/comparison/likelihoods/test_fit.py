"""Other likelihoods: the mean is what is reported, and a fit that parts from it is said."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_scores import make, rows_by_name
from scipy import stats

from probtruth.comparison.compare import compare
from probtruth.comparison.likelihoods.fit import DrawnMargin, checks, compare_likelihoods, fit, loo
from probtruth.comparison.likelihoods.programs import LIKELIHOODS, bins
from probtruth.errors import InputError

SITES = {
    "location": 0.2,
    "scale": 0.7,
    "df": 4.0,
    "skew": 1.6,
    "tie_rate": 0.3,
    "share": 0.2,
    "other_location": 1.5,
    "wider": 3.0,
}
QUADRATURE = 1e-5


# reference


def sites_of(name):
    return {site: jnp.asarray(SITES[site]) for site in LIKELIHOODS[name].priors}


@pytest.mark.long
@pytest.mark.parametrize("name", list(LIKELIHOODS))
def test_densities_integrate_to_one_and_their_means_are_the_reported_ones(name):
    value = np.linspace(-400, 400, 1_600_001)
    with jax.enable_x64(True):
        density = np.exp(np.asarray(LIKELIHOODS[name].log_density(sites_of(name), jnp.asarray(value))))
    mass, mean = (float(np.trapezoid(value**power * density, value)) for power in (0, 1))
    assert mass == pytest.approx(0.7 if name == "tie-spike" else 1.0, rel=QUADRATURE)
    skewed = 0.2 + 0.7 * (1.6 - 1 / 1.6)  # the mean of |t| with 4 degrees of freedom is 1
    wanted = {"skew-t": skewed, "tie-spike": 0.7 * skewed, "two-component": 0.8 * 0.2 + 0.2 * 1.5}
    assert mean == pytest.approx(wanted.get(name, 0.2), rel=1e-3)  # the tails beyond 400


def test_student_density_is_scipys():
    value = np.linspace(-3, 3, 7)
    with jax.enable_x64(True):
        found = np.asarray(LIKELIHOODS["student-t"].log_density(sites_of("student-t"), jnp.asarray(value)))
    np.testing.assert_allclose(found, stats.t(4, 0.2, 0.7).logpdf(value), rtol=1e-10)


def test_normal_fit_is_the_paired_t():
    difference = np.random.default_rng(0).normal(-0.3, 1.0, 60)
    found = fit("normal", difference, 0, 1000)
    assert found.min_ess > 400
    low, high = found.margin().interval()
    t = stats.t.interval(0.95, 59, difference.mean(), stats.sem(difference))
    assert (low, high) == pytest.approx(t, abs=0.03)  # Monte Carlo error, and a prior on the scale


# bins


def test_bins_keep_every_item_and_the_mean():
    values = np.random.default_rng(1).standard_t(3, 30_000)
    found = bins(values)
    assert found.weight.sum() == 30_000
    assert len(found.value) == 512
    assert found.weight @ found.value == pytest.approx(0, abs=1e-6)
    assert found.centre == pytest.approx(values.mean(), rel=1e-12)
    few = bins(values[:100])
    assert (few.weight[:100] == 1).all()
    turned = bins(values[::-1].copy())
    assert (turned.value == found.value).all()


def test_a_margin_of_draws():
    draws = tuple(np.sort(np.random.default_rng(2).normal(-1, 1, 4000)).tolist())
    margin = DrawnMargin(-1.0, 1.0, 50.0, draws=draws)
    assert margin.below(0.0) == pytest.approx(stats.norm.cdf(1), abs=0.02)
    assert margin.below(0.0) + margin.above(0.0) == 1
    assert margin.flipped().above(0.0) == pytest.approx(margin.below(0.0), abs=1e-3)
    np.testing.assert_allclose(margin.at(np.array([0.0])), np.median(draws))
    few = DrawnMargin(2.0, 1.0, 50.0, draws=(1.0, 2.0, 3.0))
    assert [few.below(value) for value in (0.0, 1.5, 9.0)] == [0.5 / 4, 1.5 / 4, 3.5 / 4]


# whole comparisons


def skewed(n=1500):
    rng = np.random.default_rng(3)
    rare = rng.random(n) < 0.1
    return np.where(rare, rng.normal(-0.4, 0.3, n), rng.normal(0.015, 0.02, n))


@pytest.mark.long
def test_a_students_location_is_not_the_mean_and_that_is_said():
    difference = skewed()
    values = np.stack([difference, np.zeros(len(difference))])
    found = compare(make(values, "ab"), likelihood="student-t", draws=500)
    row = rows_by_name(found)[0]["a", "b"]
    assert row["difference"] == pytest.approx(difference.mean(), rel=1e-9)
    assert any("it does not fit them" in said for said in found.warnings)
    assert found.settings["likelihood"] == "student-t"
    default = compare(make(values, "ab"), engine="exact").pairs[0]
    assert default["p_a_better"] > 0.999


@pytest.mark.long
def test_every_likelihood_beside_the_others():
    rng = np.random.default_rng(4)
    base = rng.gamma(2, 0.5, 300)
    gain = np.where(rng.random(300) < 0.1, rng.normal(-0.5, 1.0, 300), rng.normal(-0.05, 0.1, 300))
    table = compare_likelihoods(make(np.stack([base + gain, base]), "ab"), "a", "b", draws=400)
    assert table.height == 5
    rows = {row["likelihood"]: row for row in table.iter_rows(named=True)}
    assert rows["two-component"]["elpd_loo"] > rows["normal"]["elpd_loo"] + 50
    assert rows["normal"]["ppc_tails"] < 0.05  # the data have more beyond three standard deviations than it makes
    assert 0.01 < rows["two-component"]["ppc_tails"] < 0.99
    assert table["likelihood"][0] != "normal"
    for row in rows.values():
        assert row["low"] < row["mean"] < row["high"]


@pytest.mark.long
def test_ties_are_a_spike():
    rng = np.random.default_rng(5)
    difference = np.where(rng.random(400) < 0.6, 0.0, rng.normal(-0.2, 0.5, 400))
    spike, plain = fit("tie-spike", difference, 0, 400), fit("normal", difference, 0, 400)
    assert 0.05 < checks(spike, difference, 0)["ppc_ties"] < 0.95
    assert checks(plain, difference, 0)["ppc_ties"] < 0.01
    assert checks(plain, difference[difference != 0], 0)["ppc_ties"] == 0.5  # none, in the data as in what is simulated
    assert spike.margin().centre == pytest.approx(difference.mean(), abs=0.02)


@pytest.mark.long
def test_leaving_items_out_one_by_one():
    difference = np.random.default_rng(6).normal(0, 2.0, 60)
    elpd, se, k = loo(fit("normal", difference, 0, 1000))
    # by hand: the predictive t of each item given the others
    left = [np.delete(difference, row) for row in range(60)]
    exact = sum(
        stats.t.logpdf(value, 58, rest.mean(), rest.std(ddof=1) * np.sqrt(1 + 1 / 59))
        for value, rest in zip(difference, left, strict=True)
    )
    assert elpd == pytest.approx(exact, abs=0.3)
    assert 0 < se < 20
    assert k < 0.7


GOOD = make(np.random.default_rng(7).normal(size=(2, 20)), "ab")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"likelihood": "cauchy"}, "got likelihood 'cauchy'"),
        ({"likelihood": "skew-t", "groups": np.arange(20) % 2}, "likelihood='skew-t' with groups"),
        ({"likelihood": "skew-t", "clusters": np.arange(20) // 2, "engine": "exact"}, "clusters and engine='exact'"),
    ],
)
def test_combinations_that_are_errors(options, message):
    with pytest.raises(InputError) as caught:
        compare(GOOD, **options)
    assert message in str(caught.value)


def test_nothing_varies():
    same = make([np.zeros(9), np.zeros(9)], "ab")
    with pytest.raises(InputError, match="never vary"):
        compare_likelihoods(same, "a", "b")
    assert compare(same, likelihood="normal").pairs[0]["p_a_better"] == 0.5
    with pytest.raises(InputError, match="got model 'z'"):
        compare_likelihoods(GOOD, "a", "z")
