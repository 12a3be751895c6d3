"""The mixture: one component is the single Dirichlet, gradients, recovery, the published data at few votes."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import gammaln, logsumexp
from scipy.stats import dirichlet_multinomial, norm

import probtruth as pt
from probtruth.truth.methods.dirichlet_mixture import learn_mixture

SHARP = np.array([[8.0, 0.5, 0.5], [0.5, 8.0, 0.5], [2.0, 2.0, 2.0]])


def sample(weights: list[float], alphas: np.ndarray, votes: int, n_items: int, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    kinds = generator.choice(len(weights), n_items, p=weights)
    return np.stack([generator.multinomial(votes, generator.dirichlet(alphas[kind])) for kind in kinds])


def log_evidence(counts: np.ndarray, weights: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """By SciPy, less the multinomial coefficients, which are the same for every component."""
    coefficients = gammaln(counts.sum(1) + 1) - gammaln(counts + 1).sum(1)
    parts = [dirichlet_multinomial(alpha, counts.sum(1)).logpmf(counts) - coefficients for alpha in alphas]
    return np.stack(parts, 1) + np.log(weights)


def test_posterior_means_and_likelihood_against_scipy() -> None:
    """The posterior of an item is a mixture of Dirichlets, weighted by the evidence of the components."""
    counts = sample([0.5, 0.3, 0.2], SHARP, 7, 60, seed=1)
    fit = learn_mixture(counts, 3)
    terms = log_evidence(counts, fit.weights, fit.alphas)
    np.testing.assert_allclose(fit.log_likelihood, logsumexp(terms, axis=1).sum(), rtol=1e-10)
    shares = np.exp(terms - logsumexp(terms, axis=1, keepdims=True))
    posterior = counts[:, None] + fit.alphas
    expected = (shares[..., None] * posterior / posterior.sum(2, keepdims=True)).sum(1)
    truth = pt.infer_truth(pt.Annotations.from_counts(counts), "dirichlet-mixture", components=3, draws=0)
    np.testing.assert_allclose(truth.probs, expected, rtol=1e-9)


def test_the_climb_ends_where_the_posterior_is_flat() -> None:
    """Priors: weights ~ Dirichlet(2), base measures ~ Dirichlet(2), log concentrations ~ N(0, 2^2)."""
    counts = sample([0.5, 0.3, 0.2], SHARP, 7, 200, seed=2)

    def log_posterior(point: np.ndarray) -> float:
        weights = np.exp(point[:3] - logsumexp(point[:3]))
        alphas = np.exp(point[3:]).reshape(3, 3)
        whole = alphas.sum(1)
        prior = np.log(weights).sum() + np.log(alphas / whole[:, None]).sum() + norm(0, 2).logpdf(np.log(whole)).sum()
        return float(logsumexp(log_evidence(counts, weights, alphas), axis=1).sum() + prior)

    fit = learn_mixture(counts, 3)
    assert fit.converged
    slope = approx_fprime(np.concatenate([np.log(fit.weights), np.log(fit.alphas).ravel()]), log_posterior, 1e-6)
    assert np.abs(slope).max() < 1e-3  # a thousandth of what one item moves: where the climb may end


def test_posterior_mean_is_the_mean_of_the_draws() -> None:
    counts = sample([0.5, 0.3, 0.2], SHARP, 5, 50, seed=3)
    truth = pt.infer_truth(pt.Annotations.from_counts(counts), "dirichlet-mixture", draws=4000)
    assert truth.draws is not None
    five_errors = 5 * 0.5 / np.sqrt(4000)
    np.testing.assert_allclose(truth.draws.mean(0, dtype=float), truth.probs, atol=five_errors)


def test_one_component_is_nearly_the_single_dirichlet() -> None:
    """They differ only in the sd of the prior on the log concentration (2 and 1)."""
    counts = sample([1.0], SHARP[2:], 6, 2000, seed=4)
    single = pt.infer_truth(pt.Annotations.from_counts(counts), "dirichlet", draws=0).probs
    mixture = pt.infer_truth(pt.Annotations.from_counts(counts), "dirichlet-mixture", components=1, draws=0).probs
    prior_weight = 2e-3  # one prior observation of the log concentration beside 2,000 items
    np.testing.assert_allclose(mixture, single, atol=prior_weight)


def test_components_are_recovered() -> None:
    found = learn_mixture(sample([0.5, 0.3, 0.2], SHARP, 40, 3000, seed=5), 3)
    order = np.argsort(-found.weights)
    assert found.converged
    sampling = 0.25  # 600 items of the smallest component, 40 votes each: relative standard errors near .06
    np.testing.assert_allclose(found.weights[order], [0.5, 0.3, 0.2], rtol=sampling)
    np.testing.assert_allclose(found.alphas[order], SHARP, rtol=sampling)


@pytest.mark.long
def test_better_than_one_dirichlet_on_held_out_votes() -> None:
    counts = sample([0.5, 0.3, 0.2], SHARP, 105, 1500, seed=6)
    generator = np.random.default_rng(7)
    few = np.stack([generator.multivariate_hypergeometric(row, 5) for row in counts])
    rest = (counts - few) / 100
    loss = {
        method: -(rest * np.log(pt.infer_truth(pt.Annotations.from_counts(few), method, draws=0).probs)).sum(1).mean()
        for method in ("dirichlet", "dirichlet-mixture")
    }
    assert loss["dirichlet-mixture"] < loss["dirichlet"]


@pytest.mark.long
@pytest.mark.parametrize(("votes", "published"), [(1, 0.297), (3, 0.159), (5, 0.111), (10, 0.070)])
def test_natural_language_inference(data, votes: int, published: float) -> None:
    """KL of the other votes' shares from n votes on ChaosNLI-SNLI: at least as good as a four-component reference fit.

    The reference figures are those of a prototype of this method on the same data; the subsample is another.
    """
    import polars

    counts = polars.read_csv(data / "chaosnli_snli" / "label_counts.csv").select("e", "n", "c").to_numpy()
    generator = np.random.default_rng(votes)
    few = np.stack([generator.multivariate_hypergeometric(row, votes) for row in counts])
    other = (counts - few) / (100 - votes)
    truth = pt.infer_truth(pt.Annotations.from_counts(few), "dirichlet-mixture", draws=200)
    ratio = np.where(other > 0, other, 1) / truth.probs
    divergence = (other * np.log(ratio)).sum(1)
    five_errors = 5 * divergence.std() / np.sqrt(len(divergence))
    assert divergence.mean() < published + five_errors
    assert truth.draws is not None
    probs = truth.draws.astype(float)
    predicted = generator.multinomial(100 - votes, probs / probs.sum(2, keepdims=True))
    low, high = np.quantile(predicted, [0.025, 0.975], axis=0)
    covered = (counts - few >= low) & (counts - few <= high)
    assert 0.93 < covered.mean() < 0.99


def test_learned_prior_for_items_without_votes() -> None:
    counts = np.array([[5, 0], [4, 1], [0, 0], [5, 1]])
    for method in ("dirichlet", "dirichlet-mixture"):
        truth = pt.infer_truth(pt.Annotations.from_counts(counts), method, prior="learned")
        np.testing.assert_allclose(truth.probs[2], truth.marginals)
    with pytest.raises(pt.InputError, match="prior 'flat'"):
        pt.infer_truth(pt.Annotations.from_counts(counts), "dirichlet-mixture", prior="flat")


def test_one_vote_an_item_is_said() -> None:
    diagnostics = pt.infer_truth(pt.Annotations.from_counts(np.eye(4, dtype=int)), "dirichlet-mixture").diagnostics
    assert diagnostics["concentration_identified"] is False
    assert diagnostics["weights"] == [1.0]
