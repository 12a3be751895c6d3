"""Which truth method, and which weight of vote shares: every method on simulated crowds of many kinds (two minutes).

`truth-methods`: means over all crowds; "below the default": kinds of crowds with a smaller log loss than the default's.
`truth-crowds`: log loss by crowd, then coverage and error of the default. No gold of any real data set enters.
"""

import zlib
from collections.abc import Iterator

import numpy as np
from crowds import CROWDS, FLOOR, Crowd, annotations_of, log_loss

import probtruth as pt
from probtruth.truth.fit import MethodRequest
from probtruth.truth.flat import flatten
from probtruth.truth.methods.pooled import usual_share_weight, with_shares

RUNS = 6
WEIGHTS = (0.0, 0.3, 0.4, 0.5)  # Of vote shares
DEFAULT = "pooled"
BASIC = {
    "vote shares": ("vote-share", {}),
    "shares + 1/K": ("dirichlet", {}),
    "shares + 1": ("dirichlet", {"prior": 1}),
    "dirichlet": ("dirichlet", {}),
    "dawid-skene-em": ("dawid-skene-em", {}),
    "dawid-skene-em + 1": ("dawid-skene-em", {"diagonal": 1, "off_diagonal": 1}),
    "ability": ("ability", {}),
    "perceived-class": ("perceived-class", {}),
}
SHOWN = ("vote shares", "shares + 1/K", "dawid-skene-em", "dawid-skene-em + 1", "ability", "perceived-class")
SHOWN = (*SHOWN, DEFAULT)
HEAD = ("method", "log loss", "worst crowd", "floored", "error", "covered", "least covered", "below the default")


def answers(crowd: Crowd) -> dict[str, np.ndarray]:
    """The class probabilities of every method, and of the default with other weights of vote shares."""
    annotations = annotations_of(crowd)
    found = {}
    for name, (method, options) in BASIC.items():
        given = {"prior": 1 / crowd[4]} if name == "shares + 1/K" else options
        found[name] = pt.infer_truth(annotations, method, draws=0, **given).probs
    flat = flatten(MethodRequest.without_draws(annotations))
    truth = pt.infer_truth(annotations, "pooled", draws=0, share_weight=0)
    assert truth.marginals is not None
    weights = {DEFAULT: usual_share_weight(flat)}
    weights |= {f"pooled {weight}": weight for weight in WEIGHTS}
    for name, weight in weights.items():
        found[name] = with_shares(truth.probs, flat, weight, truth.marginals)
    return found


def judged(probs: np.ndarray, truth: np.ndarray) -> tuple[float, int, float, float]:
    """Log loss, how many true classes were floored, error, and how often the 95% set holds the true class."""
    right = probs[np.arange(len(truth)), truth]
    order = np.argsort(-probs, axis=1, kind="stable")
    before = np.cumsum(np.take_along_axis(probs, order, 1), 1) - np.take_along_axis(probs, order, 1)
    place = (order == truth[:, None]).argmax(1)
    inside = before[np.arange(len(truth)), place] < 0.95
    return log_loss(probs, truth), int((right < FLOOR).sum()), float((probs.argmax(1) != truth).mean()), inside.mean()


def study(runs: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    figures: dict[str, list[list[tuple[float, int, float, float]]]] = {}  # method, crowd, data set
    for name, make in CROWDS.items():
        found: dict[str, list[tuple[float, int, float, float]]] = {}
        for replicate in range(runs):
            crowd = make(np.random.default_rng([zlib.crc32(name.encode()), replicate]))
            for method, probs in answers(crowd).items():
                found.setdefault(method, []).append(judged(probs, crowd[3]))
        for method, rows in found.items():
            figures.setdefault(method, []).append(rows)
    crowds = {method: np.mean(rows, 1) for method, rows in figures.items()}  # crowd, figure
    yield "truth-methods", HEAD
    for method, table in crowds.items():
        floored = sum(row[1] for rows in figures[method] for row in rows)
        loss, _, error, inside = table.mean(0)
        wins = (table[:, 0] < crowds[DEFAULT][:, 0]).sum()
        cells = (f"{loss:.3f}", f"{table[:, 0].max():.3f}", floored, f"{error:.3f}", f"{inside:.3f}")
        yield "truth-methods", (method, *cells, f"{table[:, 3].min():.3f}", f"{wins} of {len(table)}")
    yield "truth-crowds", ("crowd", *SHOWN, "covered", "error")
    for row, name in enumerate(CROWDS):
        _, _, error, inside = crowds[DEFAULT][row]
        cells = (*(crowds[method][row, 0] for method in SHOWN), inside, error)
        yield "truth-crowds", (name, *(f"{value:.3f}" for value in cells))
