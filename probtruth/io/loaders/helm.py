"""HELM (crfm-helm): `per_instance_stats.json` of each run."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from probtruth import check
from probtruth.check import MaybeStrings, one_of, quote, shortlist
from probtruth.errors import InputError
from probtruth.io.addresses import shown
from probtruth.io.formats import MaybeText
from probtruth.io.json_values import Record, as_name, as_object, as_objects, read_object, read_rows
from probtruth.io.loaders.collect import LogSample, Tool, digest, log_files, scores_by
from probtruth.types import Scores
from probtruth.types.arguments import Files

PATTERNS = ("per_instance_stats.json",)  # The name of HELM's files
MODEL = re.compile(r"(?<=[:,])model(_deployment)?=[^,]*,?")
TEST = "test"  # The split that counts where there are several
TOOL = Tool(
    "the statistics",
    "Give each run once; HELM keeps one folder for each run of a suite.",
    "Check `perturbation`, and that the run ended.",
)


def read_helm(
    files: Files,
    metric: MaybeText = None,
    perturbation: MaybeText = None,
    higher_is_better: bool | None = None,
    split: str | MaybeStrings = None,
) -> Scores:
    r"""Scores from HELM's statistics of each instance.

    Items are instances (`RUN/instance_id`, the run's name without its model), replicates are HELM's training trials,
    groups are runs if there are several. If `instances.json` lies beside a file, instances whose input differs
    between models are dropped for all models; `audit` counts them and what each model lacks. Where a run
    has instances of several splits, those of the split `test` count, as in HELM's own tables, and `notes` say so.

    Arguments:
        files: a folder (`benchmark_output/runs/SUITE`), a file, a list of them, or {model name: file, folder or list}.
            Without names the model is that of `run_spec.json` beside the file, or of the folder's name.
        metric: one of the statistics in the files (needed if there are several).
        perturbation: the name of one, if the instances were perturbed (by default the instances as they are).
        higher_is_better: needed for metrics that are not known.
        split: the name of the split to read, or several.

    Errors: `InputError` names file and instance of what cannot be used.

    >>> import probtruth as pt, json, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "quiz:subject=birds,model=small"
    >>> folder.mkdir()
    >>> stat = {"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1.0, "mean": 1.0}
    >>> _ = (folder / "per_instance_stats.json").write_text(
    ...     json.dumps([{"instance_id": "id1", "train_trial_index": 0, "stats": [stat]}]))
    >>> scores = pt.loaders.read_helm(folder)
    >>> scores.models, scores.items, scores.values.tolist()
    (('small',), ('quiz:subject=birds/id1',), [[1.0]])
    """
    found = instances(files, perturbation)
    splits = sorted({one.filter for one in found})
    read = splits
    if split is not None:
        read = [one_of(name, splits, "split") for name in ([split] if isinstance(split, str) else split)]
    elif TEST in splits:
        read = [TEST]
    chosen = [one for one in found if one.filter in read]
    scores = scores_by(chosen, TOOL, metric, higher_is_better)
    if split is not None or len(chosen) == len(found):
        return scores
    others = shortlist(name for name in splits if name not in read)
    left_out = check.count(len(found) - len(chosen), "instance")
    note = f"left out {left_out} of the split {others}, read with split= (command line: --filter)"
    return replace(scores, notes=(*scores.notes, note))


def instances(files: Files, perturbation: MaybeText = None) -> list[LogSample]:
    """The instances in files, as they are or under a perturbation."""
    found = []
    for model, path in log_files(files, PATTERNS):
        run = path.resolve().parent.name
        group = MODEL.sub("", run).rstrip(",:") if "model=" in run else ""
        name = model or _model(path, run)
        content = _inputs(path.with_name("instances.json"))
        for record in read_rows(path, "instance"):
            own = record.at(as_object, "perturbation", {})
            if (own.at(as_name, "name") if own else None) != perturbation:
                continue
            item = record.at(as_name, "instance_id")
            values, split = _stats(record)
            one = LogSample(
                item=f"{group}/{item}" if group else item,
                model=name,
                task=group,
                where=record.where,
                replicate=record.at(as_name, "train_trial_index", 0),
                values=values,
                content=content.get(item),
                filter=split,
            )
            found.append(one)
    return found


def _stats(record: Record) -> tuple[dict[str, Any], str]:
    """The statistics of an instance by name, and the split that they name (empty where they name none)."""
    stats = {}
    split = ""
    for stat in record.at(as_objects, "stats"):
        about = stat.at(as_object, "name")
        name = about.at(as_name, "name")
        if name in stats:
            raise InputError(
                f"the statistic {quote(name)} twice", "every statistic once", "Check the run.", record.where
            )
        if stat.get("mean") is not None:
            stats[name] = stat["mean"]
        split = split or str(about.get("split") or "")
    return stats, split


def _model(path: Path, run: str) -> str:
    """The model of a run: that of its specification, or of the name of its folder."""
    spec = path.with_name("run_spec.json")
    if spec.is_file():
        return read_object(spec).at(as_object, "adapter_spec").at(as_name, "model")
    match = re.search(r"(?<=[:,])model=([^,]+)", run)
    if match is None:
        raise InputError(
            "statistics without run_spec.json beside them",
            "to know the model",
            "Write {'my model': path}.",
            shown(path),
        )
    return as_name(match[1], shown(path))


def _inputs(path: Path) -> dict[str, str]:
    """Digests of the instances' inputs, if the run has them."""
    inputs = {}
    for instance in read_rows(path, "instance") if path.is_file() else ():
        if instance.get("perturbation") is None:
            inputs[str(instance.get("id"))] = digest([instance.get("input"), instance.get("references")])
    return inputs
