"""The blocks of a Markdown page, and how each kind is run: see the page `docs/design`, "Pages that run"."""

import contextlib
import doctest
import io
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from probtruth.cli import main

REPOSITORY = Path(__file__).parents[2]
README = REPOSITORY / "README.md"
PAGES = sorted([README, *(REPOSITORY / "docs").rglob("*.md")])
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

_FENCE = re.compile(r"^(?P<fence>`{3,}|:{3,})(?P<kind>[^\n]*)\n(?P<body>.*?)^(?P=fence)[ ]*$", re.MULTILINE | re.DOTALL)
_FILE_NAME = re.compile(r"`(?P<name>(?:\w[\w.-]*/)*[\w.-]+\.[a-z]+)`:?")


@dataclass(frozen=True)
class Block:
    """One fenced block; `name` is set where the line above it is a file name in backticks and nothing else."""

    kind: str
    body: str
    line: int
    name: str | None


def extension(name: str) -> ModuleType:
    """A module of `docs/_ext`."""
    spec = spec_from_file_location(name, REPOSITORY / "docs" / "_ext" / f"{name}.py")
    module = sys.modules.setdefault(name, module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    for match in _FENCE.finditer(text):
        before = text[: match.start()].rstrip().rpartition("\n")[2]
        named = _FILE_NAME.fullmatch(before.strip())
        line = text.count("\n", 0, match.start()) + 2
        yield Block(match["kind"].strip(), match["body"], line, named and named["name"])


def run_page(page: Path, place: Path) -> dict[str, Any]:
    """Runs every block of a page in order, in the folder `place`, which must be the current one; returns its names."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page.read_text(encoding="utf-8")):
        where = f"{page.relative_to(REPOSITORY)}, line {block.line}"
        if block.name is not None:
            (place / block.name).parent.mkdir(parents=True, exist_ok=True)
            (place / block.name).write_text(block.body, encoding="utf-8")
        elif block.kind == "python" or block.kind.startswith("{code-cell}"):
            exec(compile("\n" * (block.line - 1) + block.body, str(page), "exec"), names)
        elif block.kind == "pycon":
            _doctest(block, names, page)
        elif block.kind in ("console", "bash", "sh"):
            for command, shown in commands(block.body):
                _command(command, shown, where)
    return names


def _doctest(block: Block, names: dict[str, object], page: Path) -> None:
    test = doctest.DocTestParser().get_doctest(block.body, names, page.name, str(page), block.line - 1)
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=said.write, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, said.getvalue()


def commands(body: str) -> Iterator[tuple[list[str], list[str]]]:
    """The `probtruth` commands of a console block (with or without a `$`), each with the output that is shown."""
    found: list[tuple[list[str], list[str]]] = []
    for line in body.replace("\\\n", " ").splitlines():
        prompt = re.match(r"(\$ +)?(?=probtruth )|\$ +", line)
        if prompt:
            found.append((shlex.split(line[prompt.end() :], comments=True), []))
        elif found and line.strip():
            found[-1][1].append(line.strip())
    yield from ((words, shown) for words, shown in found if words[0] == "probtruth")


def _command(words: list[str], shown: list[str], where: str) -> None:
    """Runs a command in this process; shown lines must stand in its output, in their order (`...` skips some)."""
    said, noted = io.StringIO(), io.StringIO()
    status: object = 0
    before = sys.argv
    sys.argv = list(words)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(noted):
            main()
    except SystemExit as exit:
        status = exit.code or 0
    finally:
        sys.argv = before
    output = said.getvalue() + noted.getvalue()
    refused = any(line.startswith("probtruth: ") for line in shown)
    assert (status != 0) == refused, f"{where}: {shlex.join(words)} ended with status {status}\n{output}"
    lines = iter([" ".join(line.split()) for line in output.splitlines()])
    for line in shown:
        if line != "...":
            assert " ".join(line.split()) in lines, f"{where}: {shlex.join(words)} does not print {line!r}\n{output}"
