"""What is embedded is what is said of it."""

import numpy as np

from probtruth import demo


def test_load_matches_the_files():
    annotations, predictions = demo.load()
    assert (annotations.n_items, annotations.n_annotators, annotations.n_labels) == (899, 12, 10)
    assert predictions.models == demo.MODELS
    assert predictions.index.items == annotations.index.items
    assert predictions.index.labels == annotations.index.labels == tuple(map(str, range(10)))


def test_every_item_has_three_to_five_annotations():
    votes = demo.load()[0].counts().sum(1)
    assert votes.min() == 3
    assert votes.max() == 5


def test_no_loss_can_be_infinite():
    assert np.isfinite(demo.load()[1].log_probs).all()


def test_files_are_small_and_the_note_says_simulated():
    annotations, predictions = demo.paths()
    assert sum(path.stat().st_size for path in (annotations, *predictions.values())) < 300_000
    assert "annotators are simulated" in demo.NOTE
