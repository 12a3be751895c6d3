"""Losses for soft labels in the form that scikit-learn's `make_scorer` takes; scikit-learn is not imported."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from probtruth import check, check_arrays
from probtruth.errors import InputError
from probtruth.frame_numbers import labelled
from probtruth.kernels.arrays import to_host
from probtruth.scoring.rules.named import RuleLike, get_rule
from probtruth.scoring.rules.rule import ScoringRule
from probtruth.types.index import as_names, sort_names
from probtruth.types.truth import Truth


def soft_label_loss(
    rule: RuleLike = "log", labels: Sequence[object] | None = None
) -> Callable[[object, object], float]:
    """A function (soft labels, predicted probabilities) -> mean expected loss, for `sklearn.metrics.make_scorer`.

    Formula: mean over items of sum_k q_k S(p, k), q the soft label, p the prediction, S the rule.

    Arguments: `rule` is a name or a `ScoringRule`. Use it as `make_scorer(soft_label_loss("log"),
    response_method="predict_proba", greater_is_better=False)`. `labels` are all classes in the order of the columns
    (`np.unique(y)`, as scikit-learn sorts them): needed for names of which some fold may lack one, and for integers
    that do not count from 0.

    Returns: a function whose value is in units of the rule, lower is better. Its first argument is an array with one
    distribution for each item, names of classes, or integer labels from 0; its second one distribution for each item,
    or, with two classes, the probabilities of the second (as scikit-learn's scorers pass them). Columns are
    scikit-learn's `classes_`, which are sorted. A rule that depends on the order of three or more labels takes integer
    labels in theirs; soft labels and names need the rule with an order, which names the classes:
    `RULES["ranked-probability"].in_order(["low", "medium", "high"])`, or `in_order(range(3))` where the columns stand
    from low to high.

    Errors: `InputError` for rows that are not distributions, other shapes, a name that is no class, or classes or an
    order that is not known.

    >>> loss = soft_label_loss("brier")
    >>> loss([[0.5, 0.5], [1.0, 0.0]], [[0.5, 0.5], [1.0, 0.0]])
    0.25
    >>> loss(["no", "yes"], [[1.0, 0.0], [0.5, 0.5]])
    0.25
    """
    if not isinstance(rule, str | ScoringRule) and np.ndim(rule):  # make_scorer(soft_label_loss), which passes labels
        raise InputError(
            "labels in place of a rule", "the name of a rule", "Write make_scorer(soft_label_loss('log'))."
        )
    chosen = get_rule(rule)
    classes = as_names(labels, "labels")

    def loss(truth: object, probs: object) -> float:
        forecast = _forecasts(probs)
        soft, names = _soft(truth, forecast.shape[1], classes)
        if soft.shape != forecast.shape:
            raise InputError(f"labels with shape {soft.shape}", f"{forecast.shape}", "Give a row for each item.")
        if chosen.order is not None:
            check.length(len(chosen.order), forecast.shape[1], "labels in the order")
            names = names or tuple(sort_names(chosen.order))
        elif names is None and chosen.ordered and forecast.shape[1] > 2 and np.ndim(truth) != 1:  # type: ignore[arg-type]
            raise InputError(
                f"the rule {chosen.name!r} for soft labels in columns without names",
                "the order of their labels",
                f"Pass probtruth.rules.RULES[{chosen.name!r}].in_order([lowest, ..., highest]), names of the classes.",
            )
        of_columns = chosen.for_labels(names or tuple(map(str, range(forecast.shape[1]))))
        return float(np.mean(of_columns.expected(forecast.astype(np.float64), soft)))

    loss.__name__ = f"soft_label_{chosen.name}_loss"
    return loss


def _forecasts(probs: object) -> Float[np.ndarray, "item label"]:
    """Checked probabilities; a single column holds those of the second of two classes."""
    values = labelled(probs).values
    if np.ndim(values) == 1:  # type: ignore[arg-type]
        if np.asarray(values).dtype.kind in "biuSU":
            raise InputError(
                "predicted classes", "probabilities", "Pass response_method='predict_proba' to make_scorer."
            )
        second = check_arrays.as_floats(values, "item", "probabilities")
        values = np.stack([1 - second, second], 1)
    forecast = check_arrays.as_floats(values, "item label", "probabilities")
    check_arrays.simplex(forecast, "probabilities", lambda row: f"item {row}")
    return forecast


def _soft(
    truth: object, n_labels: int, classes: Sequence[str] | None
) -> tuple[Float[np.ndarray, "item label"], Sequence[str] | None]:
    """The distribution of each item's label, and the names of the columns where they are known."""
    if np.ndim(truth) != 1:  # type: ignore[arg-type]
        soft = check_arrays.as_floats(labelled(truth).values, "item label", "soft labels")
        check_arrays.simplex(soft, "soft labels", lambda row: f"item {row}")
        return soft, classes
    values = np.asarray(truth)
    if classes is None and values.dtype.kind in "iu":
        return check_arrays.one_hot(truth, n_labels, "labels"), None
    classes = classes or tuple(sorted(set(as_names(values.tolist(), "labels") or ())))
    if len(classes) != n_labels:
        raise InputError(
            f"{len(classes)} classes ({check.shortlist(classes)}) for {n_labels} columns of probabilities",
            "a class for each column",
            "Pass all classes: soft_label_loss(rule, labels=np.unique(y)).",
        )
    made = Truth.from_labels(values, classes=classes)
    return to_host(made.probs)[:, [made.index.labels.index(name) for name in classes]], classes
