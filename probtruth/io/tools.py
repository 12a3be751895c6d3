"""The tool that wrote a file or the files of a folder, by the keys of the first object in it."""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from probtruth.errors import InputError
from probtruth.io.addresses import BINARIES, location, matching, shown
from probtruth.io.formats import TOOLS, MaybeText
from probtruth.io.json_values import first_object, parsed
from probtruth.io.tables.read import BOM, guarded, read_bytes
from probtruth.types.arguments import StrPath

AGGREGATE = {"evaluation_results", "higher_is_better"}  # Keys of results without samples: Every Eval Ever's, lm-eval's
JSON = (".json", ".jsonl", ".ndjson")
NAMES = {
    "per_instance_stats.json": "helm",
    "*.eval": "inspect",
    "samples_*.jsonl": "lm-eval",
    "samples_*.json": "lm-eval",
    "*__*.jsonl": "lm-eval",
}  # Names of files in a folder that say which tool wrote them, whatever their first object has
LINES = re.compile(rb"\}\s*\n\s*\{")  # Between two objects, one a line
MOST_LOOKED_AT = 20  # How many files of each kind in a folder are looked at
# The keys by which a JSON object of each tool is known.
SIGNS = """
inspect: status eval
helm: instance_id stats
lm-eval: doc_id filtered_resps
lm-eval: doc_id doc_hash
lm-eval: doc_id metrics
label-studio: data annotations
argilla: fields responses
prodigy: _input_hash answer
chaosnli: label_counter
chaosnli: annotator_labels
chaosnli: label_count
promptfoo: promptIdx testIdx
alpaca-eval: generator_1 generator_2 preference
every-eval-ever: evaluation_id sample_id evaluation
potato: id label_annotations
labelbox: data_row projects
lewidi: annotators annotations
""".strip()


def tool_of(path: StrPath) -> MaybeText:
    """The tool that wrote a file, or the files of a folder; None where it may be a table."""
    where = location(path)
    suffix = where.suffix.lower()
    if guarded(where, where.is_dir):
        return _of_folder(where)
    if matching(where) is not None:
        return None
    if suffix == ".eval":
        return "inspect"
    if suffix not in JSON:
        return None
    value = first_object(where)
    if isinstance(value, Mapping) and isinstance(value.get("spec"), Mapping):
        raise InputError(
            "a log of OpenAI Evals",
            f"a table, or what {', '.join(TOOLS)} write",
            "Write a table with a row for each of its events that has a score: sample_id as item, and correct or the "
            "metric as score; then give a table for each model.",
            shown(path),
        )
    tool = _of_value(value)
    if tool is not None or suffix != ".json":
        return tool
    if isinstance(value, Mapping) and not AGGREGATE.isdisjoint(value):
        raise InputError(
            "the results of a whole evaluation",
            "scores of its samples",
            "Give the file of its samples: *_samples.jsonl, or samples_*.jsonl.",
            shown(path),
        )
    if value is None:
        parsed(read_bytes(where), shown(path))  # says what is wrong with it
    data = read_bytes(where).removeprefix(BOM).lstrip()
    if not isinstance(value, Mapping) or not (data.startswith(b"[") or LINES.search(data)):
        raise InputError(
            "JSON of no tool that is known",
            f"what {', '.join(TOOLS)} write",
            "A table goes into CSV, JSONL (.jsonl), a list of objects (.json; in pandas, "
            "pandas.DataFrame.to_json(path, orient='records')) or Parquet.",
            shown(path),
        )
    return None


def _of_value(value: Any) -> MaybeText:
    """The tool that wrote an object, or the objects in it."""
    if not isinstance(value, Mapping):
        return None
    keys = set(value)
    for line in SIGNS.splitlines():
        tool, _, sign = line.partition(": ")
        if keys.issuperset(sign.split()):
            return tool
    if "id" in keys and keys & {"text", "data"} and isinstance(value.get("label"), list):
        return "doccano"
    inner = value.get("results")
    if isinstance(inner, Mapping):  # promptfoo's summary of an evaluation
        inner = inner.get("results")
    if isinstance(inner, list) and inner:
        return _of_value(inner[0])
    first = next(iter(value.values()), None)  # of LeWiDi's object of items
    return "lewidi" if isinstance(first, Mapping) and {"annotators", "annotations"} <= set(first) else None


def _of_folder(folder: Path) -> MaybeText:
    for pattern, tool in NAMES.items():
        if next(folder.rglob(pattern), None) is not None:
            return tool
    for pattern in ("*.eval", "*.json", "*.jsonl"):
        for file in sorted(folder.rglob(pattern))[:MOST_LOOKED_AT]:
            with suppress(InputError):
                found = tool_of(file)
                if found is not None:
                    return found
    if any(file.suffix.lower() in BINARIES for file in folder.iterdir()):
        return None
    raise InputError(
        "a folder without logs",
        "samples_*.jsonl (lm-eval), *.eval (Inspect), per_instance_stats.json (HELM), or what another tool writes",
        "Check the path; tables in a folder are named by a pattern, such as 'folder/*.csv'.",
        shown(folder),
    )
