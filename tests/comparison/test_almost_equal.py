"""Models that are equal or almost equal: P(best), ranks and regret at every ratio of the spreads."""

from itertools import permutations

import numpy as np
import pytest
from made_scores import make

import probtruth as pt
from probtruth.comparison.posterior.pooled import spread_between

SMALL = 1e-3  # Ratios below which models of one base have no part in which base is the best
N, DRAWS = 60, 100_000
RATIOS = [0.0, *(10.0**power for power in range(-16, 1))]
EACH_THIRD = [pytest.param(ratio, marks=[pytest.mark.long] if at % 3 else []) for at, ratio in enumerate(RATIOS)]
MONTE_CARLO = 5 * np.sqrt(0.25 / 10_000)  # five standard errors of a probability from 10,000 draws
GROUPS = [[0, 0, 1], [0, 0, 1, 1, 1, 2, 2, 3]]  # which base each model is a slight change of


def made(bases: list[int], ratio: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores of means 0 and symmetric about it, of independent parts: a base, and the ratio times each model's own."""
    rng = np.random.default_rng(len(bases))
    n_parts = max(bases) + 1 + len(bases)
    half = rng.normal(size=(N // 2, n_parts))
    parts = np.concatenate([half, -half])
    parts = np.linalg.qr(parts)[0] * np.sqrt(N)  # orthonormal, each still symmetric
    mixing = np.zeros((len(bases), n_parts))
    for model, base in enumerate(bases):
        mixing[model, base] = 1.0
        mixing[model, max(bases) + 1 + model] = ratio
    return parts @ mixing.T, parts


def integrated(bases: list[int], ratio: float) -> np.ndarray:
    """P(best) by drawing the models' means from the textbook's posterior, in the models' own space.

    A base decides first, unless the ratio is not small; what is within a base has its own, independent draws.
    """
    rng = np.random.default_rng(1)
    n_models = len(bases)
    mixing = np.eye(max(bases) + 1)[bases]
    centring = np.eye(n_models) - 1 / n_models
    covariance = centring @ (mixing @ mixing.T + ratio**2 * np.eye(n_models)) @ centring / N
    values, directions = np.linalg.eigh(covariance)
    h = np.maximum(values[1:], 0.0)
    tau = np.sqrt(spread_between(np.zeros(len(h)), h, DRAWS, 2))[:, None]
    scale = np.sqrt(rng.chisquare(N - 1, DRAWS) / (N - 1))[:, None]
    noise = rng.normal(size=(DRAWS, len(h))) * np.sqrt(h) / scale
    means = (noise * tau / np.sqrt(tau**2 + h)) @ directions[:, 1:].T
    if ratio < SMALL:  # rounding hides what is within a base here; it is as likely to be any of them
        winner = np.array(bases)[np.round(means, 6).argmin(1)]
        return np.array([(winner == base).mean() / bases.count(base) for base in bases])
    return np.bincount(means.argmin(1), minlength=n_models) / DRAWS


@pytest.mark.parametrize("bases", GROUPS, ids=["3 models", "8 models"])
@pytest.mark.parametrize("ratio", EACH_THIRD)
def test_best_is_that_of_independent_integration(bases: list[int], ratio: float) -> None:
    scores, _ = made(bases, ratio)
    expected = integrated(bases, ratio)
    orders = list(permutations(range(len(bases)))) if len(bases) == 3 else [range(len(bases)), range(len(bases))[::-1]]
    for order in orders:
        names = [f"m{place}" for place in range(len(bases))]
        ranks = pt.compare(make(scores.T[list(order)], names)).ranks
        found = {row["model"]: row["p_best"] for row in ranks}
        for name, model in zip(names, order, strict=True):
            # where rounding hides a model's own part, those of one base are one: they share
            assert found[name] == pytest.approx(expected[model], abs=MONTE_CARLO)
        assert sum(found.values()) == pytest.approx(1.0)


def test_two_models_that_differ_by_rounding_are_one() -> None:
    rng = np.random.default_rng(0)
    loss = rng.exponential(size=200)
    again = -np.log(np.exp(-loss))
    far = loss + rng.normal(0.5, 0.1, size=200)
    compared = pt.compare(make([loss, far, again], "axb"))
    row = compared.pair("a", "b")
    assert (row["difference"], row["favours"], row["p_a_better"]) == (0.0, None, 0.5)
    assert {row["model"]: row["p_best"] for row in compared.ranks} == {"a": 0.5, "b": 0.5, "x": 0.0}


def test_an_outlier_of_one_model_leaves_the_others() -> None:
    rng = np.random.default_rng(3)
    near = rng.normal(size=(2, 100)) * 0.1
    wild = np.where(np.arange(100) == 7, 1e8, 0.0)
    compared = pt.compare(make([*near, wild], "abc"))
    alone = compared.pairs[0]
    best = {row["model"]: row["p_best"] for row in compared.ranks}
    assert best["a"] / (best["a"] + best["b"]) == pytest.approx(alone["p_a_better"], abs=MONTE_CARLO)


KINDS = {"items": (), "clusters": ("cluster",), "groups": ("group",), "both": ("group", "cluster")}


@pytest.mark.parametrize("share", [pytest.param(1.0, marks=pytest.mark.long), 0.8])
@pytest.mark.parametrize("columns", KINDS.values(), ids=KINDS)
def test_last_digits_of_scores_change_nothing(columns, share):
    """Scores that were the same but for a last digit were no ties: P(a better) was 0.82 for 0.74, Wilcoxon's p 0.12."""
    rng = np.random.default_rng(3)
    values = np.tile(rng.integers(10, 60, size=N) / 10, (3, 1))
    values[0, :5] += 0.7
    values[2] = rng.integers(10, 60, size=N) / 10
    there = rng.random((3, N)) < share
    noise = rng.choice([-1, 0, 1], size=(3, N))

    def asked(values):
        item = np.tile(np.arange(N), 3)
        table = {"item": item, "model": np.repeat(list("abc"), N), "score": values.ravel()}
        table |= {"cluster": item // 3, "group": item // 3 % 3}
        rows = {name: column[there.ravel()] for name, column in table.items()}
        scores = pt.Scores.from_frame(rows, higher_is_better=True, **{name: name for name in columns})
        found = pt.compare(scores, engine="exact")
        numbers = [[pair.low, pair.high, pair.p_a_better] for pair in found.pairs]
        return np.array(numbers), [test["wilcoxon_p"] for test in found.model_free]

    numbers, wilcoxon = asked(values)
    for error in (2e-16, 1e-13):
        others, again = asked(values * (1 + error * noise))
        np.testing.assert_allclose(others, numbers, rtol=0, atol=1e-9)
        assert again == pytest.approx(wilcoxon)
