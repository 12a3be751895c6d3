"""What turns the verdict is found, and nothing else is."""

from dataclasses import replace

import numpy as np
from simulated_annotations import answered

import probtruth as pt
from probtruth.line.labelled import changed
from probtruth.line.standing import standing_of


def one_class(n, bold=0.999):
    probs = {
        "bold": np.tile([bold, 1 - bold], (n, 1)),
        "careful": np.stack([p := np.linspace(0.93, 0.97, n), 1 - p], axis=1),
    }
    truth = pt.Truth.from_labels(np.zeros(n, int), n_labels=2)
    return pt.evaluate(truth, pt.Predictions.from_probs(probs), engine="exact")


def test_the_unseen_turns_a_verdict_on_few_items_of_one_class():
    few, many = (one_class(n).to_dict()["verdict"] for n in (20, 2000))
    assert few["turned_by"] == ["unseen"]
    assert few["unseen"]["other"] == "careful"
    assert few["p"] > 0.999
    assert many["turned_by"] == []
    assert many["unseen"] is None


def test_what_does_not_matter_does_not_turn_it():
    comparison = one_class(20).comparison
    assert standing_of(comparison, None, None).turned_by == ("unseen",)
    worst = abs(comparison.pairs[0]["unseen_difference"])
    wide = pt.compare(one_class(20).scores, rope=2 * worst, engine="exact")
    assert standing_of(wide, None, None).turned_by == ()


def test_two_questions_with_two_winners():
    # Two annotators of three are right; a third leans on label 1. Opinions favour the flat model, classes the sharp one
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=300)
    label = np.where(rng.random((300, 5)) < 0.75, true[:, None], 1 - true[:, None])
    sharp = np.where(np.eye(2)[true] == 1, 0.97, 0.03)
    flat = np.where(np.eye(2)[true] == 1, 0.75, 0.25)
    result = pt.evaluate(
        answered(label),
        pt.Predictions.from_probs({"sharp": sharp, "flat": flat}, items=range(300), labels=(0, 1)),
        engine="exact",
    )
    found = result.to_dict()["verdict"]
    assert "estimand" in found["turned_by"]
    assert [(answer["estimand"], answer["best"]) for answer in found["answers"]] == [
        ("distribution", "flat"),
        ("class", "sharp"),
    ]


def test_two_methods_with_two_winners():
    """Most items have a label of probability 0.8 by one method and 0.99 by the other: flat wins there, sharp here."""
    rng = np.random.default_rng(1)
    true = rng.integers(2, size=200)
    sharp, flat = (np.abs(np.eye(2)[true] - rng.uniform(*ends, 200)[:, None]) for ends in ((0.03, 0.05), (0.2, 0.25)))
    predictions = pt.Predictions.from_probs({"sharp": sharp, "flat": flat})
    careful, sure = (
        replace(pt.Truth.from_probs(np.abs(np.eye(2)[true] - doubt), estimand="class"), method=method)
        for doubt, method in ((0.2, "pooled"), (0.01, "ability"))
    )
    one, two = (pt.evaluate(truth, predictions, engine="exact").comparison for truth in (careful, sure))
    standing = standing_of(one, careful, None, changed(sure, one, two))
    assert standing.turned_by == ("method",)
    assert [(answer.method, answer.best) for answer in standing.methods] == [("pooled", "flat"), ("ability", "sharp")]
    assert standing.to_dict()["methods"][1]["best"] == "sharp"
    assert standing_of(one, careful, None, changed(careful, one, one)).turned_by == ()
