"""What a reader must know before trusting the answer, in plain words."""

from collections.abc import Mapping, Sequence

import numpy as np

from probtruth import check, frames
from probtruth.comparison.estimation.design import effective
from probtruth.comparison.estimation.estimate import Estimate
from probtruth.comparison.estimation.rectified import FEW_OF_LABEL, Rectified
from probtruth.comparison.options import Options
from probtruth.comparison.results.rows import NO_SPREAD, TWINS
from probtruth.inference.diagnostics import MAX_RHAT, MIN_ESS
from probtruth.types import Comparison
from probtruth.types.pairs import Pair

FEW_UNITS = 10
# With fewer items that have an expert's answer, or fewer that they count as if drawn at random, intervals did not
# hold their coverage in every simulation setting.
FEW_ANSWERS, FEW_EFFECTIVE = 40, 20
FEW_UNEVEN = 20  # Clusters of very different sizes that count as fewer are few: simulated intervals cover 0.4 to 0.9
BY_SIZE = "size of a cluster"  # What the warnings of such clusters say
EVEN = 0.9  # Clusters that count as fewer than this part of their number, were they of equal size, are uneven
BEYOND_CHANCE = 0.01  # Level at which the size of clusters goes with their difference
ENOUGH_BY_CHANCE = 100  # Expert labels from which on a uniform sample holds as well as one that was chosen


def warnings_of(
    estimate: Estimate,
    options: Options,
    diagnostics: Mapping[str, object],
    pairs: Sequence[Pair],
) -> tuple[str, ...]:
    """The warnings of one comparison; those that begin with `sampling:` fail it under `strict`."""
    about = estimate.about
    alike = frames.lookalikes(estimate.design.group_names, "group")
    warnings = [*sampling(diagnostics), *about.notes, *alike]
    audit = about.audit
    facts = about.known
    if audit.dropped:
        warnings.append(f"{check.count(audit.dropped, 'item')} dropped for all models: {', '.join(audit.counts())}")
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
    if facts.floor is not None:
        warnings.append(f"probabilities below {facts.floor:g} were raised to it: a floored rule is not proper")
    elif facts.proper is False:
        warnings.append(f"the rule {about.rule!r} is not proper: the true probabilities need not get the best score")
    if not options.these_items:
        warnings += _few_units(estimate)
    if about.gold is not None:
        warnings += _few_answers(about.gold)
    constant = [f"{row.a} - {row.b}" for row in pairs if row.reason in (NO_SPREAD, TWINS)]
    if constant:
        warnings.append(f"the same difference on every item: {check.shortlist(constant, 3)}: no spread to judge by")
    return tuple(warnings)


def sampling(diagnostics: Mapping[str, object]) -> list[str]:
    """What is wrong with the draws."""
    warnings = []
    rhat = diagnostics["max_rhat"]
    ess = diagnostics["min_ess"]
    divergences = diagnostics["divergences"]
    if isinstance(rhat, float) and not rhat <= MAX_RHAT:
        warnings.append(f"sampling: R-hat {rhat:.3f} is above {MAX_RHAT}: the chains have not mixed")
    if isinstance(ess, float) and not ess >= MIN_ESS:
        warnings.append(f"sampling: effective sample size {ess:.0f} is below {MIN_ESS:.0f}")
    if divergences:
        warnings.append(f"sampling: {divergences} divergent transitions")
    return warnings


def _few_answers(gold: Rectified) -> list[str]:
    """What few answers of experts, or few of one label, leave open."""
    n = gold.n_answered
    found = []
    too_few = ""
    if n < FEW_ANSWERS:
        too_few = f"{n} items only: with fewer than {FEW_ANSWERS}"
    elif gold.effective < FEW_EFFECTIVE:
        too_few = (
            f"{n} items, which count as much as {gold.effective:.0f} drawn at random: with fewer than {FEW_EFFECTIVE}"
        )
    if too_few:
        found.append(
            f"expert labels on {too_few} the interval may be too narrow where annotators seldom, but badly, err"
        )
    if gold.by_chance and n < ENOUGH_BY_CHANCE:
        found.append(
            f"expert labels on a uniform sample of {n} items: with 40 such labels intervals held in 0.85 "
            "to 1.00 of simulated studies (least where a model learned from the annotators), with 40 items chosen by "
            "choose_gold (command line: probtruth choose-gold) in 0.93 to 1.00; choose the next ones"
        )
    if gold.seldom:
        found.append(
            f"fewer than {FEW_OF_LABEL} expert answers of {check.shortlist(gold.seldom, 3)}: what such items cost was "
            "hardly seen, and intervals are wider for it; have more items labelled that may be of this class"
        )
    return found


def _few_units(estimate: Estimate) -> list[str]:
    """What few independent units, or clusters of very different sizes, leave open."""
    plan = estimate.design
    effective_units = float(plan.n_items if plan.cluster_sizes is None else effective(plan.cluster_sizes))
    uneven = effective_units < EVEN * plan.n_units
    if effective_units >= FEW_UNITS and not uneven:
        return []
    count = f"{plan.n_units} {plan.unit_name}s"
    if uneven:
        count += f", which count as {effective_units:.0f} of equal size"
    said = []
    if effective_units < FEW_UNITS:
        spread = "the differences" if len(estimate.about.models) > 1 else "the scores"
        said.append(f"only {count}: the answer relies on {spread} being roughly normal")
    if uneven and _size_goes_with_difference(estimate):
        said.append(
            f"{count}: the {BY_SIZE} goes with its difference, so that the mean hangs on clusters larger than any of "
            "these: the 95% interval may hold it much less often than that"
        )
    elif uneven and effective_units < FEW_UNEVEN:
        said.append(f"{count}: if the {BY_SIZE} goes with its difference, the 95% interval may hold much less often")
    return said


def _size_goes_with_difference(estimate: Estimate) -> bool:
    """Whether the two leading models differ more in larger clusters, or less, beyond chance."""
    plan = estimate.design
    values = estimate.about.values
    if plan.unit is None or values is None or estimate.n_models == 0:
        return False
    means = estimate.over_groups().mean[: estimate.n_models, 0]
    leading = estimate.order[np.argsort(means, kind="stable")[:2]]
    difference = np.subtract.reduce(values[leading])
    mean = np.bincount(plan.unit, difference) / plan.unit_sizes
    size = np.log(plan.unit_sizes)
    if len(size) < 3 or np.ptp(mean) == 0 or np.ptp(size) == 0:
        return False
    from scipy.stats import pearsonr  # a third of a second to load

    return bool(pearsonr(size, mean).pvalue < BEYOND_CHANCE)


def other_best(found: Comparison, proper: Comparison) -> tuple[str, ...]:
    """A sentence where an improper score and the proper rule of its kind disagree about who is best."""
    first = found.ranked[0]
    other = proper.ranked[0]
    if first.model == other.model or first.p_best is None or other.p_best is None:
        return ()
    return (
        f"by {found.rule!r} {first.model!r} is best (P = {first.p_best:.3f}), by {proper.rule!r}, the proper rule of "
        f"its kind, {other.model!r} (P = {other.p_best:.3f}): {found.rule!r} rewards forecasts that are not true",
    )
