"""The folder is whole, or not there."""

import csv
import json
from dataclasses import replace

import pytest

from probtruth.errors import InputError
from probtruth.report.write import write_report

FILES = [
    "figures",
    "items.parquet",
    "models.csv",
    "pairwise.csv",
    "posterior.nc",
    "report.html",
    "report.md",
    "report.tex",
    "result.json",
]


@pytest.fixture(scope="module")
def out(result, tmp_path_factory):
    """The folder of one result."""
    folder = tmp_path_factory.mktemp("report") / "out"
    write_report(result, folder)
    return folder


def test_files_and_what_they_hold(result, out):
    assert sorted(path.name for path in out.iterdir()) == FILES
    figures = sorted((out / "figures").iterdir())
    assert [path.name for path in figures if path.suffix == ".pdf"] == [
        path.with_suffix(".pdf").name for path in figures if path.suffix == ".svg"
    ]
    assert all(path.read_bytes().startswith(b"%PDF-") for path in figures if path.suffix == ".pdf")
    assert [path.name for path in figures if path.suffix == ".svg"] == [
        "behind-leader.svg",
        "differences.svg",
        "ranks.svg",
        *(f"reliability-{place}.svg" for place in range(1, 5)),
        *(f"source-{place}.svg" for place in range(1, 5)),
    ]
    assert json.loads((out / "result.json").read_text("utf-8"))["rule"] == "log"
    with (out / "models.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["model"] for row in rows] == [row["model"] for row in result.comparison.ranks]
    assert float(rows[0]["score"]) == result.comparison.ranks[0]["score"]


def test_items_are_read_back(result, out):
    import polars

    assert polars.read_parquet(out / "items.parquet").equals(result.items())


def test_posterior_is_read_back(result, out):
    import xarray

    with xarray.open_datatree(out / "posterior.nc", engine="h5netcdf") as tree:
        assert tree["posterior"]["contrast"].equals(result.comparison.datatree["posterior"]["contrast"])


@pytest.mark.long
def test_an_earlier_result_is_replaced_another_folder_is_not(result, tmp_path):
    out = tmp_path / "out"
    write_report(result, out)
    write_report(result, out, command="again")
    assert "again" in (out / "report.html").read_text("utf-8")
    (out / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="other files"):
        write_report(result, out)


def test_a_failure_leaves_nothing(make, tmp_path, monkeypatch):
    monkeypatch.setattr("probtruth.report.write.write_csv", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(make["bare"](2), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_same_result_same_bytes(result, out, tmp_path):
    write_report(replace(result), tmp_path / "two")
    for path in sorted(out.rglob("*.*")):
        if path.suffix != ".nc":
            assert path.read_bytes() == (tmp_path / "two" / path.relative_to(out)).read_bytes()
