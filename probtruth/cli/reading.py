"""Files as they are written on the command line: `[NAME=]FILE`, and the pilot that plan and validate start from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probtruth import check
from probtruth.cli.options import Pilot, chosen_rule
from probtruth.errors import InputError
from probtruth.io.addresses import is_address, named
from probtruth.io.formats import LabelReading


def named_file(word: str) -> tuple[str, str | Path]:
    """The name (empty without one) and the path of `FILE` or `NAME=FILE`; what exists is a file."""
    if "=" not in word or Path(word).exists() or is_address(word):
        return "", word if is_address(word) else Path(word)
    name, path = named(word)
    if not name.strip() or not path:
        raise InputError(check.quote(word), "FILE or NAME=FILE", "Write my_model=logs/samples.jsonl.")
    return name, path if is_address(path) else Path(path)


def named_files(words: Sequence[str]) -> list[str | Path] | dict[str, list[str | Path]]:
    """Files as loaders take them: paths, or {model: paths} where they are written NAME=FILE."""
    pairs = [named_file(word) for word in words]
    if not any(name for name, _ in pairs):
        return [path for _, path in pairs]
    if not all(name for name, _ in pairs):
        unnamed = check.quote(str(next(path for name, path in pairs if not name)))
        raise InputError(f"{unnamed} without a name", "NAME=FILE for every file, or for none", "Name it.")
    return {name: [path for other, path in pairs if other == name] for name, _ in pairs}


def read_pilot(pilot: Pilot) -> tuple[Any, Any]:
    """The scores of a pilot, and the annotations behind them where there are annotators."""
    from probtruth.io.loaders.readers import read_score_files

    if (not pilot.scores) == (pilot.annotations is None):
        raise InputError(
            "both SCORES and --annotations" if pilot.scores else "no pilot",
            "one of the two",
            "Give a table of scores, or --annotations and --predictions.",
        )
    if pilot.scores:
        if Path(pilot.scores[0], "result.json").exists():
            raise InputError(
                "a folder with a result, which holds no scores of single items",
                "the files of that run",
                "Give its scores or logs, or its --annotations and --predictions.",
                pilot.scores[0],
            )
        return read_score_files(named_files(pilot.scores), pilot.reading), None
    from probtruth.io.predictions import model_files, read_predictions
    from probtruth.line.inputs import stored_labels
    from probtruth.line.score import score
    from probtruth.truth.infer import infer_truth
    from probtruth.types import Annotations

    item, files = pilot.reading.item, model_files(pilot.predictions or [])
    how = LabelReading(item, pilot.annotator, pilot.label, pilot.reading.replicate or "replicate")
    labels = stored_labels(str(pilot.annotations), files, how)
    predictions = read_predictions(files, labels.index, item, pilot.cells.kind, pilot.cells.renormalise)
    if not isinstance(labels, Annotations):
        return score(predictions, labels, rule=chosen_rule(pilot.rule)), None
    labels = labels.annotated()[0]
    scores = score(predictions, infer_truth(labels, method="vote-share"), rule=chosen_rule(pilot.rule))
    return scores, None if labels.annotator is None else labels
