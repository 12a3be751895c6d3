"""Every text of the package that is no docstring, with {} for what is filled in, and what it proposes to write."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import probtruth

PACKAGE = Path(probtruth.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
# A command stands in backticks or after a word that says that one follows; elsewhere the name is that of the package.
COMMAND = re.compile(r"(?:`|: )probtruth ([a-z-]+)([^`();]*)")
CALL = re.compile(r"(?<![\w.{])((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)\(((?:[^()]|\([^()]*\))*)\)")
KEYWORD = re.compile(r"(?<![\w.-])([a-z_][a-z_0-9]*)=(?=[\[({'\"\d.]|True|False|None|[A-Z]{2,}|\b[a-z])")


@dataclass(frozen=True)
class Text:
    """A text as the source has it."""

    content: str
    where: str
    describes: bool  # what came or what was expected, and no more

    @property
    def options(self) -> list[str]:
        return OPTION.findall(self.content)

    @property
    def commands(self) -> list[tuple[str, list[str]]]:
        """Commands, each with its options."""
        return [(name, OPTION.findall(words)) for name, words in COMMAND.findall(self.content)]

    @property
    def calls(self) -> list[tuple[str, str]]:
        """Names of functions, and their arguments."""
        return CALL.findall(self.content)

    @property
    def keywords(self) -> list[str]:
        """Arguments that stand outside a call."""
        return KEYWORD.findall(CALL.sub("", self.content))

    def matches(self, message: str) -> bool:
        """Whether a message was made of it."""
        parts = [re.escape(part) for part in self.content.split("{}")]
        return re.search("(?s:.*?)".join(parts).strip(), message) is not None


def texts() -> Iterator[Text]:
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        left_out = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                left_out |= {id(value) for value in node.values}
        described = {id(one) for node in ast.walk(tree) for part in description(node) for one in ast.walk(part)}
        for node in ast.walk(tree):
            content = None if id(node) in left_out else written(node)
            if content is not None and " " in content.strip():
                where = f"{path.relative_to(PACKAGE.parent)}, line {node.lineno}"
                yield Text(content, where, id(node) in described)


def description(node: ast.AST) -> list[ast.expr]:
    """The first two arguments of an error, or the value of a variable for one of them."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "InputError":
        return node.args[:2]
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return [node.value] if node.targets[0].id in ("problem", "got", "wanted", "expected") else []
    return []


def written(node: ast.AST) -> str | None:
    """A text, with {} for what an f-string fills in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    parts = [value.value if isinstance(value, ast.Constant) else "{}" for value in node.values]
    return "".join(map(str, parts))
