"""The API: `{public-names} SECTION` lists the public objects of a section, each of which gets a page of its own."""

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import probtruth

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "line": ("line", "report"),
    "figures": ("figures",),
    "files": ("io",),
    "nouns": ("types",),
    "truth": ("truth",),
    "scores": ("scoring",),
    "kernels": ("scoring.rules.proper", "kernels"),
    "rules": ("scoring.rules",),
    "comparison": ("comparison",),
    "study": ("study",),
    "errors": ("errors",),
}
"""Where names of each section live, as modules below `probtruth`; the longest that fits decides."""
FOLDER = "reference"
"""Where the pages are written, below `docs`; they are made anew by each build and not committed."""


def section_of(home: str) -> str:
    """The section of a name that lives in that module."""
    fitting = [
        (len(prefix), section)
        for section, prefixes in SECTIONS.items()
        for prefix in prefixes
        if f"{home}.".startswith(f"{prefix}.")
    ]
    return max(fitting)[1]


def names_in(section: str) -> list[str]:
    """The public names of a section: functions, then classes, then modules; each in the order of the package's list."""
    homes = {**probtruth._HOME, **probtruth._MODULES}
    names = [name for name, home in homes.items() if section_of(home) == section]
    return sorted(names, key=lambda name: (name in probtruth._MODULES, inspect.isclass(getattr(probtruth, name))))


def objects_in(section: str) -> Iterator[tuple[str, Any]]:
    """The functions and classes of a section by the name after `probtruth.`, those of its public modules too."""
    for name in names_in(section):
        thing = getattr(probtruth, name)
        if inspect.ismodule(thing):
            yield from ((f"{name}.{part}", getattr(thing, part)) for part in callables_of(thing))
        else:
            yield name, thing


def as_markdown(section: str) -> str:
    """A section of the API page: a line for each object, with a link to its page."""
    rows = [f"| {{py:obj}}`{name} <probtruth.{name}>` | {summary(thing)} |" for name, thing in objects_in(section)]
    pages = [f"{FOLDER}/{name}" for name, _ in objects_in(section)]
    listing = "\n".join(["```{toctree}", ":hidden:", ":maxdepth: 1", "", *pages, "```"])
    return "\n".join(["| name | what |", "| --- | --- |", *rows, "", listing, ""])


def summary(thing: Any) -> str:
    """The first sentence of a docstring, for a cell of a table in Markdown."""
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    sentence = re.match(r".*?\.(?=\s|$)", text)
    return (sentence[0] if sentence else text).rstrip(":").replace("|", r"\|")


def page(name: str, thing: Any) -> str:
    """The page of one object in reStructuredText."""
    return f"{name}\n{'=' * len(name)}\n\n{_directive(name, thing)}"


def write_pages(folder: Path) -> None:
    """Writes the page of each public object; a page of what is gone is removed."""
    folder.mkdir(exist_ok=True)
    texts = {f"{name}.rst": page(name, thing) for section in SECTIONS for name, thing in objects_in(section)}
    for old in folder.glob("*.rst"):
        if old.name not in texts:
            old.unlink()
    for file, text in texts.items():
        path = folder / file
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # an unchanged page is not built again
            path.write_text(text, encoding="utf-8")


def _directive(name: str, thing: object) -> str:
    if isinstance(thing, type) and issubclass(thing, Exception):
        return f".. autoexception:: probtruth.{name}()\n"
    if isinstance(thing, type):
        return f".. autoclass:: probtruth.{name}()\n   :members:\n"
    return f".. autofunction:: probtruth.{name}\n"


def callables_of(module: ModuleType) -> list[str]:
    """The functions and classes of a public module that are not at the top level too."""
    return [
        name
        for name in module.__all__
        if (inspect.isfunction(thing := getattr(module, name)) or inspect.isclass(thing))
        and getattr(probtruth, name, None) is not thing
    ]
