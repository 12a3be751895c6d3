"""Scores that experts' answers on a few items have corrected: what every item then adds to the mean of all."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth import check
from probtruth.comparison.design import Design, totals
from probtruth.comparison.estimate import Estimate, Part
from probtruth.comparison.pairs import rows_of
from probtruth.errors import InputError
from probtruth.kernels.arrays import to_host
from probtruth.types import ExpertScores, Scores

# Items with an expert's answer that carry an interval, in all and in each group, and how many chosen alike they must be
# worth: the mean and lambda take two.
FEWEST, FEWEST_IN_GROUP, LEAST_EFFECTIVE = 10, 2, 3.0
# From this sum of squared shares on one unit outweighs all others, and no digit of the freedom would be left.
OUTWEIGHS = 0.99
# The skewness of the corrections counts by m / (m + so many), m their effective number: of few it is mostly noise.
SKEWNESS_FROM = 40.0
# Answers that agree with the known scores on average, for which the weight of these is 1, count beside those given.
AGREEING = 5.0
# Of a label that occurs and has fewer answers, up to one more is counted: what it costs was hardly seen. The inferred
# labels are doubted by so much beyond their probabilities, because annotators err together.
FEW_OF_LABEL, DOUBTED = 5, 0.1
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Rectified:
    """The corrected scores of every model and item, whose mean is that of the experts' answers on all items."""

    gold: ExpertScores
    design: Design
    values: Float[np.ndarray, "model item"]
    weights: Float[np.ndarray, " item"]
    tuned: float
    seldom: tuple[str, ...]
    missed: Float[np.ndarray, "model model"]

    @classmethod
    def of(cls, scores: Scores, gold: ExpertScores, plan: Design) -> "Rectified":
        weights = _weights(gold, plan)
        known, expert = scores.losses, scores.losses.copy()
        expert[:, gold.items] = gold.losses
        values, finite = expert.copy(), np.isfinite(known).all(1) & np.isfinite(expert).all(1)
        # the weighted mean of the answered items, and on these their own deviation times the weight
        base, slope = (
            np.where(weights == 1.0, rows, (mean := _hajek(rows, weights, plan)) + weights * (rows - mean))
            for rows in (expert[finite], known[finite])
        )
        slope = known[finite] - slope
        # the weight of the known scores under which the differences of all pairs have the least total variance: their
        # sum over pairs is that of the deviations from the models' mean
        about = [rows - rows.mean(0) if len(rows) > 1 else rows for rows in (base, slope)]
        fixed, moving = (_deviations(rows, plan, plan.item_weights).ravel() for rows in about)
        size, tuned = float((moving**2).sum(-1)), 0.0
        if size > 0:
            best = float(np.clip(-float((fixed * moving).sum(-1)) / size, 0.0, 1.0))
            tuned = (len(gold.items) * best + AGREEING) / (len(gold.items) + AGREEING)
        values[finite] = base + tuned * slope
        made = cls(gold, plan, values, weights, tuned, *_seldom(scores, gold, values, tuned))
        if made.effective < LEAST_EFFECTIVE:
            raise InputError(
                f"expert labels that count as much as {made.effective:.2g} drawn at random",
                f"at least {LEAST_EFFECTIVE:g}: a few with small probabilities outweigh all others",
                "Choose items with probabilities that differ less (command line: probtruth choose-gold --items N).",
            )
        return made

    def corrected(self, estimate: Estimate, order: Int[np.ndarray, " finite"]) -> Estimate:
        """The means of the corrected scores with the freedom that so few answers leave."""
        if (self.weights == 1.0).all():
            return estimate
        plan, units, (first, second) = self.design, self.design.group_units, rows_of(np.arange(len(order))).T
        of_unit, n_groups = plan.of_unit(), plan.n_groups
        answered, remaining, few, few_df = self._weighing()
        other = units - np.bincount(of_unit, answered, n_groups)
        used = 1.0 - 1.0 / max(float(few_df.sum()) + n_groups - 1, LEAST_EFFECTIVE - 1)
        deviations = np.pad(_deviations(self.values[order], plan), ((0, 1), (0, 0)))  # the last row is of no model
        square = (deviations[first] - deviations[second]) ** 2
        parts = np.where(answered, square / remaining, 0.0), square * ~answered, square
        own, rest, plain = (totals(part, of_unit, n_groups) for part in parts)
        own, rest = own / used, rest * _grown(other)
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = (own + rest) ** 2 / (own**2 / (used * few_df) + rest**2 / np.maximum(other - 1, 1))
            variance = np.where(plain > 0, (own + rest) / (plain * _grown(units)), 1.0)
        df = np.where(plain > 0, np.maximum(freedom, 1.0), units - 1)
        shrunk = np.where(other > 0, few / (few + SKEWNESS_FROM), 1.0)
        missed = self.missed[order[first], order[np.where(second < 0, first, second)]]
        # one answer more that changes the rows by so much, shared between the groups
        extra, third = (missed[:, None] ** power / (few ** (power - 1) * few.sum()) for power in (2, 3))
        items = estimate.items
        part = Part(items.variance * variance + extra, items.third * variance**1.5 * shrunk + third, df)
        estimate = replace(estimate, parts={"items": part})
        if estimate.plain is None:
            return estimate
        return replace(estimate, plain=estimate.plain * variance + extra)

    def _weighing(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Which units have an answer, and what their squared deviations are divided by; of each group the effective
        number of such units (Kish), and the degrees of freedom of the sum of squares."""
        plan, weights = self.design, self.design.unit_totals(self.weights[None])
        of_unit, n_groups = plan.of_unit(), plan.n_groups
        share = weights[0] / totals(weights, of_unit, n_groups)[0, of_unit]
        square = totals(share[None] ** 2, of_unit, n_groups)[0]
        remaining = 1 - 2 * share + square[of_unit]
        leverage = share**2 / remaining
        own = share**4 - (leverage * (square[of_unit] - 2 * share)) ** 2
        rows = np.stack([own, leverage, leverage * share, leverage * share**2])
        total, zero, one, two = totals(rows, of_unit, n_groups)
        df = square**2 / (total + (square * zero) ** 2 + 2 * two * zero + 2 * one**2 - 4 * square * one * zero)
        return weights[0] > 0, remaining, 1 / square, np.where(square > OUTWEIGHS, 1.0, df)

    def variance(self, a: int, b: int) -> float | None:
        """What the answers that were not given add to the variance of a mean difference."""
        losses = self.gold.losses[[a, b]]
        if not np.isfinite(losses).all():
            return None
        expert = np.zeros(self.design.n_items)
        expert[self.gold.items] = losses[0] - losses[1]
        item_weights = self.design.item_weights
        mean = _hajek(expert[None], self.weights, self.design)[0]
        known = (item_weights**2 * self.weights * (expert - mean) ** 2).sum(-1)
        difference = self.values[a] - self.values[b]
        total = ((_deviations(difference[None], self.design, item_weights)[0]) ** 2).sum(-1)
        return max(float(total) - float(known), 0.0)

    @property
    def by_chance(self) -> bool:
        """Whether experts labelled a uniform sample of the items, and not all."""
        uniform = self.gold.probability is None and self.gold.labels is not None
        return uniform and self.n_answered < self.design.n_items

    @property
    def n_answered(self) -> int:
        return len(self.gold.items)

    @property
    def effective(self) -> float:
        """The effective number of items with an answer (Kish)."""
        return float(self.weights.sum(-1) ** 2 / (self.weights**2).sum(-1))

    def facts(self) -> dict[str, object]:
        return {
            "n_items": self.n_answered,
            "of_items": self.design.n_items,
            "n_answers": self.gold.n_answers,
            "sample": "uniform" if self.gold.probability is None else "chosen",
            "effective": self.effective,
            "largest_weight": float(self.weights.max()),
            "weight_of_inferred": self.tuned,
        }


def _seldom(
    scores: Scores, gold: ExpertScores, values: Float[np.ndarray, "model item"], tuned: float
) -> tuple[tuple[str, ...], Float[np.ndarray, "model model"]]:
    """Labels of few answers, and what one answer more of the costliest would change.

    That is: in the difference of two models (row minus column), and in each model's own mean (diagonal).
    """
    size = np.zeros((len(values), len(values)))
    if scores.labels is None or gold.labels is None or len(gold.items) == values.shape[1]:
        return (), size
    probs, answers = to_host(scores.labels.truth), np.array([*gold.labels.values()])
    few = np.flatnonzero((answers < FEW_OF_LABEL) & (np.maximum(answers, probs.sum(0)) >= 1))
    finite = np.isfinite(scores.losses).all(1, keepdims=True) & np.isfinite(values).all(1, keepdims=True)
    inferred, corrected = (np.where(finite, rows, 0.0) for rows in (tuned * scores.losses, values))
    known = inferred + (corrected - inferred).mean(1, keepdims=True)
    for label in few.tolist():
        change = np.where(finite, to_host(scores.labels.losses[..., label]) - known, 0.0)
        weight = (1 - DOUBTED) * probs[:, label] + DOUBTED * probs[:, label].mean(-1)
        weight = np.where(np.isfinite(change).all(0), weight, 0.0)
        change = np.where(weight > 0, change, 0.0)
        total, product = change @ weight, (change * weight) @ change.T
        own = np.diag(product)
        square, side = own[:, None] + own - 2 * product, total[:, None] - total
        np.fill_diagonal(square, own)
        np.fill_diagonal(side, total)
        square *= (1 - answers[label] / FEW_OF_LABEL) / max(float(weight.sum(-1)), TINY)
        size = np.where(square > size**2, np.copysign(np.sqrt(np.maximum(square, 0.0)), side), size)
    return tuple([*gold.labels][label] for label in few), size


def _grown(n: np.ndarray) -> np.ndarray:
    """n / (n - 1); 1 where there is no second one."""
    return np.where(n > 1, n / np.maximum(n - 1, 1e-9), 1.0)


def _weights(gold: ExpertScores, plan: Design) -> Float[np.ndarray, " item"]:
    """One over the probability of an item's choice; of a uniform sample, over its share in the item's group."""
    answered: Bool[np.ndarray, " item"] = np.zeros(plan.n_items, bool)
    answered[gold.items] = True
    if len(gold.items) < FEWEST:
        raise InputError(
            f"expert labels on {check.count(len(gold.items), 'item')}",
            f"on at least {FEWEST}: fewer carry no interval",
            "Have more items labelled (command line: probtruth choose-gold --items N).",
        )
    units = plan.unit_totals(answered[None].astype(np.float64))[0] > 0
    counts = np.bincount(plan.of_unit(), units, plan.n_groups)
    if (counts < FEWEST_IN_GROUP).any():
        short = int(counts.argmin())
        where = f"in group {check.quote(plan.group_names[short])}" if plan.grouped else "in all"
        raise InputError(
            f"expert labels on {int(counts[short])} {'items' if plan.n_clusters is None else 'clusters'} {where}",
            f"at least {FEWEST_IN_GROUP} in each group",
            "Have some of every group labelled, or compare without groups.",
        )
    probability = gold.probability
    if probability is None:
        group = plan.of_item()
        share = np.bincount(group[gold.items], minlength=plan.n_groups) / plan.group_sizes
        probability = share[group[gold.items]]
    weights = np.zeros(plan.n_items)
    weights[gold.items] = 1.0 / probability
    return weights


def _hajek(rows: Float[np.ndarray, "row item"], weights: np.ndarray, plan: Design) -> Float[np.ndarray, "row item"]:
    """Each item's weighted mean over the answers of its group."""
    group, n_groups = plan.of_item(), plan.n_groups
    weighted = totals(np.where(weights > 0, weights * rows, 0.0), group, n_groups)
    return np.asarray((weighted / totals(weights[None], group, n_groups))[:, group])


def _deviations(
    rows: Float[np.ndarray, "row item"], plan: Design, item_weights: Float[np.ndarray, " item"] | float = 1.0
) -> Float[np.ndarray, "row unit"]:
    """Totals by unit of the deviations from the groups' means."""
    group = plan.of_item()
    means = totals(rows, group, plan.n_groups) / plan.group_sizes
    return plan.unit_totals(item_weights * (rows - means[:, group]))
