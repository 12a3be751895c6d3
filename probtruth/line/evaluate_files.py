"""The whole line on files larger than memory."""

from collections.abc import Callable, Mapping
from pathlib import Path

from probtruth.comparison.evidence.crossed import same_few
from probtruth.comparison.options import Options, options
from probtruth.errors import InputError
from probtruth.io.tables.soft_batches import read_many_soft
from probtruth.line.evaluate import Result, about, of_labels, of_method, truth_of
from probtruth.line.other_estimand import OtherEstimand, changed, other_truth
from probtruth.streaming.compare_files import Asked, streamed
from probtruth.streaming.opening import DRAWS, n_bytes, of_kind, opened, scratch
from probtruth.streaming.score_batches import Files, Progress
from probtruth.types import Annotations, Comparison, Truth


def evaluate_files(
    reference: object,
    files: Mapping[str, object],
    folder: object = None,
    *,
    client: object = None,
    memory: object = 2e9,
    item: str = "item",
    kind: str = "probs",
    method: str | None = None,
    estimand: str | None = None,
    rule: object = "log",
    floor: float | None = None,
    groups: Mapping[str, str] | None = None,
    clusters: Mapping[str, str] | None = None,
    weights: object = None,
    engine: str = "nuts",
    rope: object = None,
    seed: int = 0,
    strict: bool = False,
    on_progress: Progress | None = None,
) -> Result:
    """As `evaluate`, for predictions in Parquet or Arrow files that need not fit into memory, with the same result.

    Arguments: `reference` is `Annotations` or a `Truth`, which stays in memory, or the path of soft labels, whose items
    then never become Python's text (see `read_soft`); `files` are {model: path}, where a path
    may be a folder of files; losses are kept in `folder` meanwhile, a run that was interrupted goes on from there, and
    it is removed at the end (without `folder`, one is made among the temporary ones, and nothing is gone on with).
    With `client`, a `dask.distributed.Client`, workers that see the same paths read and score the files and keep the
    losses; no folder is used. `memory` (bytes) is what the batches may take, beside the reference and the libraries;
    `item` names the column of items and `kind` what the other cells are (see `read_predictions`). `method`,
    `estimand`, `rule`, `floor`, `groups`, `clusters`, `weights`, `engine`, `rope` and `strict` are those of `evaluate`;
    `on_progress(done, total)` hears of the batches, then of the sampling.

    Returns: a `Result` whose `scores` have no items and whose `truth`, `predictions` and `decomposition` are None.

    Errors: `InputError` as `evaluate` and `read_predictions`; `PosteriorError` where the data support no answer.

    >>> import pathlib, polars, tempfile
    >>> import probtruth as pt
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, yes in {"a": [0.8, 0.1, 0.5], "b": [0.6, 0.6, 0.6]}.items():
    ...     table = {"item": ["x", "y", "z"], "yes": yes, "no": [1 - p for p in yes]}
    ...     polars.DataFrame(table).write_parquet(folder / f"{name}.parquet")
    >>> truth = pt.Truth.from_probs([[1, 0], [0, 1], [0.5, 0.5]], items=["x", "y", "z"], labels=["yes", "no"])
    >>> files = {name: folder / f"{name}.parquet" for name in "ab"}
    >>> result = pt.evaluate_files(truth, files, folder / "scratch", engine="exact")
    >>> result.comparison.ranking()["model"].to_list()
    ['a', 'b']
    """
    if isinstance(reference, str | Path):
        reference, estimand = read_many_soft(reference, item, estimand, n_bytes(memory)), None
    if not isinstance(reference, Annotations | Truth):
        raise InputError(
            f"{type(reference).__name__}", "Annotations or Truth", "Use read_annotations or Truth.from_probs."
        )
    tables = opened(list(files.items()), item, kind, n_bytes(memory), 2)
    asked = Asked(rule, floor, groups, clusters, weights)
    chosen = options(engine, "new-items", rope, DRAWS, seed, strict)
    with scratch(folder, client) as place:
        return _evaluated(reference, tables, asked, chosen, (method, estimand), place, on_progress)


ANNOTATORS_ALONE = (
    "classes are inferred from the annotators alone, since predictions that are streamed cannot inform them: where "
    "annotators are few or poor, the sharper model is punished"
)
"""Said of classes under predictions that are streamed; see `informed_truth`."""


def _evaluated(
    reference: Annotations | Truth,
    tables: Files,
    asked: Asked,
    chosen: Options,
    how: tuple[str | None, str | None],
    place: Callable[[str], object],
    on_progress: Progress | None,
) -> Result:
    """The truth, the comparison, and the verdict under the other estimand where that is how annotators would answer."""
    annotations = _labelled(reference, tables) if isinstance(reference, Annotations) else None
    truth = truth_of(reference if annotations is None else annotations, *how, chosen.seed)
    if annotations is not None and truth.estimand == "distribution" and same_few(annotations):
        raise InputError(
            f"the same {annotations.n_annotators} annotators on most items",
            "annotations of which each item has its own, for input that is streamed",
            "What few annotators have in common needs all losses at once: give more memory (--memory), or counts per "
            "label instead of annotators.",
        )
    found = streamed(truth, tables, asked, chosen, place("asked"), on_progress)
    warnings = [*found.comparison.warnings, *of_kind(tables), *of_method(truth), *of_labels(tables.labels)]
    other = None
    if annotations is not None and truth.estimand == "class":
        warnings.append(ANNOTATORS_ALONE)
        other = _other(annotations, truth, found.comparison, tables, asked, chosen.seed, place("other"))
        warnings += [said for said in (other and other.warning(),) if said]
    return Result(
        None,
        None,
        found,
        found.comparison,
        None,
        tuple(warnings),
        other,
        about_truth=about(truth),
        sample=found.sample,
    )


def _labelled(annotations: Annotations, files: Files) -> Annotations:
    """The annotations of items that have some, under all labels of the files."""
    kept, _ = annotations.annotated()
    named = not kept.index.positional_labels
    more = named and set(files.labels) >= set(kept.index.labels)
    return kept.with_labels(files.index) if more else kept


def _other(
    annotations: Annotations, truth: Truth, asked: Comparison, files: Files, how: Asked, seed: int, where: object
) -> OtherEstimand | None:
    """The verdict under the estimand that was not asked for."""
    found = other_truth(annotations, truth.estimand, seed)
    if found is None:
        return None
    exact = options("exact", "new-items", None, DRAWS, seed, False)
    return changed(found, asked, streamed(found, files, how, exact, where).comparison)
