"""The line on files larger than memory: scored batch by batch, here or on a cluster, then compared."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Int

from probtruth import frames
from probtruth.comparison.compare import conclude
from probtruth.comparison.evidence.design import Design, design_of
from probtruth.comparison.evidence.evidence import Evidence
from probtruth.comparison.evidence.from_scores import evidence_of
from probtruth.comparison.evidence.unseen import Outcomes
from probtruth.comparison.options import Options
from probtruth.scoring.score import floored, label_losses
from probtruth.streaming.dask_store import DaskParts
from probtruth.streaming.prepared import Prepared, prepare
from probtruth.streaming.reference import Reference, StreamedLabels, no_terms
from probtruth.streaming.score_batches import Files, Progress, Sample
from probtruth.types import Audit, Comparison, Predictions, RuleFacts, Truth
from probtruth.types.index import Index
from probtruth.types.shown import Brief


@dataclass(frozen=True, eq=False, repr=False)
class Streamed(Brief):
    """A comparison of scores that were never in memory together, and what a report says of them.

    `sample` are the predictions for a random sample of the items (all, if they are few), and their labels; `workers`
    are the versions on the workers of Dask that held the scores (empty without Dask).
    """

    comparison: Comparison
    models: tuple[str, ...]
    rule: str
    known: RuleFacts
    n_items: int
    n_infinite: Int[np.ndarray, " model"]
    audit: Audit
    sample: tuple[Predictions, Truth] | None = None
    workers: Mapping[str, str] = field(default_factory=dict)

    @property
    def items(self) -> range:
        """Positions in place of the items: their names were never listed."""
        return range(self.n_items)

    @classmethod
    def of(cls, evidence: Evidence, options: Options, on_progress: Progress | None) -> "Streamed":
        """What is concluded from the evidence.

        Errors: as `compare`.
        """
        facts, parts = evidence.facts, evidence.parts
        return cls(
            comparison=conclude(evidence, options, on_progress),
            models=facts.models,
            rule=facts.rule,
            known=facts.known,
            n_items=evidence.design.n_items,
            n_infinite=evidence.n_infinite,
            audit=facts.audit,
            workers=parts.versions() if isinstance(parts, DaskParts) else {},
        )


@dataclass(frozen=True)
class ScoringOptions:
    """How to score, and which items belong together (see `compare`)."""

    rule: object = "log"
    floor: object = None
    groups: object = None
    clusters: object = None
    weights: object = None


def streamed(
    truth: Truth,
    files: Files,
    scoring: ScoringOptions,
    options: Options,
    where: object,
    on_progress: Progress | None = None,
) -> Streamed:
    """The comparison of the models of some files against a truth.

    Arguments: `where` the losses are meanwhile: a folder, from which a run that was interrupted goes on (it is left for
    the caller to remove), or a Dask client.

    Errors: as `score` and `compare`.
    """
    ready = prepare(truth, files, scoring.rule, scoring.floor)
    reference = ready.reference
    plan = _design(ready, scoring)
    scored = ready.stored(plan.structure.among(ready.complete), where, on_progress, ready.sampled())
    sampled = scored.sample()
    evidence = evidence_of(
        scored.parts,
        facts=ready.facts,
        design=plan,
        name=lambda item: str(reference.names[item]),
        fixed_items=StreamedLabels(plan.weights, scored.label_terms if reference.labels_known else no_terms),
        outcomes=_outcomes(sampled, ready),
    )
    sample = _known(sampled, files.models, reference)
    made = replace(Streamed.of(evidence, options, on_progress), sample=sample)
    files.check_unchanged()
    return made


def _outcomes(sample: Sample, ready: Prepared) -> Outcomes:
    """What the labels that did not come would cost on the items of the sample."""
    reference = ready.reference
    losses = np.stack([label_losses(ready.rule, floored(logs, ready.floor)) for logs in sample.logs])
    return Outcomes.of(losses, sample.logs, reference.centre[sample.item], reference.estimand)


def _known(sample: Sample, models: tuple[str, ...], reference: Reference) -> tuple[Predictions, Truth]:
    """The items of a sample under their names."""
    index = Index(tuple(frames.text(reference.names.gather(sample.item)).to_list()), reference.labels)
    truth = Truth(reference.centre[sample.item], index, reference.estimand, "given")
    return Predictions(sample.logs, models, index), truth


def _design(ready: Prepared, scoring: ScoringOptions) -> Design:
    """Which of the items that are kept belong together; their names are listed only where something goes by them."""
    by_name = scoring.groups is not None or scoring.clusters is not None
    items = frames.text(ready.reference.names.filter(ready.complete)).to_list() if by_name else range(ready.n_items)
    return design_of(items, scoring.groups, scoring.clusters, scoring.weights)
