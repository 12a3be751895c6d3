import numpy as np
import pytest

import probtruth as pt


def test_together_is_each_alone():
    rng = np.random.default_rng(0)
    probs, truth = (rng.dirichlet(np.ones(3), 500).astype(np.float32) for _ in range(2))
    parts = pt.streaming.StreamScores("brier"), pt.streaming.StreamPowerMeans(), pt.streaming.StreamCounts(n_labels=3)
    together = pt.streaming.StreamTogether(parts)
    state = together.update(together.init(), probs, truth)
    state = together.merge(state, together.init())
    scores, means, counts = together.finalize(state)
    alone = [one.finalize(one.update(one.init(), probs, truth)) for one in parts]
    assert scores.expected.tolist() == alone[0].expected.tolist()
    assert means.values.tolist() == alone[1].values.tolist()
    assert counts.counts.tolist() == alone[2].counts.tolist()


def test_together_needs_one_kind_of_forecast():
    with pytest.raises(pt.InputError, match="same log_probs"):
        pt.streaming.StreamTogether((pt.streaming.StreamScores(), pt.streaming.StreamPowerMeans(log_probs=True)))
    with pytest.raises(pt.InputError, match="no metric"):
        pt.streaming.StreamTogether(())
