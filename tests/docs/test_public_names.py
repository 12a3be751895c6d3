"""Every public name is documented: its docstring has the parts that it should have, and the API page lists it."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

import pages

import probtruth as pt

public_names = pages.extension("public_names")

PARTS = ("Formula", "Arguments", "Returns", "Errors", "Source")  # The parts of a docstring, in their order
NAMES = sorted(name for name in pt.__all__ if not name.startswith("_"))
OBJECTS = {name: thing for section in public_names.SECTIONS for name, thing in public_names.objects_in(section)}
FUNCTIONS = [name for name, thing in OBJECTS.items() if inspect.isfunction(thing)]
CLASSES = [name for name in NAMES if inspect.isclass(getattr(pt, name))]
SCORES = [name for name in FUNCTIONS if name.endswith(("_score", "_score_from_log_probs", "_score_from_logits"))]


def members(owner: type) -> Iterator[tuple[str, Callable[..., Any] | property]]:
    """The public methods and properties that a class defines itself."""
    for name, member in vars(owner).items():
        plain = getattr(member, "__func__", member)
        if not name.startswith("_") and (inspect.isfunction(plain) or isinstance(plain, property)):
            yield name, plain


def parts(text: str) -> list[str]:
    """The parts of a docstring as they come."""
    return re.findall(rf"^ *({'|'.join(PARTS)}):", text, re.MULTILINE)


def text_of(name: str) -> str:
    """The docstring of a public name, also of one in a public module."""
    return inspect.getdoc(attrgetter(name)(pt)) or ""


def failing(names: list[str], holds: Callable[[str], object]) -> list[str]:
    """The names for which something does not hold; there must be names to try it on."""
    assert names
    return [name for name in names if not holds(name)]


def test_docstrings_begin_with_a_sentence() -> None:
    ends = (".", ".)", ":")
    assert failing(NAMES, lambda name: text_of(name).split("\n\n")[0].rstrip().endswith(ends)) == []


def test_parts_of_a_function_stand_in_their_order() -> None:
    assert failing(FUNCTIONS, lambda name: (p := parts(text_of(name))) == sorted(set(p), key=PARTS.index)) == []


def test_a_function_has_an_example() -> None:
    assert failing(FUNCTIONS, lambda name: ">>> " in text_of(name)) == []


def documented(function: object) -> list[str]:
    """The arguments that a docstring has a line for, several names of one line too."""
    blocks = [text for text in (inspect.getdoc(function) or "").split("\n\n") if text.startswith("Arguments:")]
    lines = re.findall(r"^    (\w[\w, ]*): ", "\n".join(blocks), re.MULTILINE)
    return [name for line in lines for name in line.split(", ")]


def every_function() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions, those of public modules, and the methods of public classes."""
    for name, thing in OBJECTS.items():
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing) and not issubclass(thing, Exception):
            for member, value in members(thing):
                if inspect.isfunction(inspect.unwrap(value)):
                    yield f"{name}.{member}", inspect.unwrap(value)


def test_every_argument_has_its_line_and_no_other_has() -> None:
    wrong = {}
    n_functions = 0
    for name, function in every_function():
        arguments = [one for one in inspect.signature(function).parameters if one not in ("self", "cls")]
        n_functions += bool(arguments)
        if inspect.getdoc(function) and sorted(documented(function)) != sorted(arguments):
            wrong[name] = sorted({*documented(function)} ^ {*arguments})
    assert n_functions > 100
    assert wrong == {}


def test_a_score_says_its_orientation_and_source() -> None:
    patterns = ("lower is better", r"Source: .*\d{4}", "doi:")
    assert failing(SCORES, lambda name: all(re.search(pattern, text_of(name)) for pattern in patterns)) == []


def test_members_of_a_class_have_docstrings() -> None:
    bare = [
        f"{name}.{member}"
        for name in CLASSES
        for member, value in members(getattr(pt, name))
        if not inspect.getdoc(value)
    ]
    assert CLASSES
    assert bare == []


def test_every_name_is_on_the_api_page() -> None:
    page = (pages.REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")
    sections = re.findall(r"^```{public-names} (\w+)", page, re.MULTILINE)
    listed = [name for section in sections for name in public_names.names_in(section)]
    assert sorted(listed) == NAMES
    assert set(sections) == set(public_names.SECTIONS)


def test_names_for_type_checkers_are_those_at_run_time() -> None:
    source = inspect.getsource(pt)
    (block,) = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    typed = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed - {None} == set(NAMES)  # without "as" it is not public


def test_names_that_pages_and_docstrings_use_exist() -> None:
    files = [pages.REPOSITORY / "README.md"]
    for folder, ending in (("probtruth", "*.py"), ("docs", "*.md"), ("examples", "*.py")):
        files += (pages.REPOSITORY / folder).rglob(ending)
    absent = []
    for path in files:
        for first, second in re.findall(r"\bpt\.([a-z]\w+)(?:\.([a-z]\w+))?", path.read_text(encoding="utf-8")):
            owner = getattr(pt, first, None)
            in_module = inspect.ismodule(owner) or inspect.isclass(owner)
            if owner is None or (second and in_module and not hasattr(owner, second)):
                absent.append((path.name, first, second))
    # a pattern of names, for contributors
    assert {absentee for absentee in absent if absentee[0] != "contributing.md"} == set()
