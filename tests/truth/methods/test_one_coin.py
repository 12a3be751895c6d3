"""One coin: the M-step by hand, recovery of accuracies."""

import numpy as np
from simulated_annotations import answered

import probtruth as pt
from probtruth.line.labelled import drifts

ROUNDING = 1e-12


def test_first_step_by_hand() -> None:
    """From vote shares (1, 0), (1/2, 1/2): p is right 1 + 1/2 of 2, q 1 + 1/2 of 2; then Bayes' rule."""
    rows = {"item": ["a", "a", "b", "b"], "annotator": ["p", "q", "p", "q"], "label": ["x", "x", "x", "y"]}
    truth = pt.infer_truth(pt.Annotations.from_long(rows), "one-coin", max_iterations=1)
    np.testing.assert_allclose(truth.annotators()["ability"], [0.75, 0.75], rtol=ROUNDING)
    assert truth.annotators()["n_annotations"].to_list() == [2, 2]
    np.testing.assert_allclose(truth.marginals, [0.75, 0.25], rtol=ROUNDING)
    joint = np.array([[0.75 * 0.75**2, 0.25 * 0.25**2], [0.75 * 0.75 * 0.25, 0.25 * 0.25 * 0.75]])
    np.testing.assert_allclose(truth.probs, joint / joint.sum(1, keepdims=True), rtol=ROUNDING)


def test_a_label_that_is_lost_is_warned_of() -> None:
    """Annotators who prefer yes: one accuracy for both labels explains their votes by items that are all yes."""
    generator = np.random.default_rng(0)
    biased = answered(np.where(generator.random((100, 6)) < 0.75, "yes", "no"))
    lost = pt.infer_truth(biased, "one-coin", draws=0)
    assert lost.marginals.min() < 0.05
    assert any("labels may have switched" in words and "'no'" in words for words in drifts(lost))
    plain = answered((np.arange(100)[:, None] + (generator.random((100, 6)) >= 0.8)) % 2)
    assert not drifts(pt.infer_truth(plain, "one-coin", draws=0))
