"""Votes: which of two models' answers to a prompt an annotator prefers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.check import Texts
from probtruth.kernels.arrays import ratio
from probtruth.types.score_rows import Partition
from probtruth.types.shown import Brief


@dataclass(frozen=True, eq=False, repr=False)
class Votes(Brief):
    """Preferences between the answers of two models to a prompt.

    `item` is the prompt of each vote, `left` and `right` the models whose answers stood there (positions in `models`),
    `outcome` 1 where the left one is preferred, -1 the right one, 0 a tie; `annotator` who voted, where that is known.
    Without `prompts_named` every vote counts as a prompt of its own; without `placed` nothing is known of which answer
    stood left (of chosen and rejected ones). `notes` say how a table was read. `covariates` are differences between the
    two answers, left less right (of length, of style); `groups` are those of the prompts (category, language).
    """

    item: Int[np.ndarray, " vote"]
    left: Int[np.ndarray, " vote"]
    right: Int[np.ndarray, " vote"]
    outcome: Int[np.ndarray, " vote"]
    models: Texts
    items: Sequence[str]
    annotator: Int[np.ndarray, " vote"] | None = None
    annotators: Texts = ()
    prompts_named: bool = True
    placed: bool = True
    notes: Texts = ()
    covariates: Mapping[str, Float[np.ndarray, " vote"]] = field(default_factory=dict)
    groups: Partition | None = None

    @property
    def standardised(self) -> Float[np.ndarray, "vote covariate"]:
        """The covariates in units of their root mean square: 0 stays where answers are alike."""
        columns = np.reshape([*self.covariates.values()], (len(self.covariates), len(self.outcome)))
        size = np.sqrt(np.square(columns).mean(1, keepdims=True))
        return ratio(columns, size).T

    def __repr__(self) -> str:
        """The numbers of votes, models, prompts and annotators."""
        said = [f"{check.count(len(self.outcome), 'vote')} on {check.count(len(self.models), 'model')}"]
        if self.prompts_named:
            said.append(check.count(len(self.items), "prompt"))
        if self.annotator is not None:
            said.append(check.count(len(self.annotators), "annotator"))
        return f"Votes: {', '.join(said)}, {(self.outcome == 0).mean():.0%} ties"
