"""Opinions seen through annotators who use some labels more: recovery where annotators are not assigned at random."""

import numpy as np
import pytest

import probtruth as pt

QUICK = {"samples": 100, "warmup": 200, "chains": 2}


def assigned(seed: int) -> tuple[pt.Annotations, np.ndarray, np.ndarray]:
    """40 items, 16 annotators, 8 votes an item; those who use the last label much mostly get the first 20 items.

    Also the population's distribution of every item, and the annotators' biases.
    """
    generator = np.random.default_rng(seed)
    log_p = np.log(generator.dirichlet([1.5, 1.5, 1.5], 40))
    bias = generator.normal(0, 1, (16, 3))
    bias = bias[np.argsort(bias[:, 2])]
    rows: dict[str, list[object]] = {"item": [], "annotator": [], "label": []}
    for item in range(40):
        first, second = (8, 0) if item < 20 else (0, 8)
        who = [*(first + generator.choice(8, 7, replace=False)), second + generator.integers(8)]
        for annotator in who:
            odds = np.exp(log_p[item] + bias[annotator])
            rows["item"].append(item)
            rows["annotator"].append(int(annotator))
            rows["label"].append("abc"[generator.choice(3, p=odds / odds.sum())])
    odds = np.exp(log_p[:, None] + generator.normal(0, 1, (20_000, 3)))
    population = (odds / odds.sum(2, keepdims=True)).mean(1)
    return pt.Annotations.from_long(rows, labels=list("abc")), population, bias


@pytest.mark.long
def test_recovers_the_population_better_than_shares_and_dirichlet() -> None:
    """Mean Kullback-Leibler divergence over three crowds; the shares are smoothed by 1/K, else theirs is infinite."""
    names = ("annotator-effects", "vote-share", "dirichlet", "dirichlet-mixture")
    losses: dict[str, list[float]] = {name: [] for name in names}
    slopes = []
    for seed in range(3):
        annotations, population, bias = assigned(seed)
        for name, found in losses.items():
            truth = pt.infer_truth(annotations, name, draws=20, **(QUICK if name == "annotator-effects" else {}))
            probs = truth.probs if name != "vote-share" else (truth.probs * 8 + 1 / 3) / 9
            found.append(float((population * np.log(population / probs)).sum(1).mean()))
            if name == "annotator-effects":
                assert truth.diagnostics["divergences"] == 0
                learned = truth.annotators()["bias_c"].to_numpy()
                slopes.append(np.corrcoef(learned, bias[:, 2] - bias.mean(1))[0, 1])
    means = {name: float(np.mean(found)) for name, found in losses.items()}
    ours = means.pop("annotator-effects")
    assert ours < 0.75 * means.pop("vote-share"), (ours, means)
    assert ours < 0.95 * min(means.values()), (ours, means)
    assert np.mean(slopes) > 0.7, slopes


@pytest.mark.long
def test_one_vote_an_item_identifies_no_concentration() -> None:
    rows = {"item": range(4), "annotator": list("ppqq"), "label": list("xyxy")}
    truth = pt.infer_truth(pt.Annotations.from_long(rows), "annotator-effects", samples=8, warmup=20, chains=1)
    assert truth.diagnostics["concentration_identified"] is False
    assert truth.estimand == "distribution"


@pytest.mark.parametrize("words", ["the annotator who gave each label"])
def test_counts_are_refused(words: str) -> None:
    with pytest.raises(pt.InputError, match=words):
        pt.infer_truth(pt.Annotations.from_counts([[1, 2]]), "annotator-effects")
