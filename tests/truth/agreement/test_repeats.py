"""Annotators who answer an item several times: repeats that say the same again are no new opinions of anybody else."""

import itertools

import numpy as np
import pytest
from simulated_annotations import simulate

import probtruth as pt

ROUNDING = 1e-12  # Of sums of a few hundred terms

Row = tuple[str, str, str]


def made(rows: list[Row]) -> pt.Annotations:
    item, annotator, label = zip(*rows, strict=True)
    table = {"item": item, "annotator": annotator, "label": label, "replicate": range(len(rows))}
    return pt.Annotations.from_long(table, labels=["k0", "k1", "k2"])


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """60 items, 4 of 6 annotators each, 3 labels."""
    annotations, _, _ = simulate(60, 6, 4, 3, seed=5)
    cells = zip(annotations.item.tolist(), annotations.annotator.tolist(), annotations.label.tolist(), strict=True)
    return [(f"i{item}", f"a{who}", f"k{label}") for item, who, label in cells]


@pytest.fixture(scope="module")
def predictions(rows: list[Row]) -> pt.Predictions:
    items = made(rows).index.items
    probs = np.random.default_rng(1).dirichlet([1.0, 1.0, 1.0], (2, len(items)))
    return pt.Predictions.from_probs({"m": probs[0], "n": probs[1]}, items=items, labels=["k0", "k1", "k2"])


def test_agreement_is_that_of_everything_once(rows: list[Row]) -> None:
    once, twice = (pt.agreement.krippendorff_alpha(made(given)) for given in (rows, rows * 2))
    assert (twice.value, twice.low, twice.high) == (once.value, once.low, once.high)
    assert twice.n_annotations == 2 * once.n_annotations


def test_agreement_with_oneself_does_not_count(rows: list[Row]) -> None:
    """By all pairs of two annotators of an item, whose repeats have equal parts in what they say."""
    generator = np.random.default_rng(0)
    repeats = [(item, who, f"k{generator.integers(3)}") for item, who, _ in rows if generator.random() < 0.5]
    said: dict[str, dict[str, list[str]]] = {}
    for item, who, label in rows + repeats:
        said.setdefault(item, {}).setdefault(who, []).append(label)
    same = [
        np.mean([np.mean([x == y for x in a for y in b]) for a, b in itertools.permutations(by.values(), 2)])
        for by in said.values()
    ]
    given = made(rows + repeats)
    answers = np.array(
        [[np.mean([x == k for x in a]) for k in given.index.labels] for by in said.values() for a in by.values()]
    )
    share = answers.sum(0)
    expected = 1 - (share @ share - share.sum()) / (share.sum() * (share.sum() - 1))
    assert pt.agreement.krippendorff_alpha(given).value == pytest.approx(
        1 - (1 - np.mean(same)) / expected, rel=ROUNDING
    )


def test_one_annotator_twice_is_no_agreement() -> None:
    with pytest.raises(pt.errors.InputError, match="by different annotators"):
        pt.agreement.krippendorff_alpha(made([("i", "a", "k0"), ("i", "a", "k0"), ("j", "b", "k1")]))


@pytest.mark.parametrize("rule", ["zero-one", "brier"])
def test_the_ceiling_is_that_of_everything_once(rows: list[Row], predictions: pt.Predictions, rule: str) -> None:
    once, twice = (pt.agreement.human_ceiling(made(given), predictions, rule=rule) for given in (rows, rows * 2))
    assert twice["loss"].to_list() == pytest.approx(once["loss"].to_list(), rel=ROUNDING)
    assert twice["high"].to_list() == pytest.approx(once["high"].to_list(), rel=ROUNDING)


def test_nobody_is_compared_with_themselves() -> None:
    """One who says x twice and another who says y: everybody disagrees with the others, and j has no others."""
    given = [("i", "a", "k0"), ("i", "a", "k0"), ("i", "b", "k1"), ("j", "a", "k0"), ("j", "a", "k0")]
    assert pt.agreement.human_ceiling(made(given))["loss"].to_list() == [1.0, 1.0]


def test_repeats_that_tie_are_no_answer(rows: list[Row]) -> None:
    """The label that is first by name was the answer, so that other names had another ceiling."""
    item, who, label = rows[0]
    other = "k0" if label != "k0" else "k1"
    given = [*rows, (item, who, other)]
    with pytest.raises(pt.InputError, match=f"'{who}' gave as often as another to item '{item}'"):
        pt.agreement.human_ceiling(made(given))
    assert pt.agreement.human_ceiling(made([*given, rows[0]])).equals(pt.agreement.human_ceiling(made(rows)))


def test_the_alternative_test_is_that_of_everything_once(rows: list[Row], predictions: pt.Predictions) -> None:
    once, twice = (pt.agreement.alternative_annotator_test(made(given), predictions) for given in (rows, rows * 2))
    assert twice.annotators.equals(once.annotators)
    assert twice.models.equals(once.models)
