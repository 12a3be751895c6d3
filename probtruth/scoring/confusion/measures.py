"""Accuracy, precision, recall, specificity and F from tables of counts: plain ones, expected ones and drawn ones."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from probtruth.kernels.draws import categorical
from probtruth.kernels.shapes import ItemLabel, ModelItemLabel

ModelMeasure = Float[np.ndarray, "model measure"]

ByLabel = Float[np.ndarray, " label"]
Labels = Float[np.ndarray, "*batch label"]
Measures = Float[np.ndarray, "*batch measure"]
Drawn = Float[np.ndarray, "draw model measure"]

METRICS = ("precision", "recall", "specificity", "f")
AVERAGES = ("macro", "micro", "weighted")

SURE = 1e-15  # Probabilities below this are rounding
CELLS = 2**21  # Drawn labels in memory at a time (16 MiB of random numbers); a different number gives different draws
# With x = 1 - u the integrand falls like exp(-x sum E[b]): beyond this exponent it is below 1e-17 of the whole.
CUTOFF = 40.0
NODES = 32  # The rule's relative error is below CUTOFF^(2n+1) (n!)^4 / ((2n+1) (2n)!^3) = 1e-22 for n = 32


@dataclass(frozen=True)
class Measure:
    """One number about a table of counts: a metric of one label, or its average over the labels."""

    metric: str
    label: str | None = None
    average: str | None = None


def measure_names(labels: tuple[str, ...]) -> tuple[Measure, ...]:
    """The measures in the order of `measure`: accuracy; then for each metric its labels and its three averages."""
    names = [Measure("accuracy")]
    for metric in METRICS:
        names += [Measure(metric, label=label) for label in labels]
        names += [Measure(metric, average=average) for average in AVERAGES]
    return tuple(names)


def label_columns(metric: str, n_labels: int) -> slice:
    """Positions of the labels of a metric among the measures; those of its averages follow."""
    start = 1 + METRICS.index(metric) * (n_labels + len(AVERAGES))
    return slice(start, start + n_labels)


def measure(right: Labels, of_label: Labels, of_response: Labels) -> Measures:
    """The measures of each table, NaN for 0/0."""
    total = of_label.sum(-1, keepdims=True)
    neither = np.maximum(total - of_label - of_response + right, 0)
    parts = {
        "precision": (right, of_response),
        "recall": (right, of_label),
        "specificity": (neither, total - of_label),
        "f": (2 * right, of_label + of_response),
    }
    values = [_ratio_of_sums(right, of_label)]
    for metric in METRICS:
        above, below = parts[metric]
        each = ratio(above, below)
        defined = (~np.isnan(each)).astype(np.float64)
        filled = np.nan_to_num(each)
        weights = of_label * defined
        macro = _ratio_of_sums(filled, defined)
        micro = _ratio_of_sums(above, below)
        weighted = _ratio_of_sums(weights * filled, weights)
        values += [each, macro, micro, weighted]
    return np.concatenate(values, -1)


def _ratio_of_sums(above: Labels, below: Labels) -> Float[np.ndarray, "*batch 1"]:
    """The sum over labels of the one by that of the other."""
    total_above = above.sum(-1, keepdims=True)
    total_below = below.sum(-1, keepdims=True)
    return ratio(total_above, total_below)


def undefined_labels(values: Measures, n_labels: int) -> Measures:
    """The number of undefined labels behind each measure."""
    holes = np.isnan(values).astype(np.float64)
    for metric in METRICS:
        part = label_columns(metric, n_labels)
        of_labels = holes[..., part].sum(-1)
        for average in ("macro", "weighted"):
            column = part.stop + AVERAGES.index(average)
            holes[..., column] = of_labels
    return holes


def measure_table(counts: Float[np.ndarray, "*batch label response"]) -> Measures:
    """`measure` of whole tables, rows = labels, columns = responses."""
    right = np.diagonal(counts, axis1=-2, axis2=-1)
    of_label = counts.sum(-1)
    of_response = counts.sum(-2)
    return measure(right, of_label, of_response)


def cohens_kappa(right: Labels, of_label: Labels, of_response: Labels) -> Float[np.ndarray, "*batch"]:
    """(accuracy - chance) / (1 - chance) of each table, chance being sum T R / N^2; NaN where chance is 1."""
    total = of_label.sum(-1)
    chance = (of_label * of_response).sum(-1)
    above_chance = right.sum(-1) * total - chance
    return ratio(above_chance, total**2 - chance)


def ratio(
    above: Float[np.ndarray, "*batch value"], below: Float[np.ndarray, "*batch #value"]
) -> Float[np.ndarray, "*batch value"]:
    """above / below, NaN if below is not positive."""
    positive = below > 0
    quotient = above / np.where(positive, below, 1.0)
    return np.asarray(np.where(positive, quotient, np.nan))


@dataclass(frozen=True, eq=False)
class Summary:
    """Each measure's value, spread and 95% interval, and the error of the value."""

    values: ModelMeasure
    undefined: ModelMeasure
    sd: ModelMeasure
    low: ModelMeasure
    high: ModelMeasure
    mc_error: ModelMeasure


def summarise(values: Drawn, n_labels: int) -> Summary:
    """Mean, sd and equal-tailed 95% interval over the draws in which a measure is defined."""
    undefined = undefined_labels(values, n_labels).mean(0)
    n_defined = (~np.isnan(values)).sum(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # where a measure is never defined all of these are NaN
        mean = np.nanmean(values, 0)
        sd = np.nanstd(values, 0, ddof=1)
        low, high = np.nanquantile(values, [0.025, 0.975], axis=0)
    error = ratio(sd, np.sqrt(n_defined))
    return Summary(mean, undefined, sd, low, high, error)


def draw_labels(probs: ItemLabel, draws: int, generator: np.random.Generator) -> Int[np.ndarray, "item draw"]:
    """Independent labels of every item. A label of probability 0 is never drawn."""
    cumulative = np.cumsum(probs, axis=1)
    return categorical(generator, cumulative / cumulative[:, -1:], draws)


def sampled_measures(truth: ItemLabel, answers: ModelItemLabel, draws: int, seed: int, respond: bool) -> Summary:
    """The measures over independent draws of every item's label, the same for all models."""
    n_items, n_labels = truth.shape
    generator = np.random.default_rng(seed)
    shape = (draws, len(answers), n_labels)
    right = np.zeros(shape)
    of_response = np.zeros(shape)
    of_label = np.zeros((draws, 1, n_labels))
    offset = n_labels * np.arange(draws)  # one number for each draw and label

    def totals(code: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        return np.bincount(code, weights, draws * n_labels).reshape(draws, n_labels)

    block = max(1, CELLS // draws)
    for start in range(0, n_items, block):
        rows = slice(start, start + block)
        labels = draw_labels(truth[rows], draws, generator)
        code = (labels + offset).ravel()
        n_of_label = totals(code)
        of_label[:, 0] += n_of_label
        for model, answer in enumerate(answers[:, rows]):
            if respond:
                responses = draw_labels(answer, draws, generator)
                agree = (responses == labels).ravel()
                code_of_response = (responses + offset).ravel()
                right[:, model] += totals(code[agree])
                of_response[:, model] += totals(code_of_response)
            else:
                agreement = np.take_along_axis(answer, labels, axis=1)
                right[:, model] += totals(code, agreement.ravel())
                of_response[:, model] += answer.sum(0)
    of_each_label = np.broadcast_to(of_label, shape)
    values = measure(right, of_each_label, of_response)
    return summarise(values, n_labels)


def posterior_measures(tables: Float[np.ndarray, "draw item label"], answers: ModelItemLabel) -> Summary:
    """The measures of every drawn table of labels, with counts expected over labels and responses given the table."""
    n_draws, _, n_labels = tables.shape
    shape = (n_draws, len(answers), n_labels)
    right = np.empty(shape)
    for draw, table in enumerate(tables):
        right[draw] = np.einsum("nk,mnk->mk", table.astype(np.float64), answers)
    totals = tables.sum(1, dtype=np.float64)
    of_label = np.broadcast_to(totals[:, None], shape)
    of_response = np.broadcast_to(answers.sum(1), shape)
    values = measure(right, of_label, of_response)
    return summarise(values, n_labels)


def exact_measures(truth: ItemLabel, answers: ModelItemLabel, draws: int, seed: int) -> Summary:
    """Expectation of each measure, given that it is defined; most averages, and the spread, from drawn tables."""
    summary = sampled_measures(truth, answers, draws, seed, respond=True)
    mean = summary.values.copy()
    undefined = summary.undefined.copy()
    error = np.maximum(summary.mc_error, 1 / draws)  # draws that all agree are not an exact answer
    columns = {metric: label_columns(metric, truth.shape[1]) for metric in METRICS}
    micro = AVERAGES.index("micro")
    weighted = AVERAGES.index("weighted")
    # linear in the counts: accuracy, its twin the recall weighted by labels, and all that count over the labels
    linear = [0, columns["recall"].stop + weighted]
    linear += [part.stop + micro for part in columns.values()]
    expected_counts = truth.T @ answers
    mean[:, linear] = measure_table(expected_counts)[:, linear]
    undefined[:, linear] = 0.0
    error[:, linear] = 0.0
    for model, answer in enumerate(answers):
        right = truth * answer
        ratios = {
            "precision": (right, [answer]),
            "recall": (right, [truth]),
            "specificity": ((1 - truth) * (1 - answer), [1 - truth]),
            "f": (right, [truth, answer]),
        }
        for metric, part in columns.items():
            value, hole = _expected_ratio(*ratios[metric])
            mean[model, part] = value
            undefined[model, part] = hole
            error[model, part] = 0.0
            undefined[model, [part.stop, part.stop + weighted]] = hole.sum()
            surely_defined = hole <= SURE
            never_defined = hole >= 1
            if (surely_defined | never_defined).all() and surely_defined.any():  # then so is the macro average
                mean[model, part.stop] = value[surely_defined].mean()
                error[model, part.stop] = 0.0
    return replace(summary, values=mean, undefined=undefined, mc_error=error)


# Labels and responses are independent over items and of each other. If every item adds an indicator a_i (with mean
# alpha_i) above and b_i >= a_i below, then by 1/s = integral from 0 to 1 of u^(s-1) du
#     E[sum a / sum b; sum b > 0] = integral over u from 0 to 1 of sum_i alpha_i prod_{j != i} E[u^b_j].
# The integrand is a polynomial; on the part of (0, 1) that matters a fixed Gauss-Legendre rule is exact to rounding.
def _expected_ratio(above: ItemLabel, below: list[ItemLabel]) -> tuple[ByLabel, ByLabel]:
    """E[above / mean of the sums below | these are not 0], and the probability that they are."""
    n_parts = len(below)
    expected_below = sum(part.sum(0) for part in below)
    span = CUTOFF / np.maximum(expected_below, CUTOFF)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    places = (nodes + 1) / 2
    integral = np.zeros(above.shape[1])
    for place, weight in zip(places, weights / 2, strict=True):
        x = place * span
        each = [1 - part * x for part in below]  # E[u^b_j] of each item, by part of the sum below
        of_parts = [part.prod(0) for part in each]
        of_all = np.prod(of_parts, axis=0)
        without_item = above / np.prod(each, axis=0)
        density = of_all * weight * span * (1 - x) ** (n_parts - 1)
        integral += density * without_item.sum(0)
    with np.errstate(divide="ignore"):
        log_hole = sum(np.log1p(-part).sum(0) for part in below)
    some_below = -np.expm1(log_hole)
    return n_parts * ratio(integral, some_below), np.exp(log_hole)
