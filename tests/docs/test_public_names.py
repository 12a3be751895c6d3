"""Every public name is documented: its docstring has the parts that it should have, and the API page lists it."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pages

import probtruth as pt

public_names = pages.extension("public_names")

PARTS = ("Formula", "Arguments", "Returns", "Errors", "Source")
"""The parts of a docstring, in their order."""
NAMES = sorted(name for name in pt.__all__ if not name.startswith("_"))
FUNCTIONS = [name for name in NAMES if inspect.isfunction(getattr(pt, name))]
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
    """The docstring of a public name."""
    return inspect.getdoc(getattr(pt, name)) or ""


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


def explains_its_options(name: str) -> bool:
    """Arguments that may be left out need a word, all but `seed`; what must be given stands in the first sentence."""
    text = text_of(name)
    parameters = inspect.signature(getattr(pt, name)).parameters.values()
    options = {one.name for one in parameters if one.default is not one.empty} - {"seed"}
    return all(re.search(rf"\b{one}\b", text) for one in options) or "as in `" in text.lower()


def test_a_function_explains_its_options() -> None:
    assert failing(FUNCTIONS, explains_its_options) == []


def names_only_its_arguments(name: str) -> bool:
    """What the paragraph of arguments names are parameters of the function."""
    paragraphs = [text for text in text_of(name).split("\n\n") if text.startswith("Arguments:")]
    named = re.findall(r"(?:Arguments:|[.;])\s+`(\w+)` (?:is|are|names|says|has)\b", " ".join(paragraphs))
    parameters = inspect.signature(getattr(pt, name)).parameters
    free = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    return free or set(named) <= set(parameters)


def test_a_function_names_no_argument_that_does_not_exist() -> None:
    assert failing(FUNCTIONS, names_only_its_arguments) == []


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
