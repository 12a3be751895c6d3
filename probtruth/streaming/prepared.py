"""Files matched with a reference by the names of items, and the scoring of them here or on a cluster.

What input larger than memory needs: open files, a bound on batches, and a place for what is half done.
"""

import errno
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int

from probtruth import check_arrays, frames
from probtruth.comparison.evidence.design import Structure
from probtruth.comparison.evidence.evidence import Facts, single_votes_only
from probtruth.errors import InputError
from probtruth.io.tables.batches import LEAST, MOST, rows_within
from probtruth.io.tables.read import Block, shown
from probtruth.scoring import device_losses
from probtruth.scoring.rules import ScoringRule, get_rule
from probtruth.scoring.score import check_floor, losses, rule_facts, sampled_items
from probtruth.streaming.journal import Journal, Passing
from probtruth.streaming.reference import Reference
from probtruth.streaming.score_batches import Files, Progress, RowMatches, Scoring, open_files
from probtruth.streaming.scratch_folder import scratch_folder, temporary_folder
from probtruth.streaming.stored_predictions import PredictionsOnDask, PredictionsOnDisk
from probtruth.types import Audit, Truth
from probtruth.types.index import sort_names
from probtruth.types.predictions import of_logits

NO_ITEMS = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Prepared(Scoring):
    """Files that are matched with a truth."""

    truth: Truth

    @property
    def n_items(self) -> int:
        """Number of items that every model has."""
        return int(self.complete.sum())

    def sampled(self) -> Int[np.ndarray, " sampled"]:
        """The items that stand for all where they are looked at one by one: those of `report.calibration`."""
        positions = sampled_items(self.n_items, len(self.reference.labels))
        return np.asarray(np.nonzero(self.complete)[0][positions])

    @cached_property
    def facts(self) -> Facts:
        """What the scores say of themselves."""
        reference, complete = self.reference, self.complete
        whole = slice(None) if complete.all() else complete  # without a copy
        votes = None if reference.n_votes is None else reference.n_votes[whole]
        return Facts(
            models=self.files.models,
            rule=self.rule.name,
            higher_is_better=False,
            known=rule_facts(self.rule, self.floor, reference.centre[whole]),
            audit=_audit(self),
            from_labels=True,
            single_votes=votes is not None and bool((votes == 1).any()),
            no_second_vote=single_votes_only(reference.estimand, votes),
        )

    def stored(
        self,
        structure: Structure,
        where: object,
        on_progress: Progress | None,
        sample: Int[np.ndarray, " sampled"] = NO_ITEMS,
    ) -> PredictionsOnDisk | PredictionsOnDask:
        """The losses, in a folder (from which a run that was interrupted goes on) or with a Dask client's workers.

        Arguments: `structure` says which items belong together; of the items of `sample` (in order) the
        log-probabilities are kept too.
        """
        if isinstance(where, Path):
            journal = Journal(where, lambda: {**_settings(self), "sample": len(sample)})
            return PredictionsOnDisk.filled(self, structure, sample, journal, on_progress)
        return PredictionsOnDask.filled(self, structure, sample, where, on_progress)


def prepare(truth: Truth, files: Files, rule: object, floor: object) -> Prepared:
    """Files matched with a truth.

    Errors: as `score`.
    """
    reference = Reference.of(truth, files.index, files.tables[0].name)
    chosen = get_rule(rule).for_labels(reference.labels)
    least = check_floor(floor, len(reference.labels))
    matches: list[RowMatches] = []
    read: dict[object, RowMatches] = {}
    for table in files.tables:
        own = read.get((table.files, table.states))  # blocks of one table have its items
        if own is None:
            own = read[table.files, table.states] = RowMatches.of(table, files.item, files.size, reference)
        alike = (match for match in matches if match.rows is own.rows or np.array_equal(match.rows, own.rows))
        matches.append(replace(own, rows=next(alike, own).rows))  # files in one order share it
    return Prepared(chosen, least, reference, files, matches, _complete(reference, matches), truth)


def _complete(reference: Reference, matches: Sequence[RowMatches]) -> Bool[np.ndarray, " item"]:
    """The items that every model has."""
    complete = np.ones(reference.n_items, bool)
    for match in {id(match.rows): match for match in matches}.values():
        there = np.zeros(reference.n_items, bool)
        there[match.rows[match.rows >= 0]] = True
        complete &= there
    if not complete.any():
        raise InputError(
            "no item in common",
            "items that the reference and every model have",
            "Names are compared as text ('007' is not '7'); check the item columns.",
        )
    return complete


def _settings(ready: Prepared) -> Mapping[str, object]:
    """What the losses depend on: a folder of another run is not gone on with."""
    files, reference, truth = ready.files, ready.reference, ready.truth
    shares = None if reference.shares is reference.centre else reference.shares
    return {
        "models": files.models,
        "files": [[table.files, table.states, table.stored(files.labels)] for table in files.tables],
        "cells": [files.item, files.kind, files.size, *files.labels],
        "device": None if (device := device_losses.chosen_device()) is None else device.platform,
        "rule": [ready.rule.name, ready.rule.formula, ready.floor, *_sample_losses(ready.rule, files.labels)],
        "truth": [
            truth.method,
            truth.estimand,
            *map(_digest, (reference.names.hash().to_numpy(), reference.centre, shares, reference.n_votes)),
        ],
    }


def _sample_losses(rule: ScoringRule, labels: Sequence[str]) -> Sequence[float]:
    """What the rule says of one forecast: two rules of one name (a user's own) differ in it."""
    sizes = np.arange(1.0, len(labels) + 1)[None]
    values: list[float] = losses(rule, np.log(sizes / sizes.sum()), sizes[:, ::-1] / sizes.sum())[1][0].tolist()
    return values


def _digest(values: np.ndarray | None) -> str | None:
    return None if values is None else hashlib.sha256(np.ascontiguousarray(values).data).hexdigest()


def _audit(ready: Prepared) -> Audit:
    """What alignment by name left out, as `io.align.common` says it."""
    names, matches = ready.reference.names, ready.matches
    counts = tuple(
        (model, len(names) - int((match.rows >= 0).sum()), len(match.extra))
        for model, match in zip(ready.files.models, matches, strict=True)
    )
    extra = {name for match in matches for name in match.extra.to_list()}
    return Audit(sort_names(frames.text(names.filter(~ready.complete)).to_list()), sort_names(extra), counts)


DRAWS = 2500
"""Of each chain, as in `compare`."""


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
"""What the system says where a disk takes no more."""


@contextmanager
def scratch(folder: str | os.PathLike[str] | None, client: object) -> Iterator[Callable[[str], object]]:
    """Where the losses of each pass are: a client, or a folder whose files are removed unless the block fails.

    Errors: `InputError` where the disk is full; a repeated run goes on behind what is finished.
    """
    try:
        with _store(folder, client) as store:
            yield store
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise InputError(
            f"unfinished work that cannot be written ({os.strerror(error.errno).lower()})",
            "room for 8 bytes for each item and model",
            "Free some, or choose an output on another disk (--out; Python: scratch=), and repeat the command.",
            shown(Path(folder or tempfile.gettempdir())),
        ) from None


@contextmanager
def _store(folder: str | os.PathLike[str] | None, client: object) -> Iterator[Callable[[str], object]]:
    if client is not None:
        yield lambda name: client
    elif folder is None:
        with temporary_folder() as path:
            yield lambda name: Passing(path / name)
    else:
        with scratch_folder(folder) as path:
            yield lambda name: path / name


def of_kind(files: Files) -> tuple[str, ...]:
    """The warning about logits that are plainly probabilities, by the first rows of each file."""
    if files.kind != "logits":
        return ()
    named = zip(files.models, files.tables, strict=True)
    firsts = ((name, table.read(table.cuts(LEAST)[0], files.labels)) for name, table in named if table.n_rows)
    return of_logits(name for name, first in firsts if check_arrays.surely_simplex(files.checked(first)))


def opened(files: Sequence[tuple[str, str | Path | Block]], item: str, kind: str, memory: float) -> Files:
    """The files of the models, with as many rows to a batch as the memory allows."""
    if not files:
        raise InputError("no model", "at least one", "Give a file of predictions.")
    tables = open_files(files, item, kind, MOST)
    return replace(tables, size=rows_within(memory, len(tables.labels)))
