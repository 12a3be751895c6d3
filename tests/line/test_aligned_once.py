"""Names are matched once in an `evaluate`, and never in a report."""

import numpy as np
import pytest

import probtruth as pt
from probtruth import demo


@pytest.fixture
def calls(monkeypatch):
    """How often predictions and truth were aligned: every module of the package that imports `align_all` counts."""
    import sys

    from probtruth.scoring import align as module

    for name in pt.__all__:
        getattr(pt, name)  # a module that is loaded later would keep the counter
    aligned, real = [], module.align_all

    def count(predictions, truth):
        if not isinstance(predictions, module.Aligned):
            aligned.append((predictions, truth))
        return real(predictions, truth)

    for name, loaded in list(sys.modules.items()):
        if name.startswith("probtruth.") and getattr(loaded, "align_all", None) is real:
            monkeypatch.setattr(loaded, "align_all", count)
    return aligned


@pytest.mark.parametrize("method", ["vote-share", "dawid-skene-em"])
@pytest.mark.long
def test_evaluate_aligns_once_and_the_report_never(calls, method, tmp_path):
    """Also where the predictions inform the classes, and where the other estimand is computed beside."""
    annotations, predictions = demo.load()
    result = pt.evaluate(annotations, predictions, method=method, engine="exact")
    assert result.other is not None
    assert len(calls) == 1
    pt.write_report(result, tmp_path / "out")
    assert len(calls) == 1


def test_the_counter_counts(calls):
    """The public functions of scoring match names each time that they are called."""
    truth = pt.Truth.from_labels(np.array([0, 1]), n_labels=2)
    predictions = pt.Predictions.from_probs({"a": [[0.5, 0.5], [0.2, 0.8]]})
    pt.score(predictions, truth)
    pt.decompose(predictions, truth)
    pt.nelson.risk_profile(predictions, truth)
    assert len(calls) == 3
