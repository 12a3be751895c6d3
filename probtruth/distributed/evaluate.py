"""The line on files larger than memory: scored batch by batch on this machine, then compared."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int

from probtruth.comparison.compare import conclude
from probtruth.comparison.design import design_of
from probtruth.comparison.evidence import Facts, Strata
from probtruth.comparison.options import Options
from probtruth.distributed.cluster import OnCluster
from probtruth.distributed.evidence import evidence_of
from probtruth.distributed.local import OnDisk
from probtruth.distributed.parts import Layout
from probtruth.distributed.reference import Reference
from probtruth.distributed.scoring import Files, Places, Progress, Scoring
from probtruth.distributed.scratch import Journal
from probtruth.errors import InputError
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.scoring.score import baseline_of, check_floor, check_labels, entropies, losses
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
    truth: Truth,
    files: Files,
    asked: Asked,
    options: Options,
    where: object,
    on_progress: Progress | None = None,
) -> Streamed:
    """The comparison of the models of some files against a truth.

    Arguments: `where` the losses are meanwhile: a folder, from which a run that was interrupted goes on (it is left for
    the caller to remove), or a Dask client.

    Errors: as `score` and `compare`.
    """
    reference = Reference.of(truth, files.labels, files.tables[0].name)
    rule = get_rule(asked.rule)
    check_labels(rule, len(reference.labels))
    scoring = Scoring(rule, check_floor(asked.floor, len(reference.labels)), reference, files)
    places = [Places.of(table, files.item, files.size, reference) for table in files.tables]
    kept = _kept(reference, places)
    n_items = int(kept.sum())
    layout, strata = _layout(reference, kept, asked)
    votes = None if reference.n_votes is None else reference.n_votes[kept]
    facts = Facts(
        files.models,
        rule.name,
        False,
        scoring.floor,
        rule.proper and scoring.floor is None,
        math.fsum(_entropies(scoring, kept)) / n_items,
        1,
        _audit(reference, files.models, places, kept),
        True,
        votes is not None and bool((votes == 1).any()),
        baseline_of(rule, reference.centre[kept]),
    )
    if isinstance(where, Path):
        journal = Journal(where, _settings(scoring, truth))
        scored: OnDisk | OnCluster = OnDisk(scoring, places, layout, journal, on_progress)
    else:
        scored = OnCluster(scoring, places, layout, where, on_progress)
    name = lambda item: str(reference.names[item])  # noqa: E731
    bounds = rule.range_for(len(reference.labels))
    found = evidence_of(scored.parts, facts, strata, name, bounds, scored.label_variance)
    comparison = conclude(found, options, on_progress)
    proper = bool(facts.proper)
    return Streamed(comparison, files.models, rule.name, proper, scoring.floor, n_items, found.n_infinite, facts.audit)


def _kept(reference: Reference, places: Sequence[Places]) -> Bool[np.ndarray, " item"]:
    """The items that every model has."""
    kept = np.ones(reference.n_items, bool)
    for place in places:
        there = np.zeros(reference.n_items, bool)
        there[place.rows[place.rows >= 0]] = True
        kept &= there
    if not kept.any():
        raise InputError(
            "no item in common",
            "items that the reference and every model have",
            "Names are compared as text ('007' is not '7'); check the item columns.",
        )
    return kept


def _settings(scoring: Scoring, truth: Truth) -> Mapping[str, object]:
    """What the losses depend on: a folder of another run is not gone on with."""
    files = scoring.files
    stats = [
        [(path, Path(path).stat().st_size, Path(path).stat().st_mtime_ns) for path in table.files]
        for table in files.tables
    ]
    reference = scoring.reference
    return {
        "models": files.models,
        "files": stats,
        "cells": [files.item, files.kind, files.size, *files.labels],
        "rule": [scoring.rule.name, scoring.rule.formula, scoring.floor, *_sample_losses(scoring.rule, files.labels)],
        "truth": [
            truth.method,
            truth.estimand,
            *map(_digest, (reference.names.hash().to_numpy(), reference.centre, reference.shares, reference.n_votes)),
        ],
    }


def _sample_losses(rule: ScoringRule, labels: Sequence[str]) -> Sequence[float]:
    """What the rule says of one forecast: two rules of one name (a user's own) differ in it."""
    sizes = np.arange(1.0, len(labels) + 1)[None]
    found: list[float] = losses(rule, np.log(sizes / sizes.sum()), sizes[:, ::-1] / sizes.sum())[1][0].tolist()
    return found


def _digest(values: np.ndarray | None) -> str | None:
    return None if values is None else hashlib.blake2b(np.ascontiguousarray(values).data).hexdigest()


def _entropies(scoring: Scoring, kept: Bool[np.ndarray, " item"]) -> Iterator[float]:
    size = scoring.files.size
    for start in range(0, len(kept), size):
        rows = slice(start, start + size)
        yield from entropies(scoring.rule, scoring.reference.centre[rows][kept[rows]]).tolist()


def _layout(reference: Reference, kept: Bool[np.ndarray, " item"], asked: Asked) -> tuple[Layout, Strata]:
    """Which of the items that are kept belong together."""
    n_items = int(kept.sum())
    if asked.groups is None and asked.clusters is None:
        if asked.weights is not None:
            raise InputError("weights without groups", "groups to weight", "Give groups=... too, or leave weights out.")
        return Layout(np.array([n_items]), np.ones(1) / n_items), Strata(np.ones(1), n_items, None)
    plan = design_of(reference.names.filter(kept).to_list(), asked.groups, asked.clusters, asked.weights)
    structure = plan.structure()

    def everywhere(codes: Int[np.ndarray, " kept"]) -> Int[np.ndarray, " item"]:
        wide = np.full(len(kept), -1)
        wide[kept] = codes
        return wide

    group = everywhere(structure.of_item()) if plan.grouped else None
    unit, unit_group = (None, None) if structure.unit is None else (everywhere(structure.unit), structure.group)
    share = plan.weights / structure.n_items
    return Layout(structure.n_items, share, group, unit, unit_group), Strata.of(plan, n_items)


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
