"""Label sets: one label at a time, and what cannot be read."""

import numpy as np
import pytest

import probtruth as pt

KINDS = np.array(
    [[0.95, 0.9, 0.9, 0.05, 0.05, 0.05], [0.05, 0.05, 0.1, 0.9, 0.95, 0.9], [0.9, 0.05, 0.05, 0.9, 0.1, 0.9]]
)


def crowd(seed: int, n_items: int = 150, n_annotators: int = 8, per_item: int = 3) -> tuple[pt.Annotations, np.ndarray]:
    """Items of three kinds with six labels that go together; annotators miss three in ten, add one in ten."""
    generator = np.random.default_rng(seed)
    true = generator.random((n_items, 6)) < KINDS[generator.integers(3, size=n_items)]
    rows: dict[str, list[object]] = {"item": [], "annotator": [], "label": []}
    for item in range(n_items):
        for who in generator.choice(n_annotators, per_item, replace=False):
            said = np.where(true[item], generator.random(6) < 0.7, generator.random(6) < 0.1)
            for label in [f"l{place}" for place in np.flatnonzero(said)] or ["none"]:
                rows["item"].append(item)
                rows["annotator"].append(int(who))
                rows["label"].append(label)
    return pt.Annotations.from_long(rows, replicate="label"), true


CROWD, TRUE = crowd(1)


def test_each_label_alone_is_infer_truth_of_yes_and_no() -> None:
    found = pt.infer_multilabel(CROWD, "dawid-skene-em", none="none")
    assert found.index.labels == tuple(f"l{place}" for place in range(6))
    pairs = {(int(item), int(who)) for item, who in zip(CROWD.item, CROWD.annotator, strict=True)}
    has = set(zip(CROWD.item.tolist(), CROWD.annotator.tolist(), CROWD.label.tolist(), strict=True))
    label = CROWD.index.labels.index("l2")
    ordered = sorted(pairs)
    rows = {
        "item": [CROWD.index.items[item] for item, _ in ordered],
        "annotator": [who for _, who in ordered],
        "label": ["yes" if (*pair, label) in has else "no" for pair in ordered],
    }
    alone = pt.infer_truth(pt.Annotations.from_long(rows), "dawid-skene-em")
    np.testing.assert_array_equal(found.probs[:, 2], alone.probs[:, 1])
    assert found.truths["l2"].index.labels == ("no", "yes")


def test_shares_are_the_share_of_annotators_who_gave_the_label() -> None:
    rows = {"item": list("aaabbb"), "annotator": list("pqqpqr"), "label": ["x", "x", "y", "y", "y", "x"]}
    found = pt.infer_multilabel(pt.Annotations.from_long(rows, replicate="label"), "vote-share")
    np.testing.assert_allclose(found.probs, [[1, 1 / 2], [1 / 3, 2 / 3]], rtol=1e-12)
    assert found.truths["x"].n_votes.tolist() == [2, 3]


def test_sensitivity_and_specificity_are_found() -> None:
    truths = pt.infer_multilabel(CROWD, none="none").truths.values()
    mean = np.mean([truth.confusion for truth in truths], axis=(0, 1))
    assert abs(mean[1, 1] - 0.7) < 0.1
    assert abs(mean[0, 0] - 0.9) < 0.05


def test_known_sets() -> None:
    gold = {"0": {"l0", "l3"}, "1": set()}
    found = pt.infer_multilabel(CROWD, "dawid-skene-em", none="none", gold=gold)
    np.testing.assert_array_equal(found.probs[:2], [[1, 0, 0, 1, 0, 0], [0] * 6])


TWO_SAID = pt.Annotations.from_long(
    {"item": [1, 1, 1], "annotator": ["a", "a", "b"], "label": ["none", "x", "x"], "row": [0, 1, 2]}, replicate="row"
)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pt.infer_multilabel([[1]]), "got list, expected Annotations"),
        (lambda: pt.infer_multilabel(CROWD, "abilty"), "Did you mean 'ability'"),
        (lambda: pt.infer_multilabel(CROWD, none="nothing"), "none: label 'nothing'"),
        (lambda: pt.infer_multilabel(CROWD, none="l0"), "label 'l0' beside others"),
        (lambda: pt.infer_multilabel(TWO_SAID, none="none"), "label 'none' beside others, by annotator 'a'"),
        (lambda: pt.infer_multilabel(CROWD, none="none", gold={"zz": []}), "gold for item 'zz'"),
        (lambda: pt.infer_multilabel(CROWD, none="none", gold={"1": "l0"}), "a set of labels"),
        (lambda: pt.infer_multilabel(pt.Annotations.from_counts([[1, 2]])), "counts, without annotators"),
    ],
)
def test_errors(call, words: str) -> None:
    with pytest.raises(pt.InputError) as caught:
        call()
    assert words in str(caught.value)
