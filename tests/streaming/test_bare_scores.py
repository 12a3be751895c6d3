import os
import signal

import numpy as np
import polars
import pytest

import probtruth as pt

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # those of Dask about a busy machine
    pytest.mark.usefixtures("many"),
]

N_ITEMS = 2600
PARTS = ("pairs", "ranks", "companions", "group_results", "uncertainty", "warnings", "estimand", "settings")


def table(kind):
    """Scores of three models, long form; the third lacks two items."""
    rng = np.random.default_rng(3)
    frames = [
        polars.DataFrame(
            {
                "item": [f"q{item}" for item in range(N_ITEMS)],
                "model": [model] * N_ITEMS,
                "score": rng.gamma(2.0, 1.0, N_ITEMS) + shift,
                "task": [f"t{item % 3}" for item in range(N_ITEMS)],
                "passage": [item // 6 * 3 + item % 3 for item in range(N_ITEMS)],
            }
        )
        for model, shift in (("m2", 0.0), ("m1", 0.05), ("m10", 0.1))
    ]
    whole = polars.concat([*frames[:2], frames[2][2:]])
    if kind == "by item":
        return whole.sort("item", "model")
    return whole.sample(fraction=1.0, shuffle=True, seed=1) if kind == "shuffled" else whole


def shown(found):
    return [repr(getattr(found.comparison, part)) for part in PARTS]


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("by model", {}),
        ("by item", {"group": "task"}),
        ("shuffled", {"cluster": "passage"}),
        ("shuffled", {"group": "task", "cluster": "passage", "higher_is_better": True}),
    ],
)
def test_workers_give_the_bits_of_one_machine(client, tmp_path, kind, names):
    frame = table(kind)
    (tmp_path / "parts").mkdir()
    for place in range(3):
        frame[place * 3000 : (place + 1) * 3000].write_parquet(tmp_path / "parts" / f"{place}.parquet")
    heard = []
    asked = {"engine": "exact", "memory": 1, "rope": 0.01, "higher_is_better": False, **names}
    here = pt.Result.of_scores(tmp_path / "parts", **asked)
    there = pt.Result.of_scores(
        tmp_path / "parts", client=client, **asked, on_progress=lambda *done: heard.append(done)
    )
    assert shown(here) == shown(there)
    assert here.audit == there.audit
    one, other = here.to_dict(), there.to_dict()
    workers = other["versions"].pop("workers")
    assert set(workers) >= {"probtruth", "python"}
    assert one == other
    assert heard[-1][0] == heard[-1][1] > 2


@pytest.mark.cluster
def test_a_worker_killed_in_the_middle_changes_nothing(client, tmp_path):
    table("shuffled").write_parquet(tmp_path / "scores.parquet")
    asked = {"engine": "exact", "memory": 1, "higher_is_better": False}
    here = pt.Result.of_scores(tmp_path / "scores.parquet", **asked)
    killed = []

    def kill(done, total):
        if not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    there = pt.Result.of_scores(tmp_path / "scores.parquet", client=client, **asked, on_progress=kill)
    assert killed
    assert shown(here) == shown(there)


@pytest.mark.cluster
@pytest.mark.parametrize("item", ["q7", "q0"])  # the third model lacks q0: it is not compared, and yet checked
def test_what_workers_cannot_use_is_the_same_error(client, tmp_path, item):
    wrong = polars.when(polars.col("item") == item, polars.col("model") == "m1").then(float("nan")).otherwise("score")
    table("by model").with_columns(score=wrong).write_parquet(tmp_path / "scores.parquet")
    said = []
    for asked in ({}, {"client": client}):
        with pytest.raises(pt.InputError, match="NaN") as caught:
            pt.Result.of_scores(tmp_path / "scores.parquet", memory=1, engine="exact", higher_is_better=False, **asked)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert f"row {N_ITEMS + 1 + int(item[1:])}" in said[0]


def test_another_client_is_an_error(tmp_path):
    table("by model").write_parquet(tmp_path / "scores.parquet")
    with pytest.raises(pt.InputError, match="Client"):
        pt.Result.of_scores(tmp_path / "scores.parquet", client="tcp://here", higher_is_better=False)
