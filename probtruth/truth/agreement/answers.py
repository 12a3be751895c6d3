"""Answers of annotators to items that at least two of them answered."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probtruth.check import quote
from probtruth.errors import InputError
from probtruth.types import Annotations


@dataclass(frozen=True, eq=False)
class Answers:
    """How often each label was given to each of the `items`, and each annotator's answer (none of counts).

    An answer is one label; of repeats that differ, several (`part_of`, `label`), each with its `share`.
    """

    items: Int[np.ndarray, " item"]
    counts: Float[np.ndarray, "item label"]
    item: Int[np.ndarray, " answer"]
    annotator: Int[np.ndarray, " answer"]
    part_of: Int[np.ndarray, " part"]
    label: Int[np.ndarray, " part"]
    share: Float[np.ndarray, " part"]

    @property
    def size(self) -> Float[np.ndarray, " item"]:
        """How many answers each item has."""
        return np.rint(self.counts.sum(1))

    def each(self, of_part: Float[np.ndarray, " part"]) -> Float[np.ndarray, " answer"]:
        """The mean of what every answer's labels have."""
        # of nothing it counts integers
        return np.bincount(self.part_of, self.share * of_part, len(self.item)).astype(np.float64)

    def divided(self) -> tuple[Int[np.ndarray, " divided"], Float[np.ndarray, "divided label"]]:
        """The answers that are shared between labels, and their shares."""
        parts = np.flatnonzero(self.share < 1)
        answers, row = np.unique(self.part_of[parts], return_inverse=True)
        shares = np.zeros((len(answers), self.counts.shape[1]))
        shares[row, self.label[parts]] = self.share[parts]
        return answers, shares


def answers_of(annotations: Annotations, undivided: bool = False) -> Answers:
    """The answers to every item that has two; `undivided` takes the most frequent label of repeats that differ."""
    n_items, n_labels = annotations.n_items, annotations.n_labels
    item = who = part_of = label = np.zeros(0, np.int64)
    share = np.zeros(0)
    if annotations.annotator is None:
        counts = annotations.counts().astype(float)
    else:
        pair = annotations.item.astype(np.int64) * len(annotations.index.annotators) + annotations.annotator
        pairs, answer, often = np.unique(pair, return_inverse=True, return_counts=True)
        cells, many = np.unique(answer * n_labels + annotations.label, return_counts=True)
        part_of, label = np.divmod(cells, n_labels)
        share = many / often[part_of]
        if undivided:
            order = np.lexsort((-share, part_of))
            new = np.diff(part_of[order], prepend=-1) != 0
            tied = new[:-1] & ~new[1:] & (np.diff(share[order]) == 0)
            if tied.any():
                raise _two_answers(annotations, int(pairs[part_of[order[tied.argmax()]]]))
            first = order[new]
            part_of, label, share = part_of[first], label[first], np.ones(len(first))
        item, who = np.divmod(pairs, len(annotations.index.annotators))
        counts = np.bincount(item[part_of] * n_labels + label, share, n_items * n_labels).reshape(n_items, n_labels)
    several = np.rint(counts.sum(1)) >= 2
    if not several.any():
        raise InputError(
            "no item with two annotations by different annotators", "at least one", "Agreement needs several opinions."
        )
    used = several[item]
    parts = used[part_of]
    place = np.cumsum(several) - 1
    return Answers(
        np.flatnonzero(several),
        counts[several],
        place[item[used]],
        who[used],
        (np.cumsum(used) - 1)[part_of[parts]],
        label[parts],
        share[parts],
    )


def _two_answers(annotations: Annotations, pair: int) -> InputError:
    """The refusal of an annotator's repeats of an item of which two are as frequent."""
    item, who = divmod(pair, len(annotations.index.annotators))
    by = quote(annotations.index.annotators[who])
    return InputError(
        f"a label that annotator {by} gave as often as another to item {quote(annotations.index.items[item])}",
        "one label that an annotator gives most often",
        "Leave out one of the repeats.",
    )
