"""Scores that experts' answers on a few items have corrected: what every item then adds to the mean of all."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.comparison.estimation.design import Design, ItemRows, effective, pairs_of, totals
from probtruth.comparison.estimation.estimate import Estimate, Part, rows_from_models
from probtruth.comparison.estimation.unit_sums import squares_apart
from probtruth.errors import InputError
from probtruth.kernels.arrays import ratio, to_host
from probtruth.kernels.shapes import FiniteInts, ItemFloats, ModelModel
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
# Of answers by which inferred scores turn out to be wrong, of which fewer were seen, up to so much of one more.
WRONG = 0.25


@dataclass(frozen=True, eq=False)
class Rectified:
    """The corrected scores of every model and item, whose mean is that of the experts' answers on all items.

    `change` is what one answer more of a kind that was hardly seen would change: in the difference of two models (row
    minus column), and in each model's mean (diagonal).
    """

    gold: ExpertScores
    design: Design
    values: ItemRows
    weights: ItemFloats
    tuned: float
    seldom: tuple[str, ...]
    change: ModelModel

    @classmethod
    def of(cls, scores: Scores, gold: ExpertScores, plan: Design) -> "Rectified":
        weights = _weights(gold, plan)
        inferred = scores.losses
        expert = inferred.copy()
        expert[:, gold.items] = gold.losses
        values = expert.copy()
        finite = np.isfinite(inferred).all(1) & np.isfinite(expert).all(1)
        base = _weighted(expert[finite], weights, plan)
        slope = inferred[finite] - _weighted(inferred[finite], weights, plan)
        # the weight of the inferred scores under which the differences of all pairs have the least total variance:
        # their sum over pairs is that of the deviations from the models' mean
        fixed = _about_models(base, plan)
        moving = _about_models(slope, plan)
        size = float(moving @ moving)
        tuned = 0.0
        if size > 0:
            best = float(np.clip(-(fixed @ moving) / size, 0.0, 1.0))
            n_answered = len(gold.items)
            tuned = (n_answered * best + AGREEING) / (n_answered + AGREEING)
        values[finite] = base + tuned * slope
        seldom, change = _seldom(scores, gold, values, tuned)
        made = cls(
            gold=gold,
            design=plan,
            values=values,
            weights=weights,
            tuned=tuned,
            seldom=seldom,
            change=change,
        )
        if made.effective < LEAST_EFFECTIVE:
            raise InputError(
                f"expert labels that count as much as {made.effective:.2g} drawn at random",
                f"at least {LEAST_EFFECTIVE:g}: a few with small probabilities outweigh all others",
                "Choose items with probabilities that differ less (command line: probtruth choose-gold --items N).",
            )
        return made

    def corrected(self, estimate: Estimate, order: FiniteInts) -> Estimate:
        """The means of the corrected scores with the freedom that so few answers leave."""
        if (self.weights == 1.0).all():
            return estimate
        plan = self.design
        units = plan.group_units
        answered, remaining, n_answers, answers_df = self._weighing()
        n_others = units - np.bincount(plan.of_unit(), answered, plan.n_groups)
        # of the degrees of freedom one is used by the mean of all groups
        n_free = float(answers_df.sum()) + plan.n_groups - 1
        used = 1.0 - 1.0 / max(n_free, LEAST_EFFECTIVE - 1)
        residuals = plan.residuals(self.values[order])
        of_units = plan.unit_totals(residuals)
        square = rows_from_models(of_units) ** 2
        with_answer = np.where(answered, square / remaining, 0.0)
        without = np.where(answered, 0.0, square)
        plain = plan.group_totals(square) * ratio(units, units - 1, 1.0)
        of_answers = plan.group_totals(with_answer) / used
        of_others = plan.group_totals(without) * ratio(n_others, n_others - 1, 1.0)
        both = of_answers + of_others
        spread = of_answers**2 / (used * answers_df)
        spread += of_others**2 / np.maximum(n_others - 1, 1)
        satterthwaite = np.maximum(ratio(both**2, spread), 1.0)
        df = np.where(plain > 0, satterthwaite, units - 1)
        factor = ratio(both, plain, 1.0)
        # one answer more that changes the rows by so much, shared between the groups
        first, second = pairs_of(order).T
        of_models = self.change[order, order]
        change = np.append(of_models, self.change[first, second])[:, None]
        n_in_all = n_answers.sum()
        extra = change**2 / (n_answers * n_in_all)
        extra_third = change**3 / (n_answers**2 * n_in_all)
        counted = np.where(n_others > 0, n_answers / (n_answers + SKEWNESS_FROM), 1.0)

        def with_answers(part: Part) -> Part:
            return Part(part.variance * factor + extra, part.third * factor**1.5 * counted + extra_third, df)

        return estimate.with_items(with_answers)

    def _weighing(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Which units have an answer, and what their squared deviations are divided by; of each group the effective
        number of such units (Kish), and the degrees of freedom of the sum of squares."""
        plan = self.design
        group = plan.of_unit()
        (weight,) = plan.unit_totals(self.weights[None])
        (total,) = plan.group_totals(weight[None])
        share = weight / total[group]
        (square,) = plan.group_totals(share[None] ** 2)
        of_all = square[group]
        remaining = 1 - 2 * share + of_all
        leverage = share**2 / remaining
        less = leverage * (of_all - 2 * share)
        diagonal = share**4 - less**2
        by_share = leverage * share
        rows = np.stack([diagonal, leverage, by_share, by_share * share])
        diagonal, zero, one, two = plan.group_totals(rows)
        noise = diagonal + (square * zero) ** 2
        crossed = two * zero + one**2 - 2 * square * one * zero
        noise += 2 * crossed
        df = square**2 / noise
        df = np.where(square > OUTWEIGHS, 1.0, df)
        return weight > 0, remaining, 1 / square, df

    def variance(self, a: int, b: int) -> float | None:
        """What the answers that were not given add to the variance of a mean difference."""
        losses = self.gold.losses[[a, b]]
        if not np.isfinite(losses).all():
            return None
        plan = self.design
        expert = np.zeros((1, plan.n_items))
        expert[:, self.gold.items] = losses[0] - losses[1]
        deviation = plan.item_weights * (expert - _hajek(expert, self.weights, plan))
        of_answers = float((deviation**2 @ self.weights)[0])
        difference = self.values[[a]] - self.values[[b]]
        of_units = plan.added(difference)[0]
        return max(float(of_units @ of_units) - of_answers, 0.0)

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
        return float(effective(self.weights))

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


def _seldom(scores: Scores, gold: ExpertScores, values: ItemRows, tuned: float) -> tuple[tuple[str, ...], ModelModel]:
    """Labels of few answers, and what one answer more of the costliest kind would change (see `Rectified`)."""
    n_models, n_items = values.shape
    changes = np.zeros((n_models, n_models))
    if len(gold.items) == n_items:
        return (), changes
    with_values = np.isfinite(scores.losses).all(1) & np.isfinite(values).all(1)
    finite = np.flatnonzero(with_values)
    inferred = scores.losses[finite]
    corrected = tuned * inferred
    expected = corrected + (values[finite] - corrected).mean(1, keepdims=True)
    costliest = np.zeros((len(finite), len(finite)))
    few: list[str] = []
    wrong = []
    if scores.labels is None or gold.labels is None:  # one more could have the scores of any item
        wrong.append((inferred - inferred.mean(1, keepdims=True), np.ones(n_items)))
    else:
        probs = to_host(scores.labels.truth)
        average = probs.mean(0)
        for label, (name, n_answers) in enumerate(gold.labels.items()):
            change = to_host(scores.labels.losses[..., label])[finite] - expected
            usable = np.isfinite(change).all(0)
            change = change[:, usable]
            of_label = probs[usable, label]
            doubted = (1 - DOUBTED) * of_label + DOUBTED * average[label]
            wrong.append((change, doubted * (1 - of_label)))
            if n_answers < FEW_OF_LABEL and max(n_answers, probs[:, label].sum()) >= 1:
                few.append(name)
                square, _, direction = _sizes([(change, doubted)])
                one_more = np.sqrt((1 - n_answers / FEW_OF_LABEL) * square)
                costliest = np.where(one_more > np.abs(costliest), np.copysign(one_more, direction), costliest)
    _, size, direction = _sizes(wrong)
    answers = gold.losses[finite] - expected[:, gold.items]
    n_seen = ratio(squares_apart(answers), size**2)
    one_more = np.sqrt(WRONG * np.maximum(1 - n_seen / FEW_OF_LABEL, 0.0)) * size
    costliest = np.where(one_more > np.abs(costliest), np.copysign(one_more, direction), costliest)
    changes[np.ix_(finite, finite)] = costliest
    return tuple(few), changes


def _sizes(changes: Sequence[tuple[ItemRows, ItemFloats]]) -> tuple[ModelModel, ModelModel, ModelModel]:
    """Of weighted changes by item the mean square, the size of those that are not 0, and their sum.

    They are of two models' difference (row minus column), and of each model by itself (diagonal).
    """
    n_models = len(changes[0][0])
    itself = np.diag_indices(n_models)
    square = np.zeros((n_models, n_models))
    absolute = np.zeros((n_models, n_models))
    total = np.zeros(n_models)
    of_weights = 0.0
    for change, weight in changes:
        square += squares_apart(change * np.sqrt(weight))
        apart = np.array([np.abs(row - change) @ weight for row in change])
        apart[itself] = np.abs(change) @ weight
        absolute += apart
        total += change @ weight
        of_weights += weight.sum()
    direction = total[:, None] - total
    direction[itself] = total
    return np.asarray(ratio(square, of_weights)), np.asarray(ratio(square, absolute)), direction


def _weights(gold: ExpertScores, plan: Design) -> ItemFloats:
    """One over the probability of an item's choice; of a uniform sample, over its share in the item's group."""
    if len(gold.items) < FEWEST:
        raise InputError(
            f"expert labels on {check.count(len(gold.items), 'item')}",
            f"on at least {FEWEST}: fewer carry no interval",
            "Have more items labelled (command line: probtruth choose-gold --items N).",
        )
    answered = np.zeros((1, plan.n_items))
    answered[:, gold.items] = 1.0
    (counts,) = plan.group_totals((plan.unit_totals(answered) > 0).astype(np.float64))
    if (counts < FEWEST_IN_GROUP).any():
        short = int(counts.argmin())
        where = f"in group {check.quote(plan.group_names[short])}" if plan.grouped else "in all"
        raise InputError(
            f"expert labels on {int(counts[short])} {plan.unit_name}s {where}",
            f"at least {FEWEST_IN_GROUP} in each group",
            "Have some of every group labelled, or compare without groups.",
        )
    probability = gold.probability
    if probability is None:
        group = plan.of_item()[gold.items]
        share = np.bincount(group, minlength=plan.n_groups) / plan.group_sizes
        probability = share[group]
    weights = np.zeros(plan.n_items)
    weights[gold.items] = 1.0 / probability
    return weights


def _hajek(rows: ItemRows, weights: ItemFloats, plan: Design) -> ItemRows:
    """Each item's weighted mean over the answers of its group."""
    group = plan.of_item()
    total = totals(weights[None], group, plan.n_groups)
    counted = np.where(weights > 0, weights * rows, 0.0)
    mean = totals(counted, group, plan.n_groups) / total
    return mean[:, group]


def _weighted(rows: ItemRows, weights: ItemFloats, plan: Design) -> ItemRows:
    """The weighted mean of the answered items, and on these their deviation from it times the weight."""
    mean = _hajek(rows, weights, plan)
    return np.where(weights == 1.0, rows, mean + weights * (rows - mean))


def _about_models(rows: ItemRows, plan: Design) -> Float[np.ndarray, " entry"]:
    """What units add to the deviations of the models from their mean, all models in one row."""
    if len(rows) > 1:
        rows = rows - rows.mean(0)
    return plan.added(rows).ravel()
