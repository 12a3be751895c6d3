"""The line on files larger than memory: scored batch by batch, here or on a cluster, then compared."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Int

from probtruth import frames
from probtruth.comparison.compare import conclude
from probtruth.comparison.evidence.design import design_of
from probtruth.comparison.evidence.evidence import Evidence, Strata
from probtruth.comparison.options import Options
from probtruth.errors import InputError
from probtruth.streaming.evidence import evidence_of
from probtruth.streaming.parts import Layout, Sample
from probtruth.streaming.prepared import prepare
from probtruth.streaming.reference import Reference
from probtruth.streaming.score_batches import Files, Progress
from probtruth.types import Audit, Comparison, Predictions, Truth
from probtruth.types.index import Index


@dataclass(frozen=True, eq=False)
class Streamed:
    """A comparison of scores that were never in memory together, and what a report says of them.

    `sample` are the predictions for a random sample of the items (all, if they are few), and their labels.
    """

    comparison: Comparison
    models: tuple[str, ...]
    rule: str
    proper: bool | None
    floor: float | None
    n_items: int
    n_infinite: Int[np.ndarray, " model"]
    audit: Audit
    sample: tuple[Predictions, Truth] | None = None

    @property
    def items(self) -> range:
        """Positions in place of the items: their names were never listed."""
        return range(self.n_items)

    @classmethod
    def of(cls, found: Evidence, comparison: Comparison) -> "Streamed":
        """From the evidence, and what was concluded from it."""
        facts = found.facts
        return cls(
            comparison,
            facts.models,
            facts.rule,
            facts.proper,
            facts.floor,
            found.strata.n_items,
            found.n_infinite,
            facts.audit,
        )


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
    ready = prepare(truth, files, asked.rule, asked.floor)
    reference = ready.scoring.reference
    layout, strata = _layout(reference, ready.kept, asked)
    scored = ready.scored(layout, where, on_progress, ready.sampled())
    name = lambda item: str(reference.names[item])  # noqa: E731
    bounds = ready.scoring.rule.range_for(len(reference.labels))
    found = evidence_of(scored.parts, ready.facts, strata, name, bounds, scored.label_variance)
    sample = _known(scored.sample(), files.models, reference)
    return replace(Streamed.of(found, conclude(found, options, on_progress)), sample=sample)


def _known(sample: Sample, models: tuple[str, ...], reference: Reference) -> tuple[Predictions, Truth]:
    """The items of a sample under their names."""
    index = Index(tuple(frames.text(reference.names.gather(sample.item)).to_list()), reference.labels)
    truth = Truth(reference.centre[sample.item], index, reference.estimand, "given")
    return Predictions(sample.logs, models, index), truth


def _layout(reference: Reference, kept: Bool[np.ndarray, " item"], asked: Asked) -> tuple[Layout, Strata]:
    """Which of the items that are kept belong together."""
    n_items = int(kept.sum())
    if asked.groups is None and asked.clusters is None:
        if asked.weights is not None:
            raise InputError("weights without groups", "groups to weight", "Give groups=... too, or leave weights out.")
        return Layout.of(None, kept), Strata(np.ones(1), n_items, None)
    plan = design_of(frames.text(reference.names.filter(kept)).to_list(), asked.groups, asked.clusters, asked.weights)
    return Layout.of(plan, kept), Strata.of(plan, n_items)
