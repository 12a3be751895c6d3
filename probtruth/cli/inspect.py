"""What a file would be used as: annotations, probabilities or scores."""

from pathlib import Path
from typing import Any

from probtruth.errors import InputError


def inspect_file(path: Path, columns: Any) -> dict[str, Any]:
    """The kind of a file and its sizes; `words` says them.

    Errors: `InputError` where it is none of these, or is one of them with a fault in it.
    """
    from probtruth.io.annotations import read_annotations
    from probtruth.io.scores import read_scores
    from probtruth.io.tables import read_table
    from probtruth.io.truth import read_soft

    table, source = read_table(path)
    names = set(table.columns)
    if {columns.item, columns.annotator, columns.label} <= names:
        made = read_annotations(path, columns.item, columns.annotator, columns.label, columns.replicate)
        return _annotations(made, "annotations, long form")
    if {columns.item, "model", "score"} <= names:
        replicate = columns.replicate if columns.replicate in names else None
        scores = read_scores(path, columns.item, replicate=replicate)
        words = [
            "scores",
            f"{len(scores.items)} items that all models have",
            f"{len(scores.models)} models",
            f"{len(scores.audit.missing)} items that some model lacks",
        ]
        return {"kind": "scores", "n_items": len(scores.items), "models": list(scores.models), "words": words}
    if columns.item not in names:
        raise InputError(
            f"the columns {', '.join(map(repr, table.columns[:12]))}",
            f"a column {columns.item!r}",
            "Name the column of items with --item.",
            source.name,
        )
    try:
        return _annotations(
            read_annotations(path, columns.item, columns.annotator, columns.label, columns.replicate),
            "annotations, counts per label",
        )
    except InputError:
        soft = read_soft(path, columns.item)
    words = ["probabilities (predictions or soft labels)", f"{soft.n_items} items", f"{len(soft.index.labels)} labels"]
    return {"kind": "probabilities", "n_items": soft.n_items, "labels": list(soft.index.labels), "words": words}


def _annotations(made: Any, kind: str) -> dict[str, Any]:
    total = int(made.multiplicity.sum())
    words = [kind, f"{total} annotations", f"{made.n_items} items", f"{made.n_labels} labels"]
    if made.n_annotators is not None:
        words.append(f"{made.n_annotators} annotators")
    return {
        "kind": kind,
        "n_annotations": total,
        "n_items": made.n_items,
        "n_annotators": made.n_annotators,
        "labels": list(made.index.labels),
        "words": words,
    }
