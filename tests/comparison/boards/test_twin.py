"""The program that `compare` fits, of a board with holes, beside a twin on the scores themselves."""

from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from made_scores import make
from numpyro import handlers

import probtruth as pt
from probtruth.inference import nuts
from probtruth.inference.diagnostics import mean_with_error

MONTE_CARLO = 5.0  # Standard errors of a mean of draws
WIDE = 10.0  # Standard deviation of priors as good as flat, where means are known to a tenth
N = 400
# The error of a standard error that comes from how much 400 items vary, about 1/sqrt(2 * 300), three times
OF_VARIANCE = 0.12


def twin(scores: jax.Array) -> None:
    """A mean of each model, what each item is worth and errors of one spread; of the worth the prior is flat, and it is
    integrated out: errors of k scores of an item about their own mean have k - 1 dimensions."""
    mean = numpyro.sample("mean", dist.ZeroSumNormal(WIDE, scores.shape[:1]))
    log_sd = numpyro.sample("log_sd", dist.Normal(0.0, WIDE))
    seen = ~jnp.isnan(scores)
    error = jnp.where(seen, jnp.nan_to_num(scores) - mean[:, None], 0.0)
    rest = jnp.where(seen, error - error.sum(0) / seen.sum(0), 0.0)
    free = (seen.sum(0) - 1).sum()
    numpyro.factor("scores", -0.5 * (rest**2).sum() * jnp.exp(-2 * log_sd) - free * log_sd)


def holed(seed: int) -> np.ndarray:
    """Holes that follow difficulty: models 1 and 3 lack most hard items."""
    rng = np.random.default_rng(seed)
    worth = 2 * rng.standard_normal(N)
    values = worth + np.array([[0.0], [0.2], [0.3], [0.1]]) + rng.standard_normal((4, N))
    holes = rng.random(values.shape) < 0.2
    holes[1::2] |= (worth > 0.5) & (rng.random(N) < 0.7)
    values[holes] = np.nan
    return values[:, ~np.isnan(values).all(0)]


@pytest.mark.long
def test_the_program_observes_a_board_and_has_the_posterior_of_its_raw_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sampler is given the means of least squares, with the variances that the items' influences give."""
    given = []
    sample = nuts.sample

    def watched(program, data, *positional, **named):
        given.append((program, data))
        return sample(program, data, *positional, **named)

    monkeypatch.setattr("probtruth.comparison.posterior.drawn.sample", watched)
    values = holed(0)
    board = pt.compare(make(values, higher_is_better=False), engine="nuts")
    ((program, data),) = given
    assert program is pt.program
    arrays = jax.tree.map(jnp.asarray, data)
    sites = handlers.trace(handlers.seed(program, jax.random.key(0))).get_trace(**arrays)
    assert sites["observed_mean"]["is_observed"]
    np.testing.assert_allclose(sites["observed_mean"]["value"], data["mean"][0])
    drawn = sample(twin, {"scores": values}, 0, draws=500).sites["mean"]
    exact = pt.compare(make(values, higher_is_better=False), engine="exact")
    for (a, b), row, other in zip(combinations(range(4), 2), board.pairs, exact.pairs, strict=True):
        assert row.difference == other.difference
        assert row.high - row.low == pytest.approx(other.high - other.low, rel=0.05)  # of 10,000 draws
        difference = drawn[..., a] - drawn[..., b]
        mean, error = mean_with_error(difference)
        assert abs(mean - row.difference) < MONTE_CARLO * error
        low, high = np.quantile(difference, [0.025, 0.975])
        assert row.high - row.low == pytest.approx(high - low, rel=OF_VARIANCE)
        assert row.p_a_better == pytest.approx((difference < 0).mean(), abs=0.07)
