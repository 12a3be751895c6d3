"""Agreement, and the quality of each annotator with flags."""

from dataclasses import replace

import numpy as np
import pytest
from line_results import relabel

import probtruth as pt
from probtruth.line.analysis.annotators import annotator_rows


def crowd(n_good: int, n_spam: int, n_items: int = 60, seed: int = 0) -> pt.Annotations:
    """Annotators of 0.9 accuracy over three labels, and those who answer anything."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n_items)
    says = {f"good-{number}": np.where(rng.random(n_items) < 0.9, truth, rng.integers(0, 3, n_items))
            for number in range(n_good)}  # fmt: skip
    says |= {f"spam-{number}": rng.integers(0, 3, n_items) for number in range(n_spam)}
    rows = [(item, name, int(label)) for name, labels in says.items() for item, label in enumerate(labels)]
    item, annotator, label = zip(*rows, strict=True)
    return pt.Annotations.from_long({"item": item, "annotator": annotator, "label": label})


def judged(result, annotations: pt.Annotations, method: str = "dawid-skene-em"):
    truth = pt.infer_truth(annotations, method, draws=0)
    return relabel(result, truth)


def test_agreement_is_that_of_the_public_function(result):
    found = result.analysis.annotators.agreement
    assert found.value == pt.agreement.krippendorff_alpha(result.annotations).value


def test_no_agreement_without_two_annotations_of_an_item(result, make):
    alone = pt.Annotations.from_counts([[1, 0], [0, 1]])
    for annotations in (alone, None):
        truth = replace(result.truth, annotations=annotations)
        assert make["relabel"](result, truth).analysis.annotators.agreement is None


def test_a_sampled_truth_is_checked_against_replicated_annotations(result, make):
    """Quantiles of 0.80, 0.801, ..., 0.90 by hand."""
    truth = replace(
        result.truth, sampled={"agreement": np.linspace(0.8, 0.9, 101)[None]}, diagnostics={"agreement": 0.85}
    )
    found = make["relabel"](result, truth).analysis.annotators.replicated
    assert found == pytest.approx((0.8025, 0.8975, 0.85))


def test_spammers_are_flagged_good_ones_not(result):
    rows = {row["annotator"]: row for row in annotator_rows(judged(result, crowd(6, 2, 200)).truth)}
    assert {name for name, row in rows.items() if row["flag"]} == {"spam-0", "spam-1"}
    assert all(row["skill_low"] <= row["skill"] <= row["skill_high"] for row in rows.values())


def test_an_adversary_is_told_from_a_spammer(result):
    """With two labels, one who always says the opposite is informative, and has skill below 0."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 200)
    rows = [(item, f"g{k}", int(truth[item] ^ (rng.random() < 0.1))) for k in range(5) for item in range(200)]
    rows += [(item, "no", int(1 - truth[item])) for item in range(200)]
    item, annotator, label = zip(*rows, strict=True)
    annotations = pt.Annotations.from_long({"item": item, "annotator": annotator, "label": label})
    flags = {row["annotator"]: row["flag"] for row in annotator_rows(judged(result, annotations).truth)}
    assert flags["no"] == "adversary"


def test_kappa_by_hand(result):
    """Two labels of equal frequency and an annotator who says both equally often: kappa = 2 accuracy - 1."""
    truth = judged(result, crowd(6, 0, 200)).truth
    flat = replace(
        truth,
        marginals=np.full(3, 1 / 3),
        confusion=np.broadcast_to(np.eye(3), truth.confusion.shape),
        annotator_results={**truth.annotator_results, "accuracy": np.full(6, 0.8)},
    )
    assert annotator_rows(flat)[0]["skill"] == pytest.approx((0.8 - 1 / 3) / (1 - 1 / 3))


def test_the_methods_own_skill_is_kept(result):
    truth = judged(result, crowd(4, 0)).truth
    own = {**truth.annotator_results, "skill": np.full(4, 0.5), "skill_low": np.zeros(4), "skill_high": np.ones(4)}
    own["flag"] = np.array(["", "", "spammer", ""])
    rows = annotator_rows(replace(truth, annotator_results=own))
    assert [row["skill"] for row in rows] == [0.5] * 4
    assert rows[2]["flag"] == "spammer"
