"""What the fuzzer starts from: every reader, the name of its file, and sound files that it reads."""

import json
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import polars

import probtruth as pt
from probtruth.io import loaders
from probtruth.io.formats import LabelReading
from probtruth.io.item_columns import read_groups
from probtruth.io.output.folder import is_result
from probtruth.io.scores import read_scores, write_scores
from probtruth.io.truth import write_soft
from probtruth.line.inputs import reference_of


def read_soft(path: Path) -> object:
    return reference_of(path, {}, LabelReading(format="soft"))


MADE = Path(__file__).parents[1] / "io" / "loaders" / "files"
TEXT = ("csv", "tsv", "jsonl")
BINARY = ("parquet", "arrow")


@dataclass(frozen=True)
class Target:
    """A reader, what its file is called, and sound files for it."""

    name: str
    file: str
    read: Callable[[Path], object]
    seeds: tuple[bytes, ...]


LONG = polars.DataFrame({"item": ["a", "b", "007", "b"], "annotator": [1, 2, 2, 1], "label": ["x", 'é,"\n', "x", "y"]})
COUNTS = polars.DataFrame({"item": [1, 2, 3], "x": [0, 3, 2], "y": [5, 2, 1]})
WIDE = polars.DataFrame({"item": ["a", "b", "7"], "x": [0.25, 1.0, 0.5], "y": [0.75, 0.0, 0.5]})
SCORES = polars.DataFrame({"item": [*"aabb"], "model": [*"mnmn"], "score": [0.5, -1.0, 2.0, 0.0], "group": [*"gghh"]})


def _table(frame: polars.DataFrame, form: str) -> bytes:
    stream = BytesIO()
    if form in ("csv", "tsv"):
        frame.write_csv(stream, separator="," if form == "csv" else "\t")
    elif form == "jsonl":
        frame.write_ndjson(stream)
    elif form == "parquet":
        frame.write_parquet(stream)
    else:
        frame.write_ipc(stream)
    return stream.getvalue()


def _of_tables() -> Iterator[Target]:
    readers: dict[str, tuple[Callable[[Path], object], tuple[polars.DataFrame, ...]]] = {
        "annotations": (pt.read_annotations, (LONG,)),
        "counts": (partial(pt.read_annotations, format="counts"), (COUNTS,)),
        "predictions": (lambda path: pt.read_predictions({"m": path, "n": path}), (WIDE,)),
        "scores": (lambda path: read_scores(path, group="group", higher_is_better=False), (SCORES,)),
        "soft labels": (read_soft, (WIDE,)),
        "groups": (lambda path: read_groups(f"{path}:group", ["a", "b"]), (SCORES.select("item", "group").unique(),)),
    }
    for name, (read, frames) in readers.items():
        for form in (*TEXT, *BINARY):
            yield Target(f"{name}, {form}", f"t.{form}", read, tuple(_table(frame, form) for frame in frames))


def _written(write: Callable[[Path], object], name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()


def _of_ours() -> Iterator[Target]:
    """Files that probtruth itself wrote."""
    rows = {
        "item": [*range(8)] * 2,
        "model": ["x"] * 8 + ["y"] * 8,
        "score": [0] * 8 + [0, 1] * 4,
        "c": [*"aabbccdd"] * 2,
    }
    plain = pt.monitor(rows, bounds=(0, 1), higher_is_better=False)
    clustered = pt.monitor(rows, method="asymptotic", cluster="c", largest_cluster=2, higher_is_better=False)
    states = tuple(_written(watch.save, "s.json") for watch in (plain, clustered))
    yield Target("monitor state", "s.json", lambda path: pt.monitor(earlier=path), states)
    truth = pt.infer_truth(pt.Annotations.from_long(LONG), method="vote-share")
    yield Target("soft.parquet", "t.parquet", read_soft, (_written(lambda path: write_soft(truth, path), "t.parquet"),))
    names = {"items": truth.index.items, "labels": truth.index.labels}
    probs = {name: np.random.default_rng(0).dirichlet([1, 1, 1], 3) for name in "mn"}
    scores = pt.score(pt.Predictions.from_probs(probs, **names), truth, rule="brier")
    made = _written(lambda path: write_scores(scores, path), "t.parquet")
    yield Target("scores.parquet", "t.parquet", partial(read_scores, higher_is_better=False), (made,))
    # the file that says whether a folder may be replaced
    models = [{"model": "a", "score": 0.5}]
    result = {"rule": "log", "models": models, "versions": {"probtruth": "0.1.0"}, "pairwise": []}
    yield Target("result.json", "result.json", lambda path: is_result(path.parent), (json.dumps(result).encode(),))


def _of_logs() -> Iterator[Target]:
    def seeds(*patterns: str) -> tuple[bytes, ...]:
        return tuple(path.read_bytes() for pattern in patterns for path in sorted(MADE.glob(pattern)))

    yield Target(
        "lm-eval",
        "samples_quiz_x.jsonl",
        lambda path: loaders.read_lm_eval_samples(path, "acc"),
        seeds("lm_eval/first/samples_quiz_2*"),
    )
    choices = seeds("lm_eval/first/samples_quiz_2*", "lm_eval/first/samples_quiz_mi*")
    yield Target("lm-eval, choices", "samples_quiz_x.jsonl", loaders.read_lm_eval_choices, choices)
    yield Target("Inspect, json", "log.json", lambda path: loaders.read_inspect(path, "match"), seeds("inspect/*.json"))
    yield Target(
        "Inspect, eval",
        "log.eval",
        lambda path: loaders.read_inspect(path, "match"),
        tuple(map(_packed, seeds("inspect/*.json"))),
    )
    helm = seeds("helm/*small/per_instance_stats.json")
    yield Target("HELM", "per_instance_stats.json", lambda path: loaders.read_helm({"m": path}, "exact_match"), helm)
    yield Target(
        "Label Studio",
        "export.json",
        lambda path: loaders.read_label_studio(path, "mood"),
        seeds("annotations/label_studio*.json"),
    )
    yield Target(
        "Argilla",
        "export.json",
        lambda path: loaders.read_argilla(path, "sentiment"),
        seeds("annotations/argilla.json"),
    )
    yield Target("Prodigy", "export.jsonl", loaders.read_prodigy, seeds("annotations/prodigy.jsonl"))
    wide = b"item,a,b\nq1,0.5,1\nq2,0.25,0\n"
    yield Target("wide scores", "wide.csv", partial(read_scores, models=[], higher_is_better=False), (wide,))
    votes = b"item,ann,bob\nq1,yes,no\nq2,yes,\n"
    yield Target("wide annotations", "votes.csv", partial(pt.read_annotations, format="wide"), (votes,))


def _packed(log: bytes) -> bytes:
    """A JSON log of Inspect as it would be in an archive: the head, each sample, and their summaries."""
    whole = json.loads(log)
    samples = whole.pop("samples")
    summaries = [{key: row[key] for key in ("id", "epoch", "input", "target", "scores")} for row in samples]
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(whole))
        archive.writestr("summaries.json", json.dumps(summaries))
        for row in samples:
            archive.writestr(f"samples/{row['id']}_epoch_{row['epoch']}.json", json.dumps(row))
    return stream.getvalue()


def targets() -> Iterator[Target]:
    """All of them; those that take longest to make come last."""
    yield from _of_tables()
    yield from _of_logs()
    yield from _of_ours()


if __name__ == "__main__":  # every seed is read, or the fuzzer starts outside
    for one in targets():
        for seed in one.seeds:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / one.file
                path.write_bytes(seed)
                try:
                    one.read(path)
                except pt.InputError as error:
                    print(f"{one.name}: {error}", file=sys.stderr)
