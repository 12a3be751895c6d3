"""Which tool wrote a file, by its content."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from probtruth.errors import InputError
from probtruth.io.addresses import location
from probtruth.io.formats import ANNOTATION_TOOLS, SCORE_TOOLS, refuse_others
from probtruth.io.loaders import helm, inspect_logs, json_values, lm_eval
from probtruth.io.tables.binary import SUFFIXES
from probtruth.io.tables.json_lines import strict
from probtruth.io.tables.read import has_several, read_bytes, shown, utf8

# For each of the tools whose files hold scores: what there is to compare in files.
LISTED = {"lm-eval": lm_eval.listed, "inspect": inspect_logs.listed, "helm": helm.listed}
SIGNS: dict[str, tuple[set[str], ...]] = {
    "inspect": ({"status", "eval"},),
    "helm": ({"instance_id", "stats"},),
    "lm-eval": ({"doc_id", "filtered_resps"}, {"doc_id", "doc_hash"}, {"doc_id", "metrics"}),
    "label-studio": ({"data", "annotations"}, {"annotator", "annotation_id"}, {"data", "completions"}),
    "argilla": ({"fields", "responses"},),
    "prodigy": ({"_input_hash", "answer"},),
    "chaosnli": ({"label_counter"}, {"annotator_labels"}, {"label_count"}),
}  # The keys by which a JSON object of each tool is known: any of these sets
FIRST_LINE = 1 << 24  # Bytes of JSON lines in which the first object is looked for


def format_of(path: str | Path) -> str:
    """The tool that wrote a file, or the files of a folder"""
    where = location(path)
    if has_several(where):
        return _of_folder(where) if where.is_dir() else "table"
    suffix = where.suffix.lower()
    if suffix == ".eval":
        return "inspect"
    if suffix == ".json":
        value, name = json_values.read_json(path)
        tool = _of_value(value)
        if tool is None:
            refuse_others(_keys(value), name)
            raise InputError(
                "JSON of no tool that is known",
                f"what {', '.join((*SCORE_TOOLS, *ANNOTATION_TOOLS))} write",
                "A table goes into CSV, JSONL (.jsonl) or Parquet.",
                name,
            )
        return tool
    if suffix not in (".jsonl", ".ndjson"):
        return "table"
    name = shown(path)
    line = utf8(read_bytes(path), name).lstrip()[:FIRST_LINE].split(b"\n", 1)[0]
    try:
        return _of_value(strict(line, name)) or "table"
    except InputError:
        return "table"  # the reader of tables says what is wrong with it


def _of_value(value: Any) -> str | None:
    keys = _keys(value)
    return next((tool for tool, signs in SIGNS.items() if any(sign <= keys for sign in signs)), None)


def _keys(value: Any) -> set[str]:
    first = value[0] if isinstance(value, list) and value else value
    return set(first) if isinstance(first, Mapping) else set()


def _of_folder(path: Path) -> str:
    for tool, pattern in (("lm-eval", lm_eval.PATTERNS[0]), ("helm", helm.PATTERNS[0]), ("inspect", "*.eval")):
        if next(path.rglob(pattern), None) is not None:
            return tool
    if any(format_of(file) == "inspect" for file in sorted(path.glob(inspect_logs.PATTERNS[1]))):
        return "inspect"
    if any(file.suffix.lower() in SUFFIXES for file in path.iterdir()):
        return "table"
    raise InputError(
        "a folder without logs",
        "samples_*.jsonl (lm-eval), *.eval or *.json (Inspect), or per_instance_stats.json (HELM) in it",
        "Check the path.",
        shown(path),
    )
