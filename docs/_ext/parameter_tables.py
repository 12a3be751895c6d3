"""The table of a function's parameters, or of a dataclass's fields: name, type, default, and what its docstring says.

A docstring is made of clauses; one that begins with the name of a parameter (in backticks) says what it means.
"""

import dataclasses
import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, TypeAliasType, Union, get_args, get_origin

from sphinx.util.typing import stringify_annotation

_NAME = r"\*{0,2}`\*{0,2}(\w+)[^`]*`(?: \([^()]*\))?"
_NAMES = re.compile(rf"{_NAME}(?:(?:, and |, or |, | and | or ){_NAME})*")
_ARGUMENTS = re.compile(r"Arguments( and errors)?: ")
_VERB = re.compile(r"^,? ?(?:is|are)\b ?")
_MODULES = re.compile(r"~?\b(?:[a-z_]\w*\.)+(?=\w)")
_ARRAY = re.compile(r"\b(\w+)\[(?:Array|ndarray), '([^']*)'\]")

COMMON = {
    "annotations": "labels by annotators, as `read_annotations` or `Annotations.from_long` makes them",
    "ax": "the axes to draw on; new ones by default",
    "cluster": "the column of clusters",
    "counts": "the number of votes for each item (row) and label (column)",
    "draws": "the number of draws",
    "estimand": "as in `infer_truth`",
    "floor": "as in `score`",
    "frame": "a dataframe, or a dict of columns",
    "group": "the column of groups",
    "higher_is_better": "whether a higher score is better",
    "index": "the names to align with, such as `annotations.index`",
    "item": "the column of items",
    "items": "the names of the rows, in their order",
    "labels": "the names of the labels, in the order of the columns",
    "least": "the smallest number that counts",
    "log_probs": "natural logarithms of the probabilities; the last axis is the label",
    "logits": "any real numbers; the last axis is the label",
    "model": "the column of models",
    "n_labels": "the number of labels",
    "order": "the labels from low to high",
    "path": "the file",
    "power": "the power of the mean",
    "predicted": "{model: one label for each item}",
    "predictions": "the models' probabilities, as `read_predictions` or `Predictions.from_probs` makes them",
    "probs": "probabilities; the last axis is the label",
    "replicate": "the column of replicates",
    "result": "what `evaluate` returned",
    "rope": "the largest difference that does not matter",
    "rule": "as in `score`",
    "score": "the column of scores",
    "scores": "what `score` returned or `Scores.from_frame` made",
    "seed": "of everything random: the same seed gives the same numbers",
    "source": "what error messages call the table",
    "truth": "the reference, as `infer_truth` or `Truth.from_probs` makes it",
    "weights": "of the items; all equal by default",
}
"""What a parameter means where a docstring does not say it, because it means the same everywhere."""

REQUIRED = "required"
LONGEST_CHOICE = 60
"""Characters of a choice between values that is spelt out; a longer one goes by its name."""
_UNIONS = (Union, UnionType)


@dataclass(frozen=True)
class Row:
    """One parameter or field; an empty text where there is none."""

    name: str
    type: str
    default: str
    meaning: str


def clauses(text: str, ends: str = ".;") -> list[str]:
    """The clauses of a paragraph, split at its full stops and semicolons outside of brackets, quotes and code."""
    parts, depth, quoted, start = [], 0, "", 0
    for i, sign in enumerate(text):
        if quoted:
            quoted = "" if sign == quoted else quoted
        elif sign in '`"':
            quoted = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign in ends and depth == 0 and text[i + 1 : i + 2] in ("", " "):
            parts.append(text[start:i].strip())
            start = i + 1
    return [part for part in [*parts, text[start:].strip()] if part]


def meanings(paragraphs: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """What the paragraphs say of each name, the first word first; a clause without a name continues the last one.

    A clause that begins with a name is about it. A name with which no clause begins gets the clause that mentions it.
    """
    begun: dict[str, str] = {}
    mentioned: dict[str, str] = {}
    for paragraph in paragraphs:
        current: list[str] = []
        for clause in clauses(paragraph):
            start = _NAMES.match(clause)
            leading = [name for name in re.findall(r"`\*{0,2}(\w+)", start[0]) if name in names] if start else []
            if start and leading:
                current = [name for name in leading if name not in begun]
                bare = len(leading) == 1 and not start[0].endswith(")") and clause[start.end() : start.end() + 1] == " "
                begun.update(dict.fromkeys(current, _VERB.sub("", clause[start.end() :]).strip() if bare else clause))
            else:
                for name in current:
                    begun[name] += f". {clause[:1].upper()}{clause[1:]}"
            for name in names:
                if re.search(rf"`\*{{0,2}}{name}\b", clause):
                    mentioned.setdefault(name, clause)
    return {**COMMON, **mentioned, **begun}


def type_of(annotation: Any) -> str:
    """A type as a reader writes it: names without their modules, arrays with their axes, few choices spelt out."""
    if annotation is inspect.Parameter.empty:
        return ""
    if isinstance(annotation, TypeAliasType) and get_origin(annotation.__value__) in (Literal, *_UNIONS):
        short = type_of(annotation.__value__)
        return short if len(short) <= LONGEST_CHOICE else annotation.__name__
    if get_origin(annotation) is Literal:
        return " | ".join(map(repr, get_args(annotation)))
    parts = get_args(annotation) if get_origin(annotation) in _UNIONS else ()
    if any(isinstance(part, TypeAliasType) or get_origin(part) is Literal for part in parts):
        return " | ".join("None" if part is type(None) else type_of(part) for part in parts)
    text = annotation if isinstance(annotation, str) else stringify_annotation(annotation, "fully-qualified")
    text = _MODULES.sub("", text.replace("'polars.", "'").replace('"polars.', '"'))
    arrays = list(_ARRAY.finditer(text))
    if arrays:
        axes = arrays[0][2].replace("*#", "...").replace("*", "...").strip()
        return f"{arrays[0][1]} array ({axes})" + (" | None" if "None" in text else "")
    return text.replace("Optional[", "None | [").strip("'\"")


def default_of(parameter: inspect.Parameter) -> str:
    """The default as it is written."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return ""
    if parameter.default is parameter.empty:
        return REQUIRED
    value = parameter.default
    return getattr(value, "__name__", None) or repr(value)


def parameters_of(function: Any) -> list[inspect.Parameter]:
    """The parameters that a caller passes."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return []
    return [one for one in signature.parameters.values() if one.name not in ("self", "cls")]


def prose_of(thing: Any) -> list[str]:
    """The paragraphs of a docstring that may be about arguments, each on one line: those named so come first."""
    paragraphs = [" ".join(one.split()) for one in (inspect.getdoc(thing) or "").split("\n\n")]
    named = [one.partition(":")[2].strip() for one in paragraphs if _ARGUMENTS.match(one)]
    plain = [one for one in paragraphs if not re.match(r">>> |[A-Z][a-z]+( and errors)?: ", one)]
    formulas = [one.partition(":")[2].strip() for one in paragraphs if one.startswith("Formula: ")]
    return named + plain + formulas


def without_arguments(lines: Sequence[str], names: Sequence[str]) -> tuple[list[str], int]:
    """A docstring without the paragraphs that its table repeats, and the line before which the table belongs."""
    blocks = [one.split("\n") for one in "\n".join(lines).split("\n\n")]
    kept, place = [], None
    for i, block in enumerate(blocks):
        text = block[0].strip()
        start = _NAMES.match(text)
        argument = _ARGUMENTS.match(text) or (i > 0 and start and re.findall(r"`\*{0,2}(\w+)", start[0])[0] in names)
        if place is None and (_ARGUMENTS.match(text) or re.match(r">>> |(Returns|Errors|Source|Example): ?", text)):
            place = len(kept)
        if not argument:
            kept += [*block, ""]
    return kept, len(kept) if place is None else place


def of_function(function: Any) -> list[Row]:
    """The rows of a function's or a method's table."""
    parameters = parameters_of(function)
    said = meanings(prose_of(function), [one.name for one in parameters])
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [
        Row(stars.get(one.kind, "") + one.name, type_of(one.annotation), default_of(one), said.get(one.name, ""))
        for one in parameters
    ]


def of_fields(owner: Any) -> list[Row]:
    """The rows of a dataclass's table: its public fields; none for what is no dataclass."""
    if not dataclasses.is_dataclass(owner):
        return []
    fields = [field for field in dataclasses.fields(owner) if not field.name.startswith("_")]
    said = meanings(prose_of(owner), [field.name for field in fields])
    return [Row(field.name, type_of(field.type), "", said.get(field.name, "")) for field in fields]


def as_markup(rows: Sequence[Row], inline: Any) -> list[str]:
    """A table in reStructuredText; `inline` turns a docstring's text into it. A column that is empty is left out."""
    head = Row("name", "type", "default", "meaning")
    shown = [one for one in ("name", "type", "default", "meaning") if any(getattr(row, one) for row in rows)]
    lines = [".. list-table::", "   :header-rows: 1", "   :class: parameters", ""]
    for row in [head, *rows]:
        for i, column in enumerate(shown):
            text = getattr(row, column)
            plain = row is head or column == "meaning" or text == REQUIRED
            cell = inline(text) if plain else f"``{text}``" if text else ""
            lines.append(f"   {'* -' if i == 0 else '  -'} {cell}")
    return [*lines, ""]
