"""Golden results: `python tests/golden/freeze.py` compares, `--write` freezes. Names of cases limit it to them.

Frozen are every number of `result.json` to 12 significant digits and every word of it, without versions. Of data that
may not be committed it is a digest of each key; `--write` also puts the values themselves into `private/`, which git
ignores, so that a later comparison in the same checkout can print the numbers before and after. Numbers of a sampler's
draws are compared where the processor and the libraries are those of `values/machines.json`.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from golden_cases import CASES, Case, data
from golden_entries import Result
from golden_values import differences, digests, flat, frozen, machine, without_draws

HERE = Path(__file__).parent
VALUES, PRIVATE, DIGESTS = HERE / "values", HERE / "private", HERE / "values" / "digests.json"
MACHINES = VALUES / "machines.json"


def result_of(case: Case, way: str | None = None) -> Result:
    """The result of a case, or of the same case another way."""
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        return case.run(Path(folder)) if way is None else case.run(Path(folder), way)


def compare(name: str, result: Result) -> list[str]:
    """What differs from what was frozen, one line each; none where nothing does."""
    case = CASES[name]
    if not case.private:
        frozen_values, values = _read(VALUES / f"{name}.json"), flat(result)
        if case.drawn and machine() != _read(MACHINES)[name]:
            frozen_values, values = without_draws(frozen_values), without_draws(values)
        return differences(frozen_values, values, case.within)
    before, after = _read(DIGESTS)[name], digests(result)
    if before == after:
        return []
    lines = [f"{key}: digest differs" for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
    kept = PRIVATE / f"{name}.json"
    if not kept.exists() or _read(kept)["digest"] != before["everything"]:
        hint = f"for the numbers, run `python tests/golden/freeze.py --write {name}` at the commit before, then compare"
        return [*lines, hint]
    return lines + differences(_read(kept)["values"], flat(result), case.within)


def compare_ways(one: Result, other: Result) -> list[str]:
    """What differs between two ways to the same result: every bit counts."""
    return differences(flat(one, None), flat(other, None), 0.0)


def write(name: str, result: Result) -> None:
    """Freezes the result of a case."""
    if not CASES[name].private:
        (VALUES / f"{name}.json").write_text(frozen(result), encoding="utf-8")
        if CASES[name].drawn:
            machines = (_read(MACHINES) if MACHINES.exists() else {}) | {name: machine()}
            MACHINES.write_text(json.dumps(machines, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        return
    made = digests(result)
    known = _read(DIGESTS) if DIGESTS.exists() else {}
    DIGESTS.write_text(json.dumps(known | {name: made}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    PRIVATE.mkdir(exist_ok=True)
    kept = {"digest": made["everything"], "values": flat(result)}
    (PRIVATE / f"{name}.json").write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n", encoding="utf-8")


def _read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def main() -> int:
    """Compares or freezes; the number of cases that differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all without any")
    parser.add_argument("--write", action="store_true", help="freeze instead of comparing")
    chosen = parser.parse_args()
    differing = 0
    for name in chosen.cases or CASES:
        case = CASES[name]
        if case.private and data() is None:
            print(f"{name}: skipped, PROBTRUTH_DATA is not set")
            continue
        if case.drawn and not chosen.write and machine() != _read(MACHINES)[name]:
            print(f"{name}: frozen on another machine or with other libraries, numbers of draws are not compared")
        result = result_of(case)
        if chosen.write:
            write(name, result)
        lines = compare(name, result)
        for way in case.same:
            lines += [f"{way}: {line}" for line in compare_ways(result, result_of(case, way))]
        print(f"{name}: {'equal' if not lines else f'{len(lines)} differences'}", *lines, sep="\n  ", flush=True)
        differing += bool(lines)
    return min(differing, 1)


if __name__ == "__main__":
    sys.exit(main())
