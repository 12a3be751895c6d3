import numpy as np

import probtruth as pt


def test_shares_by_hand() -> None:
    truth = pt.infer_truth(pt.Annotations.from_counts([[3, 1], [0, 2]]), "vote-share")
    np.testing.assert_array_equal(truth.probs, [[0.75, 0.25], [0, 1]])
    np.testing.assert_array_equal(truth.marginals, [0.5, 0.5])
    assert truth.draws is None


def test_long_form_and_counts_agree(simulated) -> None:
    annotations, _, _ = simulated
    counts = pt.Annotations.from_counts(annotations.counts())
    for method in ("vote-share", "majority", "dirichlet"):
        first, second = pt.infer_truth(annotations, method, draws=0), pt.infer_truth(counts, method, draws=0)
        np.testing.assert_array_equal(first.probs, second.probs)


def test_natural_language_inference_entropy(data) -> None:
    """Mean entropy .553141 of the human distribution: direct sum over the released counts (Nie et al. 2020)."""
    import polars

    counts = polars.read_csv(data / "chaosnli_snli" / "label_counts.csv").select("e", "n", "c").to_numpy()
    probs = pt.infer_truth(pt.Annotations.from_counts(counts), "vote-share").probs
    entropy = -np.where(probs > 0, probs * np.log(np.where(probs > 0, probs, 1)), 0).sum(1).mean()
    six_digits = 5e-7  # the published figure has six digits
    np.testing.assert_allclose(entropy, 0.553141, atol=six_digits)
