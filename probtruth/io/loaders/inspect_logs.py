"""Inspect (inspect_ai): `.eval` archives and `.json` logs.

Members of the zip archives that Inspect writes are read in memory: nothing is extracted, or grows beyond a bound.
"""

import io
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from probtruth.check import quote
from probtruth.errors import InputError, MissingExtraError
from probtruth.io.addresses import shown
from probtruth.io.formats import MaybeText
from probtruth.io.json_values import Record, as_list, as_name, as_object, parsed
from probtruth.io.loaders.collect import LogSample, Tool, digest, log_files, scores_by
from probtruth.io.tables.read import read_bytes
from probtruth.types import Scores
from probtruth.types.arguments import Files

LARGEST, SPARE, TIMES = 2 << 30, 64 << 20, 200  # All members may take the spare bytes, or so many times the archive's
PLAIN = (0, 8, 12, 14)  # Stored, deflate, bzip2, lzma: what every zipfile reads


class Archive:
    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.file: Any = _sound(lambda: _zipfile().ZipFile(io.BytesIO(data)), name)
        self.members = {info.filename: info for info in self.file.infolist()}
        size, most = sum(info.file_size for info in self.file.infolist()), min(LARGEST, max(SPARE, TIMES * len(data)))
        if size > most:
            raise InputError(
                f"an archive that grows from {len(data)} to {size} bytes",
                f"at most {most}",
                "Archives of logs do not grow so much; check where the file comes from.",
                name,
            )

    def read(self, member: str) -> bytes:
        where = f"{self.name}, member {quote(member)}"
        if self.members[member].compress_type not in (*PLAIN, getattr(_zipfile(), "ZIP_ZSTANDARD", None)):
            raise MissingExtraError(
                f"{where}: got a compression that is not read here, expected deflate, or zstandard and the package "
                "backports.zstd. Hint: pip install 'probtruth[inspect]', or `inspect log convert --to json`"
            )
        content: bytes = _sound(lambda: self.file.read(self.members[member]), where)
        return content

    def parsed(self, member: str) -> Any:
        return parsed(self.read(member), f"{self.name}, member {quote(member)}")


def _zipfile() -> Any:
    """The module that reads zip files, with zstandard where there is one."""
    try:
        return import_module("backports.zstd.zipfile")
    except ModuleNotFoundError:
        return import_module("zipfile")  # which knows zstandard itself from Python 3.14 on


def _sound(read: Callable[[], Any], where: str) -> Any:
    try:
        return read()
    except Exception as error:  # zip files and each compression have their own, none of them a common one
        raise InputError(
            f"a zip archive that is not sound ({error})",
            "a whole one",
            "Copy or write it again.",
            where,
        ) from None


PATTERNS = ("*.eval", "*.json")  # The names of Inspect's files
# Inspect's grades (correct, incorrect, partial, no answer) and words as numbers, as its own metrics read them.
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
TOOL = Tool(
    "the logs",
    "Leave out older runs of the task, or name the models: {'my model': path, 'other': path}.",
    "Score the log first: `inspect score`.",
    "scorer",
)

# Inspect's own scorers, which say how right an answer is.
MERITS = ("match", "includes", "pattern", "answer", "choice", "math", "model_graded_qa", "model_graded_fact")


def read_inspect(files: Files, scorer: MaybeText = None, higher_is_better: bool | None = None) -> Scores:
    r"""Scores from the logs of Inspect, `.eval` or `.json`.

    Items are samples (`TASK/id`), replicates are epochs, groups are tasks if there are several. Grades become
    numbers as in Inspect: C 1, P 0.5, I and N 0. Samples that failed or were not scored count as missing. Samples
    whose input differs are dropped for all models; `audit` counts them and what each model lacks. Those whose target or
    choices differ (choices that were shuffled) are kept and warned of.

    Arguments:
        files: a path, a folder, a list of them, or {model name: path, folder or list}. Without names the log's own
            model is the name.
        scorer: one of the scorers in the logs (needed if there are several), and `scorer.part` one part of a score of
            several.
        higher_is_better: needed for numbers under the name of no known metric. Of grades (C, P, I, N) more is better.

    Errors: `InputError` names file and sample of what cannot be used: a run that did not succeed, a damaged or hostile
    archive, a score that is no number, a sample that stands twice.

    >>> import probtruth as pt, json, pathlib, tempfile
    >>> sample = {"id": "q1", "epoch": 1, "input": "1+1?", "target": "2", "scores": {"match": {"value": "C"}}}
    >>> log = {"status": "success", "eval": {"task": "sums", "model": "mockllm/small"}, "samples": [sample]}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.json"
    >>> _ = path.write_text(json.dumps(log))
    >>> scores = pt.loaders.read_inspect(path)
    >>> scores.models, scores.items, scores.values.tolist()
    (('mockllm/small',), ('sums/q1',), [[1.0]])
    """
    return scores_by(samples(files), TOOL, scorer, higher_is_better)


def samples(files: Files) -> list[LogSample]:
    """The samples in logs, of runs that succeeded."""
    return [sample for model, path in log_files(files, PATTERNS) for sample in _of_file(model, path)]


def _of_file(model: MaybeText, path: Path) -> Iterator[LogSample]:
    name = shown(path)
    data = read_bytes(path)
    if data.startswith(b"PK"):
        header, listed = _archived(Archive(data, name))
    else:
        header = as_object(parsed(data, name), name)
        listed = header.get("samples")
    if (status := header.get("status")) != "success":
        raise InputError(
            f"a run with the status {quote(status)}",
            "'success', in a log of Inspect",
            "Finish it with `inspect eval-retry`; a broken run leaves out the items that are hard on it.",
            name,
        )
    run = header.at(as_object, "eval")
    task = run.at(as_name, "task")
    model = model or run.at(as_name, "model")
    for number, sample in enumerate(as_list(listed, f"{name}, 'samples'"), 1):
        row = as_object(sample, f"{name}, sample {number}")
        values, upward = _values(row.at(as_object, "scores", {}))
        yield LogSample(
            item=f"{task}/{row.at(as_name, 'id')}",
            model=model,
            task=task,
            where=row.where,
            replicate=row.at(as_name, "epoch", 1),
            values=values,
            upward=upward,
            content=_question(row),
            prompt=digest([row.get("target"), row.get("choices")]),
        )


def _values(scores: Record) -> tuple[dict[str, Any], dict[str, bool]]:
    """The value of each scorer, and of each part of a score of several; and those of which more is better."""
    values = {}
    upward = {}
    for scorer in scores:
        value = scores.at(as_object, scorer).get("value")
        parts = {scorer: value}
        if isinstance(value, dict):
            parts = {f"{scorer}.{part}": one for part, one in value.items()}
        for name, one in parts.items():
            grade = GRADES.get(one if len(one) == 1 else one.lower()) if isinstance(one, str) else None
            values[name] = _decimal(one) if grade is None else grade
            if scorer in MERITS or grade is not None:
                upward[name] = True
    return values, upward


def _question(row: Record) -> MaybeText:
    """What a sample asks, without the identifiers of messages, which differ from run to run."""
    words = row.get("input")
    if isinstance(words, list):
        words = [[one.get("role"), one.get("content")] if isinstance(one, dict) else one for one in words]
    return digest(words) if "input" in row else None


def _archived(log: Archive) -> tuple[Record, Any]:
    """The header of an archive, and its samples: their summaries, or else the samples themselves."""
    if "header.json" not in log.members:
        raise InputError(
            "an archive without header.json",
            "the log of a run that has ended",
            "Finish the run with `inspect eval-retry`, or check the file.",
            log.name,
        )
    header = as_object(log.parsed("header.json"), f"{log.name}, member 'header.json'")
    if "summaries.json" in log.members:
        return header, log.parsed("summaries.json")
    return header, [log.parsed(path) for path in sorted(log.members) if path.startswith("samples/")]


def _decimal(value: Any) -> Any:
    """The value, or the finite number that a text holds; None for NaN, as a sample that was not scored is marked."""
    if isinstance(value, str):
        with suppress(ValueError):
            number = float(value)
            return number if math.isfinite(number) else value
    return None if value != value else value
