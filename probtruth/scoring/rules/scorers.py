"""Losses for soft labels in the form that scikit-learn's `make_scorer` takes; scikit-learn is not imported."""

from collections.abc import Callable

import jax
import numpy as np

from probtruth import check
from probtruth.errors import InputError
from probtruth.named_numbers import labelled
from probtruth.scoring.rules.named import RuleLike, get_rule
from probtruth.scoring.rules.rule import ScoringRule
from probtruth.types.index import sort_names


@check.checks_itself
def soft_label_loss(rule: RuleLike = "log") -> Callable[[object, object], float]:
    """A function (soft labels, predicted probabilities) -> mean expected loss, for `sklearn.metrics.make_scorer`.

    Formula: mean over items of sum_k q_k S(p, k), q the soft label, p the prediction, S the rule.

    Arguments: `rule` is a name or a `ScoringRule`. Use it as `make_scorer(soft_label_loss("log"),
    response_method="predict_proba", greater_is_better=False)`.

    Returns: a function whose value is in units of the rule, lower is better. Its first argument is an array with one
    distribution for each item, or integer labels from 0; its second one distribution for each item, or, with two
    classes, the probabilities of the second (as scikit-learn's scorers pass them). Columns are scikit-learn's
    `classes_`, which are sorted. A rule that depends on the order of three or more labels takes integer labels in
    theirs; soft labels need the rule with an order, which names the classes: `RULES["ranked-probability"].in_order(
    ["low", "medium", "high"])`, or `in_order(range(3))` where the columns stand from low to high.

    Errors: `InputError` for rows that are not distributions, other shapes, or an order that is not known.

    >>> loss = soft_label_loss("brier")
    >>> loss([[0.5, 0.5], [1.0, 0.0]], [[0.5, 0.5], [1.0, 0.0]])
    0.25
    """
    chosen = get_rule(rule)

    def loss(truth: object, probs: object) -> float:
        forecasts = labelled(probs).values
        if np.ndim(forecasts) == 1:  # type: ignore[arg-type]
            second = check.as_floats(forecasts, "item", "probabilities")
            forecasts = np.stack([1 - second, second], 1)
        forecast = check.as_floats(forecasts, "item label", "probabilities")
        check.simplex(forecast, "probabilities", lambda row: f"item {row}")
        soft = _soft(truth, forecast.shape)
        whole = np.ndim(truth) == 1  # type: ignore[arg-type]
        of_columns = chosen.for_labels(_columns(chosen, forecast.shape[1], whole))
        with jax.enable_x64(True):
            return float(np.mean(np.asarray(of_columns.expected(forecast, soft))))

    loss.__name__ = f"soft_label_{chosen.name}_loss"
    return loss


def _columns(rule: ScoringRule, n_labels: int, whole: bool) -> tuple[str, ...]:
    """The names of the columns, sorted as scikit-learn sorts classes; those of an order, or of integer labels."""
    if rule.order is not None:
        check.length(len(rule.order), n_labels, "labels in the order")
        return tuple(sort_names(rule.order))
    if rule.ordered and n_labels > 2 and not whole:
        raise InputError(
            f"the rule {rule.name!r} for soft labels in columns without names",
            "the order of their labels",
            f"Pass probtruth.rules.RULES[{rule.name!r}].in_order([lowest, ..., highest]), the names of the classes.",
        )
    return tuple(map(str, range(n_labels)))


def _soft(truth: object, shape: tuple[int, ...]) -> np.ndarray:
    if np.ndim(truth) == 1:  # type: ignore[arg-type]
        soft = check.one_hot(truth, shape[1], "labels")
    else:
        soft = check.as_floats(labelled(truth).values, "item label", "soft labels")
        check.simplex(soft, "soft labels", lambda row: f"item {row}")
    if soft.shape != shape:
        raise InputError(f"soft labels with shape {soft.shape}", f"{shape}", "Give one column for each class.")
    return soft
