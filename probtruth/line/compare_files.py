"""Comparison of bare scores in a table larger than memory."""

from collections.abc import Callable

from probtruth.comparison.options import options
from probtruth.io.scores import notes_in
from probtruth.io.tables.batches import LEAST, open_table
from probtruth.line.evaluate import Result
from probtruth.streaming.bare_scores import Columns, streamed_scores
from probtruth.streaming.opening import DRAWS, n_bytes, scratch

BYTES = 1_000
"""Memory that a row takes while its batch is worked on: names, codes, and the one read ahead."""
MOST = 1 << 20
"""Rows of a batch, whatever the memory."""


def compare_files(
    path: object,
    *,
    folder: object = None,
    client: object = None,
    memory: object = 2e9,
    item: str = "item",
    model: str = "model",
    score: str = "score",
    group: str | None = None,
    cluster: str | None = None,
    higher_is_better: bool | None = None,
    engine: object = "nuts",
    rope: object = None,
    seed: object = 0,
    strict: object = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Result:
    """As `compare` on `read_scores`, for a table in Parquet or Arrow that need not fit into memory; the same result.

    Arguments: `path` is a file, or a folder of files, with one row for each item and model; `item`, `model`, `score`,
    `group`, `cluster` and `higher_is_better` name its columns and orientation as in `read_scores`; scores are kept in
    `folder` meanwhile, a run that was interrupted goes on from there, and it is removed at the end. With `client`, a
    `dask.distributed.Client`, this process reads the names, and workers that see the same paths read the scores and
    keep them; no folder is used. `memory` (bytes) is what the batches may take, beside the names of the items; the rest
    is as in `compare`. Replicates and other likelihoods than the default need the scores in memory.

    Returns: a `Result` whose `comparison` is that of `compare`.

    Errors: `InputError` as `read_scores` and `compare`; `PosteriorError` where the data support no answer.

    >>> import pathlib, polars, tempfile
    >>> import probtruth as pt
    >>> place = pathlib.Path(tempfile.mkdtemp()) / "scores.parquet"
    >>> rows = {"item": ["x", "y", "z"] * 2, "model": ["a"] * 3 + ["b"] * 3, "loss": [0.2, 0.1, 0.4, 0.5, 0.2, 0.9]}
    >>> polars.DataFrame(rows).write_parquet(place)
    >>> pt.compare_files(place, score="loss", engine="exact").comparison.ranking()["model"].to_list()
    ['a', 'b']
    """
    chosen = options(engine, "new-items", rope, DRAWS, seed, strict)
    table = open_table(path)
    known = notes_in(table.files[0], score, higher_is_better)
    if known.ours:
        group = group or ("group" if "group" in table.columns else None)
        cluster = cluster or ("cluster" if "cluster" in table.columns else None)
    columns = Columns(item, model, score, group, cluster, known.higher_is_better, known.rule, known.facts)
    size = min(max(int(n_bytes(memory) / BYTES), LEAST), MOST)
    with scratch(folder, client) as place:
        found = streamed_scores(table, columns, chosen, place("scores"), size, on_progress)
    return Result(None, None, found, found.comparison, None, found.comparison.warnings)
