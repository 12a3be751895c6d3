"""What files would be compared together: the models, the items that all have, and what alignment leaves out."""

from collections.abc import Sequence
from typing import Any

from probtruth import check
from probtruth.cli import logs
from probtruth.cli.inspect import Found
from probtruth.errors import InputError
from probtruth.report.words.numbers import count


def together(files: Sequence[tuple[str, Found]], columns: Any, score: str | None, filter: str | None) -> list[str]:
    """Lines on the files as one comparison; none where they are not meant for one.

    Logs are those of several models of one tool; tables are annotations (or soft labels) and predictions.

    Errors: `InputError` where they do not go together.
    """
    from probtruth.io.loaders.detect import SCORES

    of_tool = {found.kind for _, found in files}
    if len(of_tool) == 1 and of_tool <= set(SCORES):
        return _logs([path for path, _ in files], [found for _, found in files], score, filter)
    return _tables(files, columns.item) if len(files) > 1 else []


def _logs(paths: list[str], found: list[Found], score: str | None, filter: str | None) -> list[str]:
    metrics = [name for name in found[0].facts["metrics"] if all(name in one.facts["metrics"] for one in found)]
    filters = sorted({name for one in found for name in one.facts["filters"]})
    if len({model for one in found for model in one.facts["models"]}) < 2 or not (metrics or score):
        return []
    unasked = [
        flag
        for flag, given, options in (("--score", score, metrics), ("--filter", filter, filters))
        if given is None and len(options) > 1
    ]
    metric = score or metrics[0]
    columns = {"item": "item", "group": None, "cluster": None, "replicate": None, "score": metric, "model": "model"}
    try:
        scores = logs.read_scores(paths, columns, logs.Reading(higher_is_better=True, filter=filter))
    except InputError:
        if unasked:
            return [f"to see how the models are aligned, add {' and '.join(unasked)}"]
        raise
    return [f"{count(len(scores.models), 'model')} by {metric}: {_said(len(scores.items), scores.audit)}"]


def _tables(files: Sequence[tuple[str, Found]], item: str) -> list[str]:
    from probtruth.io.predictions import read_predictions_pairs

    references = [(path, found.held) for path, found in files if found.kind.startswith(("annotations", *_EXPORTS))]
    probabilities = [path for path, found in files if found.kind == "probabilities"]
    if len(references) > 1 or not probabilities or len(references) + len(probabilities) < len(files):
        return []
    index = references[0][1].index if references else None
    made = read_predictions_pairs(
        [(name or str(path), path) for name, path in map(logs.named_file, probabilities)], index, item
    )
    whose = f"{references[0][0]} and {count(len(probabilities), 'model')}" if references else "the files"
    lines = [f"{whose}: {_said(len(made.index.items), made.audit)}"]
    unused = [] if index is None else [label for label in made.index.labels if label not in index.labels]
    if unused:
        lines.append(f"labels that no annotator used: {check.shortlist(unused)}")
    return lines


_EXPORTS = ("label-studio", "argilla", "prodigy")


def _said(n_items: int, audit: Any) -> str:
    gone = ", ".join(audit.counts())
    said = f"{count(n_items, 'item')} compared; " + (f"left out: {gone}" if gone else "none missing, extra or twice")
    prompts = f"; {len(audit.prompts)} asked in other words ({check.shortlist(audit.prompts, 3)})"
    return said + (prompts if audit.prompts else "")
