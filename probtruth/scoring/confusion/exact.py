"""The exact expectation of ratios of random counts, and for few items their exact distribution.

Labels and responses are independent over items and of each other. If every item adds an indicator a_i (with mean
alpha_i) above and b_i >= a_i below, then by 1/s = integral from 0 to 1 of u^(s-1) du

    E[sum a / sum b; sum b > 0] = integral over u from 0 to 1 of sum_i alpha_i prod_{j != i} E[u^b_j].

The integrand is a polynomial; on the part of (0, 1) that matters a fixed Gauss-Legendre rule is exact to rounding.

If few tables of counts are possible, all are listed with their probabilities. Metrics over draws are those of the
truth's posterior, or of labels and responses without one.
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

MOST_TABLES = 30_000
"""Above this many possible tables (two labels: 54 items; three: 9) the averages over labels are simulated."""

SURE = 1e-15
"""Probabilities below this are rounding."""


def table_distribution(
    truth: Rows, answer: Rows
) -> tuple[Float[np.ndarray, "table label label"], Float[np.ndarray, " table"]] | None:
    """Every possible table of counts and its probability; None if there are more than `MOST_TABLES`."""
    n_items, n_labels = truth.shape
    if n_labels**2 * np.log2(n_items + 1) > 62:
        return None
    digit = (n_items + 1) ** np.arange(n_labels**2, dtype=np.int64)
    codes, mass = np.zeros(1, np.int64), np.ones(1)
    for label, response in zip(truth, answer, strict=True):
        cells = np.outer(label, response).ravel()
        possible = cells > 0
        codes, inverse = np.unique((codes[:, None] + digit[possible]).ravel(), return_inverse=True)
        mass = np.bincount(inverse, (mass[:, None] * cells[possible]).ravel())
        if len(codes) > MOST_TABLES:
            return None
    tables = codes[:, None] // digit % (n_items + 1)
    return tables.reshape(-1, n_labels, n_labels).astype(np.float64), mass


def table_measures(truth: Rows, answers: Answers) -> Summary | None:
    """Exact expectation, spread and interval of every measure; None if there are too many tables."""
    rows = []
    for answer in answers:
        distribution = table_distribution(truth, answer)
        if distribution is None:
            return None
        tables, mass = distribution
        values, undefined = measure_table(tables)
        each = [distribution_summary(column, mass[None]) for column in values.T]
        mean, sd, low, high = (np.array([float(one[part][0]) for one in each]) for part in range(4))
        rows.append((mean, mass @ undefined / mass.sum(), sd, low, high, np.zeros_like(mean)))
    return Summary(*(np.stack(part) for part in zip(*rows, strict=True)))


def distribution_summary(
    values: Float[np.ndarray, " value"], mass: Float[np.ndarray, "label value"]
) -> tuple[ByLabel, ByLabel, ByLabel, ByLabel]:
    """Mean, sd and equal-tailed 95% interval over the values that are not NaN, for each row of masses."""
    order = np.argsort(values, kind="stable")[: int((~np.isnan(values)).sum())]
    if order.size == 0:
        nothing = np.full(len(mass), np.nan)
        return nothing, nothing, nothing, nothing
    value, part = values[order], mass[:, order]
    share = ratio(part, part.sum(1, keepdims=True))
    mean = share @ value
    sd = np.sqrt((share * (value - mean[:, None]) ** 2).sum(1))
    reached = np.cumsum(share, axis=1)
    ends = [value[(reached >= level - SURE).argmax(1)] for level in (0.025, 0.975)]
    low, high = (np.where(np.isnan(mean), np.nan, end) for end in ends)
    return mean, sd, low, high


CELLS = 2**21
"""Drawn labels in memory at a time (16 MiB of random numbers); a different number gives different draws."""

FEW_LABELS = 16
"""Up to this many labels a draw is compared with each cumulative probability; above, it is found by a search."""


def draw_labels(probs: Rows, draws: int, generator: np.random.Generator) -> Int[np.ndarray, "item draw"]:
    """Independent labels of every item. A label of probability 0 is never drawn."""
    steps = np.cumsum(probs, axis=1)
    steps /= steps[:, -1:]
    chance = generator.random((len(probs), draws))
    n_labels = probs.shape[1]
    if n_labels <= FEW_LABELS:
        labels = np.zeros(chance.shape, np.int64)
        for step in steps[:, :-1].T:
            labels += chance >= step[:, None]
        return labels
    positions = [np.searchsorted(row, numbers, side="right") for row, numbers in zip(steps, chance, strict=True)]
    return np.stack(positions)


def sampled_measures(truth: Rows, answers: Answers, draws: int, seed: int, respond: bool) -> Summary:
    """The measures over independent draws of every item's label, the same for all models.

    With `respond` the responses are drawn too; otherwise the counts are expected over the responses.
    """
    n_items, n_labels = truth.shape
    generator = np.random.default_rng(seed)
    shape = (draws, len(answers), n_labels)
    right, of_response, of_label = np.zeros(shape), np.zeros(shape), np.zeros((draws, 1, n_labels))
    block = max(1, CELLS // draws)
    for start in range(0, n_items, block):
        rows = slice(start, start + block)
        labels = draw_labels(truth[rows], draws, generator)
        code = (labels + n_labels * np.arange(draws)).ravel()
        of_label[:, 0] += _sums(code, None, draws, n_labels)
        for model, answer in enumerate(answers[:, rows]):
            if not respond:
                weights = np.take_along_axis(answer, labels, axis=1).ravel()
                right[:, model] += _sums(code, weights, draws, n_labels)
                of_response[:, model] += answer.sum(0)
                continue
            responses = draw_labels(answer, draws, generator)
            right[:, model] += _sums(code[(responses == labels).ravel()], None, draws, n_labels)
            of_response[:, model] += _sums((responses + n_labels * np.arange(draws)).ravel(), None, draws, n_labels)
    return summarise(*measure(right, np.broadcast_to(of_label, shape), of_response))


def _sums(
    code: Int[np.ndarray, " cell"], weights: Float[np.ndarray, " cell"] | None, draws: int, n_labels: int
) -> np.ndarray:
    return np.bincount(code, weights, draws * n_labels).reshape(draws, n_labels)


def posterior_measures(tables: Float[np.ndarray, "draw item label"], answers: Answers) -> Summary:
    """The measures of every drawn table of labels, with counts expected over labels and responses given the table."""
    right = np.stack([np.einsum("nk,mnk->mk", table.astype(np.float64), answers) for table in tables])
    of_label = tables.sum(1, dtype=np.float64)[:, None]
    shape = right.shape
    return summarise(*measure(right, np.broadcast_to(of_label, shape), np.broadcast_to(answers.sum(1), shape)))


REACH = 40.0
"""With x = 1 - u the integrand falls like exp(-x sum E[b]): beyond this exponent it is below 1e-17 of the whole."""

NODES = 32
"""The rule's relative error is below REACH^(2n+1) (n!)^4 / ((2n+1) (2n)!^3) = 1e-22 for n = 32."""

MOST_CELLS = 3e8
"""The exact distribution may cost this many updates of cells (about a second); above, the spread is simulated."""


def exact_measures(truth: Rows, answers: Answers, draws: int, seed: int) -> Summary:
    """Expectation of each measure, given that it is defined, and its spread over labels and responses.

    If few tables are possible, all is exact. Otherwise the expectation is exact (`mc_error` 0) for accuracy, for every
    label, for micro averages and weighted recall, and for the other averages if every label that counts is certainly
    defined; if not, it is the mean over the draws. Sd and interval are exact for accuracy and labels up to a few
    hundred items, else over the draws.
    """
    exact_tables = table_measures(truth, answers)
    if exact_tables is not None:
        return exact_tables
    n_labels = truth.shape[1]
    summary = sampled_measures(truth, answers, draws, seed, respond=True)
    mean, undefined = summary.values.copy(), summary.undefined.copy()
    error = np.maximum(summary.mc_error, 1 / draws)  # draws that all agree are not an exact answer
    for model, answer in enumerate(answers):
        linear = _linear(float((truth * answer).sum() / len(truth)), n_labels)
        each = {metric: _expected(metric, truth, answer) for metric in METRICS}
        for position, number in linear.items():
            mean[model, position], undefined[model, position], error[model, position] = number, 0.0, 0.0
        for metric, (value, hole, by_label) in each.items():
            positions = label_columns(metric, n_labels)
            mean[model, positions], undefined[model, positions], error[model, positions] = value, hole, 0.0
            for average, exact in _averages(metric, value, hole, by_label, truth).items():
                position = average_column(metric, average, n_labels)
                undefined[model, position] = hole.sum()
                if exact is not None:
                    mean[model, position], error[model, position] = exact, 0.0
    summary = replace(summary, values=mean, undefined=undefined, mc_error=error)
    cells = len(answers) * (n_labels * 5 * float(len(truth)) ** 3 + float(len(truth)) ** 2)
    return _with_exact_spread(summary, truth, answers) if cells <= MOST_CELLS else summary


def _linear(accuracy: float, n_labels: int) -> dict[int, float]:
    """The measures that are linear in the counts, by position."""
    values = {average_column(metric, "micro", n_labels): accuracy for metric in METRICS}
    values[average_column("specificity", "micro", n_labels)] = (
        np.nan if n_labels == 1 else 1 - (1 - accuracy) / (n_labels - 1)
    )
    return values | {0: accuracy, average_column("recall", "weighted", n_labels): accuracy}


def _averages(metric: str, value: ByLabel, hole: ByLabel, by_label: ByLabel, truth: Rows) -> dict[str, float | None]:
    """Macro and weighted averages that are exact, because every label is certainly defined or certainly left out."""
    surely, never = hole <= SURE, hole >= 1
    macro = float(value[surely].mean()) if (surely | never).all() and surely.any() else None
    absent = truth.max(0) == 0
    exact = metric == "recall" or (surely | absent).all()  # recall weighted by label totals is accuracy
    return {"macro": macro, "weighted": float(by_label[~absent].sum() / len(truth)) if exact else None}


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
    """E[above/below | below > 0], P(below = 0), and E[T above/below; below > 0] where T counts the label.

    `below` holds the indicators that are added below, independent of each other; an item's own ones are all 1 where
    its `above` is, so that they leave a factor u^power. T is a sum over the first of `below` if there are two, and
    else independent of it given the item that is above.
    """
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


def _with_exact_spread(summary: Summary, truth: Rows, answers: Answers) -> Summary:
    n_labels = truth.shape[1]
    sd, low, high = summary.sd.copy(), summary.low.copy(), summary.high.copy()
    for model, answer in enumerate(answers):
        hit = (truth * answer).sum(1, keepdims=True)
        spread = ratio_spread([(1, 1, hit), (0, 1, 1 - hit)])
        for position in _linear(0.0, n_labels):
            shrink = max(n_labels - 1, 1) if position == average_column("specificity", "micro", n_labels) else 1
            sd[model, position] = spread[0][0] / shrink
            for target, value in ((low, spread[1][0]), (high, spread[2][0])):
                target[model, position] = 1 - (1 - value) / shrink
        both, neither = truth * answer, (1 - truth) * (1 - answer)
        steps = {
            "precision": [(1, 1, both), (0, 1, (1 - truth) * answer)],
            "recall": [(1, 1, both), (0, 1, truth * (1 - answer))],
            "specificity": [(1, 1, neither), (0, 1, (1 - truth) * answer)],
            "f": [(2, 2, both), (0, 1, truth * (1 - answer) + (1 - truth) * answer)],
        }
        for metric in METRICS:
            positions = label_columns(metric, n_labels)
            sd[model, positions], low[model, positions], high[model, positions] = ratio_spread(steps[metric])
    return replace(summary, sd=sd, low=low, high=high)


def ratio_spread(steps: list[tuple[int, int, Rows]]) -> tuple[ByLabel, ByLabel, ByLabel]:
    """Sd and 95% interval of above/below, given below > 0, from the exact joint distribution of the two.

    Every item takes one of the `steps` (what it adds above, what it adds below, with what probability), or nothing.
    """
    n_items, n_labels = steps[0][2].shape
    unit = max(above for above, _, _ in steps)
    most = max(below for _, below, _ in steps)
    table = np.zeros((n_labels, n_items + 1, most * n_items + 1))
    table[:, 0, 0] = 1
    for item in range(n_items):
        rest = 1 - sum(prob[item] for _, _, prob in steps)
        new = np.maximum(rest, 0)[:, None, None] * table
        for above, below, prob in steps:
            up = above // unit
            old = table[:, : n_items + 1 - up, : most * n_items + 1 - below]
            new[:, up:, below:] += prob[item][:, None, None] * old
        table = new
    above, below = np.meshgrid(unit * np.arange(n_items + 1), np.arange(most * n_items + 1), indexing="ij")
    value = ratio(above.ravel().astype(np.float64), below.ravel().astype(np.float64))
    return distribution_summary(value, table.reshape(n_labels, -1))[1:]
