"""Beyond `LEADING` models: every pair has its posterior, and the pairs of the leading ones are looked at one by one."""

import math
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from made_scores import make, rows_by_name

import probtruth as pt
from probtruth.comparison.estimation.design import LEADING
from probtruth.comparison.results import tests

MANY = 40


@pytest.fixture(scope="module")
def counted():
    """A comparison of many models, and how many pairs were ranked for it."""
    ranked = []
    own = tests.signed_rank_p
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tests, "signed_rank_p", lambda values: ranked.append(1) or own(values))
        values = np.random.default_rng(0).normal(size=(MANY, 30)) + 0.02 * np.arange(MANY)[:, None]
        comparison = pt.compare(make(values), engine="exact")
        assert comparison.model_free
    return comparison, len(ranked)


def test_every_pair_has_a_row_and_the_leading_ones_have_tests(counted):
    comparison, ranked = counted
    assert len(comparison.pairs) == math.comb(MANY, 2)
    assert all(row["p_a_better"] is not None for row in comparison.pairs)
    best = sorted(str(row["model"]) for row in comparison.ranks[:LEADING])
    wanted = [(best[a], best[b]) for a, b in combinations(range(LEADING), 2)]
    assert [(row["a"], row["b"]) for row in comparison.model_free] == wanted
    assert ranked == len(wanted), "no other pair costs a test"
    least = min(comparison.model_free, key=lambda row: row["t_p"])
    assert least["t_p_holm"] == min(1.0, math.comb(MANY, 2) * least["t_p"]), "adjusted as the least of all pairs"


def test_two_models_of_many_are_judged_as_they_are_alone(counted):
    comparison, _ = counted
    values = np.random.default_rng(0).normal(size=(MANY, 30)) + 0.02 * np.arange(MANY)[:, None]
    alone = pt.compare(make(values[:2]), engine="exact")
    assert rows_by_name(alone)[0]["000", "001"] == rows_by_name(comparison)[0]["000", "001"]


def test_models_that_memory_cannot_hold_are_refused_before_anything_begins(monkeypatch):
    monkeypatch.setattr("probtruth.comparison.compare.free_memory", lambda: 2e8)
    monkeypatch.setattr("probtruth.comparison.compare.of_scores", lambda *_: pytest.fail("it began"))
    scores = make(np.random.default_rng(0).normal(size=(600, 3)))
    with pytest.raises(
        pt.errors.InputError, match=r"got 600 models, whose 179,700 pairs need some 0\.564 GB, expected"
    ):
        pt.compare(scores)
    with pytest.raises(pt.errors.InputError, match=r"need some 14\.8 GB"):
        pt.compare(scores, engine="nuts")


MEASURED = """
import re, time
import numpy as np
import probtruth as pt
peak = lambda: int(re.search("VmHWM:[^0-9]*([0-9]+)", open("/proc/self/status").read())[1]) / 1024
values = np.random.default_rng(0).normal(size=(300, 20)) + 0.02 * np.arange(300)[:, None]
names, items = [f"m{row:03}" for row in range(300)], [str(item) for item in range(20)]
frame = {"item": items * 300, "model": np.repeat(names, 20), "score": values.ravel()}
scores = pt.Scores.from_frame(frame, higher_is_better=False)
pt.compare(pt.Scores(values[:3], tuple("abc"), tuple(items), "loss"))
before, cpu = peak(), time.process_time()
comparison = pt.compare(scores)
print(peak() - before, time.process_time() - cpu, len(comparison.pairs))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel says how much memory was used at most")
@pytest.mark.long
@pytest.mark.process
def test_three_hundred_models_take_little_memory_and_time():
    """Peak resident memory beyond three models of the same process in MB, and seconds of the CPU."""
    done = subprocess.run([sys.executable, "-c", MEASURED], capture_output=True, text=True, check=True, timeout=500)
    memory, seconds, pairs = (float(word) for word in done.stdout.split())
    assert pairs == 44_850
    assert memory < 320
    assert seconds < 20
