"""Perceived classes: simulated misperception, known answers, chains, draws, options."""

import numpy as np
import pytest
from simulated_annotations import misperceived

import probtruth as pt
from probtruth.truth.annotators import skill_columns
from probtruth.truth.fit import class_rows


def loss(truth: pt.Truth, classes: np.ndarray) -> float:
    return float(-np.log(np.maximum(truth.probs[np.arange(len(classes)), classes], 1e-15)).mean())


@pytest.mark.long
def test_not_confident_where_everybody_is_wrong() -> None:
    annotations, classes = misperceived(1)
    found = {
        method: pt.infer_truth(annotations, method, draws=50, **options)
        for method, options in (("dawid-skene-em", {}), ("ability", {}), ("perceived-class", {"sweeps": 100}))
    }
    losses = {method: loss(truth, classes) for method, truth in found.items()}
    assert losses["perceived-class"] < 0.5 * losses["ability"]
    assert losses["perceived-class"] < 0.5 * losses["dawid-skene-em"]
    truth = found["perceived-class"]
    assert truth.draws is not None
    assert truth.draws.shape == (50, 200, 3)
    assert set(np.unique(truth.draws)) == {0, 1}
    assert truth.diagnostics["label_switching"] is False
    assert truth.diagnostics["converged"] is True
    assert "accuracy_low" not in truth.annotators().columns  # intervals of annotators who err together do not cover
    np.testing.assert_allclose(truth.confusion.sum(2), 1, atol=1e-5)  # type: ignore[union-attr]  # single precision


@pytest.mark.long
def test_known_answers_hold_and_teach_how_often_items_mislead() -> None:
    annotations, classes = misperceived(3, share=0.4)
    names, labels = annotations.index.items, annotations.index.labels
    gold = {names[row]: labels[classes[row]] for row in range(0, 200, 2)}
    taught = pt.infer_truth(annotations, "perceived-class", gold=gold, sweeps=400, draws=0)
    free = pt.infer_truth(annotations, "perceived-class", sweeps=400, draws=0)
    np.testing.assert_array_equal(taught.probs[::2].argmax(1), classes[::2])
    np.testing.assert_allclose(taught.probs[::2].max(1), 1, rtol=1e-6)  # single precision
    rest = np.arange(1, 200, 2)
    losses = [-np.log(truth.probs[rest, classes[rest]]).mean() for truth in (taught, free)]
    assert losses[0] < losses[1]
    assert taught.diagnostics["epsilon"] > free.diagnostics["epsilon"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("options", "words"),
    [({"epsilon": 0}, "epsilon"), ({"delta": -1}, "delta"), ({"sweeps": 1}, "sweeps 1"), ({"chains": 0}, "chains 0")],
)
def test_errors(simulated, options: dict[str, float], words: str) -> None:
    with pytest.raises(pt.InputError) as caught:
        pt.infer_truth(simulated[0], "perceived-class", **options)
    assert words in str(caught.value)


@pytest.mark.long
def test_spammers_and_adversaries_are_flagged() -> None:
    annotations, classes = misperceived(4, share=0.1)
    assert annotations.annotator is not None
    generator = np.random.default_rng(99)
    label = annotations.label.copy()
    spam, contrary = annotations.annotator == 6, annotations.annotator == 7
    label[spam] = generator.integers(3, size=int(spam.sum()))
    wrong = (classes[annotations.item] + generator.integers(1, 3, len(label))) % 3
    label[contrary] = wrong[contrary]
    spoilt = pt.Annotations(annotations.item, label, annotations.annotator, annotations.multiplicity, annotations.index)
    columns = skill_columns(pt.infer_truth(spoilt, "perceived-class", sweeps=200, draws=0))
    assert columns["flag"].tolist() == [""] * 6 + ["spammer", "adversary"]
    assert set(columns) == {"skill", "flag"}


@pytest.mark.long
@pytest.mark.parametrize("shared", [0.0, 0.2])
def test_plain_crowds_converge(shared: float) -> None:
    """Judged by what is reported, the class probabilities; a warning that is always there says nothing."""
    converged = [
        pt.infer_truth(misperceived(seed, share=shared)[0], "pooled", draws=0).diagnostics["converged"]
        for seed in range(8)
    ]
    assert all(converged)


def test_draws_of_classes() -> None:
    classes = np.array([[0, 1], [1, 1], [2, 0], [0, 2]], np.uint16)
    for many, wanted in ((1, [0]), (2, [0, 3]), (9, [0, 1, 2, 3])):
        made = class_rows(classes, 3, many)
        assert made is not None
        np.testing.assert_array_equal(made.argmax(2), classes[wanted])
    assert class_rows(classes, 3, 0) is None
