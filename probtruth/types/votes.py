"""Votes: which of two models' answers to a prompt an annotator prefers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from probtruth import check
from probtruth.check import Texts
from probtruth.errors import InputError
from probtruth.types.shown import Brief


@dataclass(frozen=True, eq=False, repr=False)
class Votes(Brief):
    """Preferences between the answers of two models to a prompt.

    `item` is the prompt of each vote, `left` and `right` the models whose answers stood there (positions in `models`),
    `outcome` 1 where the left one is preferred, -1 the right one, 0 a tie; `annotator` who voted, where that is known.
    Without `prompts_named` every vote counts as a prompt of its own; without `placed` nothing is known of which answer
    stood left (of chosen and rejected ones). `notes` say how a table was read.
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

    def __post_init__(self) -> None:
        same = self.left == self.right
        if same.any():
            vote = int(same.argmax())
            problem = f"a vote on {check.quote(self.models[int(self.left[vote])])} against itself"
            raise InputError(problem, "two different models", "Leave the vote out.", f"vote {vote + 1}")

    def __repr__(self) -> str:
        """The numbers of votes, models, prompts and annotators."""
        what = f"{check.count(len(self.outcome), 'vote')} on {check.count(len(self.models), 'model')}"
        if self.prompts_named:
            what += f", {check.count(len(self.items), 'prompt')}"
        if self.annotator is not None:
            what += f", {check.count(len(self.annotators), 'annotator')}"
        ties = float((self.outcome == 0).mean()) if len(self.outcome) else 0.0
        return f"Votes: {what}, {ties:.0%} ties"
