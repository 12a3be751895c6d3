import numpy as np

import probtruth as pt


def test_shares_by_hand() -> None:
    truth = pt.infer_truth(pt.Annotations.from_counts([[3, 1], [0, 2]]), "vote-share")
    np.testing.assert_array_equal(truth.probs, [[0.75, 0.25], [0, 1]])
    np.testing.assert_array_equal(truth.marginals, [0.5, 0.5])
    assert truth.by_item().columns == ["item", "n_votes", "entropy"]
    assert truth.by_item()["n_votes"].to_list() == [4, 2]
    assert truth.draws is None


def test_long_form_and_counts_agree(simulated) -> None:
    annotations, _, _ = simulated
    counts = pt.Annotations.from_counts(annotations.counts())
    for method in ("vote-share", "majority", "dirichlet"):
        first, second = pt.infer_truth(annotations, method, draws=0), pt.infer_truth(counts, method, draws=0)
        np.testing.assert_array_equal(first.probs, second.probs)
