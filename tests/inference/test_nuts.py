import os
import subprocess
import sys

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest

from probtruth.inference import nuts
from probtruth.inference.diagnostics import convergence, mean_with_error

MONTE_CARLO = 5.0


def line(x, y, cliff):
    """A slope, and a place from which on the density falls off: one program, compiled once for all tests."""
    slope = numpyro.sample("slope", dist.Normal(0, 1))
    spread = numpyro.sample("spread", dist.Gamma(5, 5))
    numpyro.deterministic("twice", 2 * slope)
    numpyro.deterministic("root", spread**0.5)
    numpyro.sample("y", dist.Normal(slope * x, 1).to_event(1), obs=y)
    numpyro.factor("drop", jax.numpy.where(slope > cliff, -1e4 * slope, 0.0))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    return {"x": x, "y": 0.7 * x + rng.normal(size=30), "cliff": np.array(np.inf)}


@pytest.fixture(scope="module")
def draws(data):
    return nuts.sample(line, data, 1, draws=1000)


def test_draws_are_those_of_the_conjugate_posterior(draws, data):
    precision = 1 + (data["x"] ** 2).sum()
    wanted = (data["x"] * data["y"]).sum() / precision
    slope = draws.sites["slope"]
    assert slope.shape == (4, 1000)
    assert slope.dtype == np.float64
    for values, value in ((slope, wanted), ((slope - wanted) ** 2, 1 / precision)):
        mean, error = mean_with_error(values)
        assert abs(mean - value) < MONTE_CARLO * error
    np.testing.assert_array_equal(draws.sites["twice"], 2 * slope)
    assert (draws.sites["spread"] > 0).all()
    rhat, ess = convergence(draws.sites)
    assert rhat < 1.01
    assert ess > 400


def test_figures_of_the_sampler(draws):
    assert set(draws.stats) == {"diverging", "energy", "n_steps", "acceptance_rate", "lp"}
    assert not draws.stats["diverging"].any()
    assert 0.6 < draws.stats["acceptance_rate"].mean() < 1


def test_the_same_seed_gives_the_same_draws_and_another_seed_others(draws, data):
    np.testing.assert_array_equal(nuts.sample(line, data, 1, draws=1000).sites["slope"], draws.sites["slope"])
    assert not np.array_equal(nuts.sample(line, data, 2, draws=1000).sites["slope"], draws.sites["slope"])


def test_new_data_of_the_same_shape_compile_nothing(data, compiled):
    nuts.sample(line, data, 1, draws=1000)
    compiled.clear()
    nuts.sample(line, {name: values + 0.1 for name, values in data.items()}, 3, draws=1000)
    assert compiled == []


def test_the_callers_precision_stays_and_draws_are_as_many_as_enough(data):
    heard = []
    assert jax.config.jax_enable_x64 is False
    found = nuts.sample(line, data, 1, draws=150, enough=lambda run: heard.append(run) or len(heard) == 2)
    assert jax.config.jax_enable_x64 is False
    assert jax.numpy.ones(1).dtype == np.float32
    assert [run.sites["slope"].shape for run in heard] == [(4, 150), (4, 300)]
    np.testing.assert_array_equal(found.sites["slope"][:, :150], heard[0].sites["slope"])


def test_a_program_that_diverges_says_so(data):
    assert nuts.sample(line, {**data, "cliff": np.array(0.7)}, 0, draws=300).stats["diverging"].any()


@pytest.mark.process
def test_the_cpu_samples_whatever_the_default_device_is():
    code = """
import jax, numpy as np, numpyro, numpyro.distributions as dist
from probtruth.inference import nuts

compiled = []

def hear(event, _, **about):
    if event == "/jax/core/compile/backend_compile_duration":
        compiled.append(about.get("fun_name", "?"))

def program(unit):
    numpyro.sample("place", dist.Normal(0, unit))

jax.monitoring.register_event_duration_secs_listener(hear)
draws, chunks = [], []
for device in jax.devices():
    with jax.default_device(device):
        draws.append(nuts.sample(program, {"unit": np.ones(())}, 0, draws=100).sites["place"])
    chunks.append(sum("chunk" in name for name in compiled))
print(np.array_equal(*draws), *chunks)
"""
    flags = {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"}
    environment = {**os.environ, **flags, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "True 1 1", done.stderr[-2000:]
