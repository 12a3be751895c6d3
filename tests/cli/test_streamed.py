import http.server
import json
import threading

import numpy as np
import polars
import pytest

from probtruth.cli import streamed
from probtruth.cli.streamed import Memory
from probtruth.errors import InputError

LABELS = ["cat", "dog", "fox"]


@pytest.fixture
def files(tmp_path):
    """Votes as CSV; two models' predictions as Parquet, the second in another order and with a missing item."""
    rng = np.random.default_rng(3)
    names = [f"q{item}" for item in range(3000)]
    votes = rng.multinomial(3, [0.5, 0.3, 0.2], len(names))
    polars.DataFrame({"item": names, **dict(zip(LABELS, votes.T, strict=True))}).write_csv(tmp_path / "votes.csv")
    groups = [f"g{item % 4}" for item in range(len(names))]
    polars.DataFrame({"item": names, "task": groups}).write_csv(tmp_path / "groups.csv")
    for model in "ab":
        probs = rng.dirichlet([5, 3, 2], len(names))
        frame = polars.DataFrame({"item": names, **dict(zip(LABELS, probs.T, strict=True))})
        if model == "b":
            frame = frame.sample(fraction=1.0, shuffle=True, seed=1).head(2990)
        frame.write_parquet(tmp_path / f"{model}.parquet")
    return tmp_path


def command(folder, out, *more):
    predictions = [f"--predictions={model}={folder / f'{model}.parquet'}" for model in "ab"]
    return ("run", "--annotations", folder / "votes.csv", *predictions, "--out", out, "--engine", "exact", *more)


def without_workers(result):
    """The result without what only one of a cluster holds: the versions on the workers, which are those of here."""
    versions = dict(result["versions"])
    assert versions.pop("workers") == versions
    return {**result, "versions": versions}


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.long
def test_streaming_gives_the_result_of_memory_byte_for_byte(run, files, grouped):
    more = ("--groups", f"{files / 'groups.csv'}:task") if grouped else ()
    for out, memory in (("held", "4GB"), ("streamed", "1KB")):
        outcome = run(*command(files, files / out, "--memory", memory, *more))
        assert outcome.status == 0, outcome.err
        assert ("streaming 2 models' files" in outcome.err) == (out == "streamed")
    held, parts = (json.loads((files / out / "result.json").read_text()) for out in ("held", "streamed"))
    assert held == parts
    assert not list(files.glob(".*unfinished*"))
    for name in ("report.html", "posterior.nc", "models.csv", "figures/differences.svg"):
        assert (files / "streamed" / name).stat().st_size > 0


@pytest.fixture(autouse=True)
def little_memory(monkeypatch):
    """Small files are streamed in little memory, of which neither the program nor the labels take a part."""
    for number in ("LEAST_MEMORY", "PER_ITEM"):
        monkeypatch.setattr(streamed, number, 0)
    monkeypatch.setattr("probtruth.line.larger_than_memory.bytes_of_table", lambda path: 0)


@pytest.mark.parametrize("given", ["", "lots", "-1GB", "0"])
def test_sizes_that_are_none(given):
    with pytest.raises(InputError, match="--memory"):
        Memory.of(given)
    assert Memory.of(None).n_bytes > 0


def score(folder, out, *more):
    predictions = [f"--predictions={model}={folder / f'{model}.parquet'}" for model in "ab"]
    return ("score", "--truth", folder / "soft.parquet", *predictions, "--out", out, "--json", *more)


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore")  # those of Dask about a busy machine
def test_scores_that_are_streamed_are_those_of_memory(run, files):
    pytest.importorskip("distributed", reason="needs the extra `dask`")
    assert run("truth", files / "votes.csv", "--format", "counts", "--out", files / "soft.parquet").status == 0
    ways = {"held": ("--memory", "4GB"), "streamed": ("--memory", "1KB"), "spread": ("--dask", "local")}
    found = {}
    for name, more in ways.items():
        outcome = run(*score(files, files / f"{name}.parquet", "--floor", "0.001", *more))
        assert outcome.status == 0, outcome.err
        frame, notes = (read(files / f"{name}.parquet") for read in (polars.read_parquet, polars.read_parquet_metadata))
        found[name] = (outcome.json, frame.columns, frame.rows(), notes["probtruth"])
    assert found["held"] == found["streamed"] == found["spread"]
    assert len(found["held"][2]) == 2 * 2990
    assert not list(files.glob(".*unfinished*"))


def test_a_table_of_scores_that_is_streamed_compares_as_in_memory(run, tmp_path):
    rng = np.random.default_rng(0)
    names = [f"q{item}" for item in range(1500)]
    tables = [
        polars.DataFrame({"item": names, "model": [model] * 1500, "score": rng.gamma(2, 1, 1500)}) for model in "ab"
    ]
    polars.concat(tables).write_parquet(tmp_path / "scores.parquet")
    found = {}
    for memory in ("4GB", "1KB"):
        words = (
            "--json",
            "--lower-is-better",
            "--engine",
            "exact",
            "--rope",
            "0.1",
            "--fail-if",
            "p_worse > 0.9999",
            "--memory",
            memory,
        )
        outcome = run("compare", tmp_path / "scores.parquet", "--out", tmp_path / memory, *words)
        assert outcome.status == 0, outcome.err
        assert ("streaming" in outcome.err) == (memory == "1KB")
        found[memory] = outcome.json
    (tmp_path / "parts").mkdir()
    for place, table in enumerate(tables):
        table.write_parquet(tmp_path / "parts" / f"{place}.parquet")
    outcome = run("compare", tmp_path / "parts", "--out", tmp_path / "folder", *words[:-2])
    assert outcome.status == 0, outcome.err
    assert found["4GB"] == found["1KB"] == outcome.json
    assert (tmp_path / "1KB" / "report.html").stat().st_size > 0


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore")
def test_workers_give_the_result_of_memory(run, files):
    pytest.importorskip("distributed", reason="needs the extra `dask`")
    held = run(*command(files, files / "held", "--memory", "4GB", "--json"))
    spread = run(*command(files, files / "spread", "--dask", "local", "--json"))
    assert (held.status, spread.status) == (0, 0), spread.err
    assert without_workers(spread.json) == held.json
    assert "on Dask (local)" in spread.err


@pytest.fixture
def no_dask():
    """The address of a server that speaks HTTP."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    server.RequestHandlerClass.log_message = lambda *_: None
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("tcp://127.0.0.1:9", "Timed out trying to connect"),
        ("tcp://HTTP", "does not answer as a scheduler does"),
        ("tls://HTTP", "tls:// needs the certificates"),
        ("http://HTTP", "unknown address scheme"),
        ("HTTP:1", "--dask"),
        ("", "missing port number"),
    ],
)
def test_an_address_without_a_scheduler(run, files, no_dask, address, words):
    pytest.importorskip("distributed", reason="needs the extra `dask`")
    named = address.replace("HTTP", no_dask)
    outcome = run(*command(files, files / "out", "--dask", named, "--dask-timeout", "0.2", "--quiet"))
    assert (outcome.status, outcome.err.count("\n")) == (2, 1)
    assert outcome.err.startswith(f"probtruth: got --dask {named} (")
    assert words in outcome.err


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_a_time_to_wait_that_is_none(run, files, seconds):
    outcome = run(*command(files, files / "out", "--dask", "tcp://127.0.0.1:9", "--dask-timeout", seconds))
    assert (outcome.status, f"got --dask-timeout {seconds}" in outcome.err) == (2, True)


def test_a_file_of_settings_connects_nowhere_unseen(run, files, monkeypatch):
    (files / "probtruth.toml").write_text('[run]\ndask = "foo://elsewhere\\u001b[2J"\n')
    monkeypatch.chdir(files)
    outcome = run(*command(files, files / "out", "--quiet"))
    assert outcome.status == 2
    assert outcome.err.splitlines()[0] == "connects to Dask ('foo://elsewhere\\x1b[2J'), as probtruth.toml says"
    outcome = run("--config", "off", *command(files, files / "out", "--quiet", "--dask", "foo://elsewhere"))
    assert "connects to Dask" not in outcome.err


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore")
def test_workers_compare_a_table_of_scores_as_memory_does(run, tmp_path):
    pytest.importorskip("distributed", reason="needs the extra `dask`")
    scores = np.random.default_rng(0).gamma(2, 1, 3000)
    names = [f"q{item}" for item in range(1500)] * 2
    frame = polars.DataFrame({"item": names, "model": ["a"] * 1500 + ["b"] * 1500, "score": scores})
    frame.write_parquet(tmp_path / "scores.parquet")
    words = ("compare", tmp_path / "scores.parquet", "--lower-is-better", "--engine", "exact", "--json")
    held = run(*words, "--out", tmp_path / "held")
    spread = run(*words, "--out", tmp_path / "spread", "--dask", "local")
    assert (held.status, spread.status) == (0, 0), spread.err
    assert without_workers(spread.json) == held.json
    assert "on Dask (local)" in spread.err


def test_workers_are_refused_what_is_compared_in_memory(run, tmp_path):
    frame = polars.DataFrame({"item": ["x", "y"] * 2, "model": ["a", "a", "b", "b"], "score": [0.1, 0.2, 0.3, 0.4]})
    frame.write_csv(tmp_path / "scores.csv")
    frame.with_columns(replicate=1).write_parquet(tmp_path / "scores.parquet")
    for words in (("scores.csv",), ("scores.parquet", "--replicate", "replicate")):
        outcome = run("compare", tmp_path / words[0], *words[1:], "--dask", "local", "--out", tmp_path / "out")
        assert outcome.status == 2
        assert "Leave --dask out" in outcome.err
        assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_a_folder_of_files_is_streamed(run, files):
    for model in "ab":
        frame = polars.read_parquet(files / f"{model}.parquet")
        (files / model).mkdir()
        for place in range(2):
            frame[place::2].write_ipc(files / model / f"{place}.arrow")
    predictions = [f"--predictions={model}={files / model}" for model in "ab"]
    words = ("run", "--annotations", files / "votes.csv", *predictions, "--engine", "exact", "--json")
    parts = run(*words, "--out", files / "parts")
    assert parts.status == 0, parts.err
    assert parts.json == run(*command(files, files / "held", "--memory", "4GB", "--json")).json


@pytest.mark.parametrize("memory", ["1KB", "4GB"])
def test_an_unknown_kind_of_evidence_is_refused_streamed_or_not(run, files, memory):
    outcome = run(*command(files, files / "out", "--memory", memory, "--evidence", "annotator"))
    assert outcome.status == 2
    assert "annotators-and-models" in outcome.err
    assert not (files / "out").exists()


def test_kinds_are_read_alike_in_memory_and_streamed(run, files, tmp_path):
    """Percentages in Parquet, read whole and some rows at a time; renormalising needs them whole."""
    models = []
    for name in "ab":
        table = polars.read_parquet(files / f"{name}.parquet").with_columns(polars.col(LABELS) * 100)
        table.write_parquet(tmp_path / f"{name}-percent.parquet")
        models += ["--predictions", f"{name}={tmp_path / name}-percent.parquet"]
    words = ["run", "--annotations", files / "votes.csv", *models, "--kind", "percent", "--engine", "exact", "--json"]
    whole, parts = run(*words, "--memory", "4GB"), run(*words, "--memory", "1KB")
    assert parts.status == 0, parts.err
    assert "streaming 2 models' files" in parts.err
    assert parts.json["pairwise"] == whole.json["pairwise"]
    refused = run(*words, "--memory", "1KB", "--renormalise")
    assert (refused.status, "renormalise with predictions that are streamed" in refused.err) == (2, True)
