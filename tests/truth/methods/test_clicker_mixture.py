"""Opinions of annotators who read: clickers are told from readers, the shares are the readers', coverage in a study."""

import sys
from pathlib import Path

import numpy as np
import pytest

import probtruth as pt

PER_ITEM, READERS, CLICKERS = 5, 12, 3


def crowd(n_items: int = 60) -> tuple[pt.Annotations, np.ndarray]:
    """Twelve readers and three who click evenly (named bot), five of them an item; and the items' true opinions."""
    random = np.random.default_rng(4)
    opinions = random.dirichlet([0.4, 0.4, 0.4], n_items)
    names = [f"reader {who:02}" for who in range(READERS)] + [f"bot {who}" for who in range(CLICKERS)]
    rows: dict[str, list[object]] = {"item": [], "annotator": [], "label": []}
    for item in range(n_items):
        for who in random.permutation(len(names))[:PER_ITEM]:
            answers = opinions[item] if who < READERS else np.full(3, 1 / 3)
            rows["item"].append(f"{item:03}")
            rows["annotator"].append(names[who])
            rows["label"].append("xyz"[random.choice(3, p=answers)])
    return pt.Annotations.from_long(rows), opinions


@pytest.fixture(scope="module")
def read() -> tuple[pt.Annotations, pt.Truth]:
    annotations, _ = crowd()
    return annotations, pt.infer_truth(annotations, estimand="attentive", draws=200, sweeps=80)


def test_clickers_are_told_from_readers(read: tuple[pt.Annotations, pt.Truth]) -> None:
    annotations, truth = read
    assert (truth.method, truth.estimand) == ("clicker-mixture", "attentive")
    table = truth.annotators()
    bot = table["annotator"].str.starts_with("bot").to_numpy()
    assert ((table["p_clicker"].to_numpy() > 0.5) == bot).all()
    assert (table["clicked_low"].to_numpy()[~bot] == 0).all()
    assert (table["clicked_high"].to_numpy()[bot] == 1).all()
    assert annotations.annotator is not None
    clicks = np.bincount(annotations.annotator, minlength=len(bot)) @ bot / len(annotations.item)
    assert truth.diagnostics["clicked_low"] <= clicks <= truth.diagnostics["clicked_high"]


def test_shares_are_those_of_the_readers(read: tuple[pt.Annotations, pt.Truth]) -> None:
    annotations, truth = read
    rest = annotations.without_annotators([f"bot {who}" for who in range(CLICKERS)])
    np.testing.assert_array_equal(truth.n_votes, rest.counts().sum(1))
    np.testing.assert_array_equal(truth.shares, rest.counts() / rest.counts().sum(1)[:, None])


def test_posterior_is_nearer_to_the_opinions_than_that_of_all_votes(read: tuple[pt.Annotations, pt.Truth]) -> None:
    annotations, truth = read
    _, opinions = crowd()
    everybody = pt.infer_truth(annotations, draws=0)
    error, of_all = (np.abs(table.probs - opinions).sum(1).mean() for table in (truth, everybody))
    assert error < of_all
    draws = truth.draws
    assert draws is not None
    five_errors = 5 * draws.std(0).max() / np.sqrt(len(draws))
    np.testing.assert_allclose(draws.mean(0), truth.probs, atol=five_errors)


def test_one_vote_an_item_tells_nothing() -> None:
    rows = {"item": range(8), "annotator": list("aabbccdd"), "label": list("xyxyxyxy")}
    truth = pt.infer_truth(pt.Annotations.from_long(rows), estimand="attentive", draws=0, sweeps=10)
    assert truth.diagnostics["clickers_identified"] is False


def test_a_conflict_of_method_and_estimand() -> None:
    annotations, _ = crowd(4)
    with pytest.raises(pt.InputError, match="answers the estimand 'distribution'"):
        pt.infer_truth(annotations, "dirichlet", "attentive")


@pytest.mark.long
def test_a_cell_of_the_study() -> None:
    """Ten crowds with a fifth of clickers: docs/validity/clickers.md has the whole table."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "slow"))
    from clickers import study

    means = study(0.2, 10)
    assert means["annotators covered"] >= 0.93
    assert means["score covered"] >= 0.8  # nine of ten is within two standard errors of .95
    assert abs(means["bias"]) < abs(means["bias of all votes"]) / 3
