"""The alternative annotator test: may a model take the place of an annotator?"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import stdtr

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.kernels import simplex
from probtruth.truth.agreement.human_ceiling import aligned_probs
from probtruth.truth.flat import votes_of_others
from probtruth.types import Annotations, Predictions

if TYPE_CHECKING:
    import polars

type Alignment = Literal["accuracy", "rmse"]
"""How near an answer is to those of the other annotators: the share who gave it, or the root mean squared error."""

# Squared errors that differ by less than this, relative to their size, are equal: labels are decimal numbers.
SAME = 1e-12


@dataclass(frozen=True, eq=False)
class AlternativeTest:
    """What `alternative_annotator_test` returns.

    `models` has one row for each model: `winning_rate`, the share of the annotators whom it may replace;
    `advantage_probability`, the mean over annotators of P(the model is at least as near to the others as the
    annotator); `passes`, a winning rate of at least 0.5. `annotators` has one row for each model and annotator:
    `n_items`, the two probabilities of being at least as near (`model_as_near`, `annotator_as_near`), the `p_value`,
    and `replaceable`, whether the test rejects at the false discovery rate.
    """

    models: "polars.DataFrame"
    annotators: "polars.DataFrame"


def alternative_annotator_test(
    annotations: Annotations,
    predictions: Predictions,
    *,
    epsilon: float = 0.2,
    alignment: Alignment = "accuracy",
    false_discovery_rate: float = 0.05,
    least_items: int = 30,
) -> AlternativeTest:
    """Leaves out each annotator in turn, and asks who is nearer to the remaining ones: the model or the annotator.

    For annotator j and item i, W_model = 1 where the model's answer is at least as near to the answers of the others as
    that of j, W_j = 1 where that of j is at least as near as the model's (the mean over j's repeats of i, if there are
    any). The test of j rejects mean(W_j - W_model) >=
    epsilon by a one-sided t test; the Benjamini-Yekutieli correction over annotators bounds the false discovery rate.
    The winning rate is the share of annotators for whom it rejects.

    Arguments:
        annotations: labels by annotators, as `read_annotations` or `Annotations.from_long` makes them.
        predictions: the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them.
        epsilon: how much worse than a person the model may be because it is cheaper. The authors suggest 0.2 against
            experts, 0.15 against skilled annotators and 0.1 against crowds.
        alignment: the share of the others who gave the same answer ("accuracy"), or the negative root mean squared
            error ("rmse", for labels that are numbers).
        false_discovery_rate: the level of the correction.
        least_items: how many items an annotator must share with others to be in the test. A model's answer is its most
            probable label.

    Returns: an `AlternativeTest` with two tables, by model and by annotator. Where all differences are equal the t test
    has no spread: it rejects where they are below epsilon.

    Errors: `InputError` for annotations without annotators, no annotator with enough items, two labels that are
    equally probable for a model, labels that are no numbers under "rmse", or predictions for other items or labels.

    Source: Calderon, Reichart and Dror (2025), doi:10.18653/v1/2025.acl-long.782; Benjamini and Yekutieli (2001),
    doi:10.1214/aos/1013699998. For posterior probabilities in place of a test, see `human_ceiling`.

    Example:
        >>> import probtruth as pt
        >>> rows = [(i, who, "yes" if i % 3 else "no") for i in range(40) for who in "abc"]
        >>> votes = pt.Annotations.from_long(dict(zip(["item", "annotator", "label"], zip(*rows))))
        >>> judge = pt.Predictions.from_probs({"judge": [[0.1, 0.9]] * 40}, items=range(40), labels=["no", "yes"])
        >>> pt.agreement.alternative_annotator_test(votes, judge).models.row(0)
        ('judge', 3, 0.0, 0.65, False)
    """
    check.instance(annotations, Annotations, "Annotations.from_long, Annotations.from_counts or read_annotations")
    check.one_of(alignment, ("accuracy", "rmse"), "alignment")
    check.number(epsilon, "epsilon", least=0)
    level = check.number(false_discovery_rate, "false_discovery_rate", least=0, below=1, hint="The authors use 0.05.")
    least = check.whole(least_items, 2, "least_items")
    shared = _shared(annotations)
    many = np.bincount(shared.whose, minlength=len(annotations.index.annotators))
    tested = np.flatnonzero(many >= least)
    if not tested.size:
        raise InputError(
            f"at most {many.max()} items that an annotator shares with others",
            f"an annotator with at least {least}",
            "Annotate more items twice, or lower least_items=.",
        )
    values = _numbers(annotations) if alignment == "rmse" else None
    from scipy.stats import false_discovery_control  # a third of a second to load

    by_model = []
    by_annotator = []
    for model, answers in zip(predictions.models, _answers(annotations, predictions), strict=True):
        gap_of_model = shared.gap(answers[shared.item], values)
        nearer = gap_of_model - shared.gap(shared.label, values)
        wins = shared.by_answer(nearer >= 0)
        loses = shared.by_answer(nearer <= 0)
        compared: list[dict[str, Any]] = []
        for annotator in tested.tolist():
            rows = np.flatnonzero(shared.whose == annotator)
            row = {
                "model": model,
                "annotator": annotations.index.annotators[annotator],
                "n_items": len(rows),
                "model_as_near": float(wins[rows].mean()),
                "annotator_as_near": float(loses[rows].mean()),
                "p_value": _p_value(loses[rows] - wins[rows], epsilon),
            }
            compared.append(row)
        p_values = [row["p_value"] for row in compared]
        beaten = false_discovery_control(p_values, method="by") <= level
        for row, replaceable in zip(compared, beaten.tolist(), strict=True):
            by_annotator.append({**row, "replaceable": replaceable})
        rate = float(beaten.mean())
        of_model = {
            "model": model,
            "n_annotators": len(tested),
            "winning_rate": rate,
            "advantage_probability": float(np.mean([row["model_as_near"] for row in compared])),
            "passes": rate >= 0.5,
        }
        by_model.append(of_model)
    return AlternativeTest(frames.from_rows(by_model), frames.from_rows(by_annotator))


@dataclass(frozen=True, eq=False)
class _BesideOthers:
    """One row for each annotation of an item that others annotated too; `others` is how often they gave each label."""

    item: Int[np.ndarray, " annotation"]
    label: Int[np.ndarray, " annotation"]
    others: Int[np.ndarray, "annotation label"]
    answer: Int[np.ndarray, " annotation"]
    whose: Int[np.ndarray, " answer"]

    def by_answer(self, holds: Bool[np.ndarray, " annotation"]) -> Float[np.ndarray, " answer"]:
        """How often something holds of each answer, among its repeats."""
        return np.bincount(self.answer, holds) / np.bincount(self.answer)

    def gap(
        self, answer: Int[np.ndarray, " annotation"], values: Float[np.ndarray, " label"] | None
    ) -> Float[np.ndarray, " annotation"]:
        """How near an answer is to those of the others, up to a factor of the annotation: larger is nearer."""
        if values is None:
            return np.asarray(self.others[np.arange(len(answer)), answer], float)
        gaps = values[answer][:, None] - values
        errors: np.ndarray = (self.others * gaps**2).sum(1)
        largest = self.others.sum(1) * np.ptp(values) ** 2
        scale = largest.clip(np.finfo(float).tiny)
        steps = np.round(errors / scale / SAME)
        return -steps * SAME


def _shared(annotations: Annotations) -> _BesideOthers:
    """The annotations of items that others annotated too."""
    if annotations.annotator is None:
        raise InputError(
            "counts, without annotators",
            "annotations with the annotator who gave each label",
            "Give the long form (item, annotator, label): the test leaves out one annotator at a time.",
        )
    others = votes_of_others(annotations)
    shared = others.sum(1) > 0
    item = annotations.item[shared]
    label = annotations.label[shared]
    who = annotations.annotator[shared]
    n_annotators = len(annotations.index.annotators)
    pairs, answer = np.unique(item.astype(np.int64) * n_annotators + who, return_inverse=True)
    return _BesideOthers(item, label, others[shared], answer, pairs % n_annotators)


def _answers(annotations: Annotations, predictions: Predictions) -> Int[np.ndarray, "model item"]:
    """Every model's most probable label."""
    probs = aligned_probs(annotations, predictions)
    tied = simplex.shared_by_ties(probs).max(2) < 1
    if tied.any():
        model, item = (int(axis[0]) for axis in np.nonzero(tied))
        raise InputError(
            f"two labels that are equally probable for model {predictions.models[model]!r}",
            "one most probable label: the test compares answers",
            "Choose its answer yourself, with Predictions.from_labels.",
            f"item {annotations.index.items[item]!r}",
        )
    return probs.argmax(2)


def _numbers(annotations: Annotations) -> Float[np.ndarray, " label"]:
    """The labels as the numbers that they name."""
    try:
        return np.array(check.finite_numbers(annotations.index.labels))
    except ValueError:
        raise InputError(
            f"labels {check.shortlist(annotations.index.labels)} with alignment 'rmse'",
            "labels that are numbers",
            "Use alignment='accuracy' for labels without a scale.",
        ) from None


def _p_value(differences: Float[np.ndarray, " item"], epsilon: float) -> float:
    """Of the one-sided t test of a mean below epsilon."""
    if np.ptp(differences) == 0:
        return 0.0 if differences[0] < epsilon else 1.0
    n = len(differences)
    t = (differences.mean() - epsilon) / (differences.std(ddof=1) / n**0.5)
    return float(stdtr(n - 1, t))
