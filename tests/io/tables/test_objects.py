"""Tables at addresses: read from a server of this machine as they are from files, and one message where that fails."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars
import pytest
from served import Served, served

import probtruth as pt
from probtruth.errors import InputError, MissingExtraError
from probtruth.io import addresses
from probtruth.io.tables import decoder, decoding
from probtruth.io.tables.batches import open_table
from probtruth.io.tables.handed import Decoded
from probtruth.io.tables.objects import Unreached
from probtruth.io.tables.read import read_table
from probtruth.line.larger_than_memory import Room

N_ROWS, LABELS = 3000, ("x", "y", "z")
SECRET = "?signature=SECRET"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, random = tmp_path_factory.mktemp("served"), np.random.default_rng(0)
    items = [f"i{item}" for item in range(N_ROWS)]
    for name in ("a", "b", "soft"):
        probs = random.dirichlet(np.ones(len(LABELS)), N_ROWS)
        frame = polars.DataFrame({"item": items, **{label: probs[:, at] for at, label in enumerate(LABELS)}})
        frame.write_parquet(path / f"{name}.parquet", row_group_size=1000)
    frame.write_ipc(path / "soft.arrow")
    (path / "labels.csv").write_bytes(b"\xef\xbb\xbfitem,annotator,label\r\n007,me,yes\r\n\r\nb,me,no")
    (path / "labels.jsonl").write_text('{"item": "007", "label": "yes"}\n')
    (path / "broken.parquet").write_bytes(b"PAR1 and nothing more PAR1")
    return path


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    with served(folder) as running:
        yield running


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    addresses.use(addresses.StoreOptions.of({"max_retries": 0}, ""))
    yield
    addresses.use(addresses.StoreOptions())


@pytest.mark.parametrize("name", ["a.parquet", "soft.arrow", "labels.csv", "labels.jsonl"])
def test_read_as_the_file_is(name: str, folder: Path, server: Served) -> None:
    far, far_source = read_table(server.url(name, SECRET))
    near, near_source = read_table(folder / name)
    assert far.equals(near)
    assert far_source.at(0, "item") == near_source.at(0, "item").replace(str(folder / name), server.url(f"{name}?***"))


@pytest.mark.parametrize(
    ("name", "query", "message"),
    [
        ("none.parquet", SECRET, "no such object"),
        ("none.csv", SECRET, "no such object"),
        ("a.parquet", "?secret=wrong", "no permission to read it"),
        ("labels.csv", "?secret=wrong", "no permission to read it"),
        ("broken.parquet", SECRET, "not sound Parquet"),
        ("log.eval", SECRET, "the extension '.eval'"),
    ],
)
def test_one_message_without_secret(name: str, query: str, message: str, server: Served) -> None:
    with pytest.raises(InputError, match=message) as failed:
        read_table(server.url(name, query, "me:SECRET@" if query == SECRET else ""))
    words = str(failed.value)
    assert f"/{name}?***" in words
    assert "SECRET" not in words
    assert "wrong" not in words.replace("a missing or wrong key", "")
    assert "\n" not in words


@pytest.mark.long  # it tries for twenty seconds
def test_nobody_answers(server: Served) -> None:
    with served(server.folder) as gone:
        url = gone.url("a.parquet", SECRET)
    with pytest.raises(Unreached, match="no answer, or one that broke off"):
        read_table(url)


def test_logs_and_images_are_local(server: Served) -> None:
    with pytest.raises(InputError, match="logs at an address"):
        pt.loaders.read_inspect(server.url("labels.jsonl"))


def test_an_object_that_changes_meanwhile(tmp_path: Path, folder: Path) -> None:
    one, other = ((folder / f"{name}.parquet").read_bytes() for name in ("a", "b"))
    (tmp_path / "model.parquet").write_bytes(one)
    with served(tmp_path) as changing:
        table = open_table(changing.url("model.parquet"))
        batches = table.batches(table.columns, 1024)
        next(batches)
        (tmp_path / "model.parquet").write_bytes(other)
        with pytest.raises(InputError, match="a file that was replaced, changed or removed while it was read"):
            list(batches)


@pytest.mark.long  # three runs
def test_a_run_goes_on_behind_its_last_batch(tmp_path: Path, folder: Path, server: Served) -> None:
    scratch = tmp_path / "scratch"

    def evaluated(query: str, where: Path | None) -> dict[str, object]:
        server.requests.clear()
        models = {name: server.url(f"{name}.parquet", query) for name in ("a", "b")}
        return pt.evaluate(folder / "soft.parquet", models, memory=1, engine="exact", scratch=where).to_dict()

    whole = evaluated(SECRET, None)
    needed = len(server.requests)
    server.most = needed - 3
    with pytest.raises(Unreached, match=r"b\.parquet\?\*\*\*: got no answer, or one that broke off"):
        evaluated(SECRET, scratch)
    server.most = None
    finished = (scratch / "asked" / "finished.jsonl").read_text().splitlines()
    assert len(finished) >= 3  # the batches of a, at least
    assert not any(b"SECRET" in file.read_bytes() for file in scratch.rglob("*") if file.is_file())
    again = evaluated("?signature=ANOTHER", scratch)  # it was signed anew
    assert again == whole
    assert len(server.requests) <= needed - len(finished)


@pytest.mark.long  # two runs
def test_columns_of_a_table_with_all_of_it(server: Served, tmp_path: Path, folder: Path) -> None:
    parts = [polars.read_parquet(folder / f"{name}.parquet") for name in ("soft", "a", "b")]
    columns = [
        part.select(LABELS).rename({label: f"{block}.{label}" for label in LABELS})
        for part, block in zip(parts, ("truth", "a", "b"), strict=True)
    ]
    polars.concat([parts[0].select("item"), *columns], how="horizontal").write_parquet(tmp_path / "all.parquet")
    near = pt.evaluate(*pt.loaders.joined_table(tmp_path / "all.parquet"), engine="exact").to_dict()
    with served(tmp_path) as other:
        far = pt.evaluate(*pt.loaders.joined_table(other.url("all.parquet", SECRET)), engine="exact").to_dict()
    assert far == near


@pytest.mark.parametrize("url", ["gs://bucket/a.parquet", "az://box/a.parquet", "hf://datasets/me/set/a.parquet"])
def test_other_stores_reach_polars_with_the_options_of_the_settings(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, object, object]] = []

    def scan(path: str, storage_options: object, credential_provider: object, **_: object) -> polars.LazyFrame:
        seen.append((path, storage_options, credential_provider))
        return polars.LazyFrame({"item": ["x"], "yes": [1.0]})

    def here(kind: bytes, data: bytes, *_: object) -> Decoded:
        return Decoded(bytes(decoder.answer(kind, data)[1]))

    monkeypatch.setattr(decoder.polars, "scan_parquet", scan)
    monkeypatch.setattr(decoding, "decode", here)
    assert read_table(url)[0].height == 1
    addresses.use(addresses.StoreOptions.of({"google_service_account_key": "SECRET"}, ""))
    assert read_table(url)[0].height == 1
    assert set(map(repr, seen)) == {
        repr((url, {"max_retries": 0}, "auto")),
        repr((url, {"google_service_account_key": "SECRET"}, None)),
    }


def test_a_delta_table(tmp_path: Path, folder: Path) -> None:
    frame = polars.read_parquet(folder / "a.parquet")
    try:
        import deltalake  # noqa: F401
    except ImportError:
        (tmp_path / "_delta_log").mkdir()
        with pytest.raises(MissingExtraError, match=r"pip install 'probtruth\[delta\]'"):
            read_table(tmp_path)
        return
    frame.head(10).write_delta(tmp_path)
    frame.write_delta(tmp_path, mode="overwrite")  # the files of the first version stay in the folder
    assert read_table(tmp_path)[0].sort("item").equals(frame.sort("item"))
    table = open_table(tmp_path)
    frame.head(10).write_delta(tmp_path, mode="append")
    assert sum(batch.frame.height for batch in table.batches(["item"], 1024)) == N_ROWS  # its version stays


def test_workers_of_a_cluster_get_no_secret(server: Served) -> None:
    for url, options in ((server.url("a.parquet", SECRET), {}), ("s3://bucket/a.parquet", {"aws_region": "x"})):
        addresses.use(addresses.StoreOptions.of(options, ""))
        with pytest.raises(InputError, match="no secrets of this machine where workers of Dask read"):
            Room(client=object()).streams_predictions([url])


def test_an_old_polars(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(polars, "scan_lines")
    with pytest.raises(InputError, match=r"an address with polars .*, expected 1\.38 or later"):
        read_table(server.url("a.parquet"))
