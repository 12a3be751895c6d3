"""How good annotators are under a class posterior: accuracy, skill beyond chance, and how much an answer tells."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Array, Bool, Float, Int, Shaped
from scipy.sparse import csr_array

from probtruth import check, frames
from probtruth.errors import InputError
from probtruth.kernels.arrays import ratio, to_host
from probtruth.kernels.shapes import ItemLabel
from probtruth.truth.fit import MethodRequest
from probtruth.truth.flat import FlatAnnotations, flatten, votes_of_others
from probtruth.types import Annotations, Truth

if TYPE_CHECKING:
    import polars

# Kappa with the truth below which an annotator tells next to nothing: "slight" in Landis and Koch (1977).
NO_SKILL = 0.2

Z = 1.96  # Of a 95% interval

LEAST_TOLD = 0.01  # Of what answers tell of an annotator

# Methods under which annotators err together: intervals of single annotators would cover half of what they claim.
SHARED = ("perceived-class", "pooled")

Values = Array | np.ndarray


def quality(
    confusion: Float[Values, "annotator label label"], log_marginals: Float[Values, " label"]
) -> tuple[Float[Values, " annotator"], Float[Values, " annotator"], Float[Values, " annotator"]]:
    """P(an annotator gives the true class), their kappa with the truth, and mutual information of both in nats."""
    xp = confusion.__array_namespace__()
    marginals = xp.exp(log_marginals)
    joint = marginals[:, None] * confusion
    accuracy = xp.trace(joint, axis1=1, axis2=2)
    chance = (joint.sum(1) * marginals).sum(1)
    skill = (accuracy - chance) / xp.maximum(1 - chance, 1e-30)
    return accuracy, skill, information(marginals, confusion)


def information(
    marginals: Float[Values, " label"], confusion: Float[Values, "annotator label label"]
) -> Float[Values, " annotator"]:
    """Mutual information of an annotator's answer and the class, in nats: 0 for a spammer, H(class) at most."""
    xp = confusion.__array_namespace__()
    known = ~xp.isnan(confusion).any(2)
    weights = xp.where(known, marginals, 0.0)
    totals = weights.sum(1, keepdims=True)
    weights = weights / xp.where(totals > 0, totals, xp.nan)
    filled = xp.where(known[:, :, None], confusion, 0.0)
    answers = (weights[:, :, None] * filled).sum(1)
    given_class = (weights * _entropy(filled)).sum(1)
    result: Values = xp.maximum(_entropy(answers) - given_class, 0.0)
    return result


def _entropy(probs: Float[Values, "*batch label"]) -> Float[Values, "*batch"]:
    xp = probs.__array_namespace__()
    logs = xp.log(xp.where(probs > 0, probs, 1.0))
    entropies: Values = -(probs * logs).sum(-1)
    return entropies


def annotator_columns(
    probs: Float[np.ndarray, "item label"],
    marginals: Float[np.ndarray, " label"],
    confusion: Float[np.ndarray, "annotator label label"],
    flat: FlatAnnotations,
    checked: Bool[np.ndarray, " item"] | Literal[True] = True,
) -> dict[str, np.ndarray]:
    """The columns that every method with a point estimate has: n_annotations, accuracy (on checked items; NaN where
    there are none), information (nats)."""
    of_item = np.broadcast_to(checked, flat.n_items)
    weight = flat.weight * of_item[flat.item]
    right = np.bincount(flat.annotator, weight * probs[flat.item, flat.label], flat.n_annotators)
    with np.errstate(invalid="ignore"):
        accuracy = right / np.bincount(flat.annotator, weight, flat.n_annotators)
    return {
        "n_annotations": flat.n_annotations,
        "accuracy": accuracy,
        "information": np.asarray(information(marginals, confusion)),
    }


def sampled_columns(
    n_annotations: Int[np.ndarray, " annotator"],
    accuracy: Float[np.ndarray, "draw annotator"],
    skill: Float[np.ndarray, "draw annotator"],
    information: Float[np.ndarray, "draw annotator"],
) -> dict[str, np.ndarray]:
    """The columns that every method with draws of confusion has: means with 95% intervals, and the flag."""
    columns = {"n_annotations": n_annotations}
    sampled = {"accuracy": accuracy, "skill": skill, "information": information}
    for name, draws in sampled.items():
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        columns[name] = draws.mean(0, dtype=float)
        columns[f"{name}_low"] = low
        columns[f"{name}_high"] = high
    columns["flag"] = flags(columns["skill_low"], columns["skill_high"])
    return columns


def skill_columns(truth: Truth) -> Mapping[str, np.ndarray]:
    """Skill with its 95% interval and the flag, also for methods without draws; none without confusion."""
    results = truth.annotator_results
    if "skill" in results:
        return {name: results[name] for name in ("skill", "skill_low", "skill_high", "flag")}
    confusion = truth.confusion
    marginals = truth.marginals
    if confusion is None or marginals is None:
        return {}
    answers = marginals @ np.nan_to_num(confusion)
    chance = np.minimum(answers @ marginals, 1 - 1e-9)
    accuracy = results["accuracy"].astype(float)
    known = results["n_annotations"].astype(float)
    if truth.annotations is not None:
        flat = flatten(MethodRequest.without_draws(truth.annotations))
        known *= _told(flat, marginals, confusion, to_host(truth.probs) if truth.diagnostics.get("n_gold") else 1.0)
    ends = _wilson(accuracy, known)
    skill, low, high = (np.stack([accuracy, *ends]) - chance) / (1 - chance)
    columns = {"skill": skill, "flag": flags(low, high)}
    if truth.method not in SHARED:
        columns |= {"skill_low": low, "skill_high": high}
    return columns


def _told(
    flat: FlatAnnotations,
    marginals: Float[np.ndarray, " label"],
    confusion: Float[np.ndarray, "annotator label label"],
    possible: ItemLabel | float,
) -> Float[np.ndarray, " annotator"]:
    """The share of what answers would tell of an annotator's accuracy, were classes known, that they tell."""
    n = flat.n_annotations
    n_labels = flat.n_labels
    # fitted accuracies are too near 0 and 1: with the pseudo-answers of Wilson's interval classes are less sure
    of_class = (n[:, None] * marginals)[:, :, None]
    shrunk = (of_class * np.nan_to_num(confusion) + Z**2 / n_labels) / (of_class + Z**2)
    of_answers = np.log(shrunk).swapaxes(1, 2).reshape(-1, n_labels)
    logs = np.where(possible > 0, flat.table @ of_answers, -np.inf)
    probs = np.exp(logs - logs.max(1, keepdims=True)) * marginals
    probs /= probs.sum(1, keepdims=True)
    # Louis (1982), doi:10.1111/j.2517-6161.1982.tb01203.x: from the variance if classes were known goes that of
    # the right answers when annotations are known, here to second order between annotators
    place = flat.item * n_labels + flat.label
    answers = csr_array((flat.weight, (place, flat.annotator)), (probs.size, len(n)))
    right = csr_array((flat.weight * probs.ravel()[place], (flat.item, flat.annotator)), (flat.n_items, len(n)))
    covariance = answers.T @ answers.multiply(probs.reshape(-1, 1)) - right.T @ right
    total = right.sum(0)
    variance = total * (1 - total / n)
    of_one = covariance.diagonal()
    left = variance - of_one
    inverse = ratio(1.0, left)
    others = covariance.power(2) @ inverse - of_one**2 * inverse
    return np.maximum(ratio(left - others, variance, 1.0), LEAST_TOLD)


def annotators(annotations: Annotations) -> "polars.DataFrame":
    """One row for each annotator: how far they agree with the others on the same items, which needs no truth.

    Arguments:
        annotations: labels by annotators, as `read_annotations` or `Annotations.from_long` makes them.

    Returns: `annotator`; `n_annotations`; `agreement`, the mean share of the others' annotations of an item that name
    the same label, from 0 to 1; `skill`, the agreement beyond chance: 1 at best, 0 for who answers by chance, below 0
    for who contradicts the others. NaN where nobody else annotated the same items. `Truth.annotators` has the
    accuracies under an inferred truth.

    Errors: `InputError` for counts, which do not say who annotated.

    Source: skill is Cohen's kappa against the pool of the other annotators, doi:10.1177/001316446002000104.

    Example:
        >>> import probtruth as pt
        >>> item, who, label = zip(("x", "a", "n"), ("x", "b", "n"), ("x", "c", "y"), ("y", "a", "y"), ("y", "b", "y"))
        >>> votes = pt.Annotations.from_long({"item": item, "annotator": who, "label": label})
        >>> pt.agreement.annotators(votes)["agreement"].to_list()
        [0.75, 0.75, 0.0]
    """
    check.instance(annotations, Annotations, "Annotations.from_long or read_annotations")
    if annotations.annotator is None:
        raise InputError("counts, without annotators", "annotations with annotators", "Give the long form.")
    label = annotations.label
    who = annotations.annotator
    n_annotators = len(annotations.index.annotators)
    counts = annotations.counts()
    answers = votes_of_others(annotations)
    others = answers.sum(1)
    same = answers[np.arange(len(label)), label]
    shared = others > 0
    n = np.bincount(who[shared], minlength=n_annotators)
    chance_of = counts.sum(0) / counts.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        agreement = np.bincount(who[shared], same[shared] / others[shared], n_annotators) / n
        chance = np.bincount(who[shared], chance_of[label[shared]], n_annotators) / n
        skill = (agreement - chance) / (1 - chance)
    columns = {
        "annotator": list(annotations.index.annotators),
        "n_annotations": np.bincount(who, minlength=n_annotators),
        "agreement": agreement,
        "skill": skill,
    }
    return frames.as_polars(columns)


def flags(
    low: Float[np.ndarray, " annotator"], high: Float[np.ndarray, " annotator"]
) -> Shaped[np.ndarray, " annotator"]:
    """The flag "adversary" where skill is surely below 0, "spammer" where surely below `NO_SKILL`, "" elsewhere."""
    flag = np.where(high < NO_SKILL, "spammer", "")
    flag = np.where(high < 0, "adversary", flag)
    return flag


def _wilson(
    share: Float[np.ndarray, " annotator"], n: Float[np.ndarray, " annotator"]
) -> tuple[Float[np.ndarray, " annotator"], Float[np.ndarray, " annotator"]]:
    """Wilson's 95% interval of a share of n (doi:10.1080/01621459.1927.10502953)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        extra = Z**2 / n
        centre = (share + extra / 2) / (1 + extra)
        variance = share * (1 - share) / n + extra / (4 * n)
        half = Z / (1 + extra) * np.sqrt(variance)
    return centre - half, centre + half
