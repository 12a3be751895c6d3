"""Several labels for an item: whether each applies, label by label or with the labels' dependence learned."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from jaxtyping import Bool, Float, Int

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.frames import name_text
from probtruth.truth.fit import MethodRequest
from probtruth.truth.flat import flatten, need_votes
from probtruth.truth.infer import METHODS, infer_truth
from probtruth.truth.prototypes import JointFit, fit_joint
from probtruth.types import Annotations, Truth
from probtruth.types.arguments import Estimand, MethodName
from probtruth.types.index import Index
from probtruth.types.shown import Shown

if TYPE_CHECKING:
    import polars

NO_YES = ("no", "yes")
"""The two labels of the truth about one label."""


@dataclass(frozen=True, eq=False, repr=False)
class MultilabelTruth(Shown):
    """Whether each label applies to each item.

    `probs[i, l]` is the probability that label l applies to item i (under "distribution": the share of annotators who
    would give it); a row need not sum to 1. `truths` holds, by label, the `Truth` of "no" and "yes", for `score`.
    `draws` are whole label sets, 1 where a label applies; under "joint" the labels of a draw go together as the model
    learned. `prototypes[t, l]` is the chance that label l applies to an item of kind t, and `weights[t]` how common
    that kind is (method "joint" only).
    """

    probs: Float[np.ndarray, "item label"]
    index: Index
    estimand: Estimand
    method: str
    truths: Mapping[str, Truth]
    draws: Float[np.ndarray, "draw item label"] | None = None
    prototypes: Float[np.ndarray, "prototype label"] | None = None
    weights: Float[np.ndarray, " prototype"] | None = None
    diagnostics: Mapping[str, object] = field(default_factory=dict)

    def annotators(self) -> "polars.DataFrame":
        """One row for each annotator and label: `annotator`, `label`, `sensitivity`, `specificity`.

        `sensitivity` is the chance of giving the label where it applies, `specificity` of leaving it out where not.

        Errors: `InputError` where the method knows nothing of annotators' errors.
        """
        names = self.index.annotators
        rows: dict[str, list[object]] = {"annotator": [], "label": [], "sensitivity": [], "specificity": []}
        for label, truth in self.truths.items():
            if truth.confusion is None:
                raise InputError(
                    f"truth of the method {self.method!r}, which knows nothing of annotators",
                    "truth of a method with annotators",
                    "Use method='joint' or another of the estimand 'class'.",
                )
            rows["annotator"] += names
            rows["label"] += [label] * len(names)
            rows["sensitivity"] += truth.confusion[:, 1, 1].tolist()
            rows["specificity"] += truth.confusion[:, 0, 0].tolist()
        return frames.as_polars(rows)


@check.checks_itself
def infer_multilabel(
    annotations: Annotations,
    method: MethodName | Literal["joint"] = "joint",
    *,
    none: str | int | None = None,
    prototypes: int | None = None,
    draws: int = 1000,
    gold: Mapping[object, Iterable[object]] | None = None,
    seed: int = 0,
    **options: object,
) -> MultilabelTruth:
    """Which labels apply to every item, where an annotation is a set of labels.

    Formula: under "joint", item i is of kind t with probability w_t, label l applies with probability rho_tl, and
    annotator j gives it with probability sens_jl where it applies, 1 - spec_jl where it does not.

    Arguments: `annotations` have one row for each label of a set; read them with `replicate="label"`, which lets an
    annotator stand several times at an item. An annotator who says that no label applies gives the label named by
    `none`. `method` is "joint", or a method of `infer_truth`, which is then used for every label on its own, with
    `options`. `prototypes` is the number of kinds (chosen by AIC, at most 8, without it). `draws` is how many label
    sets are drawn. `gold` maps items to the complete set of labels that truly apply.

    Returns: `MultilabelTruth`; each entry of `probs` is in 0 to 1.

    Errors: `InputError` for counts, an unknown method or option, `none` beside other labels, unknown names in `gold`,
    an item without annotations.

    Source: Dawid and Skene (1979), https://doi.org/10.2307/2346806; AIC: Akaike (1974),
    https://doi.org/10.1109/TAC.1974.1100705.

    Example:
        >>> import probtruth as pt
        >>> rows = {"item": list("aaabbb"), "annotator": list("pqqpqr"), "label": ["x", "x", "y", "y", "y", "x"]}
        >>> sets = pt.Annotations.from_long(rows, replicate="label")
        >>> pt.infer_multilabel(sets, "vote-share").probs.round(2).tolist()
        [[1.0, 0.5], [0.33, 0.67]]
    """
    if not isinstance(annotations, Annotations):
        raise InputError(type(annotations).__name__, "Annotations", "Make them with Annotations.from_long.")
    name = check.one_of(method, ("joint", *METHODS), "method")
    n_draws, start = check.whole(draws, 0, "draws"), check.whole(seed, 0, "seed")
    need_votes(annotations, annotations.counts().sum(1))
    pairs = _sets(annotations, none)
    known = _known_sets(gold, annotations, pairs.labels)
    index = Index(annotations.index.items, pairs.labels, annotations.index.annotators)
    if name != "joint":
        if prototypes is not None:
            raise InputError(f"prototypes with method {name!r}", "method 'joint'", "Leave prototypes out.")
        return _independent(pairs, index, cast(MethodName, name), known, n_draws, start, options)
    if options:
        check.one_of(next(iter(options)), ("none", "prototypes", "draws", "gold", "seed"), "option of 'joint'")
    n_prototypes = None if prototypes is None else check.whole(prototypes, 1, "prototypes")
    joint = fit_joint(
        pairs.item, pairs.annotator, pairs.answers, known, len(index.annotators), n_prototypes, n_draws, start
    )
    truths = {
        label: _truth_of(joint, column, pairs.shares[:, column], pairs.n_votes, index)
        for column, label in enumerate(pairs.labels)
    }
    return MultilabelTruth(
        joint.probs, index, "class", name, truths, joint.draws, joint.prototypes, joint.weights, joint.diagnostics
    )


@dataclass(frozen=True, eq=False)
class _AnswerSets:
    """Which labels every (item, annotator) pair has, sorted by item."""

    item: Int[np.ndarray, " pair"]
    annotator: Int[np.ndarray, " pair"]
    answers: Bool[np.ndarray, "pair label"]
    labels: tuple[str, ...]
    shares: Float[np.ndarray, "item label"]
    n_votes: Int[np.ndarray, " item"]


def _sets(annotations: Annotations, none: object) -> _AnswerSets:
    flat = flatten(MethodRequest.without_draws(annotations))
    distinct, row = np.unique(flat.item * flat.n_annotators + flat.annotator, return_inverse=True)
    answers = np.zeros((len(distinct), flat.n_labels), bool)
    answers[row, flat.label] = True
    item, annotator = np.divmod(distinct, flat.n_annotators)
    labels = annotations.index.labels
    if none is not None:
        nothing = labels.index(check.one_of(name_text(none), labels, "none: label"))
        both = np.flatnonzero(answers[:, nothing] & (answers.sum(1) > 1))
        if both.size:
            who = annotations.index.annotators[annotator[both[0]]]
            raise InputError(
                f"label {labels[nothing]!r} beside others, by annotator {who!r}",
                "no other label beside the one that says that none applies",
                "Remove one of the two.",
                f"item {annotations.index.items[item[both[0]]]!r}",
            )
        answers = np.delete(answers, nothing, axis=1)
        labels = labels[:nothing] + labels[nothing + 1 :]
    if not labels:
        raise InputError("no label but the one for none", "at least one", "Give labels=[...] of all that can apply.")
    n_votes = np.bincount(item, minlength=flat.n_items)
    shares = np.stack([np.bincount(item, column, flat.n_items) for column in answers.T], 1) / n_votes[:, None]
    return _AnswerSets(item, annotator, answers, labels, shares, n_votes)


def _known_sets(
    gold: Mapping[object, Iterable[object]] | None, annotations: Annotations, labels: tuple[str, ...]
) -> Int[np.ndarray, "item label"]:
    """1 where a label is known to apply, 0 where known not to, -1 where nothing is known."""
    known = np.full((annotations.n_items, len(labels)), -1)
    items = {name: row for row, name in enumerate(annotations.index.items)}
    for item, applying in (gold or {}).items():
        if isinstance(applying, str):
            raise InputError(f"gold {applying!r} of item {item!r}", "a set of labels", f"Write {{{applying!r}}}.")
        name = name_text(item)
        if name not in items:
            raise InputError(f"gold for item {name!r}", "an item of the annotations", "Check its name.")
        known[items[name]] = 0
        for label in applying:
            column = labels.index(check.one_of(name_text(label), labels, f"gold of item {name!r}: label"))
            known[items[name], column] = 1
    return known


def _independent(
    pairs: _AnswerSets,
    index: Index,
    method: MethodName,
    known: Int[np.ndarray, "item label"],
    draws: int,
    seed: int,
    options: Mapping[str, Any],
) -> MultilabelTruth:
    """One truth about "no" and "yes" for every label, each with a seed of its own."""
    truths = {}
    for column, label in enumerate(pairs.labels):
        votes = Annotations(
            pairs.item,
            pairs.answers[:, column].astype(np.int64),
            pairs.annotator,
            np.ones(len(pairs.item), np.int64),
            Index(index.items, NO_YES, index.annotators),
        )
        answers = {
            index.items[row]: NO_YES[known[row, column]] for row in np.flatnonzero(known[:, column] >= 0).tolist()
        }
        start = seed * len(pairs.labels) + column
        truths[label] = infer_truth(votes, method, draws=draws, seed=start, gold=answers or None, **options)
    probs = np.stack([truth.probs[:, 1] for truth in truths.values()], 1)
    drawn = [truth.draws[:, :, 1] for truth in truths.values() if truth.draws is not None]
    together = np.stack(drawn, 2) if len(drawn) == len(truths) else None
    diagnostics = {label: truth.diagnostics for label, truth in truths.items()}
    return MultilabelTruth(probs, index, METHODS[method].estimand, method, truths, together, diagnostics=diagnostics)


def _truth_of(
    joint: JointFit, column: int, shares: Float[np.ndarray, " item"], n_votes: Int[np.ndarray, " item"], index: Index
) -> Truth:
    """The joint model's truth about one label."""
    applies, base = joint.probs[:, column], float(joint.weights @ joint.prototypes[:, column])
    sensitivity, specificity = joint.sensitivity[:, column], joint.specificity[:, column]
    draws = None if joint.draws is None else np.stack([1 - joint.draws[:, :, column], joint.draws[:, :, column]], 2)
    return Truth(
        np.stack([1 - applies, applies], 1),
        Index(index.items, NO_YES, index.annotators),
        "class",
        "joint",
        shares=np.stack([1 - shares, shares], 1),
        n_votes=n_votes,
        draws=draws,
        marginals=np.array([1 - base, base]),
        confusion=np.stack(
            [np.stack([specificity, 1 - specificity], 1), np.stack([1 - sensitivity, sensitivity], 1)], 1
        ),
        diagnostics=joint.diagnostics,
        annotator_results={"sensitivity": sensitivity, "specificity": specificity},
    )
