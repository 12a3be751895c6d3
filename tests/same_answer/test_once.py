"""A call parses each file once, fetches each address once and converts each frame once."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from served import served
from ways import CLASSES, ITEMS, PROBS, by_label, long, written

import probtruth as pt
from probtruth import frames
from probtruth.io import addresses
from probtruth.io.table import opened
from probtruth.io.tables import binary, csv_text, json_lines

Q, WORDS = ITEMS["text"], CLASSES["text"]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str, Callable[..., str]], Counter[str]]:
    """Counts the calls of a function by what `key` makes of its arguments."""

    def count(module: Any, name: str, key: Callable[..., str]) -> Counter[str]:
        calls: Counter[str] = Counter()
        function = getattr(module, name)

        def counting(*words: Any, **options: Any) -> Any:
            calls[key(*words)] += 1
            return function(*words, **options)

        monkeypatch.setattr(module, name, counting)
        return calls

    return count


def tables(suffix: str, folder: Path) -> tuple[Path, dict[str, Path]]:
    write = written(suffix)
    votes = write(long(Q, WORDS, 3), folder)
    return votes, {name: write(by_label(probs, Q, WORDS, 5), folder) for name, probs in PROBS.items()}


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_each_file_is_parsed_once(suffix: str, tmp_path: Path, counted: Any) -> None:
    votes, models = tables(suffix, tmp_path)
    calls = [
        counted(csv_text, "parse", lambda pieces, usual, name, *_: name),
        counted(json_lines, "parse", lambda data, name, *_: name),
        counted(binary, "opened", str),
    ]
    pt.evaluate(votes, models, engine="exact")
    wanted = dict.fromkeys(map(str, (votes, *models.values())), 1)
    assert sum(calls, Counter[str]()) == wanted


def test_each_address_is_fetched_once(tmp_path: Path, counted: Any) -> None:
    votes, models = tables(".csv", tmp_path)
    calls = counted(addresses, "_fetched", lambda url, *_: url)
    with served(tmp_path) as server:
        urls = {name: server.url(path.name) for name, path in models.items()}
        pt.evaluate(server.url(votes.name), urls, engine="exact")
        assert calls == dict.fromkeys((server.url(votes.name), *urls.values()), 1)
        pt.evaluate(server.url(votes.name), urls, engine="exact")  # another call sees what is there then
        assert set(calls.values()) == {2}


CALLS: dict[str, tuple[str, Callable[[str], object] | str]] = {
    "a loader": ('{"uid": "x", "label_counter": {"e": 7, "n": 3}}\n', pt.loaders.read_chaosnli),
    "votes": ("model_a,model_b,winner\nx,y,a\n", pt.read_votes),
    "check": ("item,a,b\nx,0.5,0.5\ny,0.5,0.5\n", "check"),
    "monitor": (
        "item,model,score\nx,a,1\nx,b,0\n",
        "monitor --state state.json --bounds 0 1 --higher-is-better",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_loaders_and_commands_fetch_an_address_once(
    name: str, tmp_path: Path, counted: Any, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    content, call = CALLS[name]
    file = tmp_path / ("t.jsonl" if content.startswith("{") else "t.csv")
    file.write_text(content)
    calls = counted(addresses, "_fetched", lambda url, *_: url)
    with served(tmp_path) as server:
        url = server.url(file.name)
        assert run(f"{call} {url}").status == 0 if isinstance(call, str) else call(url)
    assert sum(calls.values()) == 1


def test_each_frame_is_converted_once(counted: Any) -> None:
    calls = counted(frames, "_of_library", lambda frame: str(id(frame)))
    models = {name: pd.DataFrame(by_label(probs, Q, WORDS, 5)) for name, probs in PROBS.items()}
    pt.evaluate(pd.DataFrame(long(Q, WORDS, 3)), models, engine="exact")
    assert sorted(calls.values()) == [1, 1, 1]


def test_short_and_long_rows_of_a_csv_that_cancel(tmp_path: Path) -> None:
    """The number of separators is right in all: a short row was filled up."""
    path = tmp_path / "t.csv"
    path.write_text("item,x,y\na,1,2\nb,1\nc,1,2,3\n")
    with pytest.raises(pt.InputError, match="line 3: got 2 cells, expected 3"):
        _ = opened(path).whole
    path.write_text('item,x,y\na,"1",2\nb,1\nc,1,2,3\n')
    with pytest.raises(pt.InputError, match="line 3: got 2 cells, expected 3"):
        _ = opened(path).whole


def test_an_inch_mark_does_not_hold_the_rest_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One quotation mark inside a cell: every later part was kept in memory until the end."""
    monkeypatch.setattr("probtruth.io.tables.read.CHUNK", 4000)
    monkeypatch.setattr("probtruth.io.tables.csv_text.CELLS", 1)
    path = tmp_path / "t.csv"
    rows = [f"q{n},{0.5},{0.5},pipe" for n in range(2000)]
    rows[3] = 'q3,0.5,0.5,5" pipe'
    rows[7] = 'q7,0.5,0.5,"two\nlines, ""quoted"""'
    path.write_text("\n".join(["item,cat,dog,text", *rows]) + "\n")
    parts = [frame for frame, _ in replace(opened(path), batched=True).rows()]
    assert max(part.height for part in parts) < 300
    whole = pl.concat(parts)
    assert whole.equals(opened(path).whole[0])
    assert whole["text"].to_list()[3:8:4] == ['5" pipe', 'two\nlines, "quoted"']
    np.testing.assert_array_equal(whole["item"].to_numpy(), [f"q{n}" for n in range(2000)])
