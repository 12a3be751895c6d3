"""How far annotators agree: Krippendorff's alpha."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.frames import name_text
from probtruth.types import Annotations

type MeasurementLevel = Literal["nominal", "ordinal", "interval", "ratio"]
"""Levels of measurement of Krippendorff's alpha."""


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha with its 95% bootstrap interval over items.

    1 is perfect agreement, 0 is what chance would give. NaN where the data cannot tell (only one label in use).
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
    bootstrap: int = 1000,
    seed: int = 0,
) -> Agreement:
    """How far annotators agree: alpha = 1 - observed / expected disagreement.

    Arguments: `level` is the level of measurement: "nominal", "ordinal" (`order` lists the labels from low to high
    where they are not numbers), "interval" or "ratio" (labels are numbers). What an annotator gave an item in repeats
    counts as one answer, shared between its labels. The interval is from `bootstrap` resamples of the items (0: NaN).

    Returns: `Agreement`; higher is more agreement.

    Errors: `InputError` for an unknown level or label, labels that are not numbers where numbers are needed, and no
    item with annotations of two annotators.

    Source: Krippendorff (2011), https://repository.upenn.edu/asc_papers/43.

    Example:
        >>> import probtruth as pt
        >>> votes = pt.Annotations.from_counts([[3, 0], [0, 3], [2, 1]])
        >>> round(pt.agreement.krippendorff_alpha(votes).value, 3)
        0.6
    """
    check.instance(annotations, Annotations, "Annotations.from_long, Annotations.from_counts or read_annotations")
    check.literal(level, MeasurementLevel, "level")
    resamples, generator = check.whole(bootstrap, 0, "bootstrap"), np.random.default_rng(check.whole(seed, 0, "seed"))
    answers, values = _answers(annotations), _values(annotations, level, order)
    value, used = _alpha(answers, answers.used.astype(float), level, values), answers.used
    often = generator.multinomial(used.sum(), used / used.sum(), resamples).astype(float)
    drawn = np.array([_alpha(answers, row, level, values) for row in often])
    drawn = drawn[~np.isnan(drawn)]  # resamples of which alpha is undefined are left out
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist() if drawn.size else (float("nan"), float("nan"))
    return Agreement(value, low, high, int(used.sum()), answers.n_annotations)


@dataclass(frozen=True, eq=False)
class _Answers:
    """Items with two or more answers: distinct rows of `counts`, and how many items have each (`used`)."""

    counts: Float[np.ndarray, "row label"]
    used: Int[np.ndarray, " row"]
    divided: Float[np.ndarray, "answer label"]
    row: Int[np.ndarray, " answer"]
    n_annotations: int

    def coincidences(self, often: np.ndarray) -> Float[np.ndarray, "label label"]:
        """Pairs of answers by both labels; every item has as many as it has answers."""
        share = often / (np.rint(self.counts.sum(1)) - 1)
        own = share[self.row]
        alone = share @ self.counts - own @ self.divided
        within = np.diag(alone) + (self.divided * own[:, None]).T @ self.divided
        return np.asarray((self.counts * share[:, None]).T @ self.counts - within)


def _answers(annotations: Annotations) -> _Answers:
    """The answers to every item that has two; an error where none has."""
    item, label, n_labels = annotations.item, annotations.label, annotations.n_labels
    answer, share = np.arange(len(item)), annotations.multiplicity.astype(float)
    if annotations.annotator is not None:
        who = item.astype(np.int64) * len(annotations.index.annotators) + annotations.annotator
        _, first, answer, often = np.unique(who, return_index=True, return_inverse=True, return_counts=True)
        cell, many = np.unique(answer * n_labels + label, return_counts=True)
        answer, label = np.divmod(cell, n_labels)
        item, share = item[first[answer]], many / often[answer]
    counts = np.bincount(item * n_labels + label, share, annotations.n_items * n_labels).reshape(-1, n_labels)
    several = np.rint(counts.sum(1)) >= 2
    if not several.any():
        raise InputError(
            "no item with two annotations by different annotators", "at least one", "Agreement needs several opinions."
        )
    part = (share < 1) & several[item]
    unlike = np.zeros(annotations.n_items)  # items with divided answers have rows of their own
    unlike[item[part]] = item[part] + 1
    table = np.concatenate([unlike[:, None], counts], axis=1)[several]
    rows, at, used = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    row_of = np.cumsum(several) - 1
    whose, position, of_answer = np.unique(answer[part], return_index=True, return_inverse=True)
    divided = np.zeros((len(whose), n_labels))
    divided[of_answer, label[part]] = share[part]
    n_annotations = np.bincount(annotations.item, annotations.multiplicity, annotations.n_items)[several].sum()
    return _Answers(rows[:, 1:], used, divided, at[row_of[item[part][position]]], int(n_annotations))


def _alpha(answers: _Answers, often: np.ndarray, level: str, values: Float[np.ndarray, " label"]) -> float:
    """Krippendorff's alpha from how often each row of counts occurs."""
    marginal = often @ answers.counts
    distance = _distance(level, values, marginal)
    expected = marginal @ distance @ marginal / (marginal.sum() - 1)
    return float(1 - (answers.coincidences(often) * distance).sum() / expected) if expected > 0 else float("nan")


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
        return np.asarray(np.subtract.outer(below, below) ** 2)
    gaps = np.subtract.outer(values, values)
    if level == "interval":
        return np.asarray(gaps**2)
    sums = np.add.outer(values, values)
    return np.asarray((gaps / np.where(sums == 0, 1.0, sums)) ** 2)


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
