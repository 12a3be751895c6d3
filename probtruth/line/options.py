"""The options of the pipeline, once: from the caller to the place of use."""

from dataclasses import dataclass

from probtruth.io.gold import ExpertAnswers
from probtruth.scoring.rules import ScoringRule
from probtruth.types.arguments import ClassEvidence, Engine, Estimand, MethodName


@dataclass(frozen=True, eq=False)
class Options:
    """The options of `evaluate`; `groups` and `clusters` are by item."""

    rule: ScoringRule
    method: MethodName | None = None
    estimand: Estimand | None = None
    evidence: ClassEvidence = "auto"
    floor: float | None = None
    groups: object = None
    clusters: object = None
    weights: object = None
    gold: ExpertAnswers | None = None
    engine: Engine = "auto"
    rope: float | str | None = None
    seed: int = 0
    strict: bool = False
