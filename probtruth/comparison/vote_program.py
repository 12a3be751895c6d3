"""The NumPyro program that `compare` fits to votes under `engine="nuts"`."""

import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax import Array
from jaxtyping import Float, Int

# Standard deviations of the priors, in log-odds, where one unit is a preference of 0.73
STRENGTHS = 2.0  # of the spread of the models' strengths
SPREADS = 1.0  # of every other spread
SIDE = 1.0  # of the advantage of the left answer
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
    sides: Int[Array, " side"],
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
        outcome: 0 where the left answer is preferred, 1 for a tie, 2 for the right one.
        count: how many votes.
        model: whose each answer is.
        models, prompts, pairs, annotators, sides: how many votes each of them has. There are no effects of answers with
            fewer than two prompts, of annotators with fewer than two, and none of pairs and sides where these are none.
    """
    spread = numpyro.sample("spread", dist.HalfNormal(STRENGTHS))
    scaled = numpyro.sample("scaled", dist.ZeroSumNormal(1.0, models.shape))
    strength = numpyro.deterministic("strength", spread * scaled)
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
    side = numpyro.sample("side", dist.Normal(0.0, SIDE)) if len(sides) else 0.0
    if len(annotators) > 1:
        of_attention = numpyro.sample("of_attention", dist.HalfNormal(SPREADS))
        of_ties = numpyro.sample("of_ties", dist.HalfNormal(SPREADS))
        of_sides = numpyro.sample("of_sides", dist.HalfNormal(SPREADS)) if len(sides) else 0.0
        with numpyro.plate("annotator", len(annotators)):
            habits = numpyro.sample("habits", dist.Normal(0.0, 1.0).expand([3]).to_event(1))
        of_row = (habits * jnp.stack([of_attention, of_ties, of_sides]))[annotator]
        ahead = jnp.exp(of_row[:, 0]) * ahead
        log_ties = log_ties + of_row[:, 1]
        side = side + of_row[:, 2]
    eta = ahead + side
    logits = jnp.stack([eta / 2, jnp.broadcast_to(log_ties, eta.shape), -eta / 2], axis=-1)
    with numpyro.plate("row", len(outcome)), numpyro.handlers.scale(scale=count):
        numpyro.sample("votes", dist.Categorical(logits=logits), obs=outcome)
