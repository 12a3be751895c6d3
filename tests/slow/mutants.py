"""Small faults put into the code at random: how many the tests notice, as a table in Markdown.

    pip install cosmic-ray
    COVERAGE_FILE=/tmp/contexts pytest -n 2 -m "" --cov=probtruth --cov-branch --cov-context=test
    python tests/slow/mutants.py /tmp/contexts 110 --seed 2 --workers 2 > docs/validity/mutants.md

Every mutant gets a process and a copy of the package of its own. The tests are those that passed the changed line when
coverage was measured, the least first, and then the files that are about the module (a function that was compiled for
an earlier test is not passed again, though a later test depends on it).
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import parso
from cosmic_ray.ast import Visitor
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from coverage import CoverageData

ROOT = Path(__file__).parents[2]
FOLDERS = ("scoring", "comparison", "truth")
LEFT_OUT = re.compile("Bit|Shift|Is|Variable|Decorator|Exception")
"""What fails wherever it is run, as bits of floats do, and proves nothing."""
PATIENCE = 600
"""Seconds for the tests of one mutant; beyond them it counts as not noticed."""
FIRST = 40
"""Tests that are tried before the others."""
NOTICED, SURVIVED, SLOW = "noticed", "not noticed", "too slow to tell"


@dataclass(frozen=True)
class Mutant:
    """One change of one file; `line` is where."""

    path: Path
    operator: str
    occurrence: int
    line: int

    def changed(self) -> str:
        """The file with the change."""
        text = self.path.read_text(encoding="utf-8")
        made = mutate_code(text, get_operator(self.operator)(), self.occurrence)
        if made is None:
            raise RuntimeError(f"no such mutant: {self}")
        return str(made)

    def shown(self) -> str:
        """The changed line, fit for a table."""
        before = self.path.read_text(encoding="utf-8").splitlines()
        after = self.changed().splitlines()
        line = next((new for old, new in zip(before, after, strict=False) if old != new), "")
        return line.strip().replace("|", "\\|")[:90]


class Places(Visitor):  # type: ignore[misc]
    """Where an operator could change a file."""

    def __init__(self, operator: object) -> None:
        self.operator, self.lines = operator, list[int]()

    def visit(self, node: object) -> object:
        """Notes the lines and leaves the node as it is."""
        self.lines += [start[0] for start, _ in self.operator.mutation_positions(node)]  # type: ignore[attr-defined]
        return node


def mutants_of(path: Path) -> list[Mutant]:
    """All changes of a file, outside signatures and docstrings."""
    text, found = path.read_text(encoding="utf-8"), []
    lines, tree = text.splitlines(), parso.parse(text)
    for name in operator_names():
        if not LEFT_OUT.search(name):
            places = Places(get_operator(name)())
            places.walk(tree)
            for occurrence, line in enumerate(places.lines):
                if not re.match(r"\s*(def |@|\w+: )|.*Float\[|.*Int\[", lines[line - 1]):
                    found.append(Mutant(path, name, occurrence, line))
    return found


class Passed:
    """Which tests passed a line, those that pass the fewest lines of the package first."""

    def __init__(self, database: str) -> None:
        data = CoverageData(database)
        data.read()
        self.lines: dict[str, Mapping[int, Sequence[str]]] = {}
        size = Counter[str]()
        for file in data.measured_files():
            found = data.contexts_by_lineno(file)
            self.lines[file.rsplit("/probtruth/", 1)[-1]] = found
            size.update(context for contexts in found.values() for context in contexts)
        self.size, self.sound = size, set[str]()

    def tests(self, mutant: Mutant) -> list[str]:
        """Their names for pytest; those of the nearest line above that is known, since a statement may take several."""
        found = self.lines.get(str(mutant.path.relative_to(ROOT / "probtruth")), {})
        line = max((known for known in found if known <= mutant.line), default=0)
        running = [context for context in found.get(line, ()) if context.endswith("|run")]
        return [context.removesuffix("|run") for context in sorted(running, key=lambda one: (self.size[one], one))]


def files_about(path: Path) -> list[str]:
    """Test files that are named after the module, import it, or name it beside it; else of its users; eight at most.

    What runs while tests are collected (rules that stand in their parameters) is passed by none of them.
    """
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    parent, stem = module.rsplit(".", 1)
    folder = ROOT / "tests" / path.relative_to(ROOT / "probtruth").parts[0]
    imports = re.compile(rf"from {re.escape(module)} import|from {re.escape(parent)} import [^\n]*\b{stem}\b")
    tests = [test for test in ROOT.glob("tests/**/test_*.py") if not test.is_relative_to(ROOT / "tests" / "slow")]
    texts = {test: test.read_text(encoding="utf-8") for test in tests}
    named = [test for test in tests if test.stem == f"test_{stem}"]
    own = [test for test in tests if imports.search(texts[test])]
    own += [test for test in tests if test.is_relative_to(folder) and re.search(rf"\b{stem}\b", texts[test])]
    if not named + own:
        users = [user for user in ROOT.glob("probtruth/**/*.py") if imports.search(user.read_text(encoding="utf-8"))]
        own = [test for test in tests if test.stem in {f"test_{user.stem}" for user in users}]
    return [str(test.relative_to(ROOT)) for test in dict.fromkeys(named + own)][:8]


class Trial:
    """A copy of the package in which one thing is changed; what JAX compiled is kept by its content."""

    def __init__(self, copy: Path, data: str, compiled: str) -> None:
        self.copy = copy
        for name in ("probtruth", "tests", "docs", "examples"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("_build"))
        for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE"):
            shutil.copy(ROOT / name, copy / name)
        self.environment = {**os.environ, "PYTHONPATH": str(copy), "PROBTRUTH_DATA": data, "MPLBACKEND": "Agg"}
        self.environment["JAX_COMPILATION_CACHE_DIR"] = compiled
        self.environment["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.1"

    def first_failure(self, tests: Sequence[str]) -> str | None:
        """The first test that fails; empty where none could even begin."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "", *tests]
        done = subprocess.run(
            command, cwd=self.copy, env=self.environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        if done.returncode == 0:
            return None
        failed = re.search(r"^FAILED (.+?)(?: - |$)|^ERROR (\S+::.+?)(?: - |$)", done.stdout, re.MULTILINE)
        return "" if failed is None else failed[1] or failed[2]

    def outcome(self, mutant: Mutant, passed: Passed) -> str:
        """What the tests say of a mutant; a test that fails without it, too, says nothing."""
        target = self.copy / mutant.path.relative_to(ROOT)
        target.write_text(mutant.changed(), encoding="utf-8")
        tests = passed.tests(mutant)
        waiting = [tests[:FIRST], tests[FIRST : 10 * FIRST], files_about(mutant.path)]
        try:
            while waiting:
                failed = self.first_failure(waiting[0]) if waiting[0] else None
                if failed is None:
                    waiting.pop(0)
                    continue
                shutil.copy2(mutant.path, target)
                if failed == "" or failed in passed.sound or self.first_failure([failed]) is None:
                    passed.sound.add(failed)
                    return NOTICED
                target.write_text(mutant.changed(), encoding="utf-8")
                waiting[0] = [test for test in waiting[0] if test not in (failed, failed.split("::")[0])]
        except subprocess.TimeoutExpired:
            return SLOW
        return SURVIVED


def report(every: int, chosen: Sequence[Mutant], outcomes: Sequence[str]) -> str:
    """The page: how many were noticed, and the others."""
    noticed, many = outcomes.count(NOTICED), len(outcomes)
    lines = [OPENING.format(many=many, every=every, noticed=noticed, share=100 * noticed / many)]
    lines += ["| file | line | changed to | outcome |", "|---|---|---|---|"]
    for mutant, found in sorted(zip(chosen, outcomes, strict=True), key=lambda pair: (pair[0].path, pair[0].line)):
        if found != NOTICED:
            name = mutant.path.relative_to(ROOT / "probtruth")
            lines.append(f"| `{name}` | {mutant.line} | `{mutant.shown()}` | {found} |")
    return "\n".join(lines)


def main(database: str, many: int, workers: int, seed: int, minutes: float) -> None:
    passed = Passed(database)
    every = [one for folder in FOLDERS for path in sorted((ROOT / "probtruth" / folder).rglob("*.py"))
             for one in mutants_of(path)]  # fmt: skip
    chosen = random.Random(seed).sample(every, many)
    data, end = os.environ.get("PROBTRUTH_DATA", ""), time.monotonic() + 60 * minutes

    def work(mutant: Mutant) -> str | None:
        if time.monotonic() > end:
            return None
        with tempfile.TemporaryDirectory() as copy:
            return Trial(Path(copy), data, compiled).outcome(mutant, passed)

    outcomes: list[str] = []
    with tempfile.TemporaryDirectory() as compiled, ThreadPoolExecutor(workers) as pool:
        for mutant, found in zip(chosen, pool.map(work, chosen), strict=True):
            if found is None:
                break
            outcomes.append(found)
            print(len(outcomes), found, mutant.path.name, mutant.line, mutant.shown(), file=sys.stderr, flush=True)
    print(report(len(every), chosen[: len(outcomes)], outcomes))


OPENING = """# Faults put into the code

Written by `tests/slow/mutants.py`, with cosmic-ray's operators. The study made {many} of {every:,} possible changes
(an operator, a comparison, a number, a condition) to `scoring`, `comparison` and `truth` at random, one at a time,
each in a fresh process. The tests noticed {noticed} of them ({share:.0f}%). The others include changes that make no
difference by construction (an equivalent bound, a step of a search, a redundant factor).
"""

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database", help="what coverage measured, with contexts")
    parser.add_argument("many", type=int)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no more after so many")
    asked = parser.parse_args()
    main(asked.database, asked.many, asked.workers, asked.seed, asked.minutes)
