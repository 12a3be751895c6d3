"""Intervals of agreement for new items and new annotators: derivatives, coverage, and what cannot be told."""

import numpy as np
import pytest

import probtruth as pt
from probtruth.truth.agreement import krippendorff
from probtruth.truth.agreement.answers import answers_of
from probtruth.truth.agreement.crossed import Influences
from probtruth.types import Annotations
from probtruth.types.index import Index

LABELS = 3
STEP = 1e-5
SMALL = 1e-6  # The error of central differences of that step, and of rounding


def drawn(
    rng: np.random.Generator, n_items: int, n_annotators: int, each: int, taste: float
) -> tuple[Annotations, np.ndarray]:
    """Annotators with skills and tastes of their own on items of varied difficulty, and one model's probabilities."""
    truth = rng.integers(0, LABELS, n_items)
    skill = rng.normal(1.2, taste, n_annotators)
    difficulty = rng.normal(0, 1, n_items)
    bias = rng.normal(0, taste, (n_annotators, LABELS))
    who = np.stack([rng.choice(n_annotators, each, replace=False) for _ in range(n_items)]).ravel()
    item = np.repeat(np.arange(n_items), each)
    clarity = 1.5 * np.exp(0.5 * (skill[who] - difficulty[item]))
    logits = np.eye(LABELS)[truth[item]] * clarity[:, None] + bias[who]
    said = (logits + rng.gumbel(size=logits.shape)).argmax(1)
    sizes = (n_items, LABELS, n_annotators)
    index = Index(*(tuple(map(str, range(size))) for size in sizes))
    powers = np.exp(2 * np.eye(LABELS)[truth] + rng.normal(size=(n_items, LABELS)))
    return Annotations(item, said, who, np.ones(len(item), np.int64), index), powers / powers.sum(1, keepdims=True)


def model_of(probs: np.ndarray) -> pt.Predictions:
    return pt.Predictions.from_probs({"m": probs}, items=range(len(probs)), labels=range(LABELS))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_slopes_by_label_are_those_of_differences(level: str) -> None:
    """Of observed / expected by how often a label is used, at fixed pairs of labels within items."""
    annotations, _ = drawn(np.random.default_rng(0), 30, 6, 4, 0.5)
    answers = answers_of(annotations)
    values = np.arange(LABELS, dtype=float)
    parts = krippendorff._parts(answers, level, values)
    found = krippendorff._slopes(answers, parts, level, values)
    pairs = (
        answers.counts.T @ answers.counts - np.diag(answers.counts.sum(0))
    ) / 3  # four different annotators an item

    def ratio(marginal: np.ndarray) -> float:
        distance = krippendorff._distance(level, values, marginal)
        return float((pairs * distance).sum() / (marginal @ distance @ marginal / (marginal.sum() - 1)))

    assert ratio(parts.marginal) == pytest.approx(parts.observed / parts.expected, rel=SMALL)
    for label, slope in enumerate(found):
        change = STEP * np.eye(LABELS)[label]
        difference = (ratio(parts.marginal + change) - ratio(parts.marginal - change)) / (2 * STEP)
        assert slope == pytest.approx(difference, rel=SMALL, abs=SMALL)


def test_biases_that_add_up_have_their_variance() -> None:
    """Each pair of ten annotators on an item whose value is the sum of two biases: the mean is twice that of biases,
    with variance 4 s^2/10, of which the noise of single items, for each annotator's fifth of them, is taken off."""
    n = 10
    rng = np.random.default_rng(1)
    bias = rng.normal(size=n)
    first, second = np.triu_indices(n, 1)
    value = bias[first] + bias[second]
    apart = (value - value.mean())[None] / 45
    item = np.repeat(np.arange(45), 2)
    who = np.stack([first, second], axis=1).ravel()
    spread = Influences(apart, apart[:, item], item, who, np.full(90, 1 / 45)).spread()
    of_items = (apart**2).sum() * 45 / 44
    # the jackknife's factor of so balanced a design is n (n - 1) / (n - 2)^2
    noise = 90 / 64 * 0.8 * 2 * (apart**2).sum()
    extra = 4 * bias.var(ddof=1) / n - noise
    assert extra > 0
    assert spread.error[0] ** 2 == pytest.approx(of_items + extra)
    assert 9 < spread.df[0] < 30


def test_one_annotator_in_every_pair_is_one() -> None:
    """In 200 such data sets intervals of these items alone held alpha of new annotators in 0.55."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, LABELS, 200)
    skill = np.append(0.6, rng.beta(4, 2, 9))
    who = np.stack([np.zeros(200, np.int64), rng.integers(1, 10, 200)], axis=1)
    right = rng.random(who.shape) < skill[who]
    said = np.where(right, truth[:, None], rng.integers(0, LABELS, who.shape))
    rows = {"item": np.repeat(np.arange(200), 2), "annotator": who.ravel(), "label": said.ravel()}
    annotations = pt.Annotations.from_long(rows)
    found = pt.agreement.krippendorff_alpha(annotations)
    items_alone = pt.agreement.krippendorff_alpha(pt.Annotations.from_counts(annotations.counts()))
    assert found.high - found.low > 1.5 * (items_alone.high - items_alone.low)


@pytest.mark.parametrize("n_answers", [1, 3])
def test_the_first_answers_of_a_third_move_little(n_answers: int) -> None:
    two, _ = drawn(np.random.default_rng(2), 200, 2, 2, 0.5)
    rows = {"item": two.item.tolist(), "annotator": two.annotator.tolist(), "label": two.label.tolist()}
    before = pt.agreement.krippendorff_alpha(two)
    for item in range(n_answers):
        rows["item"].append(item)
        rows["annotator"].append(2)
        rows["label"].append(int(two.label[2 * item]))
    after = pt.agreement.krippendorff_alpha(pt.Annotations.from_long(rows))
    width = before.high - before.low
    assert (after.low, after.high) == pytest.approx((before.low, before.high), abs=0.1 * width)


def test_two_annotators_tell_nothing_of_a_third() -> None:
    annotations, _ = drawn(np.random.default_rng(2), 60, 2, 2, 0.5)
    counted = pt.Annotations.from_counts(annotations.counts())
    named, unnamed = (pt.agreement.krippendorff_alpha(one) for one in (annotations, counted))
    assert (named.low, named.high) == pytest.approx((unnamed.low, unnamed.high))


def test_annotators_with_tastes_widen_the_interval() -> None:
    annotations, probs = drawn(np.random.default_rng(3), 200, 10, 3, 0.8)
    counted = pt.Annotations.from_counts(annotations.counts(), range(200), range(LABELS))
    named, unnamed = (pt.agreement.krippendorff_alpha(one) for one in (annotations, counted))
    assert named.value == pytest.approx(unnamed.value)
    assert named.high - named.low > 1.2 * (unnamed.high - unnamed.low)
    known, unknown = (pt.agreement.human_ceiling(one, model_of(probs)) for one in (annotations, counted))
    assert known["loss"].to_list() == pytest.approx(unknown["loss"].to_list())
    assert known["high"][0] - known["low"][0] > 1.2 * (unknown["high"][0] - unknown["low"][0])


def test_ends_stay_where_losses_and_alpha_can_be() -> None:
    rows = {"item": [0, 0, 0, 1, 1, 1, 2, 2, 2], "annotator": list("abc") * 3, "label": list("xxxyyxxyx")}
    annotations = pt.Annotations.from_long(rows)
    alpha = pt.agreement.krippendorff_alpha(annotations)
    assert alpha.low < alpha.value < alpha.high < 1
    table = pt.agreement.human_ceiling(annotations)
    assert ((table["low"] >= 0) & (table["low"] < table["loss"]) & (table["high"] <= 1)).all()


@pytest.mark.long
@pytest.mark.parametrize(
    ("n_items", "n_annotators", "each", "taste"),
    [(100, 5, 5, 0.8), (200, 10, 3, 0.8), (200, 10, 10, 0.8), (60, 40, 4, 0.8), (200, 10, 3, 0.0)],
)
def test_new_annotators_are_covered(n_items: int, n_annotators: int, each: int, taste: float) -> None:
    """Against 20,000 annotators and items: 95 per cent intervals of alpha, and of a random annotator's loss."""
    population, _ = drawn(np.random.default_rng(7), 20_000, 20_000, each, taste)
    target = pt.agreement.krippendorff_alpha(population).value
    loss = pt.agreement.human_ceiling(population)["loss"][0]
    rng = np.random.default_rng(5)
    covered = []
    for _ in range(150):
        annotations, _ = drawn(rng, n_items, n_annotators, each, taste)
        alpha = pt.agreement.krippendorff_alpha(annotations)
        human = pt.agreement.human_ceiling(annotations).row(0, named=True)
        covered.append((alpha.low <= target <= alpha.high, human["low"] <= loss <= human["high"]))
    # new items of the same annotators alone: 0.59, 0.65, 0.48, 0.88, 0.97 for alpha; 0.92 less four errors of 150: 0.84
    assert np.mean(covered, 0).min() > 0.84
