"""Annotators by whose labels two models differ otherwise than by the rest's."""

import numpy as np
import polars
import pytest

import probtruth as pt


def cells(effect: float, n_items: int = 80, n_annotators: int = 20) -> pt.Scores:
    """Six annotators an item; by u0 the difference of the models is larger; u1 labelled four items only."""
    rng = np.random.default_rng(1)
    rows = []
    for item in range(n_items):
        who = rng.choice(np.arange(2, n_annotators), 5, replace=False).tolist()
        for annotator in [0, *who, *([1] if item < 4 else [])]:
            difference = rng.normal(0, 0.3) + (effect if annotator < 2 else 0.0)
            rows += [(item, f"u{annotator}", "a", difference), (item, f"u{annotator}", "b", 0.0)]
    frame = polars.DataFrame(rows, schema=["item", "annotator", "model", "score"], orient="row")
    return pt.read_scores(frame, annotator="annotator", higher_is_better=False)


def unlike(effect: float):
    return pt.Result.of(pt.compare(cells(effect), engine="exact")).analysis.unlike_the_rest


def test_who_differs_is_found_and_few_labels_are_shrunk() -> None:
    found = unlike(1.0)
    order = np.argsort(-np.abs(found.apart))
    assert [found.names[at] for at in order[:2]] == ["u0", "u1"]
    assert found.n_labels[[found.names.index("u0"), found.names.index("u1")]].tolist() == [80, 4]
    first, second = (found.apart[found.names.index(name)] for name in ("u0", "u1"))
    sign = 1.0 if found.models == ("a", "b") else -1.0
    assert sign * first == pytest.approx(1.0, abs=5 * found.sd[found.names.index("u0")])  # five standard deviations
    assert 0.3 < sign * second < 1.0
    assert found.sd[found.names.index("u1")] > 3 * found.sd[found.names.index("u0")]


def test_annotators_who_differ_by_chance_are_drawn_to_nothing() -> None:
    assert np.abs(unlike(0.0).apart).max() < 0.1


def test_nothing_is_said_without_annotators() -> None:
    frame = {"item": [1, 1, 2, 2, 3, 3], "model": ["a", "b"] * 3, "score": [0.1, 0.3, 0.2, 0.3, 0.1, 0.4]}
    scores = pt.Scores.from_frame(frame, higher_is_better=False)
    assert pt.Result.of(pt.compare(scores, engine="exact")).analysis.unlike_the_rest is None
