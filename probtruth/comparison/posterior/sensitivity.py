"""How much the answers owe to the prior: every density to a power, of the prior or of the likelihood.

A power of 1/2 halves the weight of the prior (or the number of observations), 2 doubles it. Pairs and the population of
groups are scaled in closed form and by quadrature; P(best) by weighting the draws. The densities themselves stand in
the DataTree: `log_prior`, which `arviz_stats.psense` reads, and the log-likelihood of all items among the
`sample_stats`.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp, stdtr

from probtruth.comparison.posterior import pooling
from probtruth.comparison.posterior.engines import Sampled
from probtruth.comparison.posterior.joint_draws import blocks
from probtruth.comparison.posterior.margins import Margin
from probtruth.comparison.posterior.population import Population
from probtruth.comparison.posterior.posterior import Posterior
from probtruth.comparison.rows import Row, by_name, named_pairs

POWERS = {
    "prior_half": (0.5, 1.0),
    "prior_double": (2.0, 1.0),
    "likelihood_half": (1.0, 0.5),
    "likelihood_double": (1.0, 2.0),
}
"""The powers of the prior and of the likelihood under which an answer is given again."""
SENSITIVE = 0.05
"""A probability that moves by more than this is said to be sensitive."""


def scaled_p(margin: Margin, prior: float, likelihood: float) -> float | None:
    r"""P(difference < 0) with prior and likelihood to these powers.

    The pair's prior is 1/sigma^2. With precision $\lambda$ its posterior is
    $\lambda^{-a} \lambda^{b(\nu+1)/2} e^{-b \lambda (\nu + t^2)/2}$, a t of $b(\nu+1) + 1 - 2a$ degrees of freedom.
    None where none are left.

    Source: Kallioinen, Paananen, Buerkner and Vehtari 2024, doi:10.1007/s11222-023-10366-5.
    """
    if margin.scale == 0:
        return margin.below(0.0)
    df = likelihood * (margin.df + 1) + 1 - 2 * prior
    if df <= 0:
        return None
    return float(stdtr(df, -margin.threshold(0.0) * math.sqrt(df / margin.df)))


def _of_pair(margin: Margin) -> Row:
    """P(a better) as reported and under each power."""
    if type(margin) is not Margin:  # known by draws alone: no closed form
        return {"p": margin.below(0.0), **dict.fromkeys(POWERS)}
    return {"p": margin.below(0.0), **{name: scaled_p(margin, *powers) for name, powers in POWERS.items()}}


def weights(density: Float[np.ndarray, "chain draw"], power: float) -> Float[np.ndarray, " weighted"]:
    """The draws' weights under the density to this power."""
    log = (power - 1) * density.ravel()
    weight: np.ndarray = np.exp(log - logsumexp(log))
    return weight


def sensitive(rows: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """A warning that names the answers which half or double the prior would move by more than SENSITIVE."""
    moved = []
    for row in rows:
        own, scaled = row["p"], (row["prior_half"], row["prior_double"])
        known = [float(str(one)) for one in scaled if one is not None]
        if own is not None and known and max(abs(one - float(str(own))) for one in known) > SENSITIVE:
            moved.append(f"{row['what']} = {float(str(own)):.2f} ({' to '.join(f'{one:.2f}' for one in known)})")
    more = f" and {len(moved) - 3} more" if len(moved) > 3 else ""
    return (f"a prior of half or double weight would move the answer: {'; '.join(moved[:3])}{more}",) if moved else ()


def sensitivity_of(names: Sequence[str], post: Posterior) -> list[Row]:
    """P(a better) of every pair of leading models, P(best) of every model and P(a better) in the population, as powers
    of the prior and of the likelihood would move them; `names` are those of the models with finite scores."""
    named = by_name([names[at] for at in post.leading], [post.margins[row] for row in post.leading_rows])
    rows: list[Row] = [
        {"what": f"P({a} better than {b})", "kind": "pair", **_of_pair(named[a, b])} for a, b in sorted(named)
    ]
    if post.sampled is None:
        return rows
    rows += _best(names, post.share, post.sampled, rows)
    return rows if post.population is None else [*rows, *_population(names, post.population)]


def _best(names: Sequence[str], share: Float[np.ndarray, " draw"], sampled: Sampled, pairs: Sequence[Row]) -> list[Row]:
    if len(names) == 2:
        a, b = sorted(names)
        own = {key: value for key, value in pairs[0].items() if key not in ("what", "kind")}
        other = {key: None if value is None else 1.0 - float(str(value)) for key, value in own.items()}
        rows = ((a, own), (b, other))
        return [{"what": f"P({name} best)", "kind": "best", **values} for name, values in rows]
    contrast = sampled.sites["contrast"]
    if sampled.log_prior is None or sampled.log_likelihood is None:
        return []
    flat = contrast.reshape(-1, contrast.shape[-1])
    columns = {"p": _p_best(flat, share)}
    for name, (prior, likelihood) in POWERS.items():
        density, power = (sampled.log_prior, prior) if prior != 1.0 else (sampled.log_likelihood, likelihood)
        moved = share * weights(density, power)
        columns[name] = _p_best(flat, moved / moved.sum())
    listed = sorted((name, row) for row, name in enumerate(names))
    return [
        {"what": f"P({name} best)", "kind": "best", **{key: float(values[row]) for key, values in columns.items()}}
        for name, row in listed
    ]


def _p_best(draws: Float[np.ndarray, "draw model"], share: Float[np.ndarray, " draw"]) -> Float[np.ndarray, " model"]:
    chance = np.zeros(draws.shape[1])
    for some in blocks(draws.shape[1], len(draws)):
        least = draws[some] == draws[some].min(1, keepdims=True)
        chance += (share[some] / least.sum(1)) @ least
    return np.asarray(chance / chance.sum())  # shares add up to 1 but for rounding


def _population(names: Sequence[str], population: Population) -> list[Row]:
    """The prior is that of the between-group sd; nothing is said of powers under which no posterior is left."""
    rows: list[Row] = []
    scaled = {
        name: pooling.hierarchy(population.groups, population.prior, *pair)
        if pooling.proper(population.groups, *pair)
        else None
        for name, pair in {"p": (1.0, 1.0), **POWERS}.items()
    }
    for new_group, where in ((False, "the population of groups"), (True, "one new group")):
        columns = {
            name: None if one is None else population.differences(new_group, one).below(0.0)
            for name, one in scaled.items()
        }
        for first, second, row, sign in named_pairs(names):
            values = {
                name: None if column is None else float(column[row] if sign > 0 else 1.0 - column[row])
                for name, column in columns.items()
            }
            what = f"P({first} better than {second}) in {where}"
            rows.append({"what": what, "kind": "new group" if new_group else "population", **values})
    return rows
