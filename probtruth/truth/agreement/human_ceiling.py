"""How well a human annotator does against the others, and whether a model does as well."""

from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.kernels.arrays import to_host
from probtruth.truth.agreement.answers import Answers, answers_of
from probtruth.truth.agreement.crossed import Influences, Spread, most_unseen
from probtruth.truth.flat import plurality
from probtruth.types import Annotations, Predictions
from probtruth.types.index import match_items, match_labels

if TYPE_CHECKING:
    import polars

type HumanRule = Literal["zero-one", "brier"]
"""Rules under which a hard answer of a human has a finite loss."""

HUMANS = {
    "zero-one": [("a random annotator", "annotator"), ("the others' majority", "committee")],
    "brier": [
        ("a random annotator", "annotator"),
        ("the others' shares", "committee"),
        ("the population of annotators", "population"),
    ],
}  # The rows of people under each rule, in the order of `_item_losses`
LARGEST = {"zero-one": 1.0, "brier": 2.0}  # The largest loss of each rule


def human_ceiling(
    annotations: Annotations,
    predictions: Predictions | None = None,
    *,
    rule: HumanRule = "zero-one",
) -> "polars.DataFrame":
    """Losses against the *other* annotators' votes: of a random annotator, of the other annotators together, of models.

    Everybody is scored on the same votes: for each vote of annotator j on item i, the standard is the share of the
    others' votes on i, so that no vote is compared with itself. Of repeats by j the most frequent label counts, once.
    Rows (`who`, `kind`):
    "annotator": a random annotator's own answer;
    "committee": the others together, who answer with the label that most of them gave (zero-one, ties split) or with
    their shares (brier), scored on the vote left out: what n - 1 people can do;
    "population" (brier only): the entropy 1 - sum_k p_k^2, the loss that no forecaster of the votes can beat, by its
    estimate without the bias of few votes, 1 - sum_k n_k (n_k - 1) / (n (n - 1)) if every annotator votes once;
    "model": the model's most probable label (zero-one, ties split) or its probabilities (brier).

    Arguments:
        annotations: labels by annotators, as `read_annotations` or `Annotations.from_long` makes them.
        predictions: the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them.
        rule: "zero-one" (0 to 1) or "brier" (0 to 2). The log score of a human's hard answer is infinite. Every item
            counts equally, and every annotator in proportion to their votes. Items of one annotator are left out.

    Returns: `loss` (lower is better) with a 95% interval `low` to `high` for new items and, where at least three are
    known, new annotators; for models `p_as_good`, the posterior probability that the mean loss is no larger than a
    random annotator's (ties half). The intervals are t intervals on the logit scale between the least and the largest
    loss; their variance is the jackknife's over items and annotators, with the noise of single answers counted once.

    Errors: `InputError` for an unknown rule, no item with two votes, repeats in which two labels are as frequent, or
    predictions for other items or labels.

    This estimates a mean loss; `alternative_annotator_test` is the test of Calderon, Reichart and Dror (2025), which
    compares the model with each annotator by who is nearer, item by item. They need not agree.

    Source: Arvesen (1969), Jackknifing U-statistics, doi:10.1214/aoms/1177697287.

    Example:
        >>> import probtruth as pt
        >>> votes = pt.Annotations.from_counts([[3, 0], [2, 1], [0, 3]], items=["a", "b", "c"], labels=["no", "yes"])
        >>> pt.agreement.human_ceiling(votes)["loss"].round(3).to_list()
        [0.222, 0.222]
    """
    check.instance(annotations, Annotations, "Annotations.from_long, Annotations.from_counts or read_annotations")
    check.literal(rule, HumanRule, "rule")
    answers = answers_of(annotations, undivided=True)
    models: tuple[str, ...] = ()
    probs = np.zeros((0, *answers.counts.shape))
    if predictions is not None:
        probs = aligned_probs(annotations, predictions)[:, answers.items]
        models = predictions.models
    humans = HUMANS[rule]
    kinds = [kind for _, kind in humans] + ["model"] * len(models)
    loss = _item_losses(answers.counts, probs, rule)
    means = loss.mean(1)
    influences = _influences(answers, probs, loss, rule)
    low, high = _interval(means, influences.spread(), LARGEST[rule], most_unseen(len(answers.items)))
    as_good = influences.less_first().spread().p_below(means - means[0])
    of_models = as_good[len(humans) :].tolist()
    columns = {
        "who": [who for who, _ in humans] + list(models),
        "kind": kinds,
        "loss": means,
        "low": low,
        "high": high,
        "p_as_good": [None] * len(humans) + of_models,
    }
    return frames.as_polars(columns)


def _interval(
    loss: Float[np.ndarray, " row"], spread: Spread, largest: float, unseen: float
) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"]]:
    """95% intervals on the logit scale of a loss from 0 to the largest; there the share `unseen` may be unlike."""
    slope = loss * (largest - loss) / largest
    step = np.divide(spread.half_width, slope, out=np.zeros_like(loss), where=slope > 0)
    with np.errstate(divide="ignore"):
        place = np.log(loss) - np.log(largest - loss)
    low = largest / (1 + np.exp(step - place))
    high = largest / (1 + np.exp(-step - place))
    low[loss == largest] = largest * (1 - unseen)
    high[loss == 0] = largest * unseen
    return low, high


def aligned_probs(annotations: Annotations, predictions: Predictions) -> Float[np.ndarray, "model item label"]:
    """The models' probabilities in the annotations' order; every annotated item and label must be there."""
    check.instance(predictions, Predictions, "Predictions.from_probs or read_predictions")
    items, own, rows = match_items(annotations.index, predictions.index, "the predictions")
    _, used, columns = match_labels(annotations.index, predictions.index, "the predictions")
    lacking = len(annotations.index.items) - len(items)
    if lacking:
        raise InputError(
            f"predictions that lack {lacking} of the annotated items",
            "a prediction for every annotated item",
            "Drop the annotations of the others first, so that everybody is compared on the same items.",
        )
    return to_host(predictions.probs)[:, rows[np.argsort(own)]][:, :, columns[used]]


def _losses(
    probs: Float[np.ndarray, "vote label"], others: Float[np.ndarray, "vote label"], rule: str
) -> Float[np.ndarray, " vote"]:
    """Of probabilities, or of the most probable label, against shares of votes."""
    if rule == "brier":
        square = (probs**2).sum(1)
        product = (probs * others).sum(1)
        return square - 2 * product + 1
    share = (plurality(probs) * others).sum(1)
    return 1 - share


def _influences(
    answers: Answers,
    probs: Float[np.ndarray, "model item label"],
    loss: Float[np.ndarray, "row item"],
    rule: str,
) -> Influences:
    """What every item, and every annotator's answer to it, moves each row's mean loss by."""
    n_items = len(answers.items)
    item = answers.item
    size = answers.size[item]
    means = loss.mean(1, keepdims=True)
    beyond = loss - means
    others = answers.counts[item].copy()
    others[np.arange(len(item)), answers.label] -= 1
    left = (size - 2) / size  # of pairs of answers, (m - 1)(m - 2) of m (m - 1) stay
    several = left > 0
    of_others = np.zeros((len(loss), len(item)))
    losses = _item_losses(others[several], probs[:, item[several]], rule)
    of_others[:, several] = losses - means
    of_cell = (beyond[:, item] - left * of_others) / n_items
    return Influences(beyond / n_items, of_cell, item, answers.annotator, 2 / size / n_items)


def _item_losses(
    counts: Float[np.ndarray, "item label"], probs: Float[np.ndarray, "model item label"], rule: str
) -> Float[np.ndarray, "row item"]:
    """Each row's mean loss over the answers to an item, from how often each label was given."""
    size = counts.sum(1)
    square = (counts**2).sum(1)
    agreeing = (square - size) / (size - 1)
    human = 1 - agreeing / size
    if rule == "brier":
        square_of_others = square[:, None] - 2 * counts + 1
        others = (counts * square_of_others).sum(1) / (size - 1) ** 2
        together = (others - 2 * agreeing + size) / size
        rows = [2 * human, together, human]
    else:
        rows = [human, _majority_loss(counts)]
    shares = counts / size[:, None]
    for of_model in probs:
        rows.append(_losses(of_model, shares, rule))
    return np.stack(rows)


def _majority_loss(counts: Float[np.ndarray, "item label"]) -> Float[np.ndarray, " item"]:
    """How often an answer is not what most of the others gave; ties are split."""
    hits = np.zeros(len(counts))
    for label, answers in enumerate(counts.T):
        others = counts.copy()
        others[:, label] -= 1
        hits += answers * plurality(others)[:, label]
    return 1 - hits / counts.sum(1)
