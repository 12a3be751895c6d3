"""Names of files that every file system and installer takes."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("probtruth", "tests", "docs", "examples")
REFUSED = re.compile(r'[<>:"\\|?*\x00-\x1f]|[ .]$')
"""What Windows refuses (Microsoft, "Naming Files, Paths, and Namespaces"); installers refuse a colon as well."""
LONGEST = 150  # Characters of a path from the root: Windows has 260 for the whole


def paths() -> Iterator[Path]:
    for folder in FOLDERS:
        for where, folders, files in os.walk(ROOT / folder):
            folders[:] = [name for name in folders if name not in ("__pycache__", "_build")]
            yield from (Path(where, name).relative_to(ROOT) for name in (*folders, *files))


def test_no_name_is_refused_by_a_system() -> None:
    names = list(paths())
    assert len(names) > 500
    assert [str(path) for path in names if REFUSED.search(path.name)] == []
    assert [str(path) for path in names if len(str(path)) > LONGEST] == []


def test_no_two_names_differ_only_in_case() -> None:
    folded = [str(path).casefold() for path in paths()]
    assert len(set(folded)) == len(folded)
