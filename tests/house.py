"""Counts of the package's size and of its public face, printed by CI: `python -m tests.house`.

A public parameter is one of a function, method or class that users reach through `probtruth` or of a public module.
`object` as its annotation tells an editor nothing.
"""

import dataclasses
import functools
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import probtruth

PACKAGE = Path(probtruth.__file__).parent
CLASS = re.compile(r"^ *class (\w+)[(:\[]", re.MULTILINE)
"""The line that a class begins with."""


@functools.cache
def sources() -> dict[Path, str]:
    """The text of every module of the package."""
    return {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def folders() -> Counter[str]:
    """How many modules each folder holds, `__init__.py` not counted."""
    return Counter(str(path.parent.relative_to(PACKAGE)) for path in sources() if path.name != "__init__.py")


@functools.cache
def classes() -> Counter[str]:
    """How many classes have each name."""
    return Counter(name for text in sources().values() for name in CLASS.findall(text))


def top_level_names() -> list[str]:
    """What `import probtruth as pt` offers."""
    return [name for name in probtruth.__all__ if name != "__version__"]


def public_objects() -> Iterator[tuple[str, Any]]:
    """Every function and class that users reach by a name."""
    for name in probtruth.__all__:
        value = getattr(probtruth, name)
        if isinstance(value, ModuleType):
            for inner in getattr(value, "__all__", ()):
                yield f"{name}.{inner}", getattr(value, inner)
        else:
            yield name, value


def public_functions() -> Iterator[tuple[str, Any]]:
    """Every public function, and the constructors and public methods of public classes."""
    for name, value in public_objects():
        if inspect.isclass(value):
            for key, member in vars(value).items():
                function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
                generated = key == "__init__" and dataclasses.is_dataclass(value)
                if inspect.isfunction(function) and not key.startswith("_") and not generated:
                    yield f"{name}.{key}", function
        elif inspect.isfunction(value):
            yield name, value


def untyped_parameters() -> tuple[list[str], int]:
    """The public parameters whose annotation is `object` (or missing), and how many public parameters there are."""
    untyped, total = [], 0
    for name, function in public_functions():
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name in ("self", "cls"):
                continue
            total += 1
            annotation = parameter.annotation
            text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
            if parameter.annotation is inspect.Parameter.empty or text in ("object", "Any"):
                untyped.append(f"{name}({parameter.name})")
    return untyped, total


def counts() -> dict[str, int]:
    """The figures, by what they count."""
    untyped, total = untyped_parameters()
    return {
        "modules": len(sources()),
        "lines": sum(text.count("\n") for text in sources().values()),
        "largest folder": max(folders().values()),
        "longest module": max(text.count("\n") for text in sources().values()),
        "top-level names": len(top_level_names()),
        "public parameters": total,
        "public parameters typed as object": len(untyped),
        "class names that stand twice": sum(1 for number in classes().values() if number > 1),
    }


if __name__ == "__main__":
    for what, number in counts().items():
        print(f"{number:7,}  {what}")
