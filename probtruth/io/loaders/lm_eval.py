"""EleutherAI's lm-evaluation-harness: `samples_TASK_DATE.jsonl`, as `--log_samples` writes them.

Versions of 2024 wrote `samples_TASK_DATE.json`, a list in place of lines, or rows that do not name their filter; those
before 0.4.1 called the files `MODEL_ARGS_TASK.jsonl`, beside one `results.json`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from probtruth.check import MaybeStrings, did_you_mean, one_of, quote, shortlist
from probtruth.errors import InputError
from probtruth.io.addresses import shown
from probtruth.io.formats import MaybeText
from probtruth.io.json_values import Record, as_name, as_number, as_object, read_json, read_rows
from probtruth.io.loaders.collect import LogSample, Tool, log_files, scores_of
from probtruth.types import Scores, orientation
from probtruth.types.arguments import Files

# The names of the harness's files; the last is that of old versions, with `__` for the `=` and `/` of the model.
PATTERNS = ("samples_*.jsonl", "samples_*.json", "*__*.jsonl")
TASK = re.compile(r"samples_(?P<task>.+?)(_(?P<date>\d{4}-\d{2}-\d{2}T[\d.:-]+))?\.jsonl?")
# The keys of a sample that are no metrics.
OWN = {
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "doc_hash",
    "prompt_hash",
    "target_hash",
}
TOOL = Tool(
    "the samples",
    "Give one run of each task: keep the harness's file names (samples_TASK_DATE.jsonl), which tell the tasks apart, "
    "and leave out files of other dates; give models of one name names of their own: NAME=FOLDER.",
)

type ByTask = str | Mapping[str, str] | None
"""A name for all tasks, or one for each; None for each task's first."""
OTHERS = ""  # In place of the name of a task: all that are not named


def read_lm_eval_samples(
    files: Files,
    metric: ByTask = None,
    filter: ByTask = None,
    higher_is_better: bool | None = None,
    tasks: str | MaybeStrings = None,
) -> Scores:
    r"""Scores from the sample logs of the lm-evaluation-harness (`lm_eval --log_samples`).

    Items are documents (`TASK/doc_id`), groups are tasks if there are several. Documents whose
    `doc_hash` differs are dropped for all models; `audit` counts them and what each model lacks. Those whose
    `prompt_hash` differs (another template or few-shot choice) are kept and warned of. The `rule` of the scores says by
    which metric and filter each task counts.

    Arguments:
        files: {model name: file, folder or list of them}, or a folder in which each model has a folder of its own, as
            the harness writes it. Models then have the names in `results_DATE.json`.
        metric, filter: names, or {task: name}. A task without one counts by that of the task "", or else by its first
            metric and its first filter.
        higher_is_better: needed for metrics that are not known.
        tasks: the tasks to read.

    Errors: `InputError` names file and line of what cannot be used.

    >>> import probtruth as pt, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for model, marks in {"small": (0.0, 1.0), "large": (1.0, 1.0)}.items():
    ...     lines = [f'{{"doc_id": {n}, "metrics": ["acc"], "acc": {x}}}' for n, x in enumerate(marks)]
    ...     (folder / model).mkdir()
    ...     _ = (folder / model / "samples_quiz_2026-01-31T10-00-00.000000.jsonl").write_text("\n".join(lines))
    >>> scores = pt.loaders.read_lm_eval_samples(folder)
    >>> scores.models, scores.items, scores.values.tolist()
    (('large', 'small'), ('quiz/0', 'quiz/1'), [[1.0, 1.0], [0.0, 1.0]])
    """
    samples = samples_in(files, tasks)
    of_tasks = first_samples(samples)
    if isinstance(filter, str):  # for the tasks that have several
        one_of(filter, sorted({name for of_filters in of_tasks.values() for name in of_filters}), "filter")
        filter = {task: filter for task, of_filters in of_tasks.items() if len(of_filters) > 1}
    filters = _chosen("filter", filter, of_tasks)
    firsts = {task: of_filters[filters[task]] for task, of_filters in of_tasks.items()}
    metrics = _chosen("metric", metric, {task: sample.values for task, sample in firsts.items()})
    scored = []
    for one in samples:
        if one.filter == filters[one.task]:
            values = Record(one.values, one.where)
            score = values.at(as_number, metrics[one.task], hint="Choose a metric that all models have.")
            scored.append((one, score))
    upward = _upward(firsts, metrics, higher_is_better)
    return scores_of(scored, _rule(metrics, filters, of_tasks), upward, TOOL)


def first_samples(samples: Sequence[LogSample]) -> dict[str, dict[str, LogSample]]:
    """The first sample of each task under each of its filters, in the order of the files."""
    tasks: dict[str, dict[str, LogSample]] = {}
    for sample in samples:
        tasks.setdefault(sample.task, {}).setdefault(sample.filter, sample)
    return dict(sorted(tasks.items()))


def _chosen(what: str, option: ByTask, there: Mapping[str, Collection[str]]) -> dict[str, str]:
    """The filter or metric of each task: the one that is named for it, or for all, or else its first."""
    named: Mapping[str, str] = {}
    if option is not None:
        named = {OTHERS: option} if isinstance(option, str) else option
    for task in named:
        if task != OTHERS:
            one_of(task, list(there), "task")
    chosen = {}
    lacking = {}
    for task, names in there.items():
        if not names:
            raise InputError(
                f"no {what} of the task {quote(task)} that is one number",
                f"one {what}",
                "The harness computes the others over all samples at once: leave them out, tasks=[...] (command line: "
                "--task NAME).",
                TOOL.what,
            )
        first = next(iter(names))
        chosen[task] = named.get(task) or named.get(OTHERS) or first
        if chosen[task] not in names:
            lacking[task] = first
    if not lacking:
        return chosen
    task, first = next(iter(lacking.items()))
    raise InputError(
        f"no {what} {quote(chosen[task])} of the task {shortlist(lacking)}",
        f"one of {shortlist(there[task], 20)}",
        f"{did_you_mean(chosen[task], there[task])} Name one of each task, {what}={lacking} (command line: --{what} "
        f"{task}={first}), or none: then each task counts by its first.",
        TOOL.what,
    )


def by_task(words: MaybeStrings, every: MaybeText = None) -> ByTask:
    """`TASK=NAME` words as {task: name}; a name without a task is for all that are not named."""
    named = {} if every is None else {OTHERS: every}
    for word in words or ():
        task, _, name = word.rpartition("=")
        named[task or OTHERS] = name
    return named.get(OTHERS) if named.keys() <= {OTHERS} else named


def _rule(metrics: Mapping[str, str], filters: Mapping[str, str], of_tasks: Mapping[str, Collection[str]]) -> str:
    """The name of the scores: the metric or, where tasks differ, each metric with its tasks."""
    tasks: dict[str, list[str]] = {}
    for task, metric in metrics.items():
        measure = f"{metric},{filters[task]}" if len(of_tasks[task]) > 1 else metric
        tasks.setdefault(measure, []).append(task)
    if len(tasks) == 1:
        return measure
    parts = []
    for measure, of_measure in tasks.items():
        first = ", ".join(of_measure[:3])
        more = f" and {len(of_measure) - 3} more" if len(of_measure) > 3 else ""
        parts.append(f"{first}{more} by {measure}")
    return f"score ({'; '.join(parts)})"


def _upward(firsts: Mapping[str, LogSample], metrics: Mapping[str, str], stated: bool | None) -> bool:
    """Whether higher is better: as the caller says, else as the run says, else by the names of the metrics."""
    upward = {}
    for task, metric in metrics.items():
        way = firsts[task].upward.get(metric) if stated is None else stated
        upward[orientation.upward(metric, way, TOOL.what)] = f"{quote(metric)} of {quote(task)}"
    if len(upward) > 1:
        raise InputError(
            f"{upward[True]}, of which more is better, and {upward[False]}, of which less is",
            "metrics that count the same way",
            "Choose tasks (tasks=[...]; command line: --task NAME) or other metrics (metric={task: name}; --metric "
            "TASK=NAME).",
            TOOL.what,
        )
    return next(iter(upward))


def samples_in(files: Files, tasks: str | MaybeStrings = None) -> list[LogSample]:
    """The samples of the tasks that are wanted (None: of all) in the files."""
    samples = []
    run_of = cache(_run)
    for given, path in log_files(files, PATTERNS):
        match = TASK.fullmatch(path.name)
        known, run = run_of(path.parent, (match["date"] or "") if match else "")
        tasks_of_run = run.at(as_object, "results", {})  # old versions: the one that ends the name of the file
        ends = [task for task in tasks_of_run if path.stem.endswith(f"_{task}")]
        task = match["task"] if match else max(ends, key=len, default="")
        model = given or known or path.resolve().parent.name
        if not model.isprintable() or not model.strip():
            raise InputError(
                "files without models",
                "{model name: file}",
                "Name the models.",
                shown(path),
            )
        upward = run.at(as_object, "higher_is_better", {}).at(as_object, task, {})
        answers: dict[str, list[object]] = {}
        for row in read_rows(path, "sample"):
            item = row.at(as_name, "doc_id", hint="Give samples_*.jsonl of `lm_eval --log_samples`.")
            hashes = {name: str(row[name]) for name in ("doc_hash", "prompt_hash") if row.get(name) is not None}
            sample = LogSample(
                item=f"{task}/{item}" if task else item,
                model=model,
                task=task,
                where=row.where,
                row=row,
                values=_numbers(row),
                content=hashes.get("doc_hash"),
                prompt=hashes.get("prompt_hash"),
                filter=_filter(row, answers.setdefault(item, [])),
                upward=upward,
            )
            samples.append(sample)
    if not samples:
        raise InputError(
            "empty files",
            "at least one sample",
            "Check that the run was finished.",
            TOOL.what,
        )
    if tasks is None:
        return samples
    names = sorted({sample.task for sample in samples})
    chosen = {one_of(task, names, "task") for task in ([tasks] if isinstance(tasks, str) else tasks)}
    return [sample for sample in samples if sample.task in chosen]


def _numbers(row: Record) -> dict[str, Any]:
    """The metrics that are one number, in the harness's order."""
    listed = row.get("metrics")
    found = {}
    for key in (*(listed if isinstance(listed, list) else ()), *row):
        if isinstance(key, str) and key not in OWN and isinstance(row.get(key), (int, float)):
            found[key] = row[key]
    return found


def _filter(row: Record, earlier: list[object]) -> str:
    """The filter of a row; versions that do not name filters write the same answer again for each of them."""
    if row.get("filter") is not None:
        return row.at(as_name, "filter")
    answer = row.get("resps")
    again = answer is not None and answer in earlier[:1]
    earlier.append(answer)
    return f"filter {len(earlier)}" if again else "none"


def _run(folder: Path, date: str) -> tuple[str, Record]:
    """The model, and the results of this date, or all of a folder if they name one model."""
    dated = sorted(folder.glob(f"results_{date}.json")) if date else []
    files = dated or sorted(folder.glob("results*.json"))
    runs = []
    models = set()
    for file in files:
        run = as_object(*read_json(file))
        runs.append(run)
        models.add(_model_of(run))
    if len(models) == 1 or dated:
        return models.pop(), runs[0]
    return "", Record({}, str(folder))


def _model_of(run: Record) -> str:
    """The name of the model; in old versions it is one of the arguments of the model."""
    arguments = run.at(as_object, "config", {}).get("model_args")
    if "model_name" in run or not isinstance(arguments, str):
        return str(run.get("model_name") or "")
    match = re.search(r"(?:^|,)(?:pretrained|model)=([^,]+)", arguments)
    return match[1] if match else arguments
