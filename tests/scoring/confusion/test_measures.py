import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from one_model import one_model, two

import probtruth as pt
from probtruth.scoring.confusion.measures import METRICS, exact_measures, label_columns, measure_table

ROUND_OFF = 1e-12  # Sums of a few thousand products near 1 in float64

STANDARD_ERRORS = 5  # How far a simulated number may be from its expectation, in its own standard errors


def enumerated(y, r):
    """Every labelling and every response of a few items, one by one: mean, sd and P(defined) of every measure."""
    n_items, n_labels = y.shape
    rows, mass = [], []
    for labels in itertools.product(range(n_labels), repeat=n_items):
        for responses in itertools.product(range(n_labels), repeat=n_items):
            chance = np.prod(y[range(n_items), labels]) * np.prod(r[range(n_items), responses])
            if chance > 0:
                counts = np.zeros((n_labels, n_labels))
                np.add.at(counts, (list(labels), list(responses)), 1)
                rows.append(measure_table(counts))
                mass.append(chance)
    values, mass = np.array(rows), np.array(mass)[:, None]
    defined = ~np.isnan(values)
    total = (mass * defined).sum(0)
    divisor = np.where(total > 0, total, np.nan)
    filled = np.where(defined, values, 0)
    mean = (mass * filled).sum(0) / divisor
    sd = np.sqrt((mass * defined * (filled - np.where(total > 0, mean, 0)) ** 2).sum(0) / divisor)
    return mean, sd, total


def tables(n_items, n_labels, zeros=True):
    cells = st.one_of(st.just(0.0), st.floats(0.01, 1), st.just(1.0)) if zeros else st.floats(0.05, 1)
    weights = hnp.arrays(np.float64, (n_items, n_labels), elements=cells).filter(lambda w: (w.sum(-1) > 0).all())
    return weights.map(lambda table: table / table.sum(-1, keepdims=True))


def test_the_blog_takes_the_ratio_of_expectations_for_the_expectation_of_the_ratio():
    """Carpenter (2010) writes E[F] for 2 y r/(y + r); by hand for one item E[F | defined] = y r/(1 - (1-y)(1-r))."""
    predictions, truth = one_model([0.6], [0.7])
    assert pt.expected_confusion(predictions, truth).f[0, 1] == pytest.approx(0.84 / 1.3, rel=ROUND_OFF)  # .646
    exact = pt.expected_confusion(predictions, truth, method="exact")
    assert exact.f[0, 1] == pytest.approx(0.42 / 0.88, rel=ROUND_OFF)  # .477
    assert exact.undefined[0, exact.column("f", label="1")] == pytest.approx(0.12, rel=ROUND_OFF)


def test_four_items():
    """Ratio of expectations .636 for recall and F; expectations .654 and .598; accuracy .60 sampled, .75 decided."""
    predictions, truth = one_model([0.6, 0.8, 0.3, 0.5], [0.7, 0.9, 0.2, 0.4])
    ratio, exact = (pt.expected_confusion(predictions, truth, method=method) for method in ("ratio", "exact"))
    assert [round(float(found.recall[0, 1]), 3) for found in (ratio, exact)] == [0.636, 0.654]
    assert [round(float(found.f[0, 1]), 3) for found in (ratio, exact)] == [0.636, 0.598]
    assert exact.accuracy[0] == pytest.approx(0.6, rel=ROUND_OFF)
    decided = pt.expected_confusion(predictions, truth, "threshold", "exact", threshold=0.51)
    assert decided.accuracy[0] == pytest.approx(0.75, rel=ROUND_OFF)


@settings(deadline=None, max_examples=25, derandomize=True)
@given(st.sampled_from([(4, 2), (3, 3)]).flatmap(lambda shape: st.tuples(tables(*shape), tables(*shape))))
# ten draws that all agree on a weighted specificity that is not the expected one
@example((np.array([[0, 1], [0, 1], [0.5, 0.5], [0, 1]]), np.array([[0, 1], [0, 1], [1 / 3, 2 / 3], [0, 1]])))
def test_expectations_are_those_over_all_labelings(pair):
    y, r = pair
    mean, _, defined = enumerated(y, r)
    found = exact_measures(y, r[None], 10, 0)
    sure = found.mc_error[0] == 0
    np.testing.assert_allclose(found.values[0, sure], mean[sure], rtol=ROUND_OFF, atol=ROUND_OFF)
    assert sure[[0, label_columns("recall", y.shape[1]).stop + 2]].all()
    for metric in METRICS:
        places = label_columns(metric, y.shape[1])
        assert sure[places].all()
        assert sure[places.stop + 1]
        np.testing.assert_allclose(1 - found.undefined[0, places], defined[places], atol=ROUND_OFF)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_macro_averages_are_exact_where_every_label_is_surely_there(n_labels):
    """Items of certain label and certain response leave no undefined cell: no simulation is needed."""
    rng = np.random.default_rng(1)
    sure = np.eye(n_labels)
    y, r = (np.concatenate([sure, rng.dirichlet(np.ones(n_labels), 2)]) for _ in range(2))
    found = exact_measures(y, r[None], 10, 0)
    exact = found.mc_error[0] == 0
    assert exact[[label_columns(metric, n_labels).stop for metric in METRICS]].all()
    np.testing.assert_allclose(found.values[0, exact], enumerated(y, r)[0][exact], rtol=ROUND_OFF)


def test_the_spread_is_that_over_all_labelings():
    """Trap 8: the spread over labels and responses, simulated against all of them."""
    rng = np.random.default_rng(4)
    y, r = two(rng.uniform(size=4)), two(rng.uniform(size=4))
    found = pt.expected_confusion(*one_model(r, y), method="exact", draws=20_000)
    np.testing.assert_allclose(found.sd[0], enumerated(y, r)[1], rtol=STANDARD_ERRORS / np.sqrt(2 * 20_000) * 1.5)
    assert (found.low <= found.high).all()


def test_many_items_need_no_distribution():
    """The expectation of the ratio tends to the ratio of expectations, and the quadrature stays exact."""
    rng = np.random.default_rng(3)
    y = rng.dirichlet(np.ones(2), 4000)
    found = pt.expected_confusion(*one_model(y, y), method="exact")
    plug_in = 2 * (y * y).sum(0) / (2 * y.sum(0))
    for label in range(2):
        at = found.column("f", label=label)
        np.testing.assert_allclose(
            found.values[0, at], plug_in[label], rtol=4e-4
        )  # their difference is of order 1/items
        assert found.undefined[0, at] == 0


def with_draws(draws, estimand="distribution", **names):
    draws = np.asarray(draws)
    given = pt.Truth.from_probs(draws.mean(0), estimand=estimand, **names)
    return pt.Truth(given.probs, given.index, estimand, "test", draws=draws)


def test_every_draw_is_a_table_of_its_own():
    rng = np.random.default_rng(0)
    draws, probs = rng.dirichlet(np.ones(3), (200, 30)), rng.dirichlet(np.ones(3), 30)
    predictions = pt.Predictions.from_probs({"a": probs})
    found = pt.expected_confusion(predictions, with_draws(draws), method="draws")
    each = [pt.expected_confusion(predictions, pt.Truth.from_probs(draw)).values for draw in draws]
    np.testing.assert_allclose(found.values, np.mean(each, 0), rtol=ROUND_OFF)
    np.testing.assert_allclose(found.sd, np.std(each, 0, ddof=1), rtol=1e-9)
    np.testing.assert_allclose(found.low, np.quantile(each, 0.025, 0), rtol=ROUND_OFF)
    np.testing.assert_allclose(found.high, np.quantile(each, 0.975, 0), rtol=ROUND_OFF)


def test_draws_meet_the_predictions_by_name():
    draws = np.array([[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]])
    truth = with_draws(np.repeat(draws, 2, 0), items=["x", "y", "z"], labels=["a", "b"])
    table = [[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]]
    predictions = pt.Predictions.from_probs({"m": table}, items=["z", "x"], labels=["b", "c", "a"])
    found = pt.expected_confusion(predictions, truth, method="draws")
    assert found.labels == ("a", "b", "c")
    assert found.accuracy[0] == pytest.approx((0.1 + 0.5 * 0.7 + 0.5 * 0.1) / 2, rel=ROUND_OFF)


def test_a_truth_without_draws_has_its_labels_drawn():
    """One hard and one open item: the accuracy of a decided response is 1 or 1/2, each half of the time."""
    truth = pt.Truth.from_probs([[0, 1], [0.5, 0.5]])
    predictions = pt.Predictions.from_labels({"a": np.array([1, 1])}, 2)
    found = pt.expected_confusion(predictions, truth, method="draws", draws=4000)
    assert abs(found.accuracy[0] - 0.75) < STANDARD_ERRORS * 0.25 / np.sqrt(4000)
    assert (found.low[0, 0], found.high[0, 0]) == (0.5, 1.0)
    assert found.plug_in[0, 0] == 0.75
    assert found.undefined[0, found.column("recall", label="0")] == pytest.approx(0.5, abs=0.05)


def test_smoothed_draws_move_the_centre_and_plug_in_does_not():
    """Trap 29: posterior draws of smoothed votes shrink; the plug-in value keeps the unsmoothed shares."""
    counts = np.array([[5, 0], [4, 1], [0, 5]])
    annotations = pt.Annotations.from_counts(counts)
    truth = pt.infer_truth(annotations, method="dirichlet")
    predictions = pt.Predictions.from_labels({"a": np.array([0, 0, 1])}, 2)
    found = pt.expected_confusion(predictions, truth, method="draws")
    assert found.plug_in[0, 0] == pytest.approx(14 / 15, rel=ROUND_OFF)
    assert found.values[0, 0] < found.plug_in[0, 0]
