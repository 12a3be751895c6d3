"""Tables in Markdown on standard input to CSV files: `... | python tests/slow/as_csv.py docs/validity/unseen.csv`.

The second and later tables go to `unseen-2.csv`, `unseen-3.csv`, ...
"""

import csv
import itertools
import re
import sys
from pathlib import Path


def tables(text: str) -> list[list[list[str]]]:
    """The cells of each table, without the line below its head."""
    runs = itertools.groupby(text.splitlines(), key=lambda line: line.startswith("|"))
    found = [[re.split(r"(?<!\\)\|", line.strip()[1:-1]) for line in lines] for is_table, lines in runs if is_table]
    return [[[cell.strip().replace("\\|", "|") for cell in row] for row in rows[:1] + rows[2:]] for rows in found]


if __name__ == "__main__":
    target = Path(sys.argv[1])
    for number, rows in enumerate(tables(sys.stdin.read()), 1):
        path = target if number == 1 else target.with_stem(f"{target.stem}-{number}")
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        print(f"{path}: {len(rows) - 1} rows")
