"""Tables at addresses: read from a server of this machine as they are from files, and one message where that fails."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars
import pytest
from served import Served, served

import probtruth as pt
from probtruth.errors import InputError
from probtruth.io.table import opened

N_ROWS, LABELS = 3000, ("x", "y", "z")
SECRET = "?signature=SECRET"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, random = tmp_path_factory.mktemp("served"), np.random.default_rng(0)
    items = [f"i{item}" for item in range(N_ROWS)]
    probs = random.dirichlet(np.ones(len(LABELS)), N_ROWS)
    frame = polars.DataFrame({"item": items, **{label: probs[:, at] for at, label in enumerate(LABELS)}})
    frame.write_parquet(path / "a.parquet", row_group_size=1000)
    frame.write_ipc(path / "soft.arrow")
    (path / "labels.csv").write_bytes(b"\xef\xbb\xbfitem,annotator,label\r\n007,me,yes\r\n\r\nb,me,no")
    (path / "labels.jsonl").write_text('{"item": "007", "label": "yes"}\n')
    (path / "broken.parquet").write_bytes(b"PAR1 and nothing more PAR1")
    return path


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    with served(folder) as running:
        yield running


@pytest.mark.parametrize("name", ["a.parquet", "soft.arrow", "labels.csv", "labels.jsonl"])
def test_read_as_the_file_is(name: str, folder: Path, server: Served) -> None:
    far, far_source = opened(server.url(name, SECRET)).whole
    near, near_source = opened(folder / name).whole
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
        ("labels.csv", "?break=SECRET", "no answer, or one that broke off"),
    ],
)
def test_one_message_without_secret(name: str, query: str, message: str, server: Served) -> None:
    with pytest.raises(InputError, match=message) as failed:
        _ = opened(server.url(name, query, "me:SECRET@" if "SECRET" in query else "")).whole
    words = str(failed.value)
    assert f"/{name}?***" in words
    assert "SECRET" not in words
    assert "wrong" not in words.replace("a missing or wrong key", "")
    assert "\n" not in words


def test_nobody_answers(server: Served) -> None:
    with served(server.folder) as gone:
        url = gone.url("a.parquet", SECRET)
    with pytest.raises(InputError, match="no answer, or one that broke off"):
        _ = opened(url).whole


def test_a_changed_file_is_copied_again(server: Served, folder: Path) -> None:
    path = folder / "changing.csv"
    for rows in ("1,2\n", "3,4\n"):
        path.write_text(f"item,n\n{rows}")
        assert opened(server.url("changing.csv")).whole[0]["n"].to_list() == [rows[2]]


def test_logs_and_images_are_local(server: Served) -> None:
    with pytest.raises(InputError, match="logs at an address"):
        pt.loaders.read_inspect(server.url("labels.jsonl"))
