"""How far annotators agree, how good each is, and by whose labels two models differ otherwise than by the rest's."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probtruth.check import as_float
from probtruth.line.labelled import Labelled
from probtruth.truth.agreement.krippendorff import Agreement, krippendorff_alpha
from probtruth.truth.annotators import skill_columns
from probtruth.types import Comparison, Scores, Truth
from probtruth.types.comparison import Row, leading_pair


@dataclass(frozen=True, eq=False)
class AnnotatorAnalysis:
    truth: Truth | None = None  # as asked for if its method knows annotators' accuracy, else the other estimand's
    agreement: Agreement | None = None  # None where no item has two annotations
    rows: Sequence[Row] = ()  # on single annotators, best first, by the truth
    # the share of agreeing pairs in annotations replicated from the truth's draws: 95% interval, and the observed one
    replicated: tuple[float, float, float] | None = None


def annotators_of(labelled: Labelled | None) -> AnnotatorAnalysis:
    if labelled is None:
        return AnnotatorAnalysis()
    truths = [labelled.truth]
    if labelled.other is not None:
        truths.append(labelled.other.truth)
    truth = next((truth for truth in truths if "accuracy" in truth.annotator_results), None)
    agreement = replicated = None
    annotations = labelled.annotations
    if annotations is not None and annotations.counts().sum(1).max(initial=0) > 1:
        agreement = krippendorff_alpha(annotations)
    if "agreement" in labelled.truth.sampled:
        low, high = np.quantile(labelled.truth.sampled["agreement"], [0.025, 0.975])
        replicated = float(low), float(high), float(str(labelled.truth.diagnostics["agreement"]))
    return AnnotatorAnalysis(truth, agreement, () if truth is None else annotator_rows(truth), replicated)


def annotator_rows(truth: Truth) -> list[Row]:
    """The rows of `truth.annotators()`, best first, with skill and flag also where the method does not have them."""
    unknown = dict.fromkeys(("skill", "skill_low", "skill_high")) | {"flag": ""}
    columns = {name: values.tolist() for name, values in skill_columns(truth).items()}
    rows = []
    for at, known in enumerate(truth.annotators().to_dicts()):
        rows.append(unknown | known | {name: values[at] for name, values in columns.items()})
    return sorted(rows, key=_least_skill)


def _least_skill(row: Row) -> float:
    skill = as_float(row["skill"])
    return math.inf if skill is None else -skill


@dataclass(frozen=True, eq=False)
class Unlike:
    """By annotator: how far the difference a minus b lies from that by the others on the same items, and its sd.

    Both are shrunk towards 0, the more the fewer labels there are; all are 0 where annotators differ by chance alone.
    """

    models: tuple[str, str]
    names: tuple[str, ...]
    n_labels: Int[np.ndarray, " annotator"]
    apart: Float[np.ndarray, " annotator"]
    sd: Float[np.ndarray, " annotator"]


def unlike_the_rest(scores: Scores, comparison: Comparison) -> Unlike | None:
    """None where the scores are not by annotator, or where two models or items with two annotators are lacking."""
    cells = scores.replicates
    if cells is None or cells.what != "annotator" or len(comparison.ranks) < 2:
        return None
    models = leading_pair(comparison.ranks)
    first, second = (cells.values[scores.models.index(model)] for model in models)
    with np.errstate(invalid="ignore"):
        difference = first - second
    finite = np.isfinite(difference)
    of_item = np.bincount(cells.item, finite)
    chosen = np.flatnonzero(finite & (of_item[cells.item] > 1))
    item = cells.item[chosen]
    difference = difference[chosen]
    who, annotator, n = np.unique(cells.replicate[chosen], return_inverse=True, return_counts=True)
    if len(who) < 2:
        return None
    n_others = of_item[item] - 1
    of_others = np.bincount(item, difference)[item] - difference
    from_rest = difference - of_others / n_others
    apart = np.bincount(annotator, from_rest) / n
    # the variance between annotators by moments (DerSimonian and Laird 1986, doi:10.1016/0197-2456(86)90046-2)
    n_labels = len(chosen)
    spare = n_labels - len(who)
    residual = from_rest - apart[annotator]
    within = float(residual @ residual) / max(spare, 1)
    between = 0.0
    if spare:
        excess = float(n @ apart**2) - (len(who) - 1) * within
        size = n_labels - float(n @ n) / n_labels
        between = max(excess / size, 0.0)
    noise = within / n
    total = np.maximum(between + noise, np.finfo(np.float64).tiny)
    own = between / total
    names = tuple([cells.names[at] for at in who.tolist()])
    return Unlike(models, names, n, own * apart, np.sqrt(own * noise))
