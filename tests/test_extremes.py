"""The whole line at its ends: an honest answer or a message that says what is missing; never NaN, never invented."""

import json
import math

import numpy as np
import pytest

import probtruth as pt

EXACT = {"engine": "exact"}
SMOOTHED = 1e-12  # Rounding of a mean of a few numbers


def long(votes):
    """Annotations from {item: {annotator: label}}."""
    rows = [(item, who, label) for item, said in votes.items() for who, label in said.items()]
    return pt.Annotations.from_long(
        dict(zip(("item", "annotator", "label"), map(list, zip(*rows, strict=True)), strict=True))
    )


def two_models(n_items, n_labels=2, seed=0):
    rng = np.random.default_rng(seed)
    return {name: rng.dirichlet(np.ones(n_labels), n_items) for name in "ab"}


def named(probs, index):
    """Predictions whose rows and columns stand as the sorted names of an index."""
    return pt.Predictions.from_probs(probs, items=index.items, labels=index.labels)


def random_votes(n_items, n_annotators, n_labels):
    """Every annotator on every item, at random; labels are matched by position."""
    said = np.random.default_rng(0).integers(0, n_labels, (n_items, n_annotators))
    item, annotator = np.indices(said.shape)
    columns = {"item": item.ravel(), "annotator": annotator.ravel(), "label": said.ravel()}
    return pt.Annotations.from_long(columns, labels=range(n_labels))


def no_nan(value):
    """Nothing in a result is NaN; what is not known is null."""
    if isinstance(value, dict):
        return all(no_nan(one) for one in value.values())
    if isinstance(value, list | tuple):
        return all(no_nan(one) for one in value)
    return not (isinstance(value, float) and math.isnan(value))


def answer(scores, **options):
    comparison = pt.compare(scores, **EXACT, **options)
    assert no_nan([*comparison.pairs, *comparison.ranks, dict(comparison.diagnostics)])
    return comparison, comparison.pairs[0]


FEW = long({"p": {"ann": "x"}, "q": {"ann": "y"}, "r": {"ann": "x"}})
APART = long({f"q{k}": {f"w{k}": "xy"[k % 2]} for k in range(6)})
METHODS = ("vote-share", "dirichlet", "majority", "dawid-skene-em", "one-coin", "mace")
AGAIN = {("one", "one-coin"), ("one", "mace"), ("never on the same item", "dawid-skene-em")}
"""Each compiles a program of its own; the method meets the other annotations, the annotations another such method."""
EACH = [
    pytest.param(annotations, method, id=f"{name}-{method}", marks=[pytest.mark.long] * ((name, method) in AGAIN))
    for name, annotations in (("one", FEW), ("never on the same item", APART))
    for method in METHODS
]


class TestAnnotators:
    @pytest.mark.parametrize(("annotations", "method"), EACH)
    def test_truth(self, annotations, method):
        truth = pt.infer_truth(annotations, method=method, draws=0)
        assert np.isfinite(truth.probs).all()
        np.testing.assert_allclose(truth.probs.sum(1), 1, rtol=SMOOTHED)
        said = annotations.counts().argmax(1)
        assert (truth.probs[np.arange(annotations.n_items), said] >= 0.5).all()

    @pytest.mark.parametrize("annotations", [FEW, APART], ids=["one", "never on the same item"])
    def test_whole_line(self, annotations):
        result = pt.evaluate(annotations, named(two_models(annotations.n_items), annotations.index), engine="exact")
        assert no_nan(result.to_dict())
        assert "nan" not in json.dumps(result.to_dict()).lower()


class TestLabels:
    @pytest.mark.long
    def test_ten_thousand(self):
        votes = random_votes(n_items=4, n_annotators=2, n_labels=10_000)
        probs = two_models(4, 10_000)
        truth = pt.infer_truth(votes, draws=0)
        assert truth.diagnostics["converged"]
        comparison, _ = answer(pt.score(named(probs, truth.index), truth, rule="log"))
        wanted = -np.log(probs["a"][votes.item, votes.label]).mean()  # two votes each
        own = {row["model"]: row["score"] for row in comparison.ranks}
        assert own["a"] == pytest.approx(wanted, rel=1e-9)

    @pytest.mark.long
    def test_confusion_matrices_of_ten_thousand_labels_have_no_room(self):
        """Five annotators would need 4 GB a table: classes are refused at once."""
        votes = random_votes(n_items=6, n_annotators=5, n_labels=10_000)
        for method in ("pooled", "dawid-skene-em", "one-coin"):
            with pytest.raises(pt.InputError, match="at most 67,108,864 cells"):
                pt.infer_truth(votes, method=method)
        assert pt.infer_truth(votes, method="majority", draws=0).probs.shape == (6, 10_000)

    @pytest.mark.long
    def test_the_verdict_on_classes_of_ten_thousand_labels_is_left_out(self):
        votes = random_votes(n_items=6, n_annotators=5, n_labels=10_000)
        result = pt.evaluate(votes, pt.Predictions.from_probs(two_models(6, 10_000)), engine="exact")
        assert result.other is None
        assert any("'class' is left out" in line for line in result.warnings)
        assert all(math.isfinite(row["score"]) for row in result.comparison.ranks)

    @pytest.mark.long
    def test_many_labels_get_the_other_verdict_by_a_method_that_is_quick(self):
        for n_labels, method in ((1000, "one-coin"), (10, "ability")):
            votes = random_votes(n_items=6, n_annotators=3, n_labels=n_labels)
            result = pt.evaluate(votes, pt.Predictions.from_probs(two_models(6, n_labels)), engine="exact")
            assert result.other.truth.method == method

    def test_1e_minus_300_as_log_probabilities(self):
        """Probabilities that float32, and products, would lose: -log 1e-300 = 690.776."""
        tiny = -300 * math.log(10)
        log_probs = np.array(
            [[tiny, math.log1p(-1e-300)], [math.log(0.5), math.log(0.5)], [math.log(0.4), math.log(0.6)]]
        )
        even = np.log(np.full((3, 2), 0.5))
        truth = pt.Truth.from_labels([0, 0, 1], n_labels=2)
        scores = pt.score(pt.Predictions.from_log_probs({"a": log_probs, "b": even}), truth, rule="log")
        assert scores.values[0].tolist() == pytest.approx([-tiny, math.log(2), -math.log(0.6)], rel=1e-15)
        assert scores.n_infinite.tolist() == [0, 0]
        _, pair = answer(scores)
        assert pair["difference"] == pytest.approx((-tiny - math.log(0.6) - 2 * math.log(2)) / 3)
