import numpy as np

from probtruth.comparison.evidence.sweeps import all_pairs
from probtruth.comparison.posterior.quadrature import collapse


def test_models_at_a_fixed_distance_share_one_draw():
    # 0 and 2 are identical, 3 is 1 below 1
    pairs = all_pairs(4)
    difference = np.array([{(0, 2): 0.0, (1, 3): 1.0}.get(pair, 9.0) for pair in pairs])
    constant = np.array([pair in {(0, 2), (1, 3)} for pair in pairs])
    alone = collapse(constant, difference, 4)
    assert alone.distinct.tolist() == [0, 1]
    assert alone.home.tolist() == [0, 1, 0, 1]
    assert alone.pair_rows().tolist() == [0]
    drawn = alone.expand(np.array([[0.3, -0.3], [0.1, 0.2]]))
    assert np.array_equal(drawn[:, 0], drawn[:, 2])
    np.testing.assert_allclose(drawn[:, 1] - drawn[:, 3], 1.0, rtol=1e-14)
    np.testing.assert_allclose(drawn.sum(1), 0.0, atol=1e-14)


def test_nothing_collapses_where_all_vary():
    alone = collapse(np.zeros(3, bool), np.arange(3.0), 3)
    assert alone.distinct.tolist() == [0, 1, 2]
    assert alone.pair_rows().tolist() == [0, 1, 2]
