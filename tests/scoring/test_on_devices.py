"""Arrays of JAX are scored where they lie, with the results of the host to the rounding of their type."""

import os
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import probtruth as pt

N, K = 400, 4
ROUNDING = {np.float32: 4e-6, np.float64: 4e-15}
"""K = 4 terms of size up to about 10, each rounded and added up: below 10 K eps, with room for log and exp."""


def tables(kind=np.float32, n=N, seed=0):
    """Truth, and the forecasts of two models, with zeros that cost nothing and one that costs everything."""
    rng = np.random.default_rng(seed)
    truth, one, other = (rng.dirichlet(np.ones(K), n).astype(kind) for _ in range(3))
    one[3] = truth[3] = np.eye(K)[1]
    other[5], truth[5] = np.eye(K)[0], np.eye(K)[2]
    return truth, {"a": one, "b": other}


def both(kind=np.float32, estimand="distribution", x64=False):
    """Predictions and truth on the host, and the same on a device."""
    truth, models = tables(kind)
    with jax.enable_x64(x64 or kind is np.float64):
        moved = {name: jnp.asarray(table) for name, table in models.items()}
        return (
            (pt.Predictions.from_probs(models), pt.Truth.from_probs(truth, estimand=estimand)),
            (pt.Predictions.from_probs(moved), pt.Truth.from_probs(jnp.asarray(truth), estimand=estimand)),
        )


NARROW, WIDE = (np.float32, None), (np.float64, 0.01)


@pytest.mark.parametrize(
    ("rule", "kind", "floor"),
    [
        ("log", *NARROW),
        ("brier", *WIDE),
        ("ranked-probability", *NARROW),
        ("manhattan", np.float32, 0.01),
        *(
            pytest.param(rule, *options, marks=pytest.mark.long)
            for rule, options in (("log", WIDE), ("brier", NARROW), ("ranked-probability", WIDE))
        ),
        *(pytest.param("spherical", *options, marks=pytest.mark.long) for options in (NARROW, WIDE)),
    ],
)
def test_scores_are_those_of_the_host(rule, kind, floor):
    held, there = both(kind)
    want, got = pt.score(*held, rule=rule, floor=floor), pt.score(*there, rule=rule, floor=floor)
    assert isinstance(there[0].log_probs, jax.Array)
    if rule != "manhattan":  # a distance to the shares has no losses by label
        assert isinstance(got.label_values, jax.Array)
        assert got.label_values.dtype == kind
    assert got.values.dtype == np.float64
    np.testing.assert_allclose(got.values, want.values, rtol=0, atol=ROUNDING[kind])
    np.testing.assert_array_equal(np.isinf(got.values), np.isinf(want.values))
    for fact in ("entropy", "baseline"):
        assert getattr(got.known, fact) == pytest.approx(getattr(want.known, fact), abs=ROUNDING[kind])


@pytest.mark.long
@pytest.mark.parametrize("estimand", ["distribution", "class"])
def test_the_verdict_is_that_of_the_host(estimand):
    truth, models = tables()
    moved = {name: jnp.asarray(table) for name, table in models.items()}
    options = {"estimand": estimand, "rule": "brier", "engine": "exact"}
    want = pt.evaluate(truth, models, **options)
    got = pt.evaluate(jnp.asarray(truth), moved, **options)
    rows = zip(want.comparison.pairwise().rows(), got.comparison.pairwise().rows(), strict=True)
    for one, other in rows:
        assert other[:2] == one[:2]
        assert other[2] == pytest.approx(one[2], abs=ROUNDING[np.float32])
        assert other[5] == pytest.approx(one[5], abs=1e-4)  # a shift of 4e-6 in units of a standard error of 0.02
    shares = [result.comparison.uncertainty["labels"] for result in (want, got)]
    assert shares[0] == pytest.approx(shares[1], abs=1e-4)
    assert (shares[0] is None) == (estimand == "distribution")
    assert got.to_dict()["models"][0]["entropy"] == pytest.approx(want.to_dict()["models"][0]["entropy"], abs=1e-6)


def test_names_bring_rows_and_labels_into_order():
    truth, models = tables()
    items, labels = [f"i{N - row}" for row in range(N)], list("dbca")
    orders = {"items": items, "labels": labels}
    held = pt.Predictions.from_probs(models, **orders)
    there = pt.Predictions.from_probs({name: jnp.asarray(table) for name, table in models.items()}, **orders)
    some = pt.Truth.from_probs(
        truth[: N // 2, :3] / truth[: N // 2, :3].sum(1, keepdims=True), items[: N // 2], list("abc")
    )
    np.testing.assert_allclose(
        pt.score(there, some).values, pt.score(held, some).values, rtol=0, atol=ROUNDING[np.float32]
    )


def broken(kind, row, cells):
    table = np.full((50, K), 0.25, np.float32)
    if kind != "probs":
        table = np.log(table)
    table[row] = cells
    return table


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        ("probs", [0.5, 0.5, 0.1, 0.0]),
        ("probs", [-0.5, 0.5, 1.0, 0.0]),
        ("probs", [np.nan, 0.5, 0.5, 0.0]),
        ("log_probs", [0.0, 0.0, -np.inf, -np.inf]),
        ("log_probs", [np.nan, 0.0, -np.inf, -np.inf]),
        ("logits", [np.inf, 0.0, 0.0, 0.0]),
        ("logits", [-np.inf] * K),
    ],
)
def test_an_error_names_the_row_as_on_the_host(kind, cells):
    make = getattr(pt.Predictions, f"from_{kind}")
    texts = []
    for move in (np.asarray, jnp.asarray):
        with pytest.raises(pt.InputError) as error:
            make({"a": move(broken(kind, 31, cells))})
        texts.append(str(error.value))
    assert texts[0] == texts[1]
    assert "item '31'" in texts[1]
    if kind == "probs":
        with pytest.raises(pt.InputError, match="item 31"):
            pt.Truth.from_probs(jnp.asarray(broken(kind, 31, cells)))


def test_one_program_a_shape(compiled):
    options = {"rule": "brier", "floor": 0.001}
    counts = []
    for n in (64, 64, 96):
        truth, models = tables(n=n, seed=n)
        moved = [jax.device_put(table) for table in (truth, *models.values())]
        compiled.clear()
        made = pt.Predictions.from_probs({"a": moved[1], "b": moved[2]}), pt.Truth.from_probs(moved[0])
        counts.append([len(compiled)])
        for work in (pt.score, pt.decompose):
            compiled.clear()
            work(*made, **options)
            counts[-1].append(len(compiled))
    first, again, other = counts
    assert again == [0, 0, 0]
    assert other[0] <= 4  # checks, logarithms, and one table of both
    assert other[1] <= 2  # losses; entropy and mean label
    assert first >= other


SHARDED = """
import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

import probtruth as pt

assert jax.device_count() == 4
rng = np.random.default_rng(0)
truth, one, other = (rng.dirichlet(np.ones(4), 4 * 250).astype(np.float32) for _ in range(3))
spread = NamedSharding(jax.make_mesh((4,), ("item",)), PartitionSpec("item"))
alone = jax.devices()[1]


def answers(where):
    moved = [jax.device_put(table, where) for table in (truth, one, other)]
    logs = [jax.device_put(np.log(table), where) for table in (one, other)]
    with jax.transfer_guard("disallow"):
        soft = pt.Truth.from_probs(moved[0], estimand="class")
        made = pt.Predictions.from_probs({"a": moved[1], "b": moved[2]})
        assert made.log_probs.devices() == moved[1].devices()
        by_logs = pt.Predictions.from_log_probs({"a": logs[0], "b": logs[1]})
        by_logits = pt.Predictions.from_logits({"a": logs[0], "b": logs[1]})
        values = [pt.score(some, soft, rule).values for some in (made, by_logs, by_logits) for rule in ("log", "brier")]
        means = pt.rules.mean_scores(moved[1], moved[0])
    with jax.transfer_guard_device_to_host("disallow"):
        parts = pt.decompose(made, soft).to_numpy()[:, 1:].astype(float)
        counts = pt.expected_confusion(made, soft).counts
        error = pt.calibration.calibration_error(made, soft, n_resamples=3)["error"].to_numpy()
        result = pt.evaluate(soft, made, engine="exact")
    pair = result.comparison.pairwise().select("difference", "low", "high", "p_a_better").to_numpy()
    labels = np.array([result.comparison.uncertainty["labels"]])
    return [*values, parts, counts, error, means.means, pair, labels]


for got, want in zip(answers(spread), answers(alone), strict=True):
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)  # float32 kernels in other shapes
try:
    np.asarray(jax.device_put(truth, spread))
    with jax.transfer_guard("disallow"):
        np.asarray(jax.device_put(one, spread))
except Exception as error:
    assert "Disallowed device-to-host" in str(error), error
    print("passed")
"""


@pytest.mark.process
def test_items_spread_over_devices_give_the_values_of_one_and_stay_there():
    flags = {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(SHARDED)],
        env={**os.environ, **flags, "JAX_PLATFORMS": "cpu"}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "passed", done.stderr[-6000:]
