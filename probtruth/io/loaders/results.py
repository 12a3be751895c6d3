"""Results of evaluations that are one object a sample: promptfoo, AlpacaEval, and the format Every Eval Ever."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.loaders.collect import Listing, LogSample, digest, listing, log_files, scores_of
from probtruth.io.loaders.json_values import Record, as_name, as_number, as_object, as_objects, read_json, read_rows
from probtruth.types import Scores, orientation
from probtruth.types.arguments import Files

PROMPTFOO = ("*.json", "*.jsonl")
ALPACA = ("annotations.json",)
EVERY_EVAL = ("*.jsonl",)
WHAT = "the results"  # The files in messages
REPEATED = "Give each run once; of a sample with several results, keep one."
SCORE = "score"  # The metric that counts in results of promptfoo, unless another is named
WIN_RATE = "win_rate"
EVALUATION = ("score", "is_correct")  # The metrics of a sample of Every Eval Ever
FAILED_CALL = 2  # promptfoo's `failureReason` where the model did not answer


def read_promptfoo(files: Files, metric: str | None = None) -> Scores:
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
    samples = _promptfoo(files)
    name = check.one_of(metric or SCORE, sorted({name for one in samples for name in one.values}), "metric")
    scored = [(one, as_number(one.values[name], one.where)) for one in samples if name in one.values]
    return scores_of(scored, name, True, REPEATED, WHAT)


def _promptfoo(files: Files) -> Sequence[LogSample]:
    samples: list[LogSample] = []
    times: Counter[tuple[str, str]] = Counter()
    first: dict[str, str] = {}  # the first test with the same content
    for model, path in log_files(files, PROMPTFOO):
        results = [*_promptfoo_results(path)]
        prompts = {_prompt(one) for one in results}
        for one in results:
            provider = one.get("provider")
            name = provider if isinstance(provider, str) else one.at(as_object, "provider")
            if isinstance(name, Record):
                name = name.get("label") or name.at(as_name, "id")
            name = as_name(model or name, one.where)
            if len(prompts) > 1:
                name = f"{name}, {_prompt(one)}"
            content = digest([one.get("vars"), one.at(as_object, "testCase", {}).get("assert")])
            item = first.setdefault(content, one.at(as_name, "testIdx", hint="Write the results with promptfoo 0.100."))
            replicate = times[name, item]
            times[name, item] += 1
            values = {**one.at(as_object, "namedScores", {}), "score": one.get("score"), "success": one.get("success")}
            if one.get("failureReason") == FAILED_CALL:
                values = {}
            known = {key: value for key, value in values.items() if value is not None}
            samples.append(
                LogSample(item=item, model=name, task="", where=one.where, replicate=str(replicate), values=known)
            )
    return samples


def _prompt(result: Record) -> str:
    prompt = result.get("prompt")
    label = prompt.get("label") or prompt.get("raw") if isinstance(prompt, dict) else prompt
    return str(label or "")[: check.LONGEST]


def _promptfoo_results(path: Path) -> Iterator[Record]:
    if path.suffix.lower() != ".json":
        yield from read_rows(path, "result")
        return
    summary = as_object(*read_json(path))
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
    return scores_of(_won(files), WIN_RATE, True, REPEATED, WHAT)


def _won(files: Files) -> Sequence[tuple[LogSample, float]]:
    """How often each model wins against the reference model; of one model, also how often that wins."""
    won: list[tuple[LogSample, float]] = []
    references: set[str] = set()
    for model, path in log_files(files, ALPACA):
        for row in read_rows(path, "record"):
            win = _win(row)
            instruction, task = row.at(as_name, "instruction"), row.at(as_name, "dataset", "all")
            references.add(row.at(as_name, "generator_1"))
            sample = LogSample(
                item=f"{task}/{digest(instruction)[:12]}",
                model=model or row.at(as_name, "generator_2"),
                task=task,
                where=row.where,
                replicate=row.at(as_name, "annotator", "judge"),
            )
            if win is not None:
                won.append((sample, win))
    if len(references) > 1:
        problem = f"several reference models: {check.shortlist(sorted(references))}"
        raise InputError(problem, "one, against which all models were judged", "Read the files of one reference.", WHAT)
    if len({sample.model for sample, _ in won}) == 1:
        (reference,) = references
        won += [(replace(sample, model=reference), 1 - win) for sample, win in won]
    return won


def _win(row: Record) -> float | None:
    """1 where the second model is preferred, 0 where the first is; None where the judge's answer was not understood."""
    preference = row.get("preference")
    if preference is None or preference != preference or preference == -1:
        return None
    number = row.at(as_number, "preference")
    if number == 0:  # a tie in the first version
        return 0.5
    if not 1 <= number <= 2:
        raise InputError(f"the preference {number:g}", "a number from 1 to 2", "Check that record.", row.where)
    return number - 1


def read_every_eval_ever(files: Files, metric: str | None = None, higher_is_better: bool | None = None) -> Scores:
    r"""Scores from samples in the format Every Eval Ever (`*_samples.jsonl`, schema of the instance level).

    Items are samples (`evaluation_name/sample_id`), groups are evaluations if there are several. Samples whose hash
    (or input) differs between models are dropped for all models and counted in `audit`; those with an error count as
    missing. The aggregate files (`eval.schema.json`) hold no samples and are not read, nor are several results of a
    sample.

    Arguments:
        files: a path, a folder, a list of them, or {model name: path}.
        metric: `score` (the default) or `is_correct`.
        higher_is_better: needed for scores other than correct or not.

    Errors: `InputError` names file and line of what cannot be used.

    >>> import probtruth as pt, json, pathlib, tempfile
    >>> sample = {"evaluation_id": "e", "evaluation_name": "quiz", "model_id": "lab/small", "sample_id": "q1"}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "1_samples.jsonl"
    >>> _ = path.write_text(json.dumps({**sample, "evaluation": {"score": 1.0, "is_correct": True}}))
    >>> scores = pt.loaders.read_every_eval_ever(path)
    >>> scores.models, scores.items, scores.values.tolist()
    (('lab/small',), ('quiz/q1',), [[1.0]])
    """
    samples = _every_eval(files)
    name = check.one_of(metric or SCORE, EVALUATION, "metric")
    found = [one for one in samples if one.values.get(name) is not None]
    scored = [(one, as_number(one.values[name], one.where)) for one in found]
    correct = all(score == one.values.get("is_correct") for one, score in scored)
    upward = True if correct and higher_is_better is None else orientation.upward(name, higher_is_better, WHAT)
    return scores_of(scored, name, upward, REPEATED, WHAT)


def _every_eval(files: Files) -> Sequence[LogSample]:
    samples: list[LogSample] = []
    for model, path in log_files(files, EVERY_EVAL):
        for row in read_rows(path, "sample"):
            task = row.at(as_name, "evaluation_name")
            evaluation = row.at(as_object, "evaluation")
            sample = LogSample(
                item=f"{task}/{row.at(as_name, 'sample_id')}",
                model=model or row.at(as_name, "model_id"),
                task=task,
                where=row.where,
                values={} if row.get("error") else {name: evaluation.get(name) for name in EVALUATION},
                content=row.get("sample_hash") or digest(row.get("input")),
            )
            samples.append(sample)
    return samples


def listed_promptfoo(files: Files) -> Listing:
    return listing(_promptfoo(files))


def listed_alpaca_eval(files: Files) -> Listing:
    won = _won(files)
    return listing((sample for sample, _ in won), lambda sample: [WIN_RATE])


def listed_every_eval_ever(files: Files) -> Listing:
    return listing(_every_eval(files))
