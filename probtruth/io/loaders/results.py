"""Results of evaluations that are one object a sample: promptfoo, AlpacaEval, and the format Every Eval Ever."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from probtruth import check
from probtruth.check import MaybeNumber, shortlist
from probtruth.errors import InputError
from probtruth.io.formats import MaybeText
from probtruth.io.json_values import Record, as_name, as_number, as_object, as_objects, read_object, read_rows
from probtruth.io.loaders.collect import LogSample, Tool, digest, log_files, scores_by
from probtruth.types import Scores
from probtruth.types.arguments import Files

PROMPTFOO = ("*.json", "*.jsonl")
ALPACA = ("annotations.json",)
EVERY_EVAL = ("*.jsonl",)
TOOL = Tool("the results", "Give each run once.")
SCORE = "score"  # The metric that counts in results of promptfoo, unless another is named
WIN_RATE = "win_rate"
CORRECT = "is_correct"
FAILED_CALL = 2  # promptfoo's `failureReason` where the model did not answer


def read_promptfoo(files: Files, metric: MaybeText = None) -> Scores:
    r"""Scores from the results of promptfoo (`promptfoo eval --output results.json`, or `.jsonl`).

    Models are providers, with the prompt's label where a file has several prompts; items are tests, and tests with the
    same variables and assertions are replicates. Calls that failed count as missing. Outputs, costs and latencies are
    not read.

    Arguments:
        files: a path, a folder, a list of them, or {model name: path}.
        metric: `score` (the default), `success`, or one of the named scores. More is better for all of them.

    Errors: `InputError` names file and result of what cannot be used.

    >>> import probtruth as pt, json, pathlib, tempfile
    >>> result = {"provider": {"id": "small"}, "testIdx": 0, "vars": {"q": "1+1"}, "success": True, "score": 1}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "results.json"
    >>> _ = path.write_text(json.dumps({"results": {"version": 3, "results": [result]}}))
    >>> scores = pt.loaders.read_promptfoo(path)
    >>> scores.models, scores.items, scores.values.tolist()
    (('small',), ('0',), [[1.0]])
    """
    return scores_by(promptfoo(files), TOOL, metric or SCORE, True)


def promptfoo(files: Files) -> list[LogSample]:
    """The results in files, those with one content as replicates of one item."""
    samples = []
    times: Counter[tuple[str, str]] = Counter()
    first: dict[str, str] = {}  # the first test with the same content
    for given, path in log_files(files, PROMPTFOO):
        results = [*_promptfoo_results(path)]
        several = len({_prompt(one) for one in results}) > 1
        for one in results:
            model = given or _provider(one)
            if several:
                model = f"{model}, {_prompt(one)}"
            content = digest([one.get("vars"), one.at(as_object, "testCase", {}).get("assert")])
            item = first.setdefault(content, one.at(as_name, "testIdx", hint="Write the results with promptfoo 0.100."))
            values = {**one.at(as_object, "namedScores", {}), SCORE: one.get(SCORE), "success": one.get("success")}
            failed = one.get("failureReason") == FAILED_CALL
            sample = LogSample(
                item=item,
                model=model,
                task="",
                where=one.where,
                replicate=str(times[model, item]),
                values={} if failed else values,
            )
            samples.append(sample)
            times[model, item] += 1
    return samples


def _provider(result: Record) -> str:
    provider = result.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return as_name(provider, f"{result.where}, 'provider'")


def _prompt(result: Record) -> str:
    prompt = result.get("prompt")
    label = prompt.get("label") or prompt.get("raw") if isinstance(prompt, dict) else prompt
    return str(label or "")[: check.LONGEST]


def _promptfoo_results(path: Path) -> Iterator[Record]:
    if path.suffix.lower() != ".json":
        yield from read_rows(path, "result")
        return
    summary = read_object(path)
    while isinstance(summary.get("results"), dict):  # of the file, and of the evaluation in it
        summary = summary.at(as_object, "results")
    yield from summary.at(as_objects, "results")


def read_alpaca_eval(files: Files) -> Scores:
    r"""Scores from the annotations of AlpacaEval: how often a model wins against the reference model.

    The score is the preference less 1: 1 where the model wins, 0.5 for a tie. Items are instructions, groups their
    data sets if there are several. Of one model alone, the reference model is the other one. Length-controlled win
    rates are not read: a model of the lengths makes them.

    Arguments:
        files: `annotations.json`, a folder, a list of them, or {model name: path}.

    Errors: `InputError` names file and record of what cannot be used, such as models with different references.

    >>> import probtruth as pt, json, pathlib, tempfile
    >>> record = {"instruction": "Sing.", "generator_1": "base", "generator_2": "ours", "preference": 2}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "annotations.json"
    >>> _ = path.write_text(json.dumps([record]))
    >>> scores = pt.loaders.read_alpaca_eval(path)
    >>> scores.models, scores.values.tolist()
    (('ours', 'base'), [[1.0], [0.0]])
    """
    return scores_by(alpaca_eval(files), TOOL, WIN_RATE, True)


def alpaca_eval(files: Files) -> list[LogSample]:
    """How often each model wins against the reference model; of one model, also how often that wins."""
    samples = []
    references = set()
    for model, path in log_files(files, ALPACA):
        for row in read_rows(path, "record"):
            instruction = row.at(as_name, "instruction")
            task = row.at(as_name, "dataset", "all")
            references.add(row.at(as_name, "generator_1"))
            sample = LogSample(
                item=f"{task}/{digest(instruction)[:12]}",
                model=model or row.at(as_name, "generator_2"),
                task=task,
                where=row.where,
                replicate=row.at(as_name, "annotator", "judge"),
                values={WIN_RATE: _win(row)},
            )
            samples.append(sample)
    if len(references) > 1:
        raise InputError(
            f"several reference models: {shortlist(sorted(references))}",
            "one, against which all models were judged",
            "Read the files of one reference.",
            TOOL.what,
        )
    if len({sample.model for sample in samples}) == 1:
        (reference,) = references
        for sample in samples.copy():
            win = sample.values[WIN_RATE]
            values = {WIN_RATE: None if win is None else 1 - win}
            samples.append(replace(sample, model=reference, values=values))
    return samples


def _win(row: Record) -> MaybeNumber:
    """1 where the second model is preferred, 0 where the first is; None where the judge's answer was not understood."""
    preference = row.get("preference")
    if preference is None or preference != preference or preference == -1:
        return None
    number = row.at(as_number, "preference")
    if number == 0:  # a tie in the first version
        return 0.5
    if not 1 <= number <= 2:
        raise InputError(
            f"the preference {number:g}",
            "a number from 1 to 2",
            "Check that record.",
            row.where,
        )
    return number - 1


def read_every_eval_ever(files: Files, metric: MaybeText = None, higher_is_better: bool | None = None) -> Scores:
    r"""Scores from samples in the format Every Eval Ever (`*_samples.jsonl`, schema of the instance level).

    Items are samples (`evaluation_name/sample_id`), groups are evaluations if there are several. Samples whose hash
    (or input) differs between models are dropped for all models and counted in `audit`; those with an error count as
    missing. The aggregate beside them (`NAME.json` of `NAME_samples.jsonl`) says what several results of a sample are
    called, and which way a metric counts.

    Arguments:
        files: a path, a folder, a list of them, or {model name: path}.
        metric: `score` (the default), `is_correct` or, of samples with several results, the name of one.
        higher_is_better: needed for scores other than correct or not of which the aggregate does not say it.

    Errors: `InputError` names file and line of what cannot be used.

    >>> import probtruth as pt, json, pathlib, tempfile
    >>> sample = {"evaluation_id": "e", "evaluation_name": "quiz", "model_id": "lab/small", "sample_id": "q1"}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "1_samples.jsonl"
    >>> _ = path.write_text(json.dumps({**sample, "evaluation": {"score": 1.0, "is_correct": True}}))
    >>> scores = pt.loaders.read_every_eval_ever(path)
    >>> scores.models, scores.items, scores.values.tolist()
    (('lab/small',), ('quiz/q1',), [[1.0]])
    """
    return scores_by(every_eval_ever(files), TOOL, metric, higher_is_better, SCORE)


def every_eval_ever(files: Files) -> list[LogSample]:
    """The samples in files; several results of a sample are its scores by the names of their metrics."""
    samples = []
    for given, path in log_files(files, EVERY_EVAL):
        of_results = _aggregate(path)
        rows = [*read_rows(path, "sample")]
        keys = []
        for row in rows:
            item = f"{row.at(as_name, 'evaluation_name')}/{row.at(as_name, 'sample_id')}"
            keys.append((given or row.at(as_name, "model_id"), item))
        several = len(set(keys)) < len(keys)
        found: dict[tuple[str, str], LogSample] = {}
        for (model, item), row in zip(keys, rows, strict=True):
            evaluation = row.at(as_object, "evaluation")
            result = str(row.get("evaluation_result_id"))
            task = row.at(as_name, "evaluation_name")
            about = of_results.get(result) or of_results.get(task, Record({}, row.where))
            values = {SCORE: evaluation.get(SCORE), CORRECT: evaluation.get(CORRECT)}
            if several:
                values = {str(about.get("metric_name") or result): evaluation.get(SCORE)}
            lower = about.get("lower_is_better")
            upward = {}
            if isinstance(lower, bool):
                upward = dict.fromkeys(values, not lower)
            elif evaluation.get(SCORE) == evaluation.get(CORRECT):  # a score that says no more than right or wrong
                upward[SCORE] = True
            upward[CORRECT] = True
            sample = LogSample(
                item=item,
                model=model,
                task=task,
                where=row.where,
                values={} if row.get("error") else values,
                upward=upward,
                content=digest(row.get("sample_hash") or row.get("input")),
            )
            first = found.setdefault((model, item), sample)
            if first is sample or not first.values.keys().isdisjoint(values):
                samples.append(sample)
            else:
                first.values.update(sample.values)
                first.upward.update(sample.upward)
    return samples


def _aggregate(path: Path) -> dict[str, Record]:
    """What the aggregate beside samples says of each metric, by the id of its result and the name of its evaluation."""
    file = path.with_name(path.name.replace("_samples.jsonl", ".json"))
    found = {}
    if file != path and file.is_file():
        for result in read_object(file).at(as_objects, "evaluation_results", []):
            about = result.at(as_object, "metric_config", {})
            for key in ("evaluation_name", "evaluation_result_id"):
                found[str(result.get(key))] = about
    return found
