"""What follows from the posterior beside the tables: who may be the best, the chosen model, the prior's part."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int

from probtruth.comparison.evidence.evidence import Evidence
from probtruth.comparison.evidence.moments import Location, contrast_covariance
from probtruth.comparison.evidence.sweeps import pair_rows_of, pairs_of
from probtruth.comparison.naming import by_name, named_pairs
from probtruth.comparison.posterior import pooling
from probtruth.comparison.posterior.decisions import Decisions
from probtruth.comparison.posterior.engines import Sampled
from probtruth.comparison.posterior.joint_draws import blocks, chosen_score, credible_set
from probtruth.comparison.posterior.margins import Margin
from probtruth.comparison.posterior.population import Population
from probtruth.comparison.posterior.sensitivity import POWERS, pair_row, weights

Row = dict[str, object]


def decisions_of(
    evidence: Evidence, location: Location | None, decided: Decisions | None, ranks: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    """`credible_set` and its probability, `chosen` with its score, `corrected_score`, and `rank_probability` rows.

    None where infinite scores leave it open.
    """
    p_best = {str(row["model"]): row["p_best"] for row in ranks}
    known = {name: float(str(p)) for name, p in p_best.items() if p is not None}
    held, mass = credible_set(known) if len(known) == len(p_best) else (None, None)
    decisions: dict[str, object] = {"credible_set": held, "credible_set_probability": mass}
    decisions |= dict.fromkeys(("chosen", "score", "corrected_score"))
    models, finite = evidence.facts.models, len(evidence.order) > 1 and not (evidence.means == -math.inf).any()
    if location is not None and finite and not np.isnan(evidence.means).any():
        unit = math.sqrt(float(location.variance.mean()) * location.n_units)
        best, score, corrected = chosen_score(
            evidence.means[evidence.order].tolist(), contrast_covariance(location.variance, len(evidence.order)), unit
        )
        sign = -1.0 if evidence.facts.higher_is_better else 1.0
        named = {"chosen": models[evidence.order[best]], "score": sign * score, "corrected_score": sign * corrected}
        decisions |= named
    if decided is not None and len(evidence.order) == len(models):
        rows = zip([models[row] for row in evidence.order], decided.rank_probability.tolist(), strict=True)
        decisions["rank_probability"] = [{"model": name, "probability": chances} for name, chances in sorted(rows)]
    return decisions


def sensitivity_of(
    evidence: Evidence,
    margins: Sequence[Margin],
    share: Float[np.ndarray, " draw"],
    sampled: Sampled | None,
    population: Population | None,
    leading: Int[np.ndarray, " leading"],
) -> list[Row]:
    """P(a better) of every pair of leading models, P(best) of every model and P(a better) in the population, as powers
    of the prior and of the likelihood would move them."""
    models = evidence.facts.models
    rows_of = pair_rows_of(pairs_of(leading), len(evidence.order))
    named = by_name(models, evidence.order[leading], [margins[row] for row in rows_of] if len(margins) else [])
    rows = [_named(f"P({a} better than {b})", "pair", pair_row(named[a, b])) for a, b in sorted(named)]
    if sampled is None:
        return rows
    rows += _best(evidence, share, sampled, rows)
    if population is not None:
        rows += _population(evidence, population)
    return rows


def _named(what: str, kind: str, row: Mapping[str, object]) -> Row:
    values = {key: row[key] for key in row if key != "p_a_better"}
    return {"what": what, "kind": kind, "p": row.get("p_a_better"), **values}


def _best(evidence: Evidence, share: Float[np.ndarray, " draw"], sampled: Sampled, pairs: Sequence[Row]) -> list[Row]:
    names = [evidence.facts.models[row] for row in evidence.order]
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
    for name, density in (("prior", sampled.log_prior), ("likelihood", sampled.log_likelihood)):
        for word, power in POWERS.items():
            moved = share * weights(density, power)
            columns[f"{name}_{word}"] = _p_best(flat, moved / moved.sum())
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


def _population(evidence: Evidence, population: Population) -> list[Row]:
    """The prior is that of the between-group sd; nothing is said of powers under which no posterior is left."""
    powers = {"p": (1.0, 1.0)}
    powers |= {f"prior_{word}": (power, 1.0) for word, power in POWERS.items()}
    powers |= {f"likelihood_{word}": (1.0, power) for word, power in POWERS.items()}
    names = [evidence.facts.models[row] for row in evidence.order]
    rows: list[Row] = []
    scaled = {
        name: pooling.hierarchy(population.groups, population.prior, *pair)
        if pooling.proper(population.groups, *pair)
        else None
        for name, pair in powers.items()
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
            rows.append(
                {
                    "what": f"P({first} better than {second}) in {where}",
                    "kind": "new group" if new_group else "population",
                    **values,
                }
            )
    return rows
