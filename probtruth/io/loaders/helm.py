"""HELM (crfm-helm): `per_instance_stats.json` of each run."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from probtruth import check
from probtruth.errors import InputError
from probtruth.io.loaders import collect, json_values
from probtruth.io.loaders.collect import Entry, digest
from probtruth.io.loaders.files import log_files
from probtruth.io.loaders.listing import Listing, listing
from probtruth.io.tables.read import read_bytes, shown, utf8
from probtruth.types import Scores, orientation
from probtruth.types.arguments import Files

PATTERNS = ("per_instance_stats.json",)
"""The name of HELM's files."""
MODEL = re.compile(r"(?<=[:,])model(_deployment)?=[^,]*,?")
REPEATED = "Give each run once; HELM keeps one folder for each run of a suite."


@check.checks_itself
def read_helm(
    files: Files, metric: str | None = None, perturbation: str | None = None, higher_is_better: bool | None = None
) -> Scores:
    r"""Scores from HELM's statistics of each instance.

    Items are instances (`RUN/instance_id`, the run's name without its model), replicates are HELM's training trials,
    groups are runs where there are several. Where `instances.json` lies beside a file, instances whose input differs
    between models are dropped for all models and counted in `audit`, as are those that some model lacks.

    Arguments: `files` is a folder (`benchmark_output/runs/SUITE`), a file, a list of them, or {model name: file, folder
    or list}; without names the model is that of `run_spec.json` beside the file, or of the folder's name. `metric` is
    one of the statistics in the files (needed where there are several); `perturbation` the name of one, where the
    instances were perturbed (left out: the instances as they are); `higher_is_better` must be said for metrics that
    are not known.

    Errors: `InputError` names file and instance of what cannot be used.

    >>> import probtruth as pt, json, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "quiz:subject=birds,model=small"
    >>> folder.mkdir()
    >>> stat = {"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1.0, "mean": 1.0}
    >>> _ = (folder / "per_instance_stats.json").write_text(
    ...     json.dumps([{"instance_id": "id1", "train_trial_index": 0, "stats": [stat]}]))
    >>> scores = pt.loaders.read_helm(folder)
    >>> scores.models, scores.items, (-scores.values).tolist()
    (('small',), ('quiz:subject=birds/id1',), [[1.0]])
    """
    found = [one for model, path in log_files(files, PATTERNS) for one in _of_file(model, path, perturbation)]
    name = _metric([stats for _, stats in found], metric)
    entries = []
    for place, stats in found:
        value = stats.get(name)
        if value is not None:
            item, model, group, trial, where, content = place
            entries.append(Entry(item, model, value, group, trial, where, content))
    upward = orientation.upward(name, higher_is_better, "the statistics")
    return collect.scores(entries, name, upward, REPEATED, "the statistics")


def listed(files: object) -> Listing:
    """What there is to compare: models, runs and the statistics that were counted."""
    found = [one for model, path in log_files(files, PATTERNS) for one in _of_file(model, path, None)]
    return listing(
        (model, group, item, (name for name, value in stats.items() if value is not None), None)
        for (item, model, group, *_), stats in found
    )


Place = tuple[str, str, str, str, str, str | None]


def _of_file(model: str | None, path: Path, wanted: str | None) -> Iterator[tuple[Place, dict[str, float | None]]]:
    """Every instance of a file: where it belongs, and its statistics."""
    name = shown(path)
    rows = json_values.a_list(json_values.parse(utf8(read_bytes(path), name), name), name)
    run = path.resolve().parent.name
    own = model or _model(path, run)
    group = MODEL.sub("", run).rstrip(",:") if "model=" in run else ""
    content = _inputs(path.with_name("instances.json"))
    for number, row in enumerate(rows, 1):
        where = f"{name}, instance {number}"
        record = json_values.an_object(row, where)
        if _perturbed(record.get("perturbation"), where) != wanted:
            continue
        item = json_values.name(json_values.need(record, "instance_id", where), where, "instance_id")
        trial = json_values.name(record.get("train_trial_index", 0), where, "train_trial_index")
        stats = json_values.a_list(json_values.need(record, "stats", where), where, "stats")
        place = (f"{group}/{item}" if group else item, own, group, trial, where, content.get(item))
        yield place, _stats(stats, where)


def _perturbed(given: Any, where: str) -> str | None:
    if given is None:
        return None
    row = json_values.an_object(given, where, "perturbation")
    return json_values.name(json_values.need(row, "name", where), where, "perturbation")


def _stats(rows: list[Any], where: str) -> dict[str, float | None]:
    """The means of an instance's statistics; None where nothing was counted."""
    made: dict[str, float | None] = {}
    for row in rows:
        stat = json_values.an_object(row, where, "stats")
        key = json_values.an_object(json_values.need(stat, "name", where), where, "name")
        name = json_values.name(json_values.need(key, "name", where), where, "name")
        if name in made:
            raise InputError(
                f"the statistic {check.quote(name)} twice", "every statistic once", "Check the run.", where
            )
        made[name] = json_values.number(stat["mean"], where, name) if stat.get("mean") is not None else None
    return made


def _model(path: Path, run: str) -> str:
    """The model of a run: what its specification says, or the name of its folder."""
    spec = path.with_name("run_spec.json")
    if spec.is_file():
        name = shown(spec)
        whole = json_values.an_object(json_values.parse(utf8(read_bytes(spec), name), name), name)
        adapter = json_values.an_object(json_values.need(whole, "adapter_spec", name), name, "adapter_spec")
        return json_values.name(json_values.need(adapter, "model", name), name, "model")
    found = re.search(r"(?<=[:,])model=([^,]+)", run)
    if found is None:
        raise InputError(
            "statistics without run_spec.json beside them",
            "to know the model",
            "Write {'my model': path}.",
            shown(path),
        )
    return json_values.name(found[1], shown(path), "model")


def _inputs(path: Path) -> dict[str, str]:
    """Digests of the instances' inputs, where the run keeps them."""
    if not path.is_file():
        return {}
    name = shown(path)
    rows = json_values.a_list(json_values.parse(utf8(read_bytes(path), name), name), name)
    made = {}
    for number, row in enumerate(rows, 1):
        instance = json_values.an_object(row, f"{name}, instance {number}")
        if instance.get("perturbation") is None and isinstance(instance.get("id"), (str, int)):
            made[str(instance["id"])] = digest([instance.get("input"), instance.get("references")])
    return made


def _metric(stats: list[dict[str, float | None]], wanted: str | None) -> str:
    found = sorted({name for one in stats for name, value in one.items() if value is not None})
    if not stats:
        raise InputError(
            "no instance", "at least one", "Check `perturbation`, and that the run ended.", "the statistics"
        )
    if wanted is not None:
        return check.one_of(wanted, found or ["none at all"], "metric")
    if len(found) != 1:
        raise InputError(
            f"several metrics: {check.shortlist(found, 20)}" if found else "no statistic that was counted",
            "one metric",
            check.choose("metric", found[0], "--score") if found else "Check that the run ended.",
            "the statistics",
        )
    return found[0]
