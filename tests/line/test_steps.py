"""The same question asked in one call, in steps, and through a file has one answer: in all settings, both estimands."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged import WORLDS, annotations_of, drawn
from simulated_annotations import answered

import probtruth as pt
from probtruth.io.truth import write_soft
from probtruth.line.informed_truth import ANNOTATORS_ALONE, UNKNOWN_ORIGIN
from probtruth.line.labelled import SHARED_ERRORS

NUMBERS = ("difference", "low", "high", "p_a_better")
ROUNDING = 1e-9  # of the same sums in another order
evaluate = partial(pt.evaluate, engine="exact")
compare = partial(pt.compare, engine="exact")


def made(world: str, n_items: int = 80, seed: int = 0) -> tuple[pt.Annotations, pt.Predictions]:
    """The annotations of one setting, and the predictions of its two models."""
    _, votes, probs = drawn(np.random.default_rng(seed), n_items, **WORLDS[world])
    annotations = annotations_of(votes)
    items = [f"{row:04d}" for row in range(n_items)]
    labels = [f"{label:04d}" for label in range(3)]
    return annotations, pt.Predictions.from_probs({"a": probs[0], "b": probs[1]}, items=items, labels=labels)


def numbers(comparison: pt.Comparison) -> list[float]:
    """The numbers of all pairs and models, in order."""
    found = [row[name] for row in comparison.pairs for name in NUMBERS]
    return found + [row[name] for row in comparison.ranks for name in ("score", "low", "high", "p_best")]


def by_steps(
    annotations: pt.Annotations, predictions: pt.Predictions, method: str, path: Path
) -> Iterator[tuple[str, pt.Comparison, Sequence[str]]]:
    """What each way in says, and its warnings."""
    truth = pt.infer_truth(annotations, method, draws=5)
    result = evaluate(truth, predictions)
    yield "truth", result.comparison, result.warnings
    scores = pt.score(predictions, truth)
    yield "scores", compare(scores), ()
    yield "sums", compare(pt.Moments.of(scores)), ()
    write_soft(truth, path)
    result = evaluate(path, predictions)
    yield "file", result.comparison, result.warnings


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("method", ["dirichlet", "dawid-skene-em"])
def test_every_way_in_gives_the_same_numbers_and_warnings(world: str, method: str, tmp_path: Path) -> None:
    annotations, predictions = made(world)
    at_once = evaluate(annotations, predictions, method=method)
    for way, comparison, warnings in by_steps(annotations, predictions, method, tmp_path / "soft.parquet"):
        assert numbers(comparison) == pytest.approx(numbers(at_once.comparison), rel=ROUNDING, abs=ROUNDING), way
        if warnings:
            assert warnings == at_once.warnings, way


@pytest.mark.long
@pytest.mark.parametrize("world", ["5 annotators, right 0.7", "one model learned from the votes"])
def test_the_default_method_has_one_answer_too(world: str, tmp_path: Path) -> None:
    annotations, predictions = made(world)
    at_once = evaluate(annotations, predictions, estimand="class")
    for way, comparison, _ in by_steps(annotations, predictions, "pooled", tmp_path / "soft.parquet"):
        assert numbers(comparison) == pytest.approx(numbers(at_once.comparison), rel=ROUNDING, abs=ROUNDING), way


def spammed(seed: int = 1) -> tuple[pt.Annotations, pt.Predictions, np.ndarray]:
    """350 items of 3 classes with 5 votes, 30 per cent by spammers, and the two models' losses on the true classes."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 350)
    votes = np.empty((350, 5), np.int64)
    for one in range(5):
        right = rng.random(350) < 0.8
        spam = rng.random(350) < 0.3
        honest = np.where(right, truth, (truth + rng.integers(1, 3, 350)) % 3)
        votes[:, one] = np.where(spam, rng.integers(0, 3, 350), honest)
    logits = 1.5 * np.eye(3)[truth] + rng.normal(size=(350, 3))
    probs = []
    for scale in (1.5, 0.7):
        powers = np.exp(scale * logits + 0.3 * rng.normal(size=logits.shape))
        probs.append(powers / powers.sum(1, keepdims=True))
    items, labels = [f"{row:04d}" for row in range(350)], [f"{label:04d}" for label in range(3)]
    predictions = pt.Predictions.from_probs(dict(zip("ab", probs, strict=True)), items=items, labels=labels)
    losses = -np.log(np.stack(probs))[:, np.arange(350), truth]
    return annotations_of(votes), predictions, losses


class TestClassesAlone:
    """What a comparison says that rests on annotators alone."""

    def test_the_sign_is_right_by_steps(self) -> None:
        annotations, predictions, losses = spammed()
        true = float((losses[0] - losses[1]).mean())
        assert true < 0
        truth = pt.infer_truth(annotations, "dawid-skene-em", draws=0)
        alone = evaluate(truth, predictions, evidence="annotators").comparison.pairs[0]
        assert alone["low"] > 0  # the wrong sign, and sure of it
        row = evaluate(truth, predictions).comparison.pairs[0]
        assert row["low"] < true < row["high"]

    def test_evidence_of_annotators_alone_is_warned_of(self) -> None:
        annotations, predictions, _ = spammed()
        truth = pt.infer_truth(annotations, "dawid-skene-em", draws=0)
        for reference in (truth, annotations):
            options = {} if reference is truth else {"method": "dawid-skene-em"}
            result = evaluate(reference, predictions, evidence="annotators", **options)
            assert ANNOTATORS_ALONE in result.warnings
            assert SHARED_ERRORS in result.warnings
        scores = pt.score(predictions, truth, evidence="annotators")
        assert ANNOTATORS_ALONE in compare(scores).warnings
        metric = pt.compare_metric(predictions, truth, "accuracy", evidence="annotators", engine="exact")
        assert ANNOTATORS_ALONE in metric.warnings

    def test_soft_labels_of_unknown_origin_are_warned_of(self) -> None:
        annotations, predictions, _ = spammed()
        inferred = pt.infer_truth(annotations, "dawid-skene-em", draws=0)
        names = {"items": inferred.index.items, "labels": inferred.index.labels}
        brought = pt.Truth.from_probs(inferred.probs, estimand="class", **names)
        assert UNKNOWN_ORIGIN in evaluate(brought, predictions).warnings
        assert UNKNOWN_ORIGIN in compare(pt.score(predictions, brought)).warnings
        informed = evaluate(brought, predictions, evidence="annotators-and-models")
        assert UNKNOWN_ORIGIN not in informed.warnings
        opinions = pt.Truth.from_probs(inferred.probs, **names)
        assert UNKNOWN_ORIGIN not in evaluate(opinions, predictions).warnings

    def test_certain_labels_and_expert_labels_are_not(self) -> None:
        annotations, predictions, _ = spammed()
        inferred = pt.infer_truth(annotations, "dawid-skene-em", draws=0)
        items = inferred.index.items
        labels = inferred.index.labels
        named = [labels[best] for best in inferred.probs.argmax(1)]
        certain = pt.Truth.from_labels(named, items=items, classes=labels)
        assert UNKNOWN_ORIGIN not in evaluate(certain, predictions).warnings
        gold = dict.fromkeys(items[:60], labels[0])
        anchored = evaluate(inferred, predictions, evidence="annotators", gold=gold)
        assert ANNOTATORS_ALONE not in anchored.warnings


class TestAnnotators:
    """The variance that annotators share is in the scores."""

    @staticmethod
    def few(seed: int = 0) -> tuple[pt.Annotations, pt.Predictions]:
        """Four annotators on every item, each with a taste of their own."""
        rng = np.random.default_rng(seed)
        taste = rng.normal(0, 1.2, 4)
        label = np.where(rng.random((120, 4)) < 1 / (1 + np.exp(-taste)), "yes", "no")
        probs = {name: rng.dirichlet([2, 2], 120) for name in "ab"}
        return answered(label), pt.Predictions.from_probs(probs, items=range(120), labels=["no", "yes"])

    def test_comparing_scores_counts_them(self) -> None:
        annotations, predictions = self.few()
        scores = pt.score(predictions, pt.infer_truth(annotations, "vote-share"))
        known = compare(scores).pairs[0]
        named = compare(scores, annotations=annotations).pairs[0]
        assert known == named
        bare = pt.score(predictions, pt.infer_truth(pt.Annotations.from_counts(
            annotations.counts(), annotations.index.items, annotations.index.labels), "vote-share"))  # fmt: skip
        without = compare(bare).pairs[0]
        assert known["difference"] == pytest.approx(without["difference"], rel=ROUNDING)
        assert known["high"] - known["low"] > 1.1 * (without["high"] - without["low"])


def test_a_label_that_nobody_used_changes_nothing() -> None:
    annotations, predictions = made("5 annotators, right 0.7")
    wider = np.concatenate([0.9 * predictions.probs, np.full((2, 80, 1), 0.1)], 2)
    labels = (*predictions.index.labels, "never")
    predictions = pt.Predictions.from_probs({"a": wider[0], "b": wider[1]}, predictions.index.items, labels)
    at_once = evaluate(annotations, predictions, method="dawid-skene-em")
    steps = evaluate(pt.infer_truth(annotations, "dawid-skene-em"), predictions)
    assert numbers(steps.comparison) == numbers(at_once.comparison)


class TestLazily:
    """The verdict under the other estimand is computed when it is read."""

    def test_not_before(self, monkeypatch: pytest.MonkeyPatch) -> None:
        annotations, predictions = made("5 annotators, right 0.7")
        asked = []
        infer = pt.line.labelled.infer_truth

        def counted(*arguments: Any, **options: Any) -> pt.Truth:
            asked.append(options["method"])
            return infer(*arguments, **options)

        monkeypatch.setattr("probtruth.line.labelled.infer_truth", counted)
        result = evaluate(annotations, predictions)
        assert result.comparison.ranking().height == 2
        assert asked == []
        assert result.other is not None
        assert result.other is result.other
        assert result.to_dict()["other_estimand"]["method"] == "ability"
        assert asked == ["ability"]

    def test_a_reversal_stands_first_among_the_warnings(self) -> None:
        rng = np.random.default_rng(3)
        shares = np.where(rng.random(300) < 0.5, 0.7, 0.3)
        annotations = answered(np.where(rng.random((300, 9)) < shares[:, None], "yes", "no"))
        probs = {
            "sure": np.stack([np.where(shares > 0.5, 0.03, 0.97), np.where(shares > 0.5, 0.97, 0.03)], 1),
            "fair": np.stack([1 - shares, shares], 1),
        }
        predictions = pt.Predictions.from_probs(probs, items=range(300), labels=["no", "yes"])
        result = evaluate(pt.infer_truth(annotations), predictions)
        assert result.warnings[0].startswith("the choice of estimand matters")


@pytest.mark.parametrize("rule", ["log", "manhattan"])
@pytest.mark.parametrize("n_labels", [1, 2])
def test_the_scores_of_a_result_keep_their_groups_and_clusters(rule: Any, n_labels: int) -> None:
    """They were lost: compared again, clusters were items, and the table of items had no groups."""
    annotations, predictions = made(next(iter(WORLDS)))
    items = predictions.index.items
    clusters = {item: f"c{row // 8}" for row, item in enumerate(items)}
    groups = {item: f"g{row // 40}" for row, item in enumerate(items)}
    options = {"groups": groups, "clusters": clusters, "rule": rule}
    if n_labels == 1:
        result = evaluate(annotations, predictions, **options)
    else:
        answers = {"item": annotations.item, "annotator": annotations.annotator}
        answers = {name: np.array(getattr(annotations.index, f"{name}s"))[rows] for name, rows in answers.items()}
        tables = {"a": {"item": list(items)}, "b": {"item": list(items)}}
        for place, label in enumerate(annotations.index.labels[:2]):
            answers[label] = (annotations.label == place).astype(int)
            for model, probs in zip(tables, np.exp(predictions.log_probs), strict=True):
                tables[model][label] = probs[:, place]
        result = pt.evaluate_labels(answers, tables, annotations.index.labels[:2], engine="exact", **options)
    again = compare(result.scores)
    assert numbers(again) == pytest.approx(numbers(result.comparison), rel=ROUNDING, abs=ROUNDING)
    assert again.groups == result.comparison.groups
    if rule == "manhattan":
        assert numbers(again.proper) == pytest.approx(numbers(result.comparison.proper), rel=ROUNDING, abs=ROUNDING)
    assert result.items()["group"].to_list() == [groups[item] for item in result.scores.items]
