"""The line on files larger than memory: scored batch by batch on this machine, then compared."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int

from probtruth.comparison.compare import conclude
from probtruth.comparison.design import Design, design_of
from probtruth.comparison.evidence import Facts, Strata
from probtruth.comparison.options import Options
from probtruth.distributed.evidence import evidence_of
from probtruth.distributed.label_pass import label_variance
from probtruth.distributed.local import ScratchParts, present, read
from probtruth.distributed.reference import Reference
from probtruth.distributed.scoring import Files, Places, Progress, Scoring, score_model
from probtruth.distributed.scratch import Journal, Table
from probtruth.errors import InputError
from probtruth.scoring.rules import get_rule
from probtruth.scoring.score import baseline_of, check_floor, check_labels, entropies
from probtruth.types import Audit, Comparison, Truth
from probtruth.types.index import sort_names


@dataclass(frozen=True, eq=False)
class Streamed:
    """A comparison of scores that were never in memory together, and what a report says of them."""

    comparison: Comparison
    models: tuple[str, ...]
    rule: str
    proper: bool
    floor: float | None
    n_items: int
    n_infinite: Int[np.ndarray, " model"]
    audit: Audit

    @property
    def items(self) -> range:
        """Positions in place of the items: their names were never listed."""
        return range(self.n_items)


@dataclass(frozen=True)
class Asked:
    """How to score, and which items belong together (see `compare`)."""

    rule: object = "log"
    floor: object = None
    groups: object = None
    clusters: object = None
    weights: object = None


def streamed(
    truth: Truth, files: Files, asked: Asked, options: Options, folder: Path, on_progress: Progress | None = None
) -> Streamed:
    """The comparison of the models of some files against a truth.

    Arguments: `folder` holds the losses meanwhile; a run that was interrupted goes on from there. It is left for the
    caller to remove.

    Errors: as `score` and `compare`.
    """
    reference = Reference.of(truth, files.labels, files.tables[0].name)
    rule = get_rule(asked.rule)
    check_labels(rule, len(reference.labels))
    scoring = Scoring(rule, check_floor(asked.floor, len(reference.labels)), reference, files)
    journal = Journal(folder, _settings(scoring, truth))

    @cache
    def places(model: int) -> Places:
        return Places.of(files.tables[model], files.item, files.size, reference)

    tables = list(_scored(scoring, places, journal, on_progress))
    kept = np.concatenate(
        [present(read(tables, at, at + files.size)) for at in range(0, reference.n_items, files.size)]
    )
    audit = _audit(reference, files.models, [places(model) for model in range(len(files.models))], kept)
    if not kept.any():
        raise InputError(
            "no item in common",
            "items that the reference and every model have",
            "Names are compared as text ('007' is not '7'); check the item columns.",
        )
    plan, parts = _parts(reference, files, tables, kept, asked)
    n_items = int(kept.sum())
    weights = np.ones(1) if plan is None else plan.weights
    strata = Strata(weights, n_items, None) if plan is None else Strata.of(plan, n_items)
    votes = None if reference.n_votes is None else reference.n_votes[kept]
    facts = Facts(
        files.models,
        rule.name,
        False,
        scoring.floor,
        rule.proper and scoring.floor is None,
        math.fsum(_entropies(scoring, kept)) / n_items,
        1,
        audit,
        True,
        votes is not None and bool((votes == 1).any()),
        baseline_of(rule, reference.centre[kept]),
    )
    share = weights / parts.n_items
    found = evidence_of(
        parts,
        facts,
        strata,
        lambda item: str(reference.names[item]),
        rule.range_for(len(reference.labels)),
        lambda a, b: label_variance(scoring, places, parts, journal, share, a, b),
    )
    comparison = conclude(found, options, on_progress)
    return Streamed(
        comparison, files.models, rule.name, bool(facts.proper), scoring.floor, n_items, found.n_infinite, audit
    )


def _scored(
    scoring: Scoring, places: Callable[[int], Places], journal: Journal, on_progress: Progress | None
) -> Iterator[Table]:
    files = scoring.files
    done = 0

    def report() -> None:
        nonlocal done
        done += 1
        if on_progress is not None:
            on_progress(done, files.n_batches)

    for model in range(len(files.models)):
        for _ in journal.of(f"losses-{model}"):
            report()
        yield score_model(scoring, model, places(model), journal, report)


def _settings(scoring: Scoring, truth: Truth) -> Mapping[str, object]:
    """What the losses depend on: a folder of another run is not gone on with."""
    files = scoring.files
    stats = [
        [(path, Path(path).stat().st_size, Path(path).stat().st_mtime_ns) for path in table.files]
        for table in files.tables
    ]
    centre = scoring.reference.centre
    return {
        "models": files.models,
        "files": stats,
        "cells": [files.item, files.kind, files.size, *files.labels],
        "rule": [scoring.rule.name, repr(scoring.rule), scoring.floor],
        "truth": [
            truth.method,
            truth.estimand,
            centre.shape,
            float(centre[:, 0].sum()),
            int(scoring.reference.names.hash().sum()),
        ],
    }


def _entropies(scoring: Scoring, kept: Bool[np.ndarray, " item"]) -> Iterator[float]:
    size = scoring.files.size
    for start in range(0, len(kept), size):
        rows = slice(start, start + size)
        yield from entropies(scoring.rule, scoring.reference.centre[rows][kept[rows]]).tolist()


def _parts(
    reference: Reference, files: Files, tables: Sequence[Table], kept: Bool[np.ndarray, " item"], asked: Asked
) -> tuple[Design | None, ScratchParts]:
    """The design of the items that are kept, and their parts."""
    if asked.groups is None and asked.clusters is None:
        if asked.weights is not None:
            raise InputError("weights without groups", "groups to weight", "Give groups=... too, or leave weights out.")
        return None, ScratchParts(files.models, tables, files.size, None, None, None, np.array([kept.sum()]))
    plan = design_of(reference.names.filter(kept).to_list(), asked.groups, asked.clusters, asked.weights)
    structure = plan.structure()

    def everywhere(codes: Int[np.ndarray, " kept"]) -> Int[np.ndarray, " item"]:
        wide = np.full(len(kept), -1)
        wide[kept] = codes
        return wide

    group = everywhere(structure.of_item()) if plan.grouped else None
    unit, unit_group = (None, None) if structure.unit is None else (everywhere(structure.unit), structure.group)
    return plan, ScratchParts(files.models, tables, files.size, group, unit, unit_group, structure.n_items)


def _audit(
    reference: Reference, models: Sequence[str], places: Sequence[Places], kept: Bool[np.ndarray, " item"]
) -> Audit:
    """What alignment by name left out, as `io.align.common` says it."""
    counts = tuple(
        (model, reference.n_items - int((place.rows >= 0).sum()), len(place.extra))
        for model, place in zip(models, places, strict=True)
    )
    extra = {name for place in places for name in place.extra.to_list()}
    return Audit(sort_names(reference.names.filter(~kept).to_list()), sort_names(extra), counts)
