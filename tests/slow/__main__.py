"""Runs a study and writes its tables: `python -m tests.slow NAME [RUNS] [--out FOLDER]`, from the repository's root.

A study is a module here with RUNS, its number of data sets, and `study(runs)`, which yields the name of a table and one
of its rows; the first row of a table is its head.
"""

import argparse
import csv
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
TABLES = HERE.parents[1] / "docs" / "validity"

LONG = ("fuzz", "truth_calibration", "truth_study")  # Their first rows take longer, or another tool


def begin(name: str) -> None:
    """Makes the first row below the head of a study's first table."""
    study = importlib.import_module(name)
    heads = set()
    for table, _ in () if name in LONG else study.study(2):
        if table in heads:
            return
        heads.add(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = sorted(path.stem for path in HERE.glob("*.py") if "\ndef study(" in path.read_text())
    parser.add_argument("name", choices=names)
    parser.add_argument("runs", type=int, nargs="?", help="data sets for each cell")
    parser.add_argument("--out", type=Path, default=TABLES)
    parser.add_argument("--begin-all", action="store_true", help="see that every other study has a first row, too")
    asked = parser.parse_args()
    sys.path[:0] = [str(HERE), *(str(HERE.parent / room) for room in ("comparison", "study", "truth"))]
    for name in names if asked.begin_all else ():
        begin(name)
    study = importlib.import_module(asked.name)
    rows: dict[str, list[list[str]]] = {}
    for table, row in study.study(asked.runs or study.RUNS):
        rows.setdefault(table, []).append([str(cell) for cell in row])
        print(f"{table}: {' | '.join(rows[table][-1])}", flush=True)
    asked.out.mkdir(parents=True, exist_ok=True)
    for table, found in rows.items():
        with (asked.out / f"{table}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(found)


if __name__ == "__main__":
    main()
