import numpy as np
from made_scores import make

from probtruth.comparison.labels import label_variance

MONTE_CARLO = 5.0


def labelled(rng, n_items=40, n_votes=4):
    probs = rng.dirichlet(np.ones(3), n_items)
    loss = rng.normal(size=(2, n_items, 3))
    shares = rng.multinomial(n_votes, probs) / n_votes
    values = (loss * shares).sum(-1)
    return probs, make(values, label_values=loss, shares=shares, n_votes=np.full(n_items, n_votes))


def test_label_variance_is_unbiased_over_repeated_votes():
    rng = np.random.default_rng(0)
    probs, scores = labelled(rng)
    loss = scores.label_values[0] - scores.label_values[1]
    weights = np.full(40, 1 / 40)
    estimates = []
    for _ in range(2000):
        shares = rng.multinomial(4, probs) / 4
        again = make(scores.values, label_values=scores.label_values, shares=shares, n_votes=scores.n_votes)
        estimates.append(label_variance(again, 0, 1, weights))
    truth = sum(((probs * loss**2).sum(1) - (probs * loss).sum(1) ** 2) / 4 * weights**2)
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - truth) < MONTE_CARLO * error


def test_label_variance_is_unknown_without_votes_or_with_single_ones():
    _, scores = labelled(np.random.default_rng(1))
    weights = np.full(40, 1 / 40)
    single = make(
        scores.values,
        label_values=scores.label_values,
        shares=scores.shares,
        n_votes=np.r_[scores.n_votes[:-1], 1],
    )
    for unknown in (make(scores.values), single):
        assert label_variance(unknown, 0, 1, weights) is None


def test_infinite_loss_counts_only_where_the_label_was_given():
    shares = np.array([[1.0, 0.0], [0.5, 0.5]])
    votes = np.array([2, 2])
    loss = np.array([[[0.0, np.inf], [1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])
    half = np.full(2, 0.5)
    assert label_variance(make(loss[..., 0], label_values=loss, shares=shares, n_votes=votes), 0, 1, half) == 0.0625
    loss[0, 1, 1] = np.inf
    assert label_variance(make(loss[..., 0], label_values=loss, shares=shares, n_votes=votes), 0, 1, half) is None
