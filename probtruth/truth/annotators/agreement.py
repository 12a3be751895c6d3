"""How far annotators agree: Krippendorff's alpha, Fleiss', Cohen's and weighted kappa, plain agreement."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.frames import name_text
from probtruth.truth.fit import need_annotations
from probtruth.types import Annotations

type AgreementMeasure = Literal["krippendorff", "fleiss", "cohen", "percentage"]
"""Measures of agreement."""

type MeasurementLevel = Literal["nominal", "ordinal", "interval", "ratio"]
"""Levels of measurement of Krippendorff's alpha."""

type KappaWeights = Literal["linear", "quadratic"]
"""How weighted kappa counts a disagreement, in the distance of the labels' ranks."""


@dataclass(frozen=True)
class Agreement:
    """A measure of agreement with its 95% bootstrap interval over items.

    1 is perfect agreement; for all but `percentage`, 0 is what chance would give. NaN where the data cannot tell (only
    one label in use). `n_items` items entered, each with two or more annotations.
    """

    measure: str
    value: float
    low: float
    high: float
    n_items: int
    n_annotations: int


@check.checks_itself
def agreement(
    annotations: Annotations,
    measure: AgreementMeasure = "krippendorff",
    *,
    level: MeasurementLevel = "nominal",
    order: Sequence[object] | None = None,
    annotators: Sequence[object] | None = None,
    weights: KappaWeights | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
) -> Agreement:
    """How far annotators agree: alpha = 1 - observed / expected disagreement, kappa = (p_o - p_e) / (1 - p_e).

    Arguments: `measure` is "krippendorff", "fleiss", "cohen" or "percentage" (the share of pairs of annotations of an
    item with the same label, averaged over items). What an annotator gave an item in repeats counts as one answer,
    shared between its labels. `level` is alpha's: "nominal", "ordinal" (`order` lists the labels from low to high where
    they are not numbers), "interval" or "ratio" (labels are numbers). `annotators` are the two that Cohen's kappa
    compares, and `weights` is None, "linear" or "quadratic" in the rank of the labels. The interval is from `bootstrap`
    resamples of the items (0: NaN).

    Returns: `Agreement`; higher is more agreement.

    Errors: `InputError` for an unknown measure, level or label, labels that are not numbers where numbers are needed,
    items with unequal numbers of annotations for Fleiss' kappa, and no item with annotations of two annotators.

    Source: Krippendorff (2011), https://repository.upenn.edu/asc_papers/43; Fleiss (1971),
    https://doi.org/10.1037/h0031619; Cohen (1960), https://doi.org/10.1177/001316446002000104; Cohen (1968),
    https://doi.org/10.1037/h0026256.

    Example:
        >>> import probtruth as pt
        >>> votes = pt.Annotations.from_counts([[3, 0], [0, 3], [2, 1]])
        >>> round(pt.annotators.agreement(votes).value, 3)
        0.6
    """
    need_annotations(annotations)
    check.literal(measure, AgreementMeasure, "measure")
    check.literal(level, MeasurementLevel, "level")
    if measure == "cohen":
        table = _pairs_of_two(annotations, annotators)
        distance = _distance_of_ranks(ranks(annotations, order, weights is not None), weights)
        many, used = np.unique(table, axis=0, return_counts=True)
        statistic: Callable[[np.ndarray], float] = lambda often: _kappa_of_two(many, often, distance)  # noqa: E731
        n_annotations = 2 * len(table)
    else:
        answers = _answers(annotations)
        n_annotations, used = answers.n_annotations, answers.used
        if measure == "krippendorff":
            values = _values(annotations, level, order)
            statistic = lambda often: _alpha(answers, often, level, values)  # noqa: E731
        elif measure == "fleiss":
            _equal_votes(answers.votes())
            statistic = lambda often: _fleiss(answers, often)  # noqa: E731
        else:
            statistic = lambda often: float(often @ answers.agreeing() / often.sum())  # noqa: E731
    low, high = _bootstrap(statistic, used, check.whole(bootstrap, 0, "bootstrap"), check.whole(seed, 0, "seed"))
    return Agreement(measure, statistic(used.astype(float)), low, high, int(used.sum()), n_annotations)


@dataclass(frozen=True, eq=False)
class _Answers:
    """Items with two or more answers: distinct rows of `counts`, and how many items have each (`used`).

    What an annotator gave an item in repeats is one answer. `divided` are answers between several labels, and `row`
    where in `counts` they stand: that they agree with themselves in part is no agreement of annotators.
    """

    counts: Float[np.ndarray, "row label"]
    used: Int[np.ndarray, " row"]
    divided: Float[np.ndarray, "answer label"]
    row: Int[np.ndarray, " answer"]
    n_annotations: int

    def votes(self) -> Float[np.ndarray, " row"]:
        """How many answers an item has."""
        return np.asarray(np.rint(self.counts.sum(1)))

    def agreeing(self) -> Float[np.ndarray, " row"]:
        """The share of an item's pairs of answers with the same label."""
        votes, within = self.votes(), 1 - (self.divided**2).sum(1)
        same = (self.counts * (self.counts - 1)).sum(1) + np.bincount(self.row, within, len(votes))
        return np.asarray(same / (votes * (votes - 1)))

    def coincidences(self, often: np.ndarray) -> Float[np.ndarray, "label label"]:
        """Pairs of answers by both labels; every item has as many as it has answers."""
        share = often / (self.votes() - 1)
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


def _fleiss(answers: _Answers, often: np.ndarray) -> float:
    observed = often @ answers.agreeing() / often.sum()
    share = often @ answers.counts / (often @ answers.counts).sum()
    chance = float((share**2).sum())
    return float((observed - chance) / (1 - chance)) if chance < 1 else float("nan")


def _kappa_of_two(
    pairs: Int[np.ndarray, "pair 2"], often: np.ndarray, distance: Float[np.ndarray, "label label"]
) -> float:
    table = np.zeros_like(distance)
    np.add.at(table, (pairs[:, 0], pairs[:, 1]), often)
    table /= table.sum()
    expected = table.sum(1) @ distance @ table.sum(0)
    return float(1 - (table * distance).sum() / expected) if expected > 0 else float("nan")


def _bootstrap(
    statistic: Callable[[np.ndarray], float], used: Int[np.ndarray, " vector"], resamples: int, seed: int
) -> tuple[float, float]:
    """Percentile interval over resampled items; resamples in which the measure is undefined are left out."""
    if resamples == 0:
        return float("nan"), float("nan")
    generator = np.random.default_rng(seed)
    often = generator.multinomial(used.sum(), used / used.sum(), resamples).astype(float)
    values = np.array([statistic(row) for row in often])
    values = values[~np.isnan(values)]
    if not values.size:
        return float("nan"), float("nan")
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def _equal_votes(votes: Float[np.ndarray, " row"]) -> None:
    if votes.min() < votes.max():
        raise InputError(
            f"items with {votes.min():.0f} to {votes.max():.0f} annotations",
            "the same number for every item, as Fleiss' kappa is defined",
            "Use measure='krippendorff', which takes any numbers.",
        )


def _pairs_of_two(annotations: Annotations, names: Sequence[object] | None) -> Int[np.ndarray, "pair 2"]:
    """Both annotators' labels on the items that both answered."""
    if annotations.annotator is None:
        raise InputError("counts, without annotators", "annotations that name their annotators", "Give the long form.")
    known = annotations.index.annotators
    wanted = known if names is None else tuple(map(name_text, check.listed(names, "annotators")))
    check.unique(wanted, "annotator")
    if len(wanted) != 2:
        raise InputError(
            f"{len(wanted)} annotators for Cohen's kappa", "two", "Name two of them with annotators=['a', 'b']."
        )
    answers = []
    for name in wanted:
        check.one_of(name, known, "annotator")
        mine = annotations.annotator == known.index(name)
        label = np.full(annotations.n_items, -1)
        label[annotations.item[mine]] = annotations.label[mine]
        if np.unique(annotations.item[mine]).size < mine.sum():
            raise InputError(
                f"repeated answers of annotator {name!r}",
                "one answer for each item",
                "Use measure='krippendorff', or keep one replicate.",
            )
        answers.append(label)
    both = np.stack(answers, 1)
    both = both[(both >= 0).all(1)]
    if not len(both):
        raise InputError(
            f"no item that both {wanted[0]!r} and {wanted[1]!r} answered", "at least one", "Choose another pair."
        )
    return both


def _distance_of_ranks(ranks: Float[np.ndarray, " label"], weights: str | None) -> Float[np.ndarray, "label label"]:
    if weights is None:
        return 1.0 - np.eye(len(ranks))
    power = {"linear": 1, "quadratic": 2}[check.literal(weights, KappaWeights, "weights")]
    return np.asarray(np.abs(np.subtract.outer(ranks, ranks)) ** power)


def _values(annotations: Annotations, level: str, order: Sequence[object] | None) -> Float[np.ndarray, " label"]:
    """A number for each label: its rank where the level is ordinal, itself where interval or ratio."""
    if level in ("nominal", "ordinal"):
        return ranks(annotations, order, needed=level == "ordinal")
    return _numbers(annotations.index.labels, level)


def ranks(annotations: Annotations, order: Sequence[object] | None, needed: bool) -> Float[np.ndarray, " label"]:
    """The rank of every label, from `order` or by value; position where no order is needed."""
    labels = annotations.index.labels
    if not needed:
        return np.arange(len(labels), dtype=float)
    if order is None:
        return np.argsort(np.argsort(_numbers(labels, "ordinal"))).astype(float)
    named = [name_text(name) for name in check.listed(order, "order")]
    check.unique(named, "label")
    for label in labels:
        check.one_of(label, tuple(named), "order lacks the label")
    return np.array([named.index(label) for label in labels], dtype=float)


def _numbers(labels: Sequence[str], level: str) -> Float[np.ndarray, " label"]:
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
