"""Every public name is documented: its docstring has the parts that it should have, and the API page lists it."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pages
import pytest

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


@pytest.mark.parametrize("name", NAMES)
def test_has_a_docstring_that_begins_with_a_sentence(name: str) -> None:
    text = inspect.getdoc(getattr(pt, name)) or ""
    assert text.split("\n\n")[0].rstrip().endswith((".", ".)", ":")), text


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parts_of_a_function_stand_in_their_order(name: str) -> None:
    found = parts(inspect.getdoc(getattr(pt, name)) or "")
    assert found == sorted(set(found), key=PARTS.index)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(pt, name)) or "")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_explains_its_options(name: str) -> None:
    """Arguments that may be left out need a word, all but `seed`; what must be given stands in the first sentence."""
    function = getattr(pt, name)
    text = inspect.getdoc(function) or ""
    parameters = inspect.signature(function).parameters.values()
    options = {one.name for one in parameters if one.default is not one.empty} - {"seed"}
    missing = {one for one in options if not re.search(rf"\b{one}\b", text)}
    assert not missing or "as in `" in text.lower()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_names_no_argument_that_does_not_exist(name: str) -> None:
    function = getattr(pt, name)
    paragraphs = [text for text in (inspect.getdoc(function) or "").split("\n\n") if text.startswith("Arguments:")]
    named = re.findall(r"(?:Arguments:|[.;])\s+`(\w+)` (?:is|are|names|says|has)\b", " ".join(paragraphs))
    parameters = inspect.signature(function).parameters
    free = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    assert free or set(named) <= set(parameters)


@pytest.mark.parametrize("name", SCORES)
def test_a_score_says_its_orientation_and_source(name: str) -> None:
    text = inspect.getdoc(getattr(pt, name)) or ""
    assert "lower is better" in text
    assert re.search(r"Source: .*\d{4}", text)
    assert "doi:" in text


@pytest.mark.parametrize("name", CLASSES)
def test_members_of_a_class_have_docstrings(name: str) -> None:
    bare = [member for member, value in members(getattr(pt, name)) if not inspect.getdoc(value)]
    assert not bare


def test_every_name_is_on_the_api_page() -> None:
    page = (pages.REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")
    sections = re.findall(r"^```{public-names} (\w+)", page, re.MULTILINE)
    listed = [name for section in sections for name in public_names.names_in(section)]
    assert sorted(listed) == NAMES


def test_names_for_type_checkers_are_those_at_run_time() -> None:
    source = inspect.getsource(pt)
    (block,) = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    typed = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed == set(NAMES)
