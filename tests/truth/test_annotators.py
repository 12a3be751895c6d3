"""Quality of annotators by hand, for NumPy and JAX arrays."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from simulated_annotations import answered

from probtruth.errors import InputError
from probtruth.truth.annotators import annotators, information, quality, skill_columns
from probtruth.truth.infer import infer_truth
from probtruth.types import Annotations

ROUNDING = 1e-9  # Sums in another order


def crowd(seed):
    """Two of six annotators on each of a hundred items of two classes: the classes, who, right or not, and skills."""
    rng = np.random.default_rng(seed)
    accuracy = rng.uniform(0.6, 0.95, 6)
    true = rng.integers(0, 2, 100)
    who = np.stack([rng.choice(6, 2, replace=False) for _ in range(100)])
    right = rng.random((100, 2)) < accuracy[who]
    return true, answered(np.where(right, true[:, None], 1 - true[:, None]), who), 2 * accuracy - 1


def test_quality_by_hand() -> None:
    """Right always: accuracy and kappa 1, information ln 2; a coin: 1/2, 0, 0; always wrong: 0, -1, ln 2."""
    confusion = jnp.stack([jnp.eye(2), jnp.full((2, 2), 0.5), 1 - jnp.eye(2)])
    found = jax.jit(quality)(confusion, jnp.log(jnp.array([0.5, 0.5])))
    single = 1e-6
    plain = quality(np.asarray(confusion), np.log([0.5, 0.5]))
    np.testing.assert_allclose(plain, found, rtol=single, atol=single)
    np.testing.assert_allclose(found, [[1, 0.5, 0], [1, 0, -1], [np.log(2), 0, np.log(2)]], rtol=single, atol=single)


def test_information_by_hand() -> None:
    """A perfect annotator tells H(class), a spammer of any habit nothing, unknown rows are left out."""
    marginals = np.array([0.25, 0.75])
    confusion = np.array([np.eye(2), [[0.3, 0.7], [0.3, 0.7]], [[np.nan, np.nan], [0.5, 0.5]]])
    entropy = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    np.testing.assert_allclose(information(marginals, confusion), [entropy, 0, 0], atol=ROUNDING)


def test_agreement_with_the_others_by_hand() -> None:
    """Both labels are given three times, so that chance is 1/2; the third annotator is alone on item z."""
    rows = [("x", "a", "n"), ("x", "b", "n"), ("x", "c", "y"), ("y", "a", "y"), ("y", "b", "y"), ("z", "c", "n")]
    item, annotator, label = zip(*rows, strict=True)
    votes = Annotations.from_long({"item": item, "annotator": annotator, "label": label})
    found = annotators(votes)
    assert found.rows() == [("a", 2, 0.75, 0.5), ("b", 2, 0.75, 0.5), ("c", 2, 0.0, -1.0)]
    with pytest.raises(InputError, match="counts, without annotators"):
        annotators(Annotations.from_counts([[1, 2]]))


def test_nobody_to_agree_with_is_unknown() -> None:
    alone = Annotations.from_long({"item": ["x", "y"], "annotator": ["a", "a"], "label": ["n", "y"]})
    assert annotators(alone)["agreement"].is_nan().all()


@pytest.mark.parametrize("method", ["dawid-skene-em", "one-coin"])
def test_intervals_of_skill_know_that_classes_are_not_known(method):
    """They were as wide as if the inferred classes were the true ones, and held 0.61 of the skills."""
    inside = []
    for seed in range(12):
        _, annotations, skill = crowd(seed)
        found = skill_columns(infer_truth(annotations, method, draws=0))
        inside += [*((found["skill_low"] <= skill) & (skill <= found["skill_high"]))]
    assert np.mean(inside) > 0.85


def test_intervals_of_skill_with_known_classes_are_wilsons():
    true, annotations, _ = crowd(0)
    truth = infer_truth(annotations, "one-coin", draws=0, gold=dict(enumerate(map(str, true))))
    found = skill_columns(truth)
    n, share = truth.annotator_results["n_annotations"], truth.annotator_results["accuracy"]
    width = 2 * 1.96 / (1 + 1.96**2 / n) * np.sqrt(share * (1 - share) / n + 1.96**2 / (4 * n**2))  # Wilson 1927
    ends = (found["skill_high"] - found["skill_low"]) * (1 - (truth.marginals @ truth.confusion) @ truth.marginals)
    np.testing.assert_allclose(ends, width, rtol=ROUNDING)
