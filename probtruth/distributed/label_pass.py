"""The part of a difference's variance that the labels leave, from one more pass over the files of two models."""

from collections.abc import Callable
from functools import partial

import numpy as np
from jaxtyping import Float

from probtruth.comparison.labels import item_moments
from probtruth.distributed.local import ScratchParts, present
from probtruth.distributed.parts import Part
from probtruth.distributed.scoring import Places, Scoring, log_batches
from probtruth.distributed.scratch import Journal, Table
from probtruth.distributed.sweeps import Terms, extremes, sums
from probtruth.scoring.score import losses

OWN = np.array([[0, -1]])
"""The one row that is summed up."""


def label_variance(
    scoring: Scoring,
    places: Callable[[int], Places],
    parts: ScratchParts,
    journal: Journal,
    share: np.ndarray,
    a: int,
    b: int,
) -> float | None:
    """As `comparison.labels.label_variance`; None where it is not known or infinite."""
    reference = scoring.reference
    votes = reference.n_votes if reference.estimand == "distribution" else None
    if reference.estimand == "distribution" and (reference.shares is None or votes is None):
        return None
    single = None
    if votes is not None and any(parts.each(partial(_some_single, votes == 1))):
        single = _forecast(scoring, places, journal)
    first = Table(journal.folder / "label-losses", reference.n_items, len(reference.labels))
    for _, items, logs in log_batches(scoring, a, places(a)):
        first.write(items, losses(scoring.rule, logs, reference.centre[items])[1])
    found = Table(journal.folder / "label-variance", reference.n_items, 1)
    for _, items, logs in log_batches(scoring, b, places(b)):
        weight = reference.centre[items] if votes is None or reference.shares is None else reference.shares[items]
        own = None if votes is None else votes[items]
        if single is not None and own is not None:
            weight = np.where((own == 1)[:, None], single.rows(items) / len(scoring.files.models), weight)
        _, other = losses(scoring.rule, logs, reference.centre[items])
        one, two = (np.where(weight > 0, loss, 0.0) for loss in (first.rows(items), other))
        kept = present(np.stack([table.rows(items)[:, 0] for table in parts.tables]))
        if not (np.isfinite(one[kept]).all() and np.isfinite(two[kept]).all()):
            return None
        second, _, _ = item_moments(one[kept] - two[kept], weight[kept], None if own is None else own[kept])
        of_item = share[0] if parts.group is None else share[parts.group[items[kept]]]
        found.write(items[kept], (second * of_item**2)[:, None])
    return _total(ScratchParts(("",), (found,), parts.size, None, None, None, np.array([parts.n_items.sum()])))


def _total(parts: ScratchParts) -> float:
    terms = Terms(OWN, 1)
    return float(sums(parts, terms, terms.bounds(extremes(parts, OWN)), 1)[0, 0, 0])


def _some_single(single: np.ndarray, part: Part) -> bool:
    return bool(single[part.item].any())


def _forecast(scoring: Scoring, places: Callable[[int], Places], journal: Journal) -> Table:
    """The sum of all models' probabilities."""
    total = Table(journal.folder / "forecast", scoring.reference.n_items, len(scoring.reference.labels))
    for model in range(len(scoring.files.models)):
        for _, items, logs in log_batches(scoring, model, places(model)):
            probs: Float[np.ndarray, "item label"] = np.exp(logs)
            total.write(items, probs if model == 0 else total.rows(items) + probs)
    return total
