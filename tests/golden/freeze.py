"""Golden results: `python tests/golden/freeze.py` compares, `--write` freezes. Names of cases limit it to them.

Frozen are the numbers of `result.json` that a reader decides by. Cases on real data need the folder PROBTRUTH_DATA;
their frozen results hold none of the data.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from golden_cases import CASES, Case, data
from golden_entries import Result
from golden_values import differences, flat, frozen

VALUES = Path(__file__).parent / "values"


def result_of(case: Case, way: str | None = None) -> Result:
    """The result of a case, or of the same case another way."""
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        return case.run(Path(folder)) if way is None else case.run(Path(folder), way)


def compare(name: str, result: Result) -> list[str]:
    """What differs from what was frozen, one line each; none where nothing does."""
    return differences(
        json.loads((VALUES / f"{name}.json").read_text(encoding="utf-8")), flat(result), CASES[name].drawn
    )


def main() -> int:
    """Compares or freezes; 1 where a case differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all without any")
    parser.add_argument("--write", action="store_true", help="freeze instead of comparing")
    chosen = parser.parse_args()
    differing = False
    for name in chosen.cases or CASES:
        case = CASES[name]
        if case.private and data() is None:
            print(f"{name}: skipped, PROBTRUTH_DATA is not set")
            continue
        result = result_of(case)
        if chosen.write:
            (VALUES / f"{name}.json").write_text(frozen(result), encoding="utf-8")
        lines = compare(name, result)
        for way in case.same:
            lines += [f"{way}: {line}" for line in differences(flat(result), flat(result_of(case, way)))]
        print(f"{name}: {'equal' if not lines else f'{len(lines)} differences'}", *lines, sep="\n  ", flush=True)
        differing |= bool(lines)
    return int(differing)


if __name__ == "__main__":
    sys.exit(main())
