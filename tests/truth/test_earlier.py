"""An earlier truth as prior: evidence adds up, items keep what they had, newcomers borrow, names are matched."""

import numpy as np
import pytest
from simulated_annotations import simulate

import probtruth as pt
from probtruth.truth.earlier import NEWCOMER

METHODS = ["ability", "dawid-skene-em"]
ROUNDING = 1e-8


def part(annotations: pt.Annotations, keep: np.ndarray) -> pt.Annotations:
    """The annotations of some rows, under their names."""
    index = annotations.index
    assert annotations.annotator is not None
    rows = {
        "item": np.array(index.items)[annotations.item[keep]],
        "annotator": np.array(index.annotators)[annotations.annotator[keep]],
        "label": np.array(index.labels)[annotations.label[keep]],
    }
    return pt.Annotations.from_long(rows, labels=index.labels)


@pytest.fixture(scope="module")
def batches() -> tuple[pt.Annotations, pt.Annotations, pt.Annotations, np.ndarray]:
    """All annotations, those of most items, those of the 20 last items, and all classes."""
    annotations, classes, _ = simulate(220, 8, 3, 3, seed=21)
    late = annotations.item >= 200
    return annotations, part(annotations, ~late), part(annotations, late), classes


@pytest.mark.parametrize("method", METHODS)
def test_evidence_of_two_batches_adds_up(batches, method: str) -> None:
    annotations, first, second, _ = batches
    before = pt.infer_truth(first, method, draws=0)
    after = pt.infer_truth(second, method, prior=before, draws=0)
    assert before.evidence["annotations"].sum() == pytest.approx(600)
    assert after.evidence["annotations"].sum() == pytest.approx(660)
    assert after.evidence["classes"].sum() == pytest.approx(220)
    assert set(after.evidence["annotators"]) == set(annotations.index.annotators)


@pytest.mark.parametrize("method", [pytest.param("ability", marks=pytest.mark.long), "dawid-skene-em"])
def test_second_batch_is_nearly_as_if_all_were_seen_at_once(batches, method: str) -> None:
    annotations, first, second, _ = batches
    options = {"diagonal": 1, "off_diagonal": 1} if method == "dawid-skene-em" else {}
    whole = pt.infer_truth(annotations, method, draws=0, **options).probs[200:]
    alone = pt.infer_truth(second, method, draws=0, **options).probs
    before = pt.infer_truth(first, method, draws=0, **options)
    updated = pt.infer_truth(second, method, prior=before, draws=0, **options).probs
    assert np.abs(updated - whole).mean() < 0.3 * np.abs(alone - whole).mean()
    assert np.abs(updated - whole).mean() < 0.03  # the first batch's classes no longer change


def test_item_annotated_again_keeps_its_posterior(batches) -> None:
    """One more vote multiplies the earlier odds by that vote's likelihood ratio."""
    _, first, _, _ = batches
    options = {"diagonal": 1, "off_diagonal": 1}
    before = pt.infer_truth(first, "dawid-skene-em", draws=0, **options)
    item, who, label = first.index.items[0], first.index.annotators[0], first.index.labels[1]
    vote = pt.Annotations.from_long({"item": [item], "annotator": [who], "label": [label]}, labels=first.index.labels)
    after = pt.infer_truth(vote, "dawid-skene-em", prior=before, draws=0, **options)
    assert before.confusion is not None
    expected = before.probs[0] * before.confusion[0][:, 1]
    one_vote_of_hundreds = 0.02
    np.testing.assert_allclose(after.probs[0], expected / expected.sum(), atol=one_vote_of_hundreds)


def test_newcomers_start_from_all_earlier_annotators(batches) -> None:
    """Row k of someone new: their expected votes, and NEWCOMER votes of the pooled earlier row."""
    _, first, _, _ = batches
    before = pt.infer_truth(first, "dawid-skene-em", draws=0)
    names = first.index.items
    votes = {"item": [names[0], names[1]], "annotator": ["new", "new"], "label": [first.index.labels[0]] * 2}
    new = pt.Annotations.from_long(votes, labels=first.index.labels)
    truth = pt.infer_truth(new, "dawid-skene-em", prior=before, draws=0)
    pooled = before.evidence["annotations"].sum(0)
    counts = NEWCOMER * pooled / pooled.sum(1, keepdims=True)
    counts[:, 0] += truth.probs.sum(0)
    assert truth.confusion is not None
    np.testing.assert_allclose(truth.confusion[0], counts / counts.sum(1, keepdims=True), atol=ROUNDING)


@pytest.mark.parametrize("method", [pytest.param("ability", marks=pytest.mark.long), "dawid-skene-em"])
def test_a_known_expert_outweighs_known_guessers(method: str) -> None:
    generator = np.random.default_rng(4)
    classes = generator.integers(2, size=200)
    item, annotator = np.divmod(np.arange(200 * 5), 5)
    right = generator.random(1000) < np.array([0.97, 0.97, 0.97, 0.55, 0.55])[annotator]
    label = np.where(right, classes[item], 1 - classes[item])
    before = pt.infer_truth(
        pt.Annotations.from_long({"item": item, "annotator": annotator, "label": label}), method, draws=0
    )
    votes = pt.Annotations.from_long({"item": ["x"] * 3, "annotator": [3, 0, 4], "label": [0, 1, 0]})
    after = pt.infer_truth(votes, method, prior=before, draws=0)
    assert after.probs[0, 1] > 0.8
    assert after.index.annotators == ("0", "3", "4")
    assert len(after.annotators()) == 3
    assert after.confusion is not None
    assert after.confusion.shape == (3, 2, 2)


def test_default_keeps_evidence(batches) -> None:
    _, first, second, _ = batches
    before = pt.infer_truth(first, "pooled", sweeps=40, chains=1, draws=0)
    assert pt.infer_truth(second, "ability", prior=before, draws=0).probs.shape == (20, 3)


def test_errors(batches) -> None:
    _, first, second, _ = batches
    majority = pt.infer_truth(first, "majority")
    with pytest.raises(pt.InputError, match="a prior that is truth of the method 'majority'"):
        pt.infer_truth(second, "ability", prior=majority)
    other = pt.Annotations.from_long({"item": ["x"], "annotator": ["y"], "label": ["z"]})
    with pytest.raises(pt.InputError, match="the same labels"):
        pt.infer_truth(other, "ability", prior=pt.infer_truth(first, "ability"))
