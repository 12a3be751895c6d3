"""What a run may take (`--memory`): all its processes keep to it; what would take more is refused before it is read."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars
import pytest

from probtruth.cli import cluster, options, streamed
from probtruth.cli.streamed import Memory
from probtruth.errors import InputError
from probtruth.line.larger_than_memory import bytes_of_table


@pytest.mark.parametrize(("given", "size"), [("2GB", 2e9), ("1500 MB", 1.5e9), ("1.5g", 1.5e9), ("1073741824", 2**30)])
def test_sizes(given, size, monkeypatch):
    monkeypatch.setattr(streamed, "LEAST_MEMORY", 1e9)
    assert Memory.of(given).n_bytes == size - streamed.OWN_MEMORY


def test_memory_that_the_program_alone_would_take_is_refused(monkeypatch):
    monkeypatch.setattr(streamed, "LEAST_MEMORY", 1e9)
    with pytest.raises(
        InputError, match=r"got --memory 500MB, expected at least 1GB\. Hint: The program takes some 0\.7"
    ):
        Memory.of("500MB")


def test_items_that_do_not_fit_beside_the_batches_are_refused(tmp_path):
    path = tmp_path / "soft.parquet"
    polars.DataFrame({"item": [f"q{item}" for item in range(100)], "no": 0.5, "yes": 0.5}).write_parquet(path)
    with pytest.raises(InputError, match=r"got 100 items, which take some 0\.7 GB, expected no more than the 0\.7 GB"):
        Memory(100 * streamed.PER_ITEM - 1, "1GB").need_items(str(path))
    Memory(100 * streamed.PER_ITEM, "1GB").need_items(str(path))


def resident(pid: int) -> float:
    """Resident memory of a process and all below it in bytes, pages that they share counted once."""
    total = 0.0
    with suppress(OSError):  # gone meanwhile
        rows = (Path("/proc") / str(pid) / "smaps_rollup").read_text().splitlines()
        total += 1024 * sum(float(row.split()[1]) for row in rows if row.startswith("Pss:"))
        for thread in (Path("/proc") / str(pid) / "task").iterdir():
            total += sum(map(resident, map(int, (thread / "children").read_text().split())))
    return total


def peak(folder: Path, *words: str) -> float:
    """The most that a command and its processes take together, in bytes; the command succeeds."""
    most, command = 0.0, [sys.executable, "-m", "probtruth", *words]
    with (
        (folder / "said").open("wb") as said,
        subprocess.Popen(command, cwd=folder, stdout=said, stderr=said) as process,
    ):
        while process.poll() is None:
            most = max(most, resident(process.pid))
            time.sleep(0.2)  # looking at a gigabyte takes the system some hundredths of a second
    assert process.returncode == 0, (folder / "said").read_text()
    return most


MEASURED = [
    pytest.mark.long,
    pytest.mark.process,
    pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux's account of memory"),
]


def with_marks(*marks, **named):
    """Parameters that are measured, by their names."""
    return [pytest.param(value, marks=[*MEASURED, *marks], id=name) for name, value in named.items()]


@pytest.fixture(scope="module")
def two_million(tmp_path_factory):
    """Soft labels and two models' predictions of 2 million items."""
    folder, rng = tmp_path_factory.mktemp("items"), np.random.default_rng(0)
    number = polars.int_range(2_000_000, eager=True).cast(polars.String).str.zfill(8)
    for name in ("soft", "a", "b"):
        share = rng.uniform(0.1, 0.9, len(number))
        frame = polars.DataFrame({"item": "item-" + number, "no": share, "yes": 1 - share})
        frame.write_parquet(folder / f"{name}.parquet")
    return folder


@pytest.mark.parametrize(
    "words",
    [*with_marks(here="--memory 1GB"), *with_marks(pytest.mark.cluster, on_workers="--dask local --memory 1.5GB")],
)
def test_the_memory_of_all_processes_keeps_to_what_a_streamed_run_may_take(tmp_path, two_million, words):
    """2 million items, of which a model's file holds 64 MB of numbers; 1.25 times what is allowed is the limit."""
    tables = [f"--soft={two_million / 'soft.parquet'}"]
    tables += [f"--predictions={name}={two_million / name}.parquet" for name in "ab"]
    most = peak(tmp_path, "run", *tables, "--engine", "exact", "--out", "out", *words.split())
    assert "streaming" in (tmp_path / "said").read_text()
    assert 2e8 < most < 1.25 * float(words.split()[-1].removesuffix("GB")) * 1e9


@pytest.mark.parametrize("kind", with_marks(scores="scores", annotations="annotations"))
def test_the_memory_of_tables_that_are_read_whole_keeps_to_what_the_run_may_take(tmp_path, kind):
    """As little memory as is not refused; 1.25 times that is the limit."""
    rng, n = np.random.default_rng(0), 500_000 if kind == "scores" else 150_000
    items = polars.Series("item", [f"q{item}" for item in range(n)])
    if kind == "scores":
        frame = polars.DataFrame(
            {"item": [*items, *items], "model": ["a"] * n + ["b"] * n, "score": rng.gamma(2, 1, 2 * n)}
        )
        words = ["compare", "table.csv", "--lower-is-better"]
    else:
        who, labels = rng.integers(0, 400, 4 * n) // 4 * 4 + np.tile(range(4), n), np.array(["no", "yes"])
        votes = {"annotator": [f"a{one}" for one in who], "label": labels[rng.integers(0, 2, 4 * n)]}
        frame = polars.DataFrame({"item": [item for item in items for _ in range(4)], **votes})
        words = ["run", "--annotations", "table.csv", "--truth", "vote-share"]
        for name in "ab":
            share = rng.uniform(0.1, 0.9, n)
            polars.DataFrame({"item": items, "no": share, "yes": 1 - share}).write_parquet(tmp_path / f"{name}.parquet")
            words += ["--predictions", f"{name}={name}.parquet"]
    frame.write_csv(tmp_path / "table.csv")
    memory = max(streamed.OWN_MEMORY + bytes_of_table(tmp_path / "table.csv"), streamed.LEAST_MEMORY) + 1e6
    most = peak(tmp_path, *words, "--engine", "exact", "--memory", f"{memory:.0f}")
    assert 2e8 < most < 1.25 * memory


@pytest.mark.parametrize(("command", "labels"), [("run", "--annotations"), ("score", "--truth")])
def test_text_that_would_take_more_than_the_run_may_is_refused_before_it_is_read(run, tmp_path, command, labels):
    """40 MB of CSV take more than the 0.3 GB that --memory 1GB leaves for them."""
    (tmp_path / "labels.csv").touch()
    words = [command, labels, tmp_path / "labels.csv", "--memory", "1GB", "--out", tmp_path / "out.parquet"]
    for name, size in (("a", 100), ("b", 40_000_000)):
        (tmp_path / f"{name}.csv").touch()
        os.truncate(tmp_path / f"{name}.csv", size)
        words.append(f"--predictions={name}={tmp_path / f'{name}.csv'}")
    outcome = run(*words)
    assert outcome.status == 2
    assert "got predictions that take some 1.02 GB, and not all as Parquet or Arrow" in outcome.err
    assert "expected no more than the 1 GB of --memory. Hint: Write all of them as Parquet" in outcome.err


@pytest.fixture
def tables(tmp_path):
    """Tables of 20,000 rows: scores and annotations in three formats, and soft labels as text."""
    rows = polars.DataFrame({"item": [f"q{row}" for row in range(20_000)]})
    scores = rows.with_columns(model=polars.lit("a"), score=0.5, seed=1)
    votes = rows.with_columns(annotator=polars.lit("ann"), label=polars.lit("yes"))
    for name, frame in {"scores": scores, "votes": votes, "soft": rows.with_columns(no=0.5, yes=0.5)}.items():
        frame.write_csv(tmp_path / f"{name}.csv")
        frame.write_ndjson(tmp_path / f"{name}.jsonl")
        frame.write_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "p.csv").write_text("item,no,yes\nq0,0.5,0.5\n")
    return tmp_path


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (("compare", "scores.{}", "--lower-is-better", "--replicate", "seed"), "Write it as Parquet"),
        (("run", "--annotations", "votes.{}", "--predictions", "p=p.csv"), "Write how many annotators gave each label"),
        (("run", "--soft", "soft.{}", "--predictions", "p=p.csv"), ""),
        (("score", "--truth", "soft.{}", "--predictions", "p=p.csv"), ""),
    ],
    ids=["scores", "annotations", "soft labels", "soft labels to score"],
)
def test_a_table_that_would_take_more_is_refused_before_it_is_read(run, tables, monkeypatch, words, instead, ending):
    """With a little less than the table takes, as if the program itself took nothing."""
    monkeypatch.chdir(tables)
    monkeypatch.setattr(streamed, "LEAST_MEMORY", 0)
    monkeypatch.setattr(streamed, "OWN_MEMORY", 0)
    words = [word.format(ending) for word in words]
    table = next(word for word in words if word.endswith(ending))
    soft = table == "soft.parquet"
    need = 20_000 * streamed.PER_ITEM if soft else bytes_of_table(Path(table))
    command = [*words, "--out", "out.parquet", "--memory"]
    refused = run(*command, f"{need - 1:.0f}")
    assert (refused.status, refused.err.count("\n")) == (2, 1), refused.err
    took = "20,000 items, which take some" if soft else f"a table that takes some {need / 1e9:.3g} GB while it is read"
    assert refused.err.startswith(f"probtruth: {table}: got {took}")
    assert f"expected no more than the {need / 1e9:.3g} GB of --memory" in refused.err
    assert instead in refused.err
    assert "of --memory" not in run(*command, f"{need:.0f}").err


def test_draws_of_classes_take_memory_beside_the_annotations(run, tables, monkeypatch):
    """A run of a million annotations and two models took 1.37 GB under `--estimand class`, and 0.89 GB without."""
    monkeypatch.setattr(streamed, "LEAST_MEMORY", 0)
    monkeypatch.setattr(streamed, "OWN_MEMORY", 0)
    path = str(tables / "votes.csv")
    read = bytes_of_table(Path(path))
    Memory(read, "1GB").need_annotations(path, classes=False)
    for most in (1e3, 1e9):
        monkeypatch.setattr(streamed, "CLASSES", most)
        need = read + min(streamed.TIMES * read, most)
        Memory(need, "1GB").need_annotations(path, classes=True)
        with pytest.raises(InputError, match="a table that takes some"):
            Memory(need - 1, "1GB").need_annotations(path, classes=True)
    words = ["run", "--annotations", path, "--predictions", f"p={tables / 'p.csv'}", "--memory", f"{need - 1:.0f}"]
    assert "of --memory" in run(*words, "--estimand", "class").err
    assert "of --memory" not in run(*words, "--estimand", "distribution").err


def test_what_is_missing_is_missing_whatever_the_memory(run, tmp_path):
    outcome = run("compare", tmp_path / "scores.csv", "--lower-is-better", "--memory", "1GB")
    assert (outcome.status, "no such file" in outcome.err) == (2, True)


@pytest.mark.parametrize(
    ("cores", "memory", "crew"),
    [(8, 1.2e9, (2, 0.6e9, 0.2e9)), (2, 8e9, (2, 4e9, 3.6e9)), (2, 0.5e9, (1, 0.5e9, 0.1e9))],
)
def test_workers_of_this_machine_share_the_memory(monkeypatch, cores, memory, crew):
    monkeypatch.setattr(cluster, "n_cores", lambda: cores)
    made = cluster.Crew.of(options.Machine(memory="2GB", dask="local"), memory)
    assert (made.n, made.each, made.batches) == pytest.approx(crew)


def test_memory_without_room_for_a_worker():
    with pytest.raises(InputError, match=r"got --memory 1GB with --dask local, expected 0\.2 GB more\."):
        cluster.Crew.of(options.Machine(memory="1GB", dask="local"), Memory.of("1GB").n_bytes)
    assert cluster.Crew.of(options.Machine(dask="local"), 1e6).n == 1, "unasked it is tried"
    assert cluster.Crew.of(options.Machine(dask="tcp://127.0.0.1:1"), 1e6) == cluster.Crew(0, 0.0, 1e6)
