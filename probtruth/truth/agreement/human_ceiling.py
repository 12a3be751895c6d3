"""How well a human annotator does against the others, and whether a model does as well."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float, Int

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.kernels.arrays import to_host
from probtruth.truth.flat import votes_of_others
from probtruth.types import Annotations, Predictions
from probtruth.types.index import match_items, match_labels

if TYPE_CHECKING:
    import polars

type HumanRule = Literal["zero-one", "brier"]
"""Rules under which a hard answer of a human has a finite loss."""


@dataclass(frozen=True, eq=False)
class _Votes:
    """One row for each vote on items that others voted on too; `others` are the shares of the others' votes."""

    item: Int[np.ndarray, " vote"]
    annotator: Int[np.ndarray, " vote"] | None
    label: Int[np.ndarray, " vote"]
    weight: Float[np.ndarray, " vote"]
    others: Float[np.ndarray, "vote label"]


def human_ceiling(
    annotations: Annotations,
    predictions: Predictions | None = None,
    *,
    rule: HumanRule = "zero-one",
    draws: int = 2000,
    seed: int = 0,
) -> "polars.DataFrame":
    """Losses against the *other* annotators' votes: of a random annotator, of the other annotators together, of models.

    Everybody is scored on the same votes: for each vote of annotator j on item i, the standard is the share of the
    others' votes on i, so that no vote is compared with itself, nor with a repeat by j. Rows (`who`, `kind`):
    "annotator": a random annotator's own answer;
    "committee": the others together, who answer with the label that most of them gave (zero-one, ties split) or with
    their shares (brier), scored on the vote left out: what n - 1 people can do;
    "population" (brier only): the entropy 1 - sum_k p_k^2, the loss that no forecaster of the votes can beat, by its
    estimate without the bias of few votes, 1 - sum_k n_k (n_k - 1) / (n (n - 1)) if every annotator votes once;
    "model": the model's most probable label (zero-one, ties split) or its probabilities (brier).

    Arguments: `rule` is "zero-one" (0 to 1) or "brier" (0 to 2); the log score of a human's hard answer is infinite.
    Every item counts equally, and every annotator in proportion to their votes. Items of one annotator are left out.

    Returns: `loss` (lower is better) with a 95% interval `low` to `high` from `draws` Bayesian bootstraps over
    items and, where they are known, annotators; for models `p_as_good`, the posterior probability that the mean loss is
    no larger than a random annotator's (ties half).

    Errors: `InputError` for an unknown rule, no item with two votes, or predictions for other items or labels.

    This estimates a mean loss; `alternative_annotator_test` is the test of Calderon, Reichart and Dror (2025), which
    compares the model with each annotator by who is nearer, item by item. They need not agree.

    Source: Rubin (1981), The Bayesian bootstrap, doi:10.1214/aos/1176345338.

    Example:
        >>> import probtruth as pt
        >>> votes = pt.Annotations.from_counts([[3, 0], [2, 1], [0, 3]], items=["a", "b", "c"], labels=["no", "yes"])
        >>> pt.agreement.human_ceiling(votes, draws=100).select("who", "loss").rows()[0]
        ('a random annotator', 0.2222222222222222)
    """
    check.instance(annotations, Annotations, "Annotations.from_long, Annotations.from_counts or read_annotations")
    check.literal(rule, HumanRule, "rule")
    votes = _votes(annotations)
    human = 1 - votes.others[np.arange(len(votes.item)), votes.label]
    together = _losses(votes.others, np.eye(annotations.n_labels)[votes.label], rule)
    if rule == "brier":
        rows = [("a random annotator", "annotator", 2 * human), ("the others' shares", "committee", together)]
        rows.append(("the population of annotators", "population", human))
    else:
        rows = [("a random annotator", "annotator", human), ("the others' majority", "committee", together)]
    if predictions is not None:
        probs = aligned_probs(annotations, predictions)[:, votes.item]
        for name, own in zip(predictions.models, probs, strict=True):
            rows.append((name, "model", _losses(own, votes.others, rule)))
    losses = np.stack([loss for _, _, loss in rows], 1)
    resampled = _bootstrap(losses, votes, check.whole(draws, 1, "draws"), check.whole(seed, 0, "seed"))
    means = votes.weight @ losses / votes.weight.sum()
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
    better = (resampled < resampled[:, :1]).mean(0) + (resampled == resampled[:, :1]).mean(0) / 2
    return frames.as_polars(
        {
            "who": [who for who, _, _ in rows],
            "kind": [kind for _, kind, _ in rows],
            "loss": means,
            "low": low,
            "high": high,
            "p_as_good": [float(better[row]) if rows[row][1] == "model" else None for row in range(len(rows))],
        }
    )


def _votes(annotations: Annotations) -> _Votes:
    others = votes_of_others(annotations)
    n_others = others.sum(1)
    shared = n_others > 0
    if not shared.any():
        raise InputError("no item with two votes", "at least one", "A human can only be compared with other humans.")
    item, label = annotations.item[shared], annotations.label[shared]
    n_votes = np.bincount(annotations.item, annotations.multiplicity)[item]
    who = None if annotations.annotator is None else annotations.annotator[shared]
    shares = others[shared] / n_others[shared, None]
    return _Votes(item, who, label, annotations.multiplicity[shared] / n_votes, shares)


def aligned_probs(annotations: Annotations, predictions: Predictions) -> Float[np.ndarray, "model item label"]:
    """The models' probabilities in the annotations' order; every annotated item and label must be there."""
    if not isinstance(predictions, Predictions):
        raise InputError(
            f"predictions of type {type(predictions).__name__}",
            "a probtruth.Predictions",
            "Make it with Predictions.from_probs({'a': probs, ...}).",
        )
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
    loss: np.ndarray
    if rule == "brier":
        loss = (probs**2).sum(1) - 2 * (probs * others).sum(1) + 1
    else:
        best = probs == probs.max(1, keepdims=True)
        loss = 1 - (best * others).sum(1) / best.sum(1)
    return loss


def _bootstrap(
    losses: Float[np.ndarray, "vote who"], votes: _Votes, draws: int, seed: int
) -> Float[np.ndarray, "draw who"]:
    """Weighted means under exponential weights of items and of annotators (a product of both, where both are known)."""
    generator = np.random.default_rng(seed)
    means = np.empty((draws, losses.shape[1]))
    n_items = int(votes.item.max()) + 1
    n_annotators = 0 if votes.annotator is None else int(votes.annotator.max()) + 1
    for draw in range(draws):
        weight = votes.weight * generator.standard_exponential(n_items)[votes.item]
        if votes.annotator is not None:
            weight = weight * generator.standard_exponential(n_annotators)[votes.annotator]
        means[draw] = weight @ losses / weight.sum()
    return means
