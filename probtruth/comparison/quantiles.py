"""Quantiles of every pair's difference, so that a reader can ask for another margin of equivalence."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri, stdtrit

from probtruth.comparison.posterior.margins import Margin
from probtruth.comparison.posterior.population import Population
from probtruth.comparison.posterior.quadrature import Mixture
from probtruth.comparison.rows import named_pairs

Values = Float[np.ndarray, " probability"]
Pair = tuple[str, str]
ALL_ITEMS = ""
"""Where the quantiles are those of the reported differences, and not of groups."""
EXACT = 10
"""Quantiles of a mixture, but for the first, that are solved for."""


def of_margins(margins: Mapping[Pair, Margin], probabilities: Values) -> Iterator[dict[str, object]]:
    """Those of the reported differences, exactly."""
    for (a, b), margin in margins.items():
        values = np.full(len(probabilities), margin.centre)
        if margin.scale > 0:
            values = margin.at(-stdtrit(margin.df, probabilities))
        yield {"where": ALL_ITEMS, "group": None, "a": a, "b": b, "values": values}


def of_population(
    population: Population,
    models: Sequence[str],
    groups: Sequence[str],
    probabilities: Values,
    pairs: Collection[Pair],
) -> Iterator[dict[str, object]]:
    """Those in the population of groups, in one new group and in every group, by quadrature; of some of the pairs.

    Arguments: `probabilities` lie symmetrically about 1/2.
    """
    wheres = {"population of groups": False, "one new group": True}
    everywhere = {where: population.differences(new_group) for where, new_group in wheres.items()}
    for a, b, row, sign in named_pairs(models):
        if (a, b) not in pairs:
            continue
        for where, mixture in everywhere.items():
            one = Mixture(*(part[row : row + 1] for part in (mixture.weight, mixture.mean, mixture.sd)))
            yield {"where": where, "group": None, "a": a, "b": b, "values": _values(one, probabilities, sign)[0]}
        inside = _values(population.of_groups(row), probabilities, sign)
        for group, values in zip(groups, inside, strict=True):
            yield {"where": "group", "group": group, "a": a, "b": b, "values": values}


def _values(mixture: Mixture, probabilities: Values, sign: float) -> Float[np.ndarray, "row probability"]:
    """The quantiles of the difference, or with sign -1 those of its negative.

    Some of them are exact; between these, the probability is computed at as many points, and inverted by straight
    lines.
    """
    exact = probabilities[:: max(1, (len(probabilities) - 1) // EXACT)]
    knots = np.stack([mixture.quantile(float(p)) for p in exact], axis=-1)
    points = np.stack([np.interp(ndtri(probabilities), ndtri(exact), row) for row in knots])
    below = np.stack([mixture.below(at) for at in points.T], axis=-1)
    quantiles = np.stack([np.interp(probabilities, p, row) for p, row in zip(below, points, strict=True)])
    return quantiles if sign > 0 else -quantiles[..., ::-1]
