"""The NumPyro program that `compare` fits to votes under `engine="nuts"`."""

from typing import Any, ClassVar

import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax import Array, lax
from jaxtyping import Float, Int

# Standard deviations of the priors, in log-odds, where one unit is a preference of 0.73
STRENGTHS = 2.0  # of the spread of the models' strengths
SPREADS = 1.0  # of every other spread
TIES = 2.0  # of the logarithm of the weight of ties


def program(
    left: Int[Array, " row"],
    right: Int[Array, " row"],
    pair: Int[Array, " row"],
    toward: Float[Array, " row"],
    annotator: Int[Array, " row"],
    outcome: Int[Array, " row"],
    count: Float[Array, " row"],
    model: Int[Array, " answer"],
    models: Int[Array, " model"],
    prompts: Int[Array, " prompt"],
    pairs: Int[Array, " pair"],
    annotators: Int[Array, " annotator"],
    sides: Float[Array, ""],
) -> None:
    r"""Votes on pairs of answers: strengths of models, answers, pairs of answers, and the annotators' habits.

    Formula: the quality of an answer is $q = \theta_{model} + \sigma z$; annotator w prefers the left answer, ties or
    prefers the right one with probabilities as $e^{\eta/2} : e^{\nu + \nu_w} : e^{-\eta/2}$ with
    $\eta = a_w (q_{left} - q_{right} + v_{pair}) + s + s_w$. Strengths sum to 0; all spreads are learned, those of
    attention ($\log a_w$), of the habits of tying ($\nu_w$) and of preferring the left answer ($s_w$) too.

    Arguments:
        left, right: the answers of each row, which is what votes with all in common say together.
        pair: its pair of answers.
        toward: 1 where the pair's first answer is the left one, else -1.
        annotator: who voted.
        outcome: 1 where the left answer is preferred, 0 for a tie, -1 for the right one.
        count: how many votes.
        model: whose each answer is.
        models, prompts, pairs, annotators: how many votes each of them has. There are no effects of answers with fewer
            than two prompts, of annotators with fewer than two, and of pairs where there are none.
        sides: the standard deviation of the prior of s and of the spread of the habits; 0 where sides are not recorded.
    """
    spread = numpyro.sample("spread", dist.HalfNormal(STRENGTHS))
    strength = numpyro.sample("strength", dist.ZeroSumNormal(spread, models.shape))
    quality = strength[model]
    if len(prompts) > 1:
        of_answers = numpyro.sample("of_answers", dist.HalfNormal(SPREADS))
        with numpyro.plate("answer", len(model)):
            quality = quality + of_answers * numpyro.sample("taste", dist.Normal(0.0, 1.0))
    ahead = quality[left] - quality[right]
    if len(pairs):
        of_pairs = numpyro.sample("of_pairs", dist.HalfNormal(SPREADS))
        with numpyro.plate("pair", len(pairs)):
            together = of_pairs * numpyro.sample("together", dist.Normal(0.0, 1.0))
        ahead = ahead + toward * together[pair]
    log_ties = numpyro.sample("log_ties", dist.Normal(0.0, TIES))
    side = numpyro.deterministic("side", sides * numpyro.sample("standard_side", dist.Normal(0.0, 1.0)))
    if len(annotators) > 1:
        of_attention = numpyro.sample("of_attention", dist.HalfNormal(SPREADS))
        of_ties = numpyro.sample("of_ties", dist.HalfNormal(SPREADS))
        standard = numpyro.sample("standard_of_sides", dist.HalfNormal(1.0))
        of_sides = numpyro.deterministic("of_sides", sides * standard)
        with numpyro.plate("annotator", len(annotators)):
            habits = numpyro.sample("habits", dist.Normal(0.0, 1.0).expand([3]).to_event(1))
        of_row = (habits * jnp.stack([of_attention, of_ties, of_sides]))[annotator]
        ahead = jnp.exp(of_row[:, 0]) * ahead
        log_ties = log_ties + of_row[:, 1]
        side = side + of_row[:, 2]
    with numpyro.plate("row", len(outcome)), numpyro.handlers.scale(scale=count):
        numpyro.sample("votes", Preference(ahead + side, jnp.broadcast_to(log_ties, ahead.shape)), obs=outcome)


class Preference(dist.Distribution):  # type: ignore[misc]  # NumPyro has no types
    """1, 0 or -1 with probabilities as exp(d/2) : weight of a tie : exp(-d/2); quicker than a categorical of these."""

    arg_constraints: ClassVar[dict[str, Any]] = {}
    support = dist.constraints.integer_interval(-1, 1)

    def __init__(self, difference: Array, log_ties: Array) -> None:
        self.difference = difference
        self.log_ties = log_ties
        super().__init__(batch_shape=difference.shape)

    def log_prob(self, value: Array) -> Array:
        half = self.difference / 2
        largest = lax.stop_gradient(jnp.maximum(jnp.abs(half), self.log_ties))
        of_all = jnp.exp(half - largest) + jnp.exp(-half - largest) + jnp.exp(self.log_ties - largest)
        of_value = value * half + jnp.where(value == 0, self.log_ties, 0.0)
        return jnp.asarray(of_value - largest - jnp.log(of_all))

    def sample(self, key: Array, sample_shape: tuple[int, ...] = ()) -> Array:
        logits = jnp.stack([self.difference / 2, self.log_ties, -self.difference / 2], axis=-1)
        return jnp.asarray(1 - dist.Categorical(logits=logits).sample(key, sample_shape))
