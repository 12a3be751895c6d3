import numpy as np

import probtruth as pt


def test_ties_are_split_and_counted() -> None:
    truth = pt.infer_truth(pt.Annotations.from_counts([[3, 1, 0], [2, 2, 1], [1, 1, 1]]), "majority")
    np.testing.assert_allclose(truth.probs, [[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]])
    assert truth.diagnostics["n_ties"] == 2
    assert truth.draws is None


def test_agreement_with_experts(snow_rte) -> None:
    """89.69 per cent with half a point for each tie: the figure computed from Snow et al.'s (2008) released data."""
    annotations, gold = snow_rte
    truth = pt.infer_truth(annotations, "majority")
    np.testing.assert_allclose(truth.probs[np.arange(len(gold)), gold].mean(), 0.896875)
    assert truth.diagnostics["n_ties"] == 65
