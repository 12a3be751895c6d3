"""A human against the others: by hand, unbiased population loss, models better and worse than annotators, errors."""

import numpy as np
import pytest
from simulated_annotations import answered

import probtruth as pt


def test_by_hand() -> None:
    """Item a: three x. Item b: two x, one y; x is contradicted by half of the others, y by all."""
    rows = {"item": list("aaabbbc"), "annotator": list("pqrpqrp"), "label": list("xxxxxyx")}
    annotations = pt.Annotations.from_long(rows)
    pred = pt.Predictions.from_probs(
        {"m": [[0.8, 0.2], [0.4, 0.6], [0.5, 0.5]]}, items=["a", "b", "c"], labels=["x", "y"]
    )
    table = pt.agreement.human_ceiling(annotations, pred)
    losses = dict(zip(table["who"], table["loss"], strict=True))
    assert losses["a random annotator"] == pytest.approx((0 + (0.5 + 0.5 + 1) / 3) / 2)
    assert losses["the others' majority"] == pytest.approx((0 + (0.5 + 0.5 + 1) / 3) / 2)
    assert losses["m"] == pytest.approx((0 + (0.5 + 0.5 + 1) / 3) / 2)
    brier = pt.agreement.human_ceiling(annotations, pred, rule="brier")
    losses = dict(zip(brier["who"], brier["loss"], strict=True))
    assert losses["the population of annotators"] == pytest.approx((0 + 2 / 3) / 2)
    own = [2 * 0.2**2, (0.6**2 * 2 / 3 * 2) + (0.4**2 * 1 / 3 * 2)]
    assert losses["m"] == pytest.approx(np.mean(own))


def test_population_loss_is_free_of_the_number_of_votes() -> None:
    """1 - sum p^2 of Dirichlet(1, 1, 1) opinions is 1 - 3 * 2 / 12 = 1/2, with 2 votes as with 20."""
    generator = np.random.default_rng(2)
    opinions = generator.dirichlet([1.0, 1.0, 1.0], 4000)
    for votes in (2, 20):
        counts = np.stack([generator.multinomial(votes, row) for row in opinions])
        table = pt.agreement.human_ceiling(pt.Annotations.from_counts(counts), rule="brier")
        row = table.row(2, named=True)
        five_errors = 5 * (row["high"] - row["low"]) / 3.92
        assert row["loss"] == pytest.approx(0.5, abs=five_errors)
        committee = table.row(1, named=True)["loss"]
        assert committee == pytest.approx(0.5 * (1 + 1 / (votes - 1)), abs=2 * five_errors)


def crowd(seed: int, skill: float) -> tuple[pt.Annotations, np.ndarray]:
    generator = np.random.default_rng(seed)
    classes = generator.integers(3, size=150)
    right, other = generator.random((150, 6)) < skill, classes[:, None] + generator.integers(1, 3, (150, 6))
    return answered(np.where(right, classes[:, None], other % 3)), classes


def test_better_and_worse_models() -> None:
    annotations, classes = crowd(3, 0.8)
    generator = np.random.default_rng(0)
    oracle = np.eye(3)[classes]
    noisy = np.eye(3)[np.where(generator.random(150) < 0.5, classes, (classes + 1) % 3)]
    pred = pt.Predictions.from_probs({"oracle": oracle, "noisy": noisy}, items=annotations.index.items)
    table = pt.agreement.human_ceiling(annotations, pred)
    by_name = {row["who"]: row for row in table.iter_rows(named=True)}
    assert by_name["oracle"]["p_as_good"] > 0.99
    assert by_name["noisy"]["p_as_good"] < 0.01
    assert by_name["a random annotator"]["p_as_good"] is None
    assert by_name["oracle"]["low"] < by_name["oracle"]["loss"] < by_name["oracle"]["high"]


def test_one_more_annotator_is_as_good_as_a_random_one_half_of_the_time() -> None:
    """A model that is one more such annotator: probabilities spread over (0, 1), averaging one half."""
    found = []
    for seed in range(40):
        annotations, classes = crowd(seed, 0.75)
        generator = np.random.default_rng([seed, 9])
        right = generator.random(150) < 0.75
        answers = np.where(right, classes, (classes + generator.integers(1, 3, 150)) % 3)
        pred = pt.Predictions.from_labels({"m": answers}, n_labels=3, items=annotations.index.items)
        found.append(pt.agreement.human_ceiling(annotations, pred)["p_as_good"][-1])
    five_errors = 5 * 0.29 / np.sqrt(40)
    assert np.mean(found) == pytest.approx(0.5, abs=five_errors)
    assert np.std(found) > 0.15


VOTES = pt.Annotations.from_counts([[2, 1], [3, 0]], items=["a", "b"], labels=["x", "y"])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pt.agreement.human_ceiling(VOTES, rule="log"), "rule 'log'"),
        (lambda: pt.agreement.human_ceiling(pt.Annotations.from_counts([[1, 0]])), "no item with two annotations"),
        (
            lambda: pt.agreement.human_ceiling(
                VOTES, pt.Predictions.from_probs({"m": [[1.0, 0.0]]}, items=["a"], labels=["x", "y"])
            ),
            "lack 1 of the annotated items",
        ),
    ],
)
def test_errors(call, words: str) -> None:
    with pytest.raises(pt.InputError) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("rule", ["zero-one", "brier"])
def test_no_loss_yet_is_no_certainty(rule: str) -> None:
    """Three items on which all agree had a loss from 0 to 0."""
    largest = 1.0 if rule == "zero-one" else 2.0
    table = pt.agreement.human_ceiling(pt.Annotations.from_counts([[3, 0], [0, 3], [4, 0]]), rule=rule)
    assert table["low"].to_list() == [0.0] * table.height
    assert table["high"].to_list() == pytest.approx([largest * (1 - 0.025 ** (1 / 3))] * table.height)
