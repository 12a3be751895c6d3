"""Sizes of the package, its tests and pages beside their limits, and circle of imports: `python -m tests.house`.

A number beyond its limit is a warning, not a failure.
"""

import ast
import graphlib
from collections import Counter
from pathlib import Path

import probtruth

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "probtruth"
LIMITS = {"modules": 200, "lines": 27_000, "lines of tests": 28_000, "words of pages": 42_000, "top-level names": 42}
FOLDER, MODULE = 20, 400  # modules of a folder, lines of a module


def imports() -> dict[str, set[str]]:
    """The modules of the package that each module imports when it is loaded."""
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in sources()
    }
    found: dict[str, set[str]] = {}
    for name, path in names.items():
        nodes = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
        wanted = {(node.module or "", f"{node.module}.{alias.name}") for node in nodes for alias in node.names}
        found[name] = {part if part in names else whole for whole, part in wanted} & set(names) - {name}
    return found


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Modules of one circle of imports, if there is one."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def sources() -> list[Path]:
    """The modules of the package that hold code."""
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.read_text(encoding="utf-8").strip()]


def lines(paths: list[Path]) -> int:
    """How many lines the files have."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def main() -> None:
    """Prints the sizes."""
    counts = {
        "modules": len(sources()),
        "lines": lines(sources()),
        "lines of tests": lines(list((ROOT / "tests").rglob("*.py"))),
        "words of pages": sum(len(page.read_text(encoding="utf-8").split()) for page in (ROOT / "docs").rglob("*.md")),
        "top-level names": len(probtruth.__all__) - 1,
    }
    for what, number in counts.items():
        print(f"{number:7,}  {what}{'' if number <= LIMITS[what] else f'  WARNING: at most {LIMITS[what]:,}'}")
    rooms = Counter(path.relative_to(PACKAGE).parts[0] for path in sources() for _ in range(lines([path])))
    print("lines by room:", ", ".join(f"{name} {number:,}" for name, number in rooms.most_common()))
    folders = Counter(str(path.parent.relative_to(ROOT)) for path in sources())
    large = [f"{name} ({number} modules)" for name, number in folders.items() if number > FOLDER]
    large += [f"{path.relative_to(ROOT)} ({lines([path])} lines)" for path in sources() if lines([path]) > MODULE]
    print("WARNING, large:" if large else "no large folder or module", ", ".join(large))
    print("circle of imports:", " < ".join(circle(imports())) or "none")


if __name__ == "__main__":
    main()
