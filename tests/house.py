"""Sizes of the package, its tests and pages beside their limits, and circles of imports: `python -m tests.house`.

A size beyond its limit is a warning, not a failure. A circle of imports fails.

What there is to understand is counted in nodes: expressions and statements of Python's parser, docstrings aside. Clever
forms are those that say several things at once: comprehensions, ternaries, lambdas, `:=`, and `a, b = x, y`.
"""

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import probtruth

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "probtruth"
LIMITS = {
    "nodes": 139_000,
    "nodes a line of code": 6.3,
    "clever forms in 1,000 lines of code": 100,
    "modules": 210,
    "lines of tests": 32_000,
    "words of pages": 44_000,
    "top-level names": 44,
}
FOLDER, MODULE, DENSEST = 20, 500, 12  # modules of a folder, lines of a module, nodes a line of a function
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
CLEVER = (*COMPREHENSIONS, ast.IfExp, ast.Lambda, ast.NamedExpr)


@dataclass(frozen=True)
class Size:
    """How much code there is: lines of code, nodes, clever forms."""

    lines: int = 0
    nodes: int = 0
    clever: int = 0

    def __add__(self, other: "Size") -> "Size":
        return Size(self.lines + other.lines, self.nodes + other.nodes, self.clever + other.clever)

    @property
    def nodes_a_line(self) -> float:
        return self.nodes / max(self.lines, 1)

    @property
    def clever_in_1000(self) -> float:
        return 1000 * self.clever / max(self.lines, 1)


def sources() -> list[Path]:
    """The modules of the package that hold code."""
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.read_text(encoding="utf-8").strip()]


def module_name(path: Path) -> str:
    """The name by which a file is imported."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


# Circles of imports


def imports() -> dict[str, set[str]]:
    """The modules of the package that each module imports: also inside functions, and by a name in a string.

    What only a type checker imports does not count, nor does the front door, which imports whatever is asked for.
    """
    paths = {module_name(path): path for path in sources()}
    found: dict[str, set[str]] = {}
    for name, path in paths.items():
        wanted = set(_modules_named(ast.parse(path.read_text(encoding="utf-8")), set(paths)))
        found[name] = wanted - {name, "probtruth"}
    found["probtruth"] = set()
    return found


def _modules_named(node: ast.AST, modules: set[str]) -> Iterator[str]:
    """The modules that imports and strings below a node name."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    names: list[str] = []
    if isinstance(node, ast.ImportFrom):
        for alias in node.names:
            submodule = f"{node.module}.{alias.name}"
            names.append(submodule if submodule in modules else node.module or "")
    elif isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        names = [node.value]
    yield from (name for name in names if name in modules)
    for child in ast.iter_child_nodes(node):
        yield from _modules_named(child, modules)


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The sets of modules that import one another, directly or through others."""
    reached = {name: _reachable(graph, name) for name in graph}
    found = []
    seen: set[str] = set()
    for name in sorted(graph):
        members = {other for other in reached[name] if name in reached[other]}
        if members and name not in seen:
            found.append(sorted(members))
            seen |= members
    return found


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph[waiting.pop()] - reached:
            reached.add(name)
            waiting.append(name)
    return reached


# Sizes


def size(path: Path) -> Size:
    """The size of a module."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    documentation: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            documentation |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code = 0
    for number, line in enumerate(text.splitlines(), 1):
        if number not in documentation and line.strip() and not line.strip().startswith("#"):
            code += 1
    nodes = [
        node for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt) and node.lineno not in documentation
    ]
    return Size(code, len(nodes), sum(map(_is_clever, nodes)))


def _is_clever(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
        return isinstance(node.targets[0], ast.Tuple)
    return isinstance(node, CLEVER)


def dense_functions() -> list[str]:
    """Functions of eight lines or more that hold more nodes a line than they may."""
    found = []
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                inner = [one for one in ast.walk(node) if isinstance(one, ast.expr | ast.stmt) and one is not node]
                lines = {one.lineno for one in inner}
                if len(lines) >= 8 and len(inner) > DENSEST * len(lines):
                    place = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
                    found.append(f"{place} ({len(inner) / len(lines):.1f} nodes a line)")
    return found


def line_count(paths: list[Path]) -> int:
    """How many lines the files have."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def main() -> int:
    """Prints the sizes; 1 where modules import one another in a circle."""
    rooms: dict[str, Size] = defaultdict(Size)
    for path in sources():
        parts = path.relative_to(PACKAGE).parts
        rooms[parts[0] if len(parts) > 1 else "top"] += size(path)
    total = sum(rooms.values(), Size())
    counts = {
        "nodes": total.nodes,
        "nodes a line of code": total.nodes_a_line,
        "clever forms in 1,000 lines of code": total.clever_in_1000,
        "modules": len(sources()),
        "lines of tests": line_count(list((ROOT / "tests").rglob("*.py"))),
        "words of pages": sum(len(page.read_text(encoding="utf-8").split()) for page in (ROOT / "docs").rglob("*.md")),
        "top-level names": len(probtruth.__all__) - 1,
    }
    for what, number in counts.items():
        excess = "" if number <= LIMITS[what] else f"  WARNING: at most {LIMITS[what]:,}"
        print(f"{number:9,.5g}  {what}{excess}" if isinstance(number, float) else f"{number:9,}  {what}{excess}")
    for room, found in sorted(rooms.items()):
        print(f"  {room:11} {found.nodes:7,} nodes, {found.nodes_a_line:.2f} a line, {found.clever_in_1000:.0f} clever")
    folders = Counter(str(path.parent.relative_to(ROOT)) for path in sources())
    large = [f"{name} ({number} modules)" for name, number in folders.items() if number > FOLDER]
    large += [
        f"{path.relative_to(ROOT)} ({line_count([path])} lines)" for path in sources() if line_count([path]) > MODULE
    ]
    for fault in (*large, *dense_functions()):
        print("WARNING, large:", fault)
    found_circles = circles(imports())
    for members in found_circles:
        print("CIRCLE of imports:", ", ".join(members))
    if not found_circles:
        print("no circle of imports")
    return int(bool(found_circles))


if __name__ == "__main__":
    sys.exit(main())
