"""Checks annotations of array shapes at run time: arguments that a user may get wrong are checked by the package."""

import ast
import functools
import importlib.util
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from beartype import beartype
from jaxtyping import AbstractArray


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its annotations checked: what jaxtyping's hook puts around each function of a module."""
    unknown = type_checking_names(function.__module__)
    function.__annotations__ = {
        name: hint
        for name, hint in function.__annotations__.items()
        if has_shape(hint) and unknown.isdisjoint(names(hint))
    }
    return beartype(function)


def has_shape(hint: object) -> bool:
    """Whether an annotation, or a part of it, names the axes of an array."""
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        return True
    parts = hint if isinstance(hint, list | tuple) else typing.get_args(hint)
    return any(map(has_shape, parts))


@functools.cache
def type_checking_names(module: str) -> frozenset[str]:
    """The names that a module imports under `if TYPE_CHECKING:`, which do not exist at run time."""
    spec = importlib.util.find_spec(module)
    blocks = (node for node in ast.walk(ast.parse(Path(spec.origin).read_text())) if isinstance(node, ast.If))
    imports = (
        alias
        for block in blocks
        if "TYPE_CHECKING" in ast.unparse(block.test)
        for statement in block.body
        if isinstance(statement, ast.Import | ast.ImportFrom)
        for alias in statement.names
    )
    return frozenset((alias.asname or alias.name).split(".")[0] for alias in imports)


def names(hint: object) -> Iterator[str]:
    """The names in the parts of an annotation that are still strings."""
    if isinstance(hint, typing.ForwardRef):
        hint = hint.__forward_arg__
    if isinstance(hint, str):
        yield from (node.id for node in ast.walk(ast.parse(hint, mode="eval")) if isinstance(node, ast.Name))
    for part in hint if isinstance(hint, list | tuple) else typing.get_args(hint):
        if typing.get_origin(hint) is not typing.Literal:
            yield from names(part)
