"""Ranks of numbers on the host, and which of them tie."""

import numpy as np
from jaxtyping import Float, Int


def first_and_last(
    values: Float[np.ndarray, "*batch value"],
) -> tuple[Int[np.ndarray, "*batch value"], Int[np.ndarray, "*batch value"]]:
    """The first and the last rank (from 1) that each value and those equal to it occupy along the last axis."""
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, -1)
    place = np.arange(values.shape[-1])
    new = np.ones(values.shape, np.bool_)
    new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    begin = np.maximum.accumulate(np.where(new, place, 0), -1)
    ends = np.roll(new, -1, -1)
    end = np.minimum.accumulate(np.where(ends, place, values.shape[-1])[..., ::-1], -1)[..., ::-1]
    first, last = np.empty(values.shape, np.int64), np.empty(values.shape, np.int64)
    np.put_along_axis(first, order, begin + 1, -1)
    np.put_along_axis(last, order, end + 1, -1)
    return first, last
