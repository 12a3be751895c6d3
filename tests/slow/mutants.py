"""Small faults put into the code at random: how many the tests notice, as a table in Markdown.

    pip install cosmic-ray
    python tests/slow/mutants.py 120 --workers 2 > docs/validity/mutants.md

takes some two minutes for each mutant and worker. Every mutant gets a process and a copy of the package of its own;
the tests are those that import the module that was changed, then those of its folder.
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
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import parso
from cosmic_ray.ast import Visitor
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[2]
FOLDERS = ("scoring", "comparison", "truth")
LEFT_OUT = re.compile("Bit|Shift|Is|Variable|Decorator|Exception")
"""What fails wherever it is run, as bits of floats do, and proves nothing."""
PATIENCE = 600
"""Seconds for the tests of one mutant; beyond them it counts as not noticed."""
NOTICED, SURVIVED, SLOW = "noticed", "not noticed", "too slow to tell"


@dataclass(frozen=True)
class Mutant:
    """One change of one file; `line` is where."""

    path: Path
    operator: str
    occurrence: int
    line: int


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


def tests_of(path: Path) -> list[str]:
    """Test files that import the module or are named after it, else those of modules that import it."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    parent, stem = module.rsplit(".", 1)
    imports = re.compile(rf"from {re.escape(module)} import|from {re.escape(parent)} import [^\n]*\b{stem}\b")
    tests = [test for test in ROOT.glob("tests/**/test_*.py") if not test.is_relative_to(ROOT / "tests" / "slow")]
    own = [test for test in tests if test.stem == f"test_{stem}" or imports.search(test.read_text(encoding="utf-8"))]
    if not own:
        users = [user for user in ROOT.glob("probtruth/**/*.py") if imports.search(user.read_text(encoding="utf-8"))]
        own = [test for test in tests if test.stem in {f"test_{user.stem}" for user in users}]
    folder = ROOT / "tests" / path.relative_to(ROOT).parts[1]
    return [*map(str, sorted(own, key=lambda test: test.stem != f"test_{stem}")[:8]), str(folder)]


def outcome(mutant: Mutant, data: str, compiled: str) -> str:
    """What the tests say of a mutant: first those that are near, then those of the folder.

    Programs that were compiled for earlier mutants are taken from `compiled`, where they lie under their content: one
    that the mutant changed is not among them.
    """
    with tempfile.TemporaryDirectory() as made:
        copy = Path(made)
        for name in ("probtruth", "tests", "docs", "examples"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE"):
            shutil.copy(ROOT / name, copy / name)
        target = copy / mutant.path.relative_to(ROOT)
        changed = mutate_code(target.read_text(encoding="utf-8"), get_operator(mutant.operator)(), mutant.occurrence)
        if changed is None:
            raise RuntimeError(f"no such mutant: {mutant}")
        target.write_text(changed, encoding="utf-8")
        *near, folder = [str(copy / Path(test).relative_to(ROOT)) for test in tests_of(mutant.path)]
        environment = {**os.environ, "PYTHONPATH": str(copy), "PROBTRUTH_DATA": data, "MPLBACKEND": "Agg"}
        environment |= {"JAX_COMPILATION_CACHE_DIR": compiled, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1"}
        for chosen in ([near] if near else []) + [[folder]]:
            command = [sys.executable, "-m", "pytest", "-x", "-q", *chosen]
            try:
                done = subprocess.run(
                    command, cwd=copy, env=environment, capture_output=True, timeout=PATIENCE, check=False
                )
            except subprocess.TimeoutExpired:
                return SLOW
            if done.returncode:
                return NOTICED
    return SURVIVED


def report(every: int, chosen: Sequence[Mutant], outcomes: Sequence[str]) -> str:
    """The page: how many were noticed, and the others."""
    noticed, many = outcomes.count(NOTICED), len(outcomes)
    lines = [OPENING.format(many=many, every=every, noticed=noticed, share=100 * noticed / many)]
    lines += ["| file | line | change | outcome |", "|---|---|---|---|"]
    for mutant, found in sorted(zip(chosen, outcomes, strict=True), key=lambda pair: (pair[0].path, pair[0].line)):
        if found != NOTICED:
            name = mutant.path.relative_to(ROOT / "probtruth")
            lines.append(f"| `{name}` | {mutant.line} | {mutant.operator.split('/')[-1]} | {found} |")
    return "\n".join(lines)


def main(many: int, workers: int, seed: int, minutes: float) -> None:
    every = [one for folder in FOLDERS for path in sorted((ROOT / "probtruth" / folder).rglob("*.py"))
             for one in mutants_of(path)]  # fmt: skip
    chosen = random.Random(seed).sample(every, many)
    data, end = os.environ.get("PROBTRUTH_DATA", ""), time.monotonic() + 60 * minutes

    def work(mutant: Mutant) -> str | None:
        return outcome(mutant, data, compiled) if time.monotonic() < end else None

    outcomes: list[str] = []
    with tempfile.TemporaryDirectory() as compiled, ThreadPoolExecutor(workers) as pool:
        for mutant, found in zip(chosen, pool.map(work, chosen), strict=True):
            if found is None:
                break
            outcomes.append(found)
            print(len(outcomes), found, mutant, file=sys.stderr, flush=True)
    print(report(len(every), chosen[: len(outcomes)], outcomes))


OPENING = """# Faults put into the code

Written by `tests/slow/mutants.py`, with cosmic-ray's operators. {many} of {every:,} possible changes (an operator, a
comparison, a number, a condition) of `scoring`, `comparison` and `truth` were made at random, one at a time, each in a
fresh process. The tests noticed {noticed} of them ({share:.0f} per cent). Changes that make no difference by
construction (an equivalent bound, a size of a buffer, a hint in a message) are among the others:
"""

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("many", type=int)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no more after so many")
    asked = parser.parse_args()
    main(asked.many, asked.workers, asked.seed, asked.minutes)
