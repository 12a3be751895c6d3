"""The NumPyro program that `compare` fits to votes under `engine="nuts"`."""

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
        outcome: 0 where the left answer is preferred, 1 for a tie, 2 for the right one; None to draw votes.
        count: how many votes.
        given: the covariates, left less right.
        model: whose each answer is.
        models, answers, pairs, annotators: one entry for each that has effects. There are no effects of answers with
            fewer than two prompts, of annotators with fewer than two, and of pairs that no two votes share.
        sides: the standard deviation of the prior of s; empty where nothing says what stood left.
    """
    spread = _spread("spread", *STRENGTHS)
    strength = spread * numpyro.sample("standard_strength", dist.ZeroSumNormal(1.0, models.shape))
    strength = numpyro.deterministic("strength", strength)
    quality = _of(strength, model)
    if len(answers):
        quality = quality + _effects("of_answers", answers)
    of_pair = _of(quality, first) - _of(quality, second)
    if len(pairs):
        of_pair = of_pair + _effects("of_pairs", pairs)
    ahead = toward * _of(of_pair, pair)
    log_ties = numpyro.sample("log_ties", dist.Normal(0.0, TIES))
    toward_left = jnp.zeros(())
    beside = given @ numpyro.sample("slopes", dist.Normal(0.0, SLOPES).expand(given.shape[1:]).to_event(1))
    if len(sides):
        side = numpyro.sample("standard_side", dist.Normal(0.0, 1.0))
        toward_left = numpyro.deterministic("side", sides[0] * side)
    ties = jnp.exp(log_ties)
    if len(annotators) > 1:
        attention = _effects("of_attention", annotators, ATTENTION)
        log_ties = log_ties + _effects("of_ties", annotators)
        habits = [jnp.exp(attention), log_ties, jnp.exp(log_ties)]
        if len(sides):
            habits.append(toward_left + _effects("of_sides", annotators))
        of_votes = _of(jnp.stack(habits, axis=-1), annotator)  # all at once, which takes half as long
        ahead = of_votes[:, 0] * ahead
        log_ties = of_votes[:, 1]
        ties = of_votes[:, 2]
        if len(sides):
            toward_left = of_votes[:, 3]
    with numpyro.plate("row", len(pair)), numpyro.handlers.scale(scale=count):
        numpyro.sample("votes", Preference(ahead + beside + toward_left, log_ties, ties), obs=outcome)


def _spread(name: str, median: float, sd: float) -> Array:
    # a normal score, 0 at the median: the sampler starts there
    score = numpyro.sample(f"score_{name}", dist.Normal(0.0, 1.0))
    return jnp.asarray(numpyro.deterministic(name, median * jnp.exp(sd * score)))


def _of(effects: Float[Array, "effect ..."], place: Int[Array, " row"]) -> Float[Array, "row ..."]:
    # XLA would make each row's effect anew, which takes longer than all else
    return jnp.asarray(lax.optimization_barrier(effects)[place])


def _effects(name: str, votes: Int[Array, " effect"], prior: tuple[float, float] = SPREADS) -> Float[Array, " effect"]:
    """Normal effects with a learned spread, drawn in units of it: in their own, small sets of votes diverge."""
    spread = _spread(name, *prior)
    with numpyro.plate(f"{name}_plate", len(votes)):
        found = spread * numpyro.sample(f"standard_{name}", dist.Normal(0.0, 1.0))
    return jnp.asarray(numpyro.deterministic(f"effects_{name}", found))


class Preference(dist.CategoricalLogits):  # type: ignore[misc]  # NumPyro has no types
    """0, 1 or 2 with probabilities as exp(d/2) : weight of a tie : exp(-d/2), in half of a categorical's time."""

    def __init__(self, difference: Array, log_ties: Array, ties: Array) -> None:
        self.difference = difference
        self.log_ties = jnp.broadcast_to(log_ties, difference.shape)
        self.ties = ties  # exp(log_ties), which a program takes once for each annotator
        super().__init__(jnp.stack([difference / 2, self.log_ties, -difference / 2], axis=-1))

    def log_prob(self, value: Array) -> Array:
        half = self.difference / 2
        size = jnp.abs(half)  # half of what the likelier model weighs, by which all is divided
        less = jnp.exp(-size)
        of_all = 1 + less * (less + self.ties)
        of_value = (1 - value) * half + jnp.where(value == 1, self.log_ties, 0.0)
        return jnp.asarray(of_value - size - jnp.log(of_all))
