"""Near-copies are found, others are not called so; counts by a double loop; errors."""

import numpy as np
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import norm
from simulated_annotations import simulate

import probtruth as pt
from probtruth.truth.annotators import pairs


def with_a_copy(seed: int, faithful: float) -> pt.Annotations:
    """Annotator `copy` repeats what a00 said on most items that a00 answered."""
    annotations, _, _ = simulate(300, 8, 5, 3, seed=seed)
    assert annotations.annotator is not None
    generator = np.random.default_rng(seed)
    index = annotations.index
    rows = {
        "item": [index.items[row] for row in annotations.item],
        "annotator": [index.annotators[row] for row in annotations.annotator],
        "label": [index.labels[row] for row in annotations.label],
    }
    mine = annotations.annotator == 0
    for item, label in zip(annotations.item[mine], annotations.label[mine], strict=True):
        rows["item"].append(index.items[item])
        rows["annotator"].append("copy")
        rows["label"].append(index.labels[label if generator.random() < faithful else generator.integers(3)])
    return pt.Annotations.from_long(rows)


def test_a_copy_is_found_and_only_it() -> None:
    annotations = with_a_copy(4, 0.95)
    truth = pt.infer_truth(annotations, "ability", draws=0)
    table = pt.annotators.annotator_pairs(annotations, truth)
    assert table.row(0)[:2] == ("a00", "copy")
    assert table["copies"].to_list() == [True] + [False] * (table.height - 1)


@pytest.mark.parametrize("seed", range(3))
def test_independent_annotators_are_not_called_copies(seed: int) -> None:
    annotations, _, _ = simulate(300, 8, 5, 3, seed=seed)
    table = pt.annotators.annotator_pairs(annotations, pt.infer_truth(annotations, "ability", draws=0))
    assert table.height == 28
    assert not table["copies"].any()


def test_counts_by_a_double_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in chunks of a few pairs."""
    annotations, _, _ = simulate(40, 5, 3, 3, seed=1)
    truth = pt.infer_truth(annotations, "dawid-skene-em", draws=0, diagonal=1, off_diagonal=1)
    assert annotations.annotator is not None
    assert truth.confusion is not None
    table = pt.annotators.annotator_pairs(annotations, truth, least=1)
    said = {
        (item, who): label
        for item, who, label in zip(annotations.item, annotations.annotator, annotations.label, strict=True)
    }
    for row in table.iter_rows(named=True):
        a, b = (annotations.index.annotators.index(row[side]) for side in ("a", "b"))
        shared = [item for item in range(40) if (item, a) in said and (item, b) in said]
        assert row["n_common"] == len(shared)
        assert row["agreement"] == pytest.approx(np.mean([said[item, a] == said[item, b] for item in shared]))
        expected = np.mean([truth.probs[item] @ (truth.confusion[a] * truth.confusion[b]).sum(1) for item in shared])
        assert row["expected"] == pytest.approx(expected)
    monkeypatch.setattr(pairs, "CHUNK", 7)
    assert_frame_equal(pt.annotators.annotator_pairs(annotations, truth, least=1), table)


def test_p_is_the_normal_tail_of_z_by_holm() -> None:
    """Holm (1979): the k-th smallest of n p-values times n - k + 1, at most 1 and never below the one before."""
    annotations, _, _ = simulate(60, 6, 4, 3, seed=0)
    truth = pt.infer_truth(annotations, "one-coin", draws=0)
    table = pt.annotators.annotator_pairs(annotations, truth, least=1)
    n, lowest, expected = table.height, 0.0, []
    for place, z in enumerate(table["z"]):
        lowest = max(lowest, min(1.0, (n - place) * norm.sf(z)))
        expected.append(lowest)
    assert table["z"].is_sorted(descending=True)
    np.testing.assert_allclose(table["p"], expected, rtol=1e-12)
    assert 0 < expected[0] < expected[1] < 1


def test_errors(simulated) -> None:
    annotations, _, _ = simulated
    with pytest.raises(pt.InputError, match="without these annotators' confusion"):
        pt.annotators.annotator_pairs(annotations, pt.infer_truth(annotations, "majority"))
    counts = pt.Annotations.from_counts([[1, 2]])
    with pytest.raises(pt.InputError, match="annotators"):
        pt.annotators.annotator_pairs(counts, pt.infer_truth(annotations, "one-coin"))
