"""The expectation of ratios of random counts, and their spread over drawn labels and responses.

Labels and responses are independent over items and of each other. If every item adds an indicator a_i (with mean
alpha_i) above and b_i >= a_i below, then by 1/s = integral from 0 to 1 of u^(s-1) du

    E[sum a / sum b; sum b > 0] = integral over u from 0 to 1 of sum_i alpha_i prod_{j != i} E[u^b_j].

The integrand is a polynomial; on the part of (0, 1) that matters a fixed Gauss-Legendre rule is exact to rounding.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from probtruth.scoring.confusion.measures import (
    METRICS,
    Summary,
    average_column,
    label_columns,
    measure,
    measure_table,
    ratio,
    summarise,
)

Rows = Float[np.ndarray, "item label"]
Answers = Float[np.ndarray, "model item label"]
ByLabel = Float[np.ndarray, " label"]
SURE = 1e-15  # Probabilities below this are rounding
CELLS = 2**21  # Drawn labels in memory at a time (16 MiB of random numbers); a different number gives different draws
# With x = 1 - u the integrand falls like exp(-x sum E[b]): beyond this exponent it is below 1e-17 of the whole.
REACH = 40.0
NODES = 32  # The rule's relative error is below REACH^(2n+1) (n!)^4 / ((2n+1) (2n)!^3) = 1e-22 for n = 32
FEW_LABELS = 16  # Up to these a draw is compared with each cumulative probability; above, it is found by a search


def draw_labels(probs: Rows, draws: int, generator: np.random.Generator) -> Int[np.ndarray, "item draw"]:
    """Independent labels of every item. A label of probability 0 is never drawn."""
    steps = np.cumsum(probs, axis=1)
    steps /= steps[:, -1:]
    chance = generator.random((len(probs), draws))
    if probs.shape[1] > FEW_LABELS:
        return np.stack(
            [np.searchsorted(row, numbers, side="right") for row, numbers in zip(steps, chance, strict=True)]
        )
    labels = np.zeros(chance.shape, np.int64)
    for step in steps[:, :-1].T:
        labels += chance >= step[:, None]
    return labels


def sampled_measures(truth: Rows, answers: Answers, draws: int, seed: int, respond: bool) -> Summary:
    """The measures over independent draws of every item's label, the same for all models."""
    n_items, n_labels = truth.shape
    generator, offset = np.random.default_rng(seed), n_labels * np.arange(draws)
    shape = (draws, len(answers), n_labels)
    right, of_response, of_label = np.zeros(shape), np.zeros(shape), np.zeros((draws, 1, n_labels))

    def totals(code: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        return np.bincount(code, weights, draws * n_labels).reshape(draws, n_labels)

    block = max(1, CELLS // draws)
    for start in range(0, n_items, block):
        rows = slice(start, start + block)
        labels = draw_labels(truth[rows], draws, generator)
        code = (labels + offset).ravel()
        of_label[:, 0] += totals(code)
        for model, answer in enumerate(answers[:, rows]):
            if respond:
                responses = draw_labels(answer, draws, generator)
                right[:, model] += totals(code[(responses == labels).ravel()])
                of_response[:, model] += totals((responses + offset).ravel())
            else:
                right[:, model] += totals(code, np.take_along_axis(answer, labels, axis=1).ravel())
                of_response[:, model] += answer.sum(0)
    return summarise(*measure(right, np.broadcast_to(of_label, shape), of_response))


def posterior_measures(tables: Float[np.ndarray, "draw item label"], answers: Answers) -> Summary:
    """The measures of every drawn table of labels, with counts expected over labels and responses given the table."""
    right = np.stack([np.einsum("nk,mnk->mk", table.astype(np.float64), answers) for table in tables])
    of_label = tables.sum(1, dtype=np.float64)[:, None]
    shape = right.shape
    return summarise(*measure(right, np.broadcast_to(of_label, shape), np.broadcast_to(answers.sum(1), shape)))


def exact_measures(truth: Rows, answers: Answers, draws: int, seed: int) -> Summary:
    """Expectation of each measure, given that it is defined; some averages, and the spread, from drawn tables."""
    n_items, n_labels = truth.shape
    summary = sampled_measures(truth, answers, draws, seed, respond=True)
    mean, undefined = summary.values.copy(), summary.undefined.copy()
    error = np.maximum(summary.mc_error, 1 / draws)  # draws that all agree are not an exact answer
    linear = [0, *(average_column(metric, "micro", n_labels) for metric in METRICS)]  # in the counts
    mean[:, linear], undefined[:, linear], error[:, linear] = measure_table(truth.T @ answers)[0][:, linear], 0.0, 0.0
    absent = truth.max(0) == 0
    for model, answer in enumerate(answers):
        for metric in METRICS:
            value, hole, by_label = _expected(metric, truth, answer)
            positions = label_columns(metric, n_labels)
            mean[model, positions], undefined[model, positions], error[model, positions] = value, hole, 0.0
            # averages are exact where every label is certainly defined or certainly left out
            surely, never = hole <= SURE, hole >= 1
            exact = {}
            if (surely | never).all() and surely.any():
                exact["macro"] = value[surely].mean()
            if metric == "recall" or (surely | absent).all():  # recall weighted by label totals is accuracy
                exact["weighted"] = by_label[~absent].sum() / n_items
            for average in ("macro", "weighted"):
                position = average_column(metric, average, n_labels)
                undefined[model, position] = hole.sum()
                if average in exact:
                    mean[model, position], error[model, position] = exact[average], 0.0
    return replace(summary, values=mean, undefined=undefined, mc_error=error)


def _expected(metric: str, truth: Rows, answer: Rows) -> tuple[ByLabel, ByLabel, ByLabel]:
    """E[metric | defined] and P(undefined) of each label, and E[label's total times metric; defined]."""
    if metric == "recall":
        value, hole, _ = _integrals(truth * answer, [truth], 0, truth)
        return value, hole, (truth * answer).sum(0)
    if metric == "precision":
        return _integrals(truth * answer, [answer], 0, truth)
    if metric == "specificity":
        above = (1 - truth) * (1 - answer)
        value, hole, _ = _integrals(above, [1 - truth], 0, truth)
        return value, hole, len(truth) * np.where(hole < 1, value, 0.0) * (1 - hole) - above.sum(0)
    value, hole, by_label = _integrals(truth * answer, [truth, answer], 1, truth)
    return 2 * value, hole, 2 * by_label


def _integrals(above: Rows, below: list[Rows], power: int, truth: Rows) -> tuple[ByLabel, ByLabel, ByLabel]:
    """E[above/below | below > 0], P(below = 0), and E[T above/below; below > 0] where T counts the label."""
    total = sum(part.sum(0) for part in below)
    reach = REACH / np.maximum(total, REACH)
    node, weight = np.polynomial.legendre.leggauss(NODES)
    size = truth.sum(0)
    ratio_sum, by_label = np.zeros(truth.shape[1]), np.zeros(truth.shape[1])
    for at, share in zip((node + 1) / 2, weight / 2, strict=True):
        x = at * reach
        left = [1 - part * x for part in below]
        each = above / np.prod(left, axis=0)
        whole = np.prod([part.prod(0) for part in left], axis=0) * share * reach * (1 - x) ** power
        ratio_sum += whole * each.sum(0)
        tilted = truth / left[0] * (1 - x) if len(below) == 2 else truth
        others = (tilted.sum(0) if len(below) == 2 else size) - tilted
        by_label += whole * (each * (1 + others)).sum(0)
    with np.errstate(divide="ignore"):
        log_hole = sum(np.log1p(-part).sum(0) for part in below)
    hole = np.exp(log_hole)
    return ratio(ratio_sum, -np.expm1(log_hole)), hole, by_label
