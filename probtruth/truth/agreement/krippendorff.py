"""How far annotators agree: Krippendorff's alpha."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float

from probtruth import check
from probtruth.errors import InputError
from probtruth.frames import name_text
from probtruth.truth.agreement.answers import Answers, answers_of
from probtruth.truth.agreement.crossed import Influences, most_unseen
from probtruth.types import Annotations

MOST_DISAGREEMENT = 2.0  # As a multiple of what chance gives: of pairs that never agree

type MeasurementLevel = Literal["nominal", "ordinal", "interval", "ratio"]
"""Levels of measurement of Krippendorff's alpha."""


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha with its 95% interval for new items and new annotators.

    1 is perfect agreement, 0 is what chance would give. NaN where the data cannot tell (only one label in use). With
    fewer than three annotators, or with counts, the interval is for new items of the same annotators.
    `n_items` items entered, each with two or more annotations.
    """

    value: float
    low: float
    high: float
    n_items: int
    n_annotations: int


def krippendorff_alpha(
    annotations: Annotations,
    *,
    level: MeasurementLevel = "nominal",
    order: Sequence[object] | None = None,
) -> Agreement:
    """How far annotators agree: alpha = 1 - observed / expected disagreement.

    Arguments:
        annotations: labels by annotators, as `read_annotations` or `Annotations.from_long` makes them.
        level: the level of measurement: "nominal", "ordinal" (`order` lists the labels from low to high where they are
            not numbers), "interval" or "ratio" (labels are numbers). What an annotator gave an item in repeats counts
            as one answer, shared between its labels.
        order: the labels from low to high.

    Returns: `Agreement`; higher is more agreement.

    Errors: `InputError` for an unknown level or label, labels that are not numbers where numbers are needed, and no
    item with annotations of two annotators.

    The interval is the jackknife's over items and annotators, and over one more item on which all agree; a t interval
    on the scale of log(1 - alpha) that begins at -1, the least that alpha can be.

    Source: Krippendorff (2011), https://repository.upenn.edu/asc_papers/43; Arvesen (1969), Jackknifing U-statistics,
    doi:10.1214/aoms/1177697287.

    Example:
        >>> import probtruth as pt
        >>> votes = pt.Annotations.from_counts([[3, 0], [0, 3], [2, 1]])
        >>> round(pt.agreement.krippendorff_alpha(votes).value, 3)
        0.6
    """
    check.instance(annotations, Annotations, "Annotations.from_long, Annotations.from_counts or read_annotations")
    check.literal(level, MeasurementLevel, "level")
    answers = answers_of(annotations)
    values = _values(annotations, level, order)
    parts = _parts(answers, level, values)
    votes = np.bincount(annotations.item, annotations.multiplicity, annotations.n_items)
    size = (len(answers.items), int(votes[answers.items].sum()))
    if parts.expected <= 0:
        return Agreement(*(float("nan"),) * 3, *size)
    disagreement = parts.observed / parts.expected
    slope = _slopes(answers, parts, level, values)
    spread = _influences(answers, parts, slope).spread()
    if disagreement > 0:
        # one more item on which all agree, on any label: of a rare one, none such may have been seen
        agreed = answers.size.mean() * slope[parts.marginal > 0]
        spread = replace(spread, error=np.hypot(spread.error, math.sqrt(float(np.square(agreed).mean()))))
        ratio = math.exp(float(spread.half_width[0]) / disagreement)
        most = disagreement * ratio
        least = disagreement / ratio
    else:  # in each of the items that were not seen one answer may be unlike the others
        unlike = 2 * float(parts.distance.max()) * len(answers.items)
        most = most_unseen(len(answers.items)) * unlike / parts.expected
        least = 0.0
    return Agreement(1 - disagreement, 1 - min(most, MOST_DISAGREEMENT), 1 - least, *size)


@dataclass(frozen=True, eq=False)
class _Parts:
    """Alpha is 1 - observed / expected: of pairs of answers to one item, and of pairs of all answers."""

    distance: Float[np.ndarray, "label label"]
    marginal: Float[np.ndarray, " label"]
    against: Float[np.ndarray, "item label"]  # how far each label is from all answers to an item
    alone: Float[np.ndarray, " answer"]  # how far an answer is from itself
    within: Float[np.ndarray, " item"]  # disagreement of an item's pairs, for each answer
    observed: float
    expected: float


def _parts(answers: Answers, level: str, values: Float[np.ndarray, " label"]) -> _Parts:
    """The disagreement that is there, and what chance would give."""
    marginal = answers.counts.sum(0)
    distance = _distance(level, values, marginal)
    against, alone, within = _disagreement(answers, distance)
    expected = float(marginal @ distance @ marginal / (marginal.sum() - 1))
    return _Parts(distance, marginal, against, alone, within, float(within.sum()), expected)


def _disagreement(
    answers: Answers, distance: Float[np.ndarray, "label label"]
) -> tuple[Float[np.ndarray, "item label"], Float[np.ndarray, " answer"], Float[np.ndarray, " item"]]:
    """The fields `against`, `alone` and `within` of `_Parts`, which are linear in the distances."""
    against = answers.counts @ distance
    alone = np.zeros(len(answers.item))  # an answer that is shared between labels does not disagree with itself
    divided, shares = answers.divided()
    alone[divided] = ((shares @ distance) * shares).sum(1)
    with_itself = np.bincount(answers.item, alone, len(against))
    pairs = (against * answers.counts).sum(1) - with_itself
    return against, alone, pairs / (answers.size - 1)


def _influences(answers: Answers, parts: _Parts, slope: Float[np.ndarray, " label"]) -> Influences:
    """What every item, and every annotator's answer to it, moves observed / expected by."""
    # an answer weighs in its pairs with the others of its item: in the disagreement, and in how often labels are used
    of_labels = answers.counts @ slope
    of_item = parts.within / parts.expected + of_labels
    item = answers.item
    partners = answers.size[item] - 1
    against = answers.each(parts.against[item[answers.part_of], answers.label]) - parts.alone
    own = answers.each(slope[answers.label])
    others = of_labels[item] - own
    of_cell = 2 * against / partners / parts.expected + own + others / partners
    removed = np.full(len(item), 2 / answers.size.sum())
    return Influences(of_item[None], of_cell[None], item, answers.annotator, removed)


def _slopes(
    answers: Answers, parts: _Parts, level: str, values: Float[np.ndarray, " label"]
) -> Float[np.ndarray, " label"]:
    """The derivative of observed / expected by how often each label is used, the pairs within items held fixed."""
    total = parts.marginal.sum()
    of_expected = (2 * parts.distance @ parts.marginal - parts.expected) / (total - 1)
    slope = -parts.observed / parts.expected**2 * of_expected
    if level != "ordinal":
        return slope
    for label in range(len(slope)):  # distances between ranks depend on the marginals, as a quadratic form
        change = np.zeros(len(slope))
        change[label] = 0.5
        above = _distance(level, values, parts.marginal + change)
        below = _distance(level, values, parts.marginal - change)
        moved = above - below
        expected = float(parts.marginal @ moved @ parts.marginal / (total - 1))
        _, _, within = _disagreement(answers, moved)
        slope[label] += (within.sum() - parts.observed / parts.expected * expected) / parts.expected
    return slope


def _distance(
    level: str, values: Float[np.ndarray, " label"], marginal: Float[np.ndarray, " label"]
) -> Float[np.ndarray, "label label"]:
    """Squared differences between labels, which are in ascending order of `values` where the level is ordinal."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "ordinal":
        order = np.argsort(values)
        below = np.empty_like(values)
        below[order] = np.cumsum(marginal[order]) - marginal[order] / 2
        return np.subtract.outer(below, below) ** 2
    gaps = np.subtract.outer(values, values)
    if level == "interval":
        return gaps**2
    sums = np.add.outer(values, values)
    return (gaps / np.where(sums == 0, 1.0, sums)) ** 2


def _values(annotations: Annotations, level: str, order: Sequence[object] | None) -> Float[np.ndarray, " label"]:
    """A number for each label: its rank where the level is ordinal, itself where interval or ratio."""
    labels = annotations.index.labels
    if level == "nominal":
        return np.arange(len(labels), dtype=float)
    if level == "ordinal" and order is not None:
        named = [name_text(name) for name in check.listed(order, "order")]
        check.unique(named, "label")
        for label in labels:
            check.one_of(label, tuple(named), "order lacks the label")
        return np.array([named.index(label) for label in labels], dtype=float)
    try:
        numbers = np.array(check.finite_numbers(labels, distinct=level == "ordinal"))
    except ValueError:
        raise InputError(
            f"labels {check.shortlist(labels)} at level {level!r}",
            "labels that are numbers" + (", each another one" if level == "ordinal" else ""),
            "Give order=[lowest, ..., highest] for the level 'ordinal', or rename the labels.",
        ) from None
    if level == "ratio" and (numbers < 0).any():
        raise InputError(
            f"labels below 0 ({check.shortlist(labels)}) at level 'ratio'",
            "numbers of at least 0",
            "A ratio needs a zero that nothing is below; use the level 'interval'.",
        )
    return numbers
