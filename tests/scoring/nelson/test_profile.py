import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from one_model import one_model, two
from scipy import stats

import probtruth as pt
from probtruth.scoring.nelson.profile import MARKS

ROUND_OFF = 1e-12  # Sums of a few thousand numbers near 1 in float64

PRINTED = 0.5e-4
"""Half a unit in the last of four printed digits; the integral over 40,000 quantiles is good to a fifth of it."""


def profile(q, y, **options):
    return pt.nelson.risk_profile(*one_model(q, y), **options)


def two_class_world():
    """Nelson's source: Student-t with kappa = 1/2 (2 degrees of freedom) at 0 and 2; x at equally spaced quantiles."""
    u = (np.arange(20_000) + 0.5) / 20_000
    t = (2 * u - 1) / np.sqrt(2 * u * (1 - u))
    x = np.concatenate([t, t + 2])
    return x, two(posterior(x, 0.5, 0.5))


def posterior(x, kappa0, kappa1, loc=2.0, variance=1.0):
    """Probability of the class at `loc` when the class at 0 has scale 1; kappa 0 is the Gaussian."""
    logs = [
        stats.t.logpdf(x, 1 / kappa, at, size**0.5) if kappa else stats.norm.logpdf(x, at, size**0.5)
        for kappa, at, size in ((kappa0, 0, 1), (kappa1, loc, variance))
    ]
    return np.exp(logs[1] - np.logaddexp(*logs))


def test_figure_7_on_the_infinite_range():
    """Both classes modelled as Gaussians, q_lim = .01: .5468/.6145/.8899 by integration (published .56/.62/.90)."""
    x, truth = two_class_world()
    found = profile(two(posterior(x, 0, 0)), truth, floor=0.01, source="truth")
    row = [found.accuracy[0], found.source[0, found.powers.index(0)], found.divergence[0, found.powers.index(0)]]
    np.testing.assert_allclose(row, [0.5468, 0.6145, 0.8899], atol=PRINTED)
    assert found.angle[0] == pytest.approx(73, abs=0.5)


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "angle"),
    [
        ({}, 45),
        pytest.param({"loc": 1}, 19, marks=pytest.mark.long),
        ({"loc": 3}, 60),
        pytest.param({"variance": 0.5}, 54, marks=pytest.mark.long),
        ({"variance": 2}, 38),
        ({"kappa0": 0, "kappa1": 0}, 73),
        pytest.param({"kappa0": 1, "kappa1": 1}, 39, marks=pytest.mark.long),
    ],
)
def test_angles_of_figures_3_to_6(model, angle):
    """From 100 bins, computed independently. Over-confidence is above 45; a variance of 2 is under-confident."""
    x, truth = two_class_world()
    options = {"kappa0": 0.5, "kappa1": 0.5} | model
    found = profile(two(posterior(x, **options)), truth, floor=0.01, source="bins", smoothing=100)
    assert found.angle[0] == pytest.approx(angle, abs=0.6)  # rounding to degrees, and where ties of clipped reports go


def test_accuracy_is_the_log_score_and_the_parts_multiply():
    """Equations 6 to 9 with the minus that the paper lost: P = exp(-cross-entropy) = exp(-entropy) exp(-divergence)."""
    rng = np.random.default_rng(0)
    y, q = rng.dirichlet(np.ones(3), 50), rng.dirichlet(np.ones(3), 50)
    found = profile(q, y, source="truth")
    place = found.powers.index(0)
    assert found.accuracy[0] == pytest.approx(np.exp((y * np.log(q)).sum(1).mean()), rel=ROUND_OFF)
    assert found.source[0, place] == pytest.approx(np.exp((y * np.log(y)).sum(1).mean()), rel=ROUND_OFF)
    assert found.divergence[0, place] == pytest.approx(np.exp((y * np.log(q / y)).sum(1).mean()), rel=ROUND_OFF)


def test_hard_labels_take_the_mean_over_what_happened():
    q = np.array([0.9, 0.4, 0.75, 0.6])
    found = profile(two(q), two([1, 1, 0, 1]), powers=[-1, 2])
    happened = np.array([0.9, 0.4, 0.25, 0.6])
    assert found.powers == (-1, -2 / 3, 0, 1, 2)
    assert found.decisiveness[0] == pytest.approx(happened.mean(), rel=ROUND_OFF)
    assert found.accuracy[0] == pytest.approx(stats.gmean(happened), rel=ROUND_OFF)
    assert found.robustness[0] == pytest.approx(np.mean(happened ** (-2 / 3)) ** -1.5, rel=ROUND_OFF)
    assert found.at(-1)[0] == pytest.approx(stats.hmean(happened), rel=ROUND_OFF)
    logs = np.log(happened)
    assert found.p_sigma[0] == pytest.approx(np.exp(-np.sqrt((logs**2).mean() - logs.mean() ** 2)), rel=ROUND_OFF)
    np.testing.assert_array_equal(found.model_by_label[0, 0], 0.25 * np.ones(5))


def test_the_log_sd_band_can_exceed_one():
    """Equation 10 with its lost minus: .99 seven times and .01 once give an upper end above 1."""
    found = profile(two([0.99] * 7 + [0.01]), two([1] * 8))
    low, high = found.log_sd_band[0]
    assert high > 1
    assert low < found.accuracy[0] < high


def test_one_impossible_event_and_the_precision_that_saves_the_mean():
    """Trap 2 and Remark 1: nothing is clipped unless the caller says so; the event is counted and named."""
    q, y = two([0.0, 0.9, 0.8]), two([1, 1, 1])
    found = profile(q, y)
    assert found.accuracy[0] == found.robustness[0] == 0
    assert found.decisiveness[0] == pytest.approx(1.7 / 3, rel=ROUND_OFF)
    assert found.impossible == (("0",),)
    assert found.p_sigma[0] == 0
    floored = profile(q, y, floor=0.01)
    assert floored.accuracy[0] == pytest.approx((0.01 * 0.9 * 0.8) ** (1 / 3), rel=ROUND_OFF)
    assert floored.floor == 0.01
    assert floored.impossible == (("0",),)


probabilities = hnp.arrays(np.float64, 40, elements=st.floats(0.02, 0.98))


@settings(deadline=None, max_examples=30, derandomize=True)
@given(probabilities, hnp.arrays(np.float64, 40, elements=st.sampled_from([0.0, 0.3, 1.0])), st.booleans())
def test_isotonic_divergence_probability_is_at_most_one(q, y, by_label):
    """Trap 12: pooling adjacent violators maximises the likelihood over monotone maps, and no map at all is one."""
    found = profile(two(q), two(y), by_label=by_label, floor=0.05)
    assert found.divergence[0, found.powers.index(0)] <= 1 + ROUND_OFF
    assert (np.diff(found.model[0]) >= -ROUND_OFF).all()


def test_coarse_bins_break_the_bound():
    """Trap 12: the paper's 'P_div is always less than 1' fails with one coarse bin."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    q = np.where(y == 1, 0.9, 0.1) * 0.8 + 0.1
    coarse = profile(two(q), two(y), source="bins", smoothing=1)
    assert coarse.divergence[0, coarse.powers.index(0)] > 1.2
    assert profile(two(q), two(y)).divergence[0, coarse.powers.index(0)] <= 1


def test_bins_are_weighted_by_their_true_events():
    """Trap 12: on a calibrated model the paper's 1/B mean over bins is off; weighted by true events it holds."""
    q = (np.arange(20_000) + 0.5) / 20_000
    found = profile(two(q), two(q), source="bins", smoothing=100)
    for mark, power in MARKS.items():
        place = found.powers.index(power)
        assert found.source[0, place] == pytest.approx(found.model[0, place], rel=2e-3), mark  # bins of width .01
    bubbles = found.bubbles()
    literal = np.exp(np.log(bubbles["reported"].to_numpy()).mean())
    assert abs(literal - found.accuracy[0]) > 0.2
    assert bubbles["contribution"].sum() == pytest.approx(np.log(found.accuracy[0]), rel=ROUND_OFF)
    assert found.angle[0] == pytest.approx(45, abs=0.1)


def test_tables_say_the_same():
    rng = np.random.default_rng(0)
    q, y = rng.dirichlet(np.ones(3), (2, 30)), rng.dirichlet(np.ones(3), 30)
    found = pt.nelson.risk_profile(pt.Predictions.from_probs({"a": q[0], "b": q[1]}), pt.Truth.from_probs(y))
    table, bubbles = found.table(), found.bubbles()
    np.testing.assert_allclose(table["accuracy"], found.accuracy)
    np.testing.assert_allclose(table["source_accuracy"] * table["divergence_accuracy"], found.accuracy)
    spectrum = found.spectrum()
    assert spectrum.height == 2 * len(found.powers)
    np.testing.assert_allclose(spectrum.filter(power=-2 / 3)["model_probability"], found.robustness)
    assert bubbles.filter(bubbles["model"] == "a")["n_true"].sum() == pytest.approx(30)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"floor": 0.5}, "got floor 0.5, expected a probability above 0 and below 1/K = 0.5"),
        ({"floor": "low"}, "got floor 'low'"),
        ({"source": "isotonc"}, "Did you mean 'isotonic'"),
        ({"powers": [1, float("nan")]}, "a power that is NaN"),
        ({}, r"power 0.123, expected a power of the profile"),
    ],
)
def test_errors(options, message):
    with pytest.raises(pt.InputError, match=message):
        profile(two([0.5]), two([1]), **options).at(0.123)


def test_means_are_those_of_the_kernel():
    """On the host without compilation; through 0, at both infinities and with impossible events."""
    rng = np.random.default_rng(0)
    y = np.eye(3)[rng.integers(0, 2, 60)] * 0.7 + 0.1
    q = rng.choice([1e-30, 1e-9, 0.2, 0.5, 1.0], (60, 3))
    q /= q.sum(1, keepdims=True)
    powers = np.array([-np.inf, -4.0, -2 / 3, -1e-7, 0.0, 1e-9, 0.1, 1.0, 30.0, np.inf])
    for reported in (q, np.where(q < 1e-8, 0, q)):
        found = profile(reported / reported.sum(1, keepdims=True), y, powers=powers)
        shown = np.broadcast_to((reported / reported.sum(1, keepdims=True)).ravel(), (len(powers), 180))
        exact = pt.nelson.generalized_mean(shown, powers, y.ravel())
        np.testing.assert_allclose(found.model[0], exact, rtol=1e-10)


def test_perplexity_is_the_number_of_even_labels():
    predictions = pt.Predictions.from_probs({"even": np.full((4, 5), 0.2), "none": np.eye(5)[[0, 0, 0, 0]]})
    table = pt.nelson.perplexity(predictions, pt.Truth.from_labels(np.arange(4), n_labels=5))
    np.testing.assert_allclose(table["perplexity"][0], 5, rtol=ROUND_OFF)
    assert table["perplexity"][1] == np.inf
    soft = pt.nelson.perplexity(predictions, pt.Truth.from_probs(np.full((4, 5), 0.2)))
    np.testing.assert_allclose(soft.row(0)[1:], [5, 5, 1], rtol=ROUND_OFF)
