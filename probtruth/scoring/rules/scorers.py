"""Losses for soft labels in the form that scikit-learn's `make_scorer` takes; scikit-learn is not imported."""

from collections.abc import Callable, Sequence

import jax
import numpy as np

from probtruth import check, check_arrays
from probtruth.errors import InputError
from probtruth.frame_numbers import labelled
from probtruth.kernels.arrays import to_host
from probtruth.scoring.rules.named import RuleLike, get_rule
from probtruth.scoring.rules.rule import ScoringRule, expected_of
from probtruth.types.index import as_names, sort_names
from probtruth.types.truth import Truth


@check.checks_itself
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
        forecasts = labelled(probs).values
        if np.ndim(forecasts) == 1:  # type: ignore[arg-type]
            if np.asarray(forecasts).dtype.kind in "biuSU":
                hint = "Pass response_method='predict_proba' to make_scorer."
                raise InputError("predicted classes", "probabilities", hint)
            second = check_arrays.as_floats(forecasts, "item", "probabilities")
            forecasts = np.stack([1 - second, second], 1)
        forecast = check_arrays.as_floats(forecasts, "item label", "probabilities")
        check_arrays.simplex(forecast, "probabilities", lambda row: f"item {row}")
        soft, names = _soft(truth, forecast.shape, classes)
        whole = names is None and np.ndim(truth) == 1  # type: ignore[arg-type]
        of_columns = chosen.for_labels(names or _columns(chosen, forecast.shape[1], whole))
        with jax.enable_x64(True):
            return float(np.mean(np.asarray(expected_of(of_columns, forecast, soft))))

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


def _soft(
    truth: object, shape: tuple[int, ...], classes: Sequence[str] | None
) -> tuple[np.ndarray, Sequence[str] | None]:
    """The distribution of each item's label, and the names of the columns where they are known."""
    if np.ndim(truth) == 1:  # type: ignore[arg-type]
        return _hard(truth, shape, classes)
    soft = check_arrays.as_floats(labelled(truth).values, "item label", "soft labels")
    check_arrays.simplex(soft, "soft labels", lambda row: f"item {row}")
    if soft.shape != shape:
        raise InputError(f"soft labels with shape {soft.shape}", f"{shape}", "Give one column for each class.")
    return soft, classes


def _hard(
    truth: object, shape: tuple[int, ...], classes: Sequence[str] | None
) -> tuple[np.ndarray, Sequence[str] | None]:
    """Certain labels: names in the order in which scikit-learn sorts classes, or integers, which are columns."""
    values = np.asarray(truth)
    if classes is None and values.dtype.kind in "iu":
        soft = check_arrays.one_hot(truth, shape[1], "labels")
    else:
        classes = classes or tuple(sorted(set(as_names(values.tolist(), "labels") or ())))
        if len(classes) != shape[1]:
            raise InputError(
                f"{len(classes)} classes ({check.shortlist(classes)}) for {shape[1]} columns of probabilities",
                "a class for each column",
                "Pass all classes: soft_label_loss(rule, labels=np.unique(y)).",
            )
        made = Truth.from_labels(values, classes=classes)
        soft = to_host(made.probs)[:, [made.index.labels.index(name) for name in classes]]
    if soft.shape != shape:
        raise InputError(f"{len(soft)} labels", f"{shape[0]}, one for each row of probabilities", "Check both arrays.")
    return soft, classes
