import os
import signal

import pytest

from probtruth.errors import InputError
from probtruth.streaming.compare_files import ScoringOptions, streamed
from probtruth.streaming.score_batches import open_files
from probtruth.truth.infer import infer_truth

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]  # those of Dask about a busy machine


def shown(found):
    comparison = found.comparison
    parts = ("pairs", "ranks", "companions", "group_results", "uncertainty", "warnings")
    sample = found.sample[0].log_probs.tolist(), found.sample[1].probs.tolist(), found.sample[1].index.items
    return [repr(getattr(comparison, part)) for part in parts] + [repr(sample)]


@pytest.mark.parametrize(
    ("annotations", "clustered"), [("votes", True), ("single votes", False)], indirect=["annotations"]
)
def test_workers_give_the_bits_of_one_machine(annotations, written, exact, client, tmp_path, clustered):
    clusters = {f"q{item}": str(item // 4) for item in range(400)} if clustered else None
    files = open_files(written(tmp_path), "item", "probs", 30)
    truth = infer_truth(annotations.with_labels(files.index))
    heard = []
    here = streamed(truth, files, ScoringOptions(clusters=clusters), exact, tmp_path / "scratch")
    there = streamed(truth, files, ScoringOptions(clusters=clusters), exact, client, lambda *done: heard.append(done))
    assert shown(here) == shown(there)
    assert heard[-1][0] == heard[-1][1] > 2


@pytest.mark.parametrize("annotations", ["single votes"], indirect=True)
def test_a_worker_killed_in_the_middle_changes_nothing(annotations, written, exact, client, tmp_path):
    files = open_files(written(tmp_path), "item", "probs", 30)
    truth = infer_truth(annotations.with_labels(files.index))
    here = streamed(truth, files, ScoringOptions(), exact, tmp_path / "scratch")
    killed = []

    def kill(done, total):
        if not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    there = streamed(truth, files, ScoringOptions(), exact, client, kill)
    assert killed
    assert shown(here) == shown(there)


@pytest.mark.parametrize("annotations", ["votes"], indirect=True)
def test_what_workers_cannot_use_is_the_same_error(annotations, written, exact, client, tmp_path):
    import polars

    files = open_files(written(tmp_path, b={"cat": polars.lit(0.9)}), "item", "probs", 30)
    truth = infer_truth(annotations.with_labels(files.index))
    with pytest.raises(InputError, match="sum to"):
        streamed(truth, files, ScoringOptions(), exact, client)


@pytest.mark.parametrize("annotations", ["votes"], indirect=True)
def test_another_client_is_an_error(annotations, written, exact, tmp_path):
    files = open_files(written(tmp_path), "item", "probs", 30)
    truth = infer_truth(annotations.with_labels(files.index))
    with pytest.raises(InputError, match="Client"):
        streamed(truth, files, ScoringOptions(), exact, "tcp://here")
