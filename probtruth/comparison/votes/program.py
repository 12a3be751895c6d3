"""The NumPyro program that `compare` fits to votes under `engine="nuts"`."""

from typing import Any, ClassVar

import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax import Array, lax
from jaxtyping import Float, Int

# Priors, in log-odds (one unit is a preference of 0.73). Spreads are log-normal: near 0 a sampler finds only a funnel.
STRENGTHS = (0.7, 1.0)  # The median of the spread of the models' strengths, and the sd of its logarithm
SPREADS = (0.4, 0.7)  # of every other spread but
ATTENTION = (0.4, 0.5)  # that of attention, which is a factor
TIES = 2.0  # Standard deviation of the logarithm of the weight of ties
SLOPES = 1.0  # and of what a covariate adds
FIRM = 20.0  # Votes that tell as much of an effect as its prior does


def program(
    first: Int[Array, " both"],
    second: Int[Array, " both"],
    pair: Int[Array, " row"],
    toward: Float[Array, " row"],
    annotator: Int[Array, " row"],
    outcome: Int[Array, " row"] | None,
    count: Float[Array, " row"],
    given: Float[Array, "row covariate"],
    model: Int[Array, " answer"],
    models: Int[Array, " model"],
    answers: Int[Array, " effect"],
    pairs: Int[Array, " pair"],
    annotators: Int[Array, " annotator"],
    sides: Float[Array, " side"],
) -> None:
    r"""Votes on pairs of answers: strengths of models, answers, pairs of answers, and the annotators' habits.

    Formula: the quality of an answer is $q = \theta_{model} + \sigma z$; annotator w prefers the left answer, ties or
    prefers the right one with probabilities as $e^{\eta/2} : e^{\nu + \nu_w} : e^{-\eta/2}$ with
    $\eta = a_w (q_{left} - q_{right} + v_{pair}) + x \beta + s + s_w$. Strengths sum to 0; all spreads are learned,
    those of attention ($\log a_w$), of the habits of tying ($\nu_w$) and of preferring the left answer ($s_w$) too.

    Arguments:
        first, second: the answers of each pair.
        pair: the pair of answers of each row, which is what votes with all in common say together.
        toward: 1 where the pair's first answer is the left one, else -1.
        annotator: who voted.
        outcome: 1 where the left answer is preferred, 0 for a tie, -1 for the right one; None to draw votes.
        count: how many votes.
        given: the covariates, left less right.
        model: whose each answer is.
        models, answers, pairs, annotators: how many votes each of them has. There are no effects of answers with fewer
            than two prompts, of annotators with fewer than two, and of pairs where there are none.
        sides: the standard deviation of the prior of s; empty where nothing says what stood left.
    """
    spread = numpyro.sample("spread", _log_normal(*STRENGTHS))
    share = _share(models.mean())
    strength = numpyro.sample("standard_strength", dist.ZeroSumNormal(spread**share, models.shape))
    strength = numpyro.deterministic("strength", spread ** (1 - share) * strength)
    quality = strength[model]
    if len(answers):
        quality = _effects("of_answers", answers, about=quality)
    of_pair = quality[first] - quality[second]
    if len(pairs):
        of_pair = of_pair + _effects("of_pairs", pairs)
    ahead = toward * of_pair[pair]
    log_ties = numpyro.sample("log_ties", dist.Normal(0.0, TIES))
    toward_left = jnp.zeros(())
    beside = given @ numpyro.sample("slopes", dist.Normal(0.0, SLOPES).expand(given.shape[1:]).to_event(1))
    if len(sides):
        side = numpyro.sample("standard_side", dist.Normal(0.0, 1.0))
        toward_left = numpyro.deterministic("side", sides[0] * side)
    if len(annotators) > 1:
        attention = _effects("of_attention", annotators, ATTENTION)
        ahead = jnp.exp(attention)[annotator] * ahead
        log_ties = _effects("of_ties", annotators, about=log_ties)[annotator]
        if len(sides):
            toward_left = _effects("of_sides", annotators, about=toward_left)[annotator]
    with numpyro.plate("row", len(pair)), numpyro.handlers.scale(scale=count):
        numpyro.sample(
            "votes", Preference(ahead + beside + toward_left, jnp.broadcast_to(log_ties, ahead.shape)), obs=outcome
        )


def _log_normal(median: float, sd: float) -> dist.Distribution:
    return dist.LogNormal(jnp.log(median), sd)


def _share(votes: Array) -> Array:
    """How far effects with so many votes are drawn in their own units, not in those of their spread."""
    return jnp.asarray(votes / (votes + FIRM))


def _effects(
    name: str,
    votes: Int[Array, " effect"],
    prior: tuple[float, float] = SPREADS,
    about: Float[Array, "*#effect"] | float = 0.0,
) -> Float[Array, " effect"]:
    """What they are about and normal effects with a learned spread.

    Those that votes tell much of move freely of the spread, and of what they are about; the others with both.
    """
    log_spread = jnp.log(numpyro.sample(name, _log_normal(*prior)))
    share = _share(votes)
    unit = jnp.exp((1 - share) * log_spread)
    with numpyro.plate(f"{name}_plate", len(votes)):
        free = dist.Normal(share * about / unit, jnp.exp(share * log_spread))
        found = unit * numpyro.sample(f"standard_{name}", free) + (1 - share) * about
    numpyro.deterministic(f"effects_{name}", found - about)
    return jnp.asarray(found)


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
