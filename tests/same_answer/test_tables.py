"""The same table of labels, and the same tables of predictions, in every way, give the same scores or are refused."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ways import CLASSES, COUNTS, HARD, ITEMS, LABELS, PROBS, SOFT, WAYS, by_label, hard, long
from ways import given as in_way

import probtruth as pt
from probtruth.io.formats import LabelReading
from probtruth.line.evaluate import matched, read_both

FORMS = ("soft", "hard", "long", "counts")
TABLES = {
    "soft": lambda items, classes, seed: by_label(SOFT, items, classes, seed),
    "hard": hard,
    "long": long,
    "counts": lambda items, classes, seed: by_label(COUNTS, items, classes, seed),
}
WANTED = {form: np.eye(LABELS)[HARD] if form == "hard" else SOFT for form in FORMS}


def brier(truth: np.ndarray, models: dict[str, np.ndarray] = PROBS) -> dict[str, float]:
    """By hand: the mean over items of sum_k t_k |p - e_k|^2."""
    losses = {}
    for name, probs in models.items():
        of_label = np.square(probs).sum(1, keepdims=True) - 2 * probs + 1
        losses[name] = float((truth * of_label).sum(1).mean())
    return losses


def scored(reference: Any, models: Any, labels: Any = None) -> dict[str, float]:
    """The mean Brier score of each model, as `evaluate` reads the two sides."""
    known, predictions, _ = read_both(reference, models, LabelReading(), labels, None)
    known, predictions = matched(known, predictions)
    if isinstance(known, pt.Annotations):
        known = pt.infer_truth(known, "vote-share", draws=0)
    scores = pt.score(predictions, known, rule="brier")
    return dict(zip(scores.models, scores.values.mean(1).tolist(), strict=True))


def check(form: str, of_reference: str, of_models: tuple[str, ...], items: str, classes: str, folder: Path) -> None:
    """The scores of one combination are those by hand."""
    reference = in_way(of_reference, TABLES[form](ITEMS[items], CLASSES[classes], 1), folder)
    models = {}
    for place, (name, probs) in enumerate(PROBS.items()):
        table = by_label(probs, ITEMS[items], CLASSES[classes], 5 + place)
        models[name] = in_way(of_models[place], table, folder)
    assert scored(reference, models) == pytest.approx(brier(WANTED[form]), abs=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_labels_beside_every_way_of_models(way, form, tmp_path):
    """Every way of a reference meets every way of models, in every second form."""
    names = list(product(ITEMS, CLASSES))
    for place, other in enumerate(WAYS):
        if (place + WAYS.index(way) + FORMS.index(form)) % 2:
            continue
        items, classes = names[(place + 3 * WAYS.index(way)) % len(names)]
        folder = tmp_path / str(place)
        folder.mkdir()
        check(form, way, (other, other), items, classes, folder)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    form=st.sampled_from(FORMS),
    ways=st.tuples(*[st.sampled_from(WAYS)] * 3),
    items=st.sampled_from(list(ITEMS)),
    classes=st.sampled_from(list(CLASSES)),
)
def test_sides_and_models_of_different_types(tmp_path_factory, form, ways, items, classes):
    check(form, ways[0], ways[1:], items, classes, tmp_path_factory.mktemp("ways"))
