"""What a sampled truth says of its fit: how far annotators agree, in the data and as often as drawn anew."""

import itertools

import numpy as np
import pytest
from simulated_annotations import simulate

import probtruth as pt


@pytest.mark.long
def test_data_that_a_program_made_agree_as_much_as_it_says() -> None:
    """Agreement is the share of pairs of answers to an item that agree: its mean and spread over items with a pair."""
    crowd, _, _ = simulate(60, 8, 4, 3, seed=3)
    index, lone = crowd.index, crowd.item == 0
    rows = np.flatnonzero(~lone | (np.cumsum(lone) == 1))  # one answer to the first item: it has no pair
    columns = {"item": (index.items, crowd.item), "annotator": (index.annotators, crowd.annotator)}
    columns["label"] = (index.labels, crowd.label)
    crowd = pt.Annotations.from_long(
        {name: [names[place[row]] for row in rows] for name, (names, place) in columns.items()}
    )
    shares = []
    for item in range(1, 60):
        labels = crowd.label[crowd.item == item]
        shares.append(np.mean([one == other for one, other in itertools.combinations(labels, 2)]))
    found = pt.infer_truth(crowd, "dawid-skene", samples=300, warmup=300, chains=2)
    assert found.diagnostics["agreement"] == pytest.approx(np.mean(shares), rel=1e-6)
    assert found.diagnostics["agreement_spread"] == pytest.approx(np.std(shares), rel=1e-6)
    for name in ("p_agreement", "p_agreement_spread"):
        assert 0.05 < found.diagnostics[name] < 0.95
