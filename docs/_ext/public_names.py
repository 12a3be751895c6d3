"""The API page: `{public-names} SECTION` documents every public name whose home belongs to that section."""

import inspect
from collections.abc import Mapping
from types import ModuleType

import probtruth

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "line": ("line", "report"),
    "figures": ("figures",),
    "files": ("io",),
    "nouns": ("types",),
    "truth": ("truth", "line.informed_truth"),
    "scores": ("scoring",),
    "kernels": ("scoring.rules.proper", "kernels"),
    "rules": ("scoring.rules",),
    "comparison": ("comparison", "companions"),
    "study": ("study",),
    "streaming": ("streaming", "scoring.means"),
    "errors": ("errors",),
}
"""Where names of each section live, as modules below `probtruth`; the longest that fits decides."""


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


def as_markdown(section: str) -> str:
    """The autodoc directives of a section's names."""
    body = "\n".join(_directives(name) for name in names_in(section))
    return f"```{{eval-rst}}\n{body}\n```\n"


def _directives(name: str) -> str:
    thing = getattr(probtruth, name)
    if inspect.ismodule(thing):
        parts = [_directive(f"{name}.{part}", getattr(thing, part)) for part in callables_of(thing)]
        return f"**probtruth.{name}**\n\n.. automodule:: {thing.__name__}\n\n" + "\n".join(parts)
    return _directive(name, thing)


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
