"""One model beside a truth, by tables, or where there are two labels by the probability of the second."""

import numpy as np

import probtruth as pt


def two(event: object) -> np.ndarray:
    """The probabilities of both labels."""
    second = np.asarray(event, float)
    return np.stack([1 - second, second], -1)


def one_model(forecast: object, truth: object) -> tuple[pt.Predictions, pt.Truth]:
    """The predictions of a model 'a', and the truth."""
    probs, shares = (two(one) if np.ndim(one) == 1 else one for one in (forecast, truth))
    return pt.Predictions.from_probs({"a": probs}), pt.Truth.from_probs(shares)
