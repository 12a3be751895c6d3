"""Label sets: one label at a time, the mixture of prototypes, its gain, its draws, and what cannot be read."""

import itertools

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


def log_loss(probs: np.ndarray, true: np.ndarray) -> float:
    return float(-np.log(np.maximum(np.where(true, probs, 1 - probs), 1e-15)).mean())


def test_each_label_alone_is_infer_truth_of_yes_and_no() -> None:
    found = pt.infer_multilabel(CROWD, "dawid-skene-em", none="none", draws=3)
    assert found.index.labels == tuple(f"l{place}" for place in range(6))
    assert CROWD.annotator is not None
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
    assert found.draws is not None
    assert found.draws.shape == (3, 150, 6)


def test_shares_are_the_share_of_annotators_who_gave_the_label() -> None:
    rows = {"item": list("aaabbb"), "annotator": list("pqqpqr"), "label": ["x", "x", "y", "y", "y", "x"]}
    found = pt.infer_multilabel(pt.Annotations.from_long(rows, replicate="label"), "vote-share")
    np.testing.assert_allclose(found.probs, [[1, 1 / 2], [1 / 3, 2 / 3]], rtol=1e-12)
    assert found.truths["x"].n_votes.tolist() == [2, 3]  # type: ignore[union-attr]


@pytest.mark.long
def test_learning_which_labels_go_together_helps() -> None:
    joint = pt.infer_multilabel(CROWD, none="none", draws=0)
    assert joint.diagnostics["n_prototypes"] == 3
    assert joint.diagnostics["converged"]
    alone = {
        "one prototype": pt.infer_multilabel(CROWD, none="none", draws=0, prototypes=1).probs,
        "dawid-skene-em": pt.infer_multilabel(CROWD, "dawid-skene-em", none="none", draws=0).probs,
        "ability": pt.infer_multilabel(CROWD, "ability", none="none", draws=0).probs,
    }
    losses = {name: log_loss(probs, TRUE) for name, probs in alone.items()}
    assert log_loss(joint.probs, TRUE) < 0.8 * min(losses.values()), losses
    n_parameters = 3 * 6 + 2  # of the mixture: P(label | kind), and shares of the kinds that sum to 1
    assert joint.diagnostics["aic"][3] == pytest.approx(2 * n_parameters - 2 * joint.diagnostics["log_likelihood"])
    assert joint.prototypes is not None
    order = [int(np.abs(joint.prototypes - kind).sum(1).argmin()) for kind in KINDS]
    assert sorted(order) == [0, 1, 2]
    assert np.abs(joint.prototypes[order] - KINDS).max() < 0.2
    table = joint.annotators()
    assert table.height == 8 * 6
    assert abs(table["sensitivity"].mean() - 0.7) < 0.06  # type: ignore[operator]
    assert abs(table["specificity"].mean() - 0.9) < 0.04  # type: ignore[operator]


def test_answers_are_those_of_the_enumeration_of_all_sets() -> None:
    """Bayes' rule over every kind and every set of labels, at the parameters that the result reports."""
    annotations, _ = crowd(2, n_items=40, n_annotators=3)
    found = pt.infer_multilabel(annotations, none="none", prototypes=2, draws=0)
    assert found.weights is not None
    assert found.prototypes is not None
    assert annotations.annotator is not None
    rates = found.annotators().select("sensitivity", "specificity").to_numpy().reshape(6, 3, 2)
    gave = {(int(i), int(j)): np.zeros(6, bool) for i, j in zip(annotations.item, annotations.annotator, strict=True)}
    columns = [found.index.labels.index(name) if name != "none" else -1 for name in annotations.index.labels]
    for item, who, label in zip(annotations.item, annotations.annotator, annotations.label, strict=True):
        if columns[label] >= 0:
            gave[int(item), int(who)][columns[label]] = True
    sets = np.array(list(itertools.product((False, True), repeat=6)))
    expected, logs = np.zeros((40, 6)), 0.0
    for item in range(40):
        chances = found.weights @ np.where(sets[:, None], found.prototypes, 1 - found.prototypes).prod(2).T
        for who in range(3):
            if (item, who) in gave:
                says = np.where(sets, rates[:, who, 0], 1 - rates[:, who, 1])
                chances = chances * np.where(gave[item, who], says, 1 - says).prod(1)
        expected[item] = chances @ sets / chances.sum()
        logs += np.log(chances.sum())
    np.testing.assert_allclose(found.probs, expected, rtol=1e-10)
    np.testing.assert_allclose(found.diagnostics["log_likelihood"], logs, rtol=1e-10)


@pytest.mark.long
def test_draws_keep_labels_together() -> None:
    found = pt.infer_multilabel(CROWD, none="none", draws=2000)
    assert found.draws is not None
    five_errors = 5 * 0.5 / np.sqrt(2000)
    np.testing.assert_allclose(found.draws.mean(0, dtype=float), found.probs, atol=five_errors)
    np.testing.assert_array_equal(found.truths["l0"].draws[..., 1], found.draws[..., 0])  # type: ignore[index]


def test_shares_of_the_joint_model_are_those_of_the_annotators() -> None:
    rows = {"item": list("aaabbb"), "annotator": list("pqqpqr"), "label": ["x", "x", "y", "y", "y", "x"]}
    found = pt.infer_multilabel(pt.Annotations.from_long(rows, replicate="label"))
    np.testing.assert_allclose(found.truths["x"].shares, [[0, 1], [2 / 3, 1 / 3]])
    np.testing.assert_allclose(found.truths["y"].shares, [[0.5, 0.5], [1 / 3, 2 / 3]])


@pytest.mark.long
def test_known_sets() -> None:
    gold = {"0": {"l0", "l3"}, "1": set()}
    for method in ("joint", "dawid-skene-em"):
        found = pt.infer_multilabel(CROWD, method, none="none", gold=gold, draws=0)
        np.testing.assert_array_equal(found.probs[:2], [[1, 0, 0, 1, 0, 0], [0] * 6])


TWO_SAID = pt.Annotations.from_long(
    {"item": [1, 1, 1], "annotator": ["a", "a", "b"], "label": ["none", "x", "x"], "row": [0, 1, 2]}, replicate="row"
)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pt.infer_multilabel([[1]]), "got list, expected Annotations"),
        (lambda: pt.infer_multilabel(CROWD, "jiont"), "Did you mean 'joint'"),
        (lambda: pt.infer_multilabel(CROWD, none="nothing"), "none: label 'nothing'"),
        (lambda: pt.infer_multilabel(CROWD, none="l0"), "label 'l0' beside others"),
        (lambda: pt.infer_multilabel(TWO_SAID, none="none"), "label 'none' beside others, by annotator 'a'"),
        (lambda: pt.infer_multilabel(CROWD, "majority", prototypes=2), "prototypes with method 'majority'"),
        (lambda: pt.infer_multilabel(CROWD, sweeps=2), "option of 'joint' 'sweeps'"),
        (lambda: pt.infer_multilabel(CROWD, none="none", gold={"zz": []}), "gold for item 'zz'"),
        (lambda: pt.infer_multilabel(CROWD, none="none", gold={"1": "l0"}), "a set of labels"),
        (lambda: pt.infer_multilabel(pt.Annotations.from_counts([[1, 2]])), "counts, without annotators"),
        (lambda: pt.infer_multilabel(CROWD, "vote-share").annotators(), "knows nothing of annotators"),
    ],
)
def test_errors(call, words: str) -> None:
    with pytest.raises(pt.InputError) as caught:
        call()
    assert words in str(caught.value)
