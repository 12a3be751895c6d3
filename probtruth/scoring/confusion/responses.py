"""How a model that reports a distribution answers: drawing from it, naming its most probable label, by thresholds."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from probtruth import check
from probtruth.errors import InputError

RESPONSES = ("sample", "argmax", "threshold")


def response_probs(
    log_probs: Float[np.ndarray, "model item label"], response: str, threshold: object = None
) -> Float[np.ndarray, "model item label"]:
    """The probability of each answer: the model's distribution itself, or 1 at the label that it chooses.

    Labels that tie for the highest probability share the answer equally, so their order does not matter. A threshold
    is a number for two labels (the second label is the answer if its probability is at least that), or one number for
    each label (the answer is the label of greatest probability divided by threshold).
    """
    if response != "threshold" and threshold is not None:
        raise InputError(
            f"threshold {threshold!r} with response {response!r}",
            "a threshold only with response 'threshold'",
            "Give response='threshold', or leave the threshold out.",
        )
    if response == "sample":
        return np.exp(log_probs.astype(np.float64))
    if response == "argmax":
        return _first_place(log_probs)
    limits = _limits(threshold, log_probs.shape[-1])
    if limits.ndim == 0:
        positive = np.exp(log_probs[..., 1].astype(np.float64)) >= limits
        return np.stack([~positive, positive], -1).astype(np.float64)
    return _first_place(log_probs - np.log(limits))


def _first_place(values: Float[np.ndarray, "model item label"]) -> Float[np.ndarray, "model item label"]:
    winners: Bool[np.ndarray, "model item label"] = values == values.max(-1, keepdims=True)
    shared: np.ndarray = winners / winners.sum(-1, keepdims=True)
    return shared


def _limits(threshold: object, n_labels: int) -> np.ndarray:
    wanted = f"a number above 0 and at most 1, or {n_labels} of them (one for each label)"
    if isinstance(threshold, (int, float)) and not isinstance(threshold, bool):
        if n_labels != 2:
            raise InputError(
                f"one threshold for {n_labels} labels",
                f"{n_labels} thresholds, one for each label",
                "The answer is then the label of greatest probability divided by threshold.",
            )
        limits = np.asarray(float(threshold))
    elif isinstance(threshold, Sequence | np.ndarray) and not isinstance(threshold, str):
        limits = check.as_floats(threshold, "label", "thresholds").astype(np.float64)
        check.length(len(limits), n_labels, "thresholds")
    else:
        raise InputError(f"threshold {threshold!r}", wanted, "For two labels threshold=0.5 is the usual choice.")
    if not ((limits > 0) & (limits <= 1)).all():
        raise InputError(f"threshold {limits.tolist()}", wanted, "Thresholds are probabilities.")
    return limits
