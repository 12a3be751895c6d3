import jax
import numpy as np
import pytest
from compiled_once import x64
from scipy.spatial.distance import jensenshannon

import probtruth as pt

ROUNDING = 1e-12
KERNELS = (pt.rules.total_variation, pt.rules.hellinger, pt.rules.jensen_shannon)


def test_agree_with_scipy():
    rng = np.random.default_rng(0)
    probs, truth = rng.dirichlet(np.ones(4), 30), rng.dirichlet(np.ones(4), 30)
    np.testing.assert_allclose(
        x64(pt.rules.jensen_shannon, probs, truth), jensenshannon(probs, truth, axis=1) ** 2, rtol=ROUNDING
    )
    np.testing.assert_allclose(
        x64(pt.rules.total_variation, probs, truth), np.abs(probs - truth).sum(1) / 2, rtol=ROUNDING
    )
    overlap = np.sqrt(probs * truth).sum(1)
    np.testing.assert_allclose(x64(pt.rules.hellinger, probs, truth), np.sqrt(1 - overlap), rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_edges(kernel):
    corners = np.eye(2)
    greatest = np.log(2) if kernel is pt.rules.jensen_shannon else 1
    np.testing.assert_allclose(x64(kernel, corners, corners[::-1]), [greatest, greatest], rtol=ROUNDING)
    np.testing.assert_array_equal(x64(kernel, corners, corners), [0, 0])
    assert np.isfinite(jax.jit(jax.grad(lambda p: kernel(p, corners).sum()))(corners * 0.8 + 0.1)).all()


def test_mean_total_variation_of_real_models(chaosnli):
    # Baan et al. (2022), doi:10.18653/v1/2022.emnlp-main.124, Table 1: three seeds of roberta-base
    predictions, truth = chaosnli
    means = [float(x64(pt.rules.total_variation, probs, truth.shares).mean()) for probs in predictions.probs[2:]]
    np.testing.assert_allclose(means, [0.259, 0.249, 0.261], atol=THREE_DIGITS)


THREE_DIGITS = 5e-4
"""Three digits are published."""


def test_few_votes_reverse_the_order_that_expected_log_loss_keeps(chaosnli):
    # a sharper and a flatter version of one model, one vote an item drawn from the vote shares
    predictions, truth = chaosnli
    logs, shares = predictions.log_probs[1], truth.shares
    versions = [np.exp(power * logs) / np.exp(power * logs).sum(1, keepdims=True) for power in (1.0, 0.5)]
    rng = np.random.default_rng(0)
    votes = [np.eye(3)[(rng.random((len(shares), 1)) > shares.cumsum(1)).sum(1)] for _ in range(40)]
    for kernel, kept in ((pt.rules.total_variation, False), (pt.log_score, True)):
        sharp, flat = (float(x64(kernel, probs, shares).mean()) for probs in versions)
        few = [float(np.mean([x64(kernel, probs, vote).mean() for vote in votes])) for probs in versions]
        assert ((sharp < flat) == (few[0] < few[1])) == kept, kernel.__name__
