"""The losses of rules as scorers of scikit-learn, which runs them."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB

import probtruth as pt
from probtruth.errors import InputError

TOLERANCE = 1e-9  # Round-off of means of float64 logarithms, and of scikit-learn's clipping at the dtype's epsilon


SPECIES = np.array(["setosa", "versicolor", "virginica"])


def test_a_scorer_scores_as_that_of_scikit_learn() -> None:
    data, target = load_iris(return_X_y=True)
    loss = pt.rules.soft_label_loss("log")
    both = {
        "ours": make_scorer(loss, response_method="predict_proba", greater_is_better=False),
        "theirs": "neg_log_loss",
    }
    for rows in (slice(None), slice(50, None)):  # three classes; two, whose scorers get one column
        for labels in (target[rows] - target[rows].min(), SPECIES[target[rows]]):
            found = cross_validate(GaussianNB(), data[rows], labels, scoring=both, cv=5)
            np.testing.assert_allclose(found["test_ours"], found["test_theirs"], rtol=TOLERANCE)


def test_soft_label_loss_of_soft_labels() -> None:
    soft, probs = np.array([[0.7, 0.3], [0.5, 0.5]]), np.array([[0.6, 0.4], [0.9, 0.1]])
    expected = -(soft * np.log(probs)).sum(1).mean()
    assert pt.rules.soft_label_loss()(soft, probs) == pytest.approx(expected, rel=TOLERANCE)
    assert pt.rules.soft_label_loss("log")(soft, probs[:, 1]) == pytest.approx(expected, rel=TOLERANCE)
    for truth, given, message in [
        (soft[:1], probs, "labels with shape"),
        (soft, probs * 2, "probabilities 1.2|sum to 2"),
        (soft * 2, probs, "soft labels"),
        ([0, 2], probs, "label 2"),
        (
            [0, 1, 1],
            np.array([0, 1, 0]),
            "response_method='predict_proba'",
        ),  # make_scorer(loss): the classes of `predict`
    ]:
        with pytest.raises(InputError, match=message):
            pt.rules.soft_label_loss()(truth, given)
    with pytest.raises(InputError, match="Did you mean 'log'"):
        pt.rules.soft_label_loss("lgo")
    with pytest.raises(pt.InputError, match=r"make_scorer\(soft_label_loss\('log'\)\)"):
        pt.rules.soft_label_loss(np.array([0, 1, 1]), np.array([[0.5, 0.5]] * 3))


def test_an_ordered_rule_needs_the_order_of_labels() -> None:
    """Columns are high, low, medium, as scikit-learn sorts classes. By hand, from low to high: cumulated .25, .75 of a
    prediction and .5, 1 of the soft label, whose expected score is sum F(1 - G) + (1 - F) G with squares of F - 1 or F:
    .5 (.75^2 + .25^2) + .5 (.25^2 + .25^2) = .375. Of `high` it is .2^2 + .3^2 for .2, .1, .7 from low to high.
    """
    soft, probs, names = [[0.0, 0.5, 0.5]], [[0.25, 0.25, 0.5]], ["high", "low", "medium"]
    with pytest.raises(InputError, match=r"the order of their labels.*in_order"):
        pt.rules.soft_label_loss("ranked-probability")(soft, probs)
    with pytest.raises(InputError, match="their order"):
        pt.rules.soft_label_loss("ranked-probability", labels=names)(["high"], probs)
    ordered = pt.rules.RULES["ranked-probability"].in_order(["low", "medium", "high"])
    assert pt.rules.soft_label_loss(ordered)(soft, probs) == pytest.approx(0.375, rel=TOLERANCE)
    of_names = pt.rules.soft_label_loss(ordered, labels=names)
    assert of_names(["high"], [[0.7, 0.2, 0.1]]) == pytest.approx(0.2**2 + 0.3**2, rel=TOLERANCE)
    by_number = pt.rules.soft_label_loss("ranked-probability")
    assert by_number([2], [[0.25, 0.25, 0.5]]) == pytest.approx(0.25**2 + 0.5**2, rel=TOLERANCE)


def test_a_fold_without_a_class_needs_all_of_them() -> None:
    probs = [[0.2, 0.5, 0.3], [0.1, 0.8, 0.1]]
    with pytest.raises(InputError, match=r"2 classes \('a', 'b'\) for 3 columns.*labels=np.unique\(y\)"):
        pt.rules.soft_label_loss("log")(["a", "b"], probs)
    loss = pt.rules.soft_label_loss("log", labels=["a", "b", "c"])
    assert loss(["a", "b"], probs) == pytest.approx(-np.log([0.2, 0.8]).mean(), rel=TOLERANCE)
    assert pt.rules.soft_label_loss("log", labels=[3, 5, 9])([3, 5], probs) == loss(["a", "b"], probs)
    for labels, message in ((["a", "d"], "label 'd'"), (["a", "b", "a"], r"shape \(3, 3\), expected \(2, 3\)")):
        with pytest.raises(InputError, match=message):
            loss(labels, probs)
