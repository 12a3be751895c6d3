"""Losses for soft labels in the form that scikit-learn's `make_scorer` takes; scikit-learn is not imported."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from probtruth import check
from probtruth.errors import InputError
from probtruth.frame_numbers import labelled
from probtruth.kernels.arrays import to_host
from probtruth.scoring.rules.named import RuleLike, get_rule
from probtruth.scoring.rules.rule import ScoringRule
from probtruth.types.index import as_names, sort_names
from probtruth.types.predictions import Predictions
from probtruth.types.truth import Truth


def soft_label_loss(
    rule: RuleLike = "log", labels: Sequence[object] | None = None
) -> Callable[[object, object], float]:
    """A function (soft labels, predicted probabilities) -> mean expected loss, for `sklearn.metrics.make_scorer`.

    Formula: mean over items of sum_k q_k S(p, k), q the soft label, p the prediction, S the rule.

    Arguments:
        rule: a name or a `ScoringRule`. One that depends on the order of three or more labels needs that order, unless
            the labels are integers: `RULES["ranked-probability"].in_order(["low", "medium", "high"])`.
        labels: all classes in the order of the columns (`np.unique(y)`, as scikit-learn sorts them): needed for names
            of which some fold may lack one, and for integers that do not count from 0.

    Returns: a function for `make_scorer(soft_label_loss("log"), response_method="predict_proba",
    greater_is_better=False)`, in units of the rule, lower is better. Its first argument is an array with one
    distribution for each item, names of classes, or integer labels from 0; its second one distribution for each item,
    or, with two classes, the probabilities of the second (as scikit-learn's scorers pass them).

    Errors: `InputError` for rows that are not distributions, other shapes, a name that is no class, or classes or an
    order that is not known.

    >>> loss = soft_label_loss("brier")
    >>> loss([[0.5, 0.5], [1.0, 0.0]], [[0.5, 0.5], [1.0, 0.0]])
    0.25
    >>> loss(["no", "yes"], [[1.0, 0.0], [0.5, 0.5]])
    0.25
    """
    if not isinstance(rule, str | ScoringRule) and np.ndim(rule):  # make_scorer(soft_label_loss), which passes labels
        hint = "Write make_scorer(soft_label_loss('log'))."
        raise InputError("labels in place of a rule", "the name of a rule", hint)
    chosen = get_rule(rule)
    classes = as_names(labels, "labels")

    def loss(truth: Any, probs: Any) -> float:
        table = np.asarray(labelled(probs).values)
        if table.ndim == 1 and table.dtype.kind in "biuSU":
            hint = "Pass response_method='predict_proba' to make_scorer."
            raise InputError("predicted classes", "probabilities", hint)
        n_labels = 2 if table.ndim == 1 else table.shape[1]
        names = _names_of_columns(chosen, classes, truth, n_labels)
        models = Predictions.from_probs({"model": table}, labels=names)
        if np.ndim(truth) == 1:
            soft = Truth.from_labels(truth, None if names else n_labels, classes=names).probs
        else:
            soft = Truth.from_probs(truth, labels=names).probs
        logs = models.log_probs[0].astype(np.float64)
        if soft.shape != logs.shape:
            raise InputError(f"labels with shape {soft.shape}", f"{logs.shape}", "Give a row for each item.")
        by_item = chosen.for_labels(models.index.labels).expected_from_log(logs, to_host(soft))
        return float(np.mean(by_item))

    loss.__name__ = f"soft_label_{chosen.name}_loss"
    return loss


def _names_of_columns(
    rule: ScoringRule, classes: Sequence[str] | None, truth: Any, n_labels: int
) -> Sequence[str] | None:
    """The names of the classes, from what is known of them; None where the columns count from 0."""
    one_label = np.ndim(truth) == 1
    names = classes
    if names is None and one_label and np.asarray(truth).dtype.kind not in "iu":
        found = as_names(np.asarray(truth).tolist(), "labels") or ()
        names = tuple(sorted(set(found)))
    if names is not None:
        if len(names) != n_labels:
            got = f"{len(names)} classes ({check.shortlist(names)}) for {n_labels} columns of probabilities"
            hint = "Pass all classes: soft_label_loss(rule, labels=np.unique(y))."
            raise InputError(got, "a class for each column", hint)
        return names
    if rule.order is not None:
        check.length(len(rule.order), n_labels, "labels in the order")
        return sort_names(rule.order)
    if rule.ordered and n_labels > 2 and not one_label:
        got = f"the rule {rule.name!r} for soft labels in columns without names"
        hint = f"Pass probtruth.rules.RULES[{rule.name!r}].in_order([lowest, ..., highest]), names of the classes."
        raise InputError(got, "the order of their labels", hint)
    return None
