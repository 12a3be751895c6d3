"""What a reader must know before trusting the answer, in plain words."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from probtruth import check
from probtruth.comparison.evidence.evidence import Evidence
from probtruth.comparison.options import Options
from probtruth.inference.diagnostics import MAX_RHAT, MIN_ESS

FEW_UNITS = 10
FEW_ANSWERS, FEW_EFFECTIVE = 40, 20
"""With fewer items that have an expert's answer, or fewer that they are worth chosen alike, intervals did not hold
their coverage in every simulated world."""
UNEVEN = 2
"""Clusters of which one is so many times larger than another are uneven."""
UNEVEN_CLUSTERS = (
    ", and their sizes differ: where the size of a cluster goes with its difference, the interval may be too narrow"
)
DECIDED = 0.975
"""A model is better beyond doubt where its probability is above this, and a test says so where p is below 0.05."""


def warnings_of(
    evidence: Evidence,
    options: Options,
    diagnostics: Mapping[str, object],
    pairs: Sequence[Mapping[str, object]],
) -> tuple[str, ...]:
    """The warnings of one comparison; those that begin with `sampling:` fail it under `strict`."""
    facts, plan = evidence.facts, evidence.design
    warnings = [*_sampling(diagnostics), *plan.notes, *evidence.notes]
    audit = facts.audit
    if audit.dropped:
        warnings.append(f"{audit.dropped} items dropped for all models: {', '.join(audit.counts())}")
    if audit.prompts:
        warnings.append(
            f"{len(audit.prompts)} items were asked in other words of some models "
            f"({check.shortlist(audit.prompts, 3)}): the difference is that of model and prompt together"
        )
    if audit.renormalised:
        rows = (
            f"{count} of {model!r} (sums {low:.6g} to {high:.6g})" for model, count, low, high in audit.renormalised
        )
        warnings.append(f"rows of predictions divided by their sums, as you chose: {', '.join(rows)}")
    for model, count, items in zip(facts.models, evidence.n_infinite, evidence.infinite_items, strict=True):
        if count:
            more = f" and {count - len(items)} more" if count > len(items) else ""
            warnings.append(
                f"model {model!r} has an infinite score on {count} of {plan.n_items} items "
                f"({check.shortlist(items)}{more}): its mean is infinite; a floor, or another rule, would be a choice "
                "of yours"
            )
    if facts.known.floor is not None:
        warnings.append(f"probabilities below {facts.known.floor:g} were raised to it: a floored rule is not proper")
    elif facts.known.proper is False:
        warnings.append(f"the rule {facts.rule!r} is not proper: the true probabilities need not get the best score")
    if options.these_items and facts.single_votes:
        warnings.append(
            "items with a single vote: their labels are taken to be as uncertain as the models' average prediction says"
        )
    if facts.no_second_vote and not options.these_items:
        warnings.append(
            "one vote an item: what comes from the choice of items and what from the annotators cannot be told apart; "
            "a second vote on some items would tell"
        )
    if plan.n_units < FEW_UNITS and not options.these_items:
        what, sizes = "items" if plan.n_clusters is None else "clusters", plan.structure.unit_sizes
        uneven = sizes is not None and sizes.max() > UNEVEN * sizes.min()
        spread = "the differences" if len(facts.models) > 1 else "the scores"
        warnings.append(
            f"only {plan.n_units} {what}: the answer leans on {spread} being roughly normal"
            + (UNEVEN_CLUSTERS if uneven else "")
        )
    gold = evidence.gold
    if gold is not None and gold.n_answered < FEW_ANSWERS:
        warnings.append(_few_answers(f"{gold.n_answered} items only", FEW_ANSWERS))
    elif gold is not None and gold.effective < FEW_EFFECTIVE:
        worth = f"{gold.n_answered} items, worth {gold.effective:.0f} chosen alike"
        warnings.append(_few_answers(worth, FEW_EFFECTIVE))
    constant = [row for row in pairs if row["difference"] is not None and row["low"] == row["high"]]
    constant = [row for row in constant if np.isfinite(float(str(row["difference"])))]
    if constant:
        names = "; ".join(f"{check.quote(row['a'])} and {check.quote(row['b'])}" for row in constant[:3])
        more = f" and {len(constant) - 3} more pairs" if len(constant) > 3 else ""
        warnings.append(f"the same difference on every item: {names}{more}: no spread to judge by")
    return tuple(warnings)


def _few_answers(where: str, fewest: int) -> str:
    return (
        f"expert labels on {where}: with fewer than {fewest} the interval may be too narrow where annotators seldom, "
        "but badly, err"
    )


def _sampling(diagnostics: Mapping[str, object]) -> list[str]:
    warnings = []
    rhat, ess, divergences = (diagnostics[name] for name in ("max_rhat", "min_ess", "divergences"))
    if isinstance(rhat, float) and not rhat <= MAX_RHAT:
        warnings.append(f"sampling: R-hat {rhat:.3f} is above {MAX_RHAT}: the chains have not mixed")
    if isinstance(ess, float) and not ess >= MIN_ESS:
        warnings.append(f"sampling: effective sample size {ess:.0f} is below {MIN_ESS:.0f}")
    if divergences:
        warnings.append(f"sampling: {divergences} divergent transitions")
    if diagnostics["engines_agree"] is False:
        warnings.append("sampling: NUTS and the closed form disagree beyond Monte Carlo error")
    return warnings


def disagreements(pairs: Sequence[Mapping[str, Any]], tests: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Where a model-free test of the mean, unadjusted, would decide otherwise than the posterior.

    Wilcoxon's test is about the pseudo-median, so it may differ and is not compared.
    """
    warnings: list[str] = []
    more = 0
    tested = {(row["a"], row["b"]): row for row in tests}
    for pair in pairs:
        row = tested.get((pair["a"], pair["b"]))
        if row is None or pair["p_a_better"] is None:
            continue
        decided = max(pair["p_a_better"], pair["p_b_better"]) > DECIDED
        boot = row["bootstrap_p_a_better"]
        against = [
            f"{name} p = {_p(row[key])}"
            for key, name in _P_VALUES
            if _differs(row[key], row.get(f"{key}_error"), decided)
        ]
        off = row.get("bootstrap_p_a_better_error")
        if boot is not None and _differs(2 * (1 - max(boot, 1 - boot)), 2 * (off or 0.0), decided):
            against.append(f"Bayesian bootstrap P(a better) = {boot:.3f}")
        if against and len(warnings) < 3:
            warnings.append(
                f"{check.quote(pair['a'])} and {check.quote(pair['b'])}: posterior P(a better) = "
                f"{pair['p_a_better']:.3f}, but {', '.join(against)}"
            )
        elif against:
            more += 1
    rest = f"; and {more} more pairs" if more else ""
    return (f"model-free tests would decide otherwise: {'; '.join(warnings)}{rest}",) if warnings else ()


_P_VALUES = (("t_p", "paired t"), ("sign_flip_p", "sign-flip"))


def _differs(p: float | None, error: float | None, decided: bool) -> bool:
    """Whether a p-value that may be off by so much would decide otherwise for certain."""
    if p is None:
        return False
    surely = p - (error or 0.0) if decided else p + (error or 0.0)
    return (surely < 2 * (1 - DECIDED)) != decided


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "<0.001"
