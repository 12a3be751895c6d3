"""Files matched with a reference by the names of items, and the scoring of them here or on a cluster."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int

from probtruth import frames
from probtruth.comparison.evidence.evidence import Facts
from probtruth.errors import InputError
from probtruth.kernels.exact_sums import few_terms
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.scoring.sampled import sampled_items
from probtruth.scoring.score import baseline_of, check_floor, entropies, losses
from probtruth.streaming.dask_store import OnCluster
from probtruth.streaming.disk_arrays import Journal
from probtruth.streaming.disk_store import OnDisk
from probtruth.streaming.parts import Layout
from probtruth.streaming.reference import Reference
from probtruth.streaming.score_batches import Files, Places, Progress, Scoring
from probtruth.types import Audit, Truth
from probtruth.types.index import sort_names

NO_ITEMS = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Prepared:
    """How losses are computed, where each row's item stands, and the items that every model has."""

    truth: Truth
    scoring: Scoring
    places: Sequence[Places]
    kept: Bool[np.ndarray, " item"]

    @property
    def n_items(self) -> int:
        """Number of items that every model has."""
        return int(self.kept.sum())

    def sampled(self) -> Int[np.ndarray, " sampled"]:
        """The items that stand for all where they are looked at one by one: those of `report.calibration`."""
        positions = sampled_items(self.n_items, len(self.scoring.reference.labels))
        return np.asarray(np.nonzero(self.kept)[0][positions])

    @cached_property
    def facts(self) -> Facts:
        """What the scores say of themselves."""
        scoring, reference, kept = self.scoring, self.scoring.reference, self.kept
        whole = slice(None) if kept.all() else kept  # without a copy
        votes = None if reference.n_votes is None else reference.n_votes[whole]
        return Facts(
            scoring.files.models,
            scoring.rule.name,
            False,
            scoring.floor,
            scoring.rule.proper and scoring.floor is None,
            math.fsum(_entropies(scoring, kept)) / self.n_items,
            1,
            _audit(reference, scoring.files.models, self.places, kept),
            True,
            votes is not None and bool((votes == 1).any()),
            baseline_of(scoring.rule, reference.centre[whole]),
            scoring.rule.order,
        )

    def scored(
        self,
        layout: Layout,
        where: object,
        on_progress: Progress | None,
        sample: Int[np.ndarray, " sampled"] = NO_ITEMS,
    ) -> OnDisk | OnCluster:
        """The losses, in a folder (from which a run that was interrupted goes on) or with a Dask client's workers.

        Arguments: of the items of `sample` (in order) the log-probabilities are kept too.
        """
        if isinstance(where, Path):
            journal = Journal(where, {**_settings(self.scoring, self.truth), "sample": len(sample)})
            return OnDisk(self.scoring, self.places, layout, sample, journal, on_progress)
        return OnCluster(self.scoring, self.places, layout, sample, where, on_progress)


def prepare(truth: Truth, files: Files, rule: object, floor: object) -> Prepared:
    """Files matched with a truth.

    Errors: as `score`.
    """
    reference = Reference.of(truth, files.index, files.tables[0].name)
    chosen = get_rule(rule).for_labels(reference.labels)
    scoring = Scoring(chosen, check_floor(floor, len(reference.labels)), reference, files)
    places: list[Places] = []
    for table in files.tables:
        found = Places.of(table, files.item, files.size, reference)
        alike = (place for place in places if np.array_equal(place.rows, found.rows))
        places.append(replace(found, rows=next(alike, found).rows))  # files in one order share it
    return Prepared(truth, scoring, places, _kept(reference, places))


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
    shares = None if reference.shares is reference.centre else reference.shares
    return {
        "models": files.models,
        "files": stats,
        "cells": [files.item, files.kind, files.size, *files.labels],
        "rule": [scoring.rule.name, scoring.rule.formula, scoring.floor, *_sample_losses(scoring.rule, files.labels)],
        "truth": [
            truth.method,
            truth.estimand,
            *map(_digest, (reference.names.hash().to_numpy(), reference.centre, shares, reference.n_votes)),
        ],
    }


def _sample_losses(rule: ScoringRule, labels: Sequence[str]) -> Sequence[float]:
    """What the rule says of one forecast: two rules of one name (a user's own) differ in it."""
    sizes = np.arange(1.0, len(labels) + 1)[None]
    found: list[float] = losses(rule, np.log(sizes / sizes.sum()), sizes[:, ::-1] / sizes.sum())[1][0].tolist()
    return found


def _digest(values: np.ndarray | None) -> str | None:
    return None if values is None else hashlib.sha256(np.ascontiguousarray(values).data).hexdigest()


def _entropies(scoring: Scoring, kept: Bool[np.ndarray, " item"]) -> Iterator[float]:
    """Numbers that add up to the sum of all entropies."""
    size = scoring.files.size
    for start in range(0, len(kept), size):
        rows = slice(start, start + size)
        yield from few_terms(entropies(scoring.rule, scoring.reference.centre[rows][kept[rows]]))


def _audit(
    reference: Reference, models: Sequence[str], places: Sequence[Places], kept: Bool[np.ndarray, " item"]
) -> Audit:
    """What alignment by name left out, as `io.align.common` says it."""
    counts = tuple(
        (model, reference.n_items - int((place.rows >= 0).sum()), len(place.extra))
        for model, place in zip(models, places, strict=True)
    )
    extra = {name for place in places for name in place.extra.to_list()}
    return Audit(sort_names(frames.text(reference.names.filter(~kept)).to_list()), sort_names(extra), counts)
