"""Fed in any way, the same numbers; each item once; what cannot be watched is said."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_scores import make, side_by_side

import probtruth as pt
from probtruth.types import Partition, RuleFacts

N = 150
RNG = np.random.default_rng(0)
SCORES = np.stack([RNG.random(N) < 0.55, RNG.random(N) < 0.8]).astype(float)


def table(n=N, clusters=None, order=None):
    """Rows item by item, the two models of an item one after the other."""
    rows = {
        "item": [f"i{k}" for k in range(n) for _ in range(2)],
        "model": ["x", "y"] * n,
        "score": SCORES[:, :n].T.ravel().tolist(),
    }
    if clusters is not None:
        rows["cluster"] = [f"c{clusters[k]}" for k in range(n) for _ in range(2)]
    return rows if order is None else {name: [column[row] for row in order] for name, column in rows.items()}


def monitor(batch, earlier=None, **options):
    """The first batch holds losses, unless said otherwise."""
    first = earlier is None and not isinstance(batch, pt.Scores)
    return pt.monitor(batch, earlier, **({"higher_is_better": False} if first else {}) | options)


def cut(rows, start, stop):
    return {name: column[start:stop] for name, column in rows.items()}


def numbers(watch):
    return {key: value for key, value in watch.to_dict().items() if key not in ("skipped", "waiting")}


def test_numbers_by_hand():
    watch = monitor(table(), bounds=(0, 1), higher_is_better=True, rope=0.01)
    assert (watch.a, watch.b, watch.method, watch.n_items, watch.n_units) == ("x", "y", "betting", N, N)
    assert watch.difference == pytest.approx(float((SCORES[0] - SCORES[1]).mean()), rel=1e-12)
    assert watch.decision == "b"
    low, high = watch.interval
    assert low < watch.difference < high < 0
    assert watch.e_b_better > 40 > 1 > watch.e_a_better
    assert watch.p_value <= 2 / watch.e_b_better


def test_beside_it_stands_the_posterior_of_compare():
    watch = monitor(table(), bounds=(0, 1))
    scores = pt.Scores.from_frame(table(), higher_is_better=False)
    row = pt.compare(scores, engine="exact").pairwise().row(0, named=True)
    assert watch.p_a_better == pytest.approx(row["p_a_better"], abs=1e-9)
    assert watch.difference == pytest.approx(row["difference"], rel=1e-12)


@settings(deadline=None, max_examples=12, derandomize=True)
@given(st.lists(st.integers(0, 2 * N), max_size=6), st.booleans())
def test_any_split_into_batches_gives_the_same_bits(cuts, clustered):
    rows = table(clusters=[k // 3 for k in range(N)] if clustered else None)
    options = {"cluster": "cluster", "largest_cluster": 3} if clustered else {}
    whole = monitor(rows, bounds=(0, 1), close=True, **options)
    watch, left = None, {name: [] for name in rows}
    for start, stop in pairwise([0, *sorted(cuts), 2 * N]):
        batch = {name: left[name] + column for name, column in cut(rows, start, stop).items()}
        whole_items = len(batch["item"]) // 2 * 2  # the second score of an item comes with the next batch
        left = {name: column[whole_items:] for name, column in batch.items()}
        if not batch["item"]:
            continue
        if watch is None:
            watch = monitor(batch, a="x", b="y", bounds=(0, 1), **options)
        else:
            watch = monitor(batch, watch, cluster=options.get("cluster"))
    watch = monitor(rows, watch, cluster=options.get("cluster"), close=True)
    assert (watch.skipped, watch.waiting) == (N, 0)
    assert numbers(watch) == numbers(whole)
    assert watch.path(3).equals(whole.path(3))


def test_an_item_arrives_with_its_second_score():
    rows = {"item": ["p", "q", "q", "p"], "model": ["x", "x", "y", "y"], "score": [0, 0, 1, 0]}
    assert monitor(rows, bounds=(0, 1)).differences == [-1, 0]


def test_scores_know_the_bounds_of_their_rule_and_their_clusters():
    values = np.random.default_rng(1).uniform(0, 2, (3, 40))
    clusters = Partition(np.arange(40) // 4, tuple(f"{k:02d}" for k in range(10)))
    scores = make(values, ["a", "b", "c"], known=RuleFacts(range=(0.0, 2.0)), clusters=clusters)
    watch = pt.monitor(scores, a="c", b="a", largest_cluster=4)
    assert (watch.bounds, watch.n_units, watch.n_items) == ((0.0, 2.0), 9, 36)
    assert watch.differences == (values[2] - values[0]).tolist()


def test_labels_of_annotators_who_label_many_items_are_said(tmp_path):
    """`compare` counts what annotators share; the monitor left it out without a word."""
    votes = {"item": np.repeat(np.arange(40), 3), "annotator": np.tile(list("uvw"), 40), "label": [0, 1, 1] * 40}
    truth = pt.infer_truth(pt.Annotations.from_long(votes), "vote-share")
    scores = pt.score({"a": [[0.4, 0.6]] * 40, "b": [[0.2, 0.8]] * 40}, truth, "brier")
    watch = pt.monitor(scores)
    assert any("against these labels" in said for said in watch.warnings)
    watch.save(tmp_path / "state.json")
    assert pt.monitor(earlier=tmp_path / "state.json").warnings == watch.warnings
    certain = pt.score({"a": [[0.4, 0.6]] * 40, "b": [[0.2, 0.8]] * 40}, pt.Truth.from_labels([0, 1] * 20, 2), "brier")
    assert not any("against these labels" in said for said in pt.monitor(certain).warnings)


def test_a_cluster_counts_when_it_is_complete():
    rows = table(7, clusters=[0, 0, 0, 1, 1, 2, 2])
    watch = monitor(rows, bounds=(0, 1), cluster="cluster", largest_cluster=3)
    assert (watch.n_units, watch.n_items, watch.to_dict()["pending"]) == (2, 5, 2)
    closed = monitor(rows, watch, cluster="cluster", close=True)
    assert (closed.n_units, closed.n_items) == (3, 7)
    d = SCORES[0] - SCORES[1]
    assert closed.evidence.total.tolist() == [d[:3].sum(), d[3:5].sum(), d[5:7].sum()]


def test_a_cluster_that_was_closed_takes_no_more_items():
    rows = table(7, clusters=[0, 0, 1, 1, 1, 2, 2])
    watch = monitor(cut(rows, 0, 8), bounds=(0, 1), cluster="cluster", largest_cluster=3, close=True)
    with pytest.raises(pt.InputError, match=r"items of cluster 'c1' after another cluster had begun or it was closed"):
        monitor(cut(rows, 8, 14), watch, cluster="cluster")
    assert monitor(cut(rows, 10, 14), watch, cluster="cluster", close=True).n_units == 3


def test_equivalence_within_the_rope():
    rows = side_by_side(x=[0.5] * 4000, y=[0.5] * 4000)
    watch = monitor(rows, bounds=(0, 1), rope=0.01)
    assert watch.decision == "equivalent"
    assert monitor(rows, bounds=(0, 1)).decision is None


def test_a_drift_is_said():
    watch = monitor(side_by_side(x=[1] * 400 + [0] * 1500, y=[0] * 400 + [1] * 1500), bounds=(0, 1))
    assert watch.interval[0] > watch.interval[1]
    assert any("drifted" in said for said in watch.warnings)


@pytest.mark.parametrize(("spread", "warned"), [(0.5, False), (1.5, True)])
def test_tails_that_raise_more_false_alarms_are_named(spread, warned):
    loss = np.random.default_rng(1).lognormal(0, spread, 300)
    watch = monitor(side_by_side(a=loss, b=0 * loss), method="asymptotic")
    assert any("far from normal" in said for said in watch.warnings) == warned


def test_differences_that_follow_each_other_are_named():
    """AR(1) of correlation .5: .45 false alarms without a word."""
    shock = np.random.default_rng(2).uniform(-0.5, 0.5, (200, 300))
    for at in range(1, 300):
        shock[:, at] = 0.5 * shock[:, at - 1] + 0.5 * shock[:, at]
    said = {"apart": 0, "alike": 0}
    for row in shock[:40]:
        for name, d in (("alike", row), ("apart", np.random.default_rng(3).permutation(row))):
            watch = monitor(side_by_side(a=d, b=0 * d), bounds=(-1, 1))
            said[name] += any("follow each other" in line for line in watch.warnings)
    assert said["alike"] == 40
    assert said["apart"] <= 2  # .005 nominal


def test_asymptotic_where_nothing_bounds_the_scores():
    x, y = np.random.default_rng(0).normal(0, 9, (2, 600))
    watch = monitor(side_by_side(x=x, y=y), method="asymptotic")
    assert (watch.bounds, watch.method) == (None, "asymptotic")
    assert watch.interval[0] < watch.difference < watch.interval[1]
    assert "asymptotic" in watch.warnings[0]
    first = monitor(side_by_side(x=x[:60], y=y[:60]), method="asymptotic")
    assert first.warnings[1] == "there is no evidence before 100 units; here are 60"
    path = watch.path(20)
    assert math.isinf(path["low"][0])
    assert (path["low"][-1], path["high"][-1]) == watch.interval
    running = [(x - y)[:n].mean() for n in path["n_items"]]
    np.testing.assert_allclose(path["difference"], running, rtol=1e-9, atol=1e-12)


def test_nothing_yet():
    rows = {"item": ["p"], "model": ["x"], "score": [0.5]}
    watch = monitor(rows, a="x", b="y", bounds=(0, 1))
    assert (watch.n_items, watch.waiting, watch.difference, watch.p_value) == (0, 1, None, 1.0)
    assert (watch.e_a_better, watch.interval, watch.p_a_better) == (1.0, (-1.0, 1.0), None)
    assert watch.path().height == 0


WATCH = monitor(table(20), bounds=(0, 1))
GROUPED = monitor(table(4, clusters=[0, 0, 1, 1]), bounds=(0, 1), cluster="cluster", largest_cluster=2)


@pytest.mark.parametrize("gap", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("n", [2, 5, 30, 300])
def test_one_difference_on_every_item_is_no_certainty(gap, n):
    # as `compare` says it, of scores whose bounds it knows or does not
    rows = side_by_side(x=[gap] * n, y=[0.0] * n)
    scores = pt.Scores.from_frame(rows, higher_is_better=False)
    bounded = pt.compare(replace(scores, known=RuleFacts(range=(0.0, 1.0))), engine="exact").pairs[0]
    assert monitor(rows, bounds=(0, 1)).p_a_better == bounded["p_a_better"]
    assert monitor(rows, method="asymptotic").p_a_better == (None if gap else 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: monitor(table()), "or where there are none method='asymptotic' (--method asymptotic)"),
        (lambda: monitor(table(), bounds=(0, 1), method="asymptotic"), "or method 'asymptotic'"),
        (lambda: monitor(table(), bounds=(1, 0)), "bounds 1 and 0, expected the lower one first"),
        (lambda: monitor(table(), bounds=3), "two numbers"),
        (lambda: monitor(table(), bounds=(0, math.inf)), "bound inf"),
        (lambda: monitor(table(), bounds=(0, 0.5)), "on item 'i0', expected a number from 0 to 0.5"),
        (
            lambda: monitor({**table(), "score": [math.nan] * 2 * N}, bounds=(0, 1)),
            "row 1: got score nan of model 'x' on item 'i0'",
        ),
        (lambda: monitor({**table(), "score": [math.inf] * 2 * N}, method="asymptotic"), "score inf"),
        (lambda: monitor(table(), bounds=(0, 1), method="guess"), "method 'guess'"),
        (lambda: monitor(table(), bounds=(0, 1), alpha=1.5), "alpha 1.5, expected a number"),
        (lambda: monitor(table(), bounds=(0, 1), rope=-1), "rope"),
        (lambda: monitor(table(), bounds=(0, 1), a="x"), "no b"),
        (lambda: monitor(table(), bounds=(0, 1), a="x", b="x"), "'x' twice"),
        (lambda: monitor({**table(), "model": ["x", "y", "z"] * 100}, bounds=(0, 1)), "3 models"),
        (lambda: monitor({**table(), "item": ["i"] * 2 * N}, bounds=(0, 1)), "row 3: got item 'i', model 'x' twice"),
        (lambda: monitor(table(), {"a": 1}), "dict, expected a Monitor"),
        (lambda: monitor(table(), WATCH, alpha=0.1), "alpha '0.1' with a monitor that has '0.05'"),
        (lambda: monitor(table(), WATCH, method="asymptotic"), "with a monitor that has 'betting'"),
        (lambda: monitor({**table(1), "score": [0.2, 0.9]}, WATCH), "item 'i0' again, with another difference"),
        (lambda: monitor(table(clusters=range(N)), WATCH, cluster="cluster"), "clusters in some batches only"),
        (
            lambda: monitor(table(clusters=range(N)), bounds=(0, 1), cluster="cluster"),
            "clusters without their largest",
        ),
        (
            lambda: monitor(table(5, [0] * 5), bounds=(0, 1), cluster="cluster", largest_cluster=4),
            "cluster 'c0' with more than 4 items, expected at most 4",
        ),
        (
            lambda: monitor(table(3, [0, 1, 0]), bounds=(0, 1), cluster="cluster", largest_cluster=4),
            "items of cluster 'c0' after another",
        ),
        (
            lambda: monitor(cut(table(5, [0, 0, 1, 1, 0]), 8, 10), GROUPED, cluster="cluster"),
            "items of cluster 'c0' after another",
        ),
        (
            lambda: monitor({**table(2, [0, 1]), "cluster": ["p", "q", "r", "r"]}, bounds=(0, 1), cluster="cluster",
                               largest_cluster=2),
            "item 'i0' in two clusters",
        ),
    ],
)  # fmt: skip
def test_errors(call, message):
    with pytest.raises(pt.InputError) as error:
        call()
    assert message in str(error.value)
