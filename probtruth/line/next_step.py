"""What to do with a result: use a model, decide what is asked, or get more of what the answer lacks most."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from probtruth.errors import ProbtruthError
from probtruth.line.standing import SURE
from probtruth.study.plan import ENOUGH, plan

if TYPE_CHECKING:
    from probtruth.line.result import Result

MOST = 1000  # Times the items of this comparison: beyond, a number of items is no advice
LARGEST_PART = 0.5  # Share of the variance from which on its source is what to get more of

type What = Literal[
    "sample-longer", "look-at-infinite", "look-at-items", "choose-question", "ask-experts", "either", "use-leader",
    "same-items",
    "more-items", "more-annotators-too", "more-annotators", "more-labels", "more-replicates", "more-votes",
]  # fmt: skip


OF_PART: dict[str, What] = {
    "annotators": "more-annotators",
    "labels": "more-labels",
    "replicates": "more-replicates",
    "votes": "more-votes",
}  # What to get where most of the variance is of that part


@dataclass(frozen=True)
class NextStep:
    """`n_items` are those of a study that would probably decide if the difference is as observed.

    `n_items_averaged` are those where its chance to decide is averaged over all differences that the data leave open;
    `share` is of the variance.
    """

    what: What
    n_items: int | None = None
    n_items_averaged: int | None = None
    share: float | None = None


def next_step(result: "Result") -> NextStep | None:
    """What to do next; None for one model. An inconclusive comparison has a study planned for it."""
    standing = result.standing
    if standing is None:
        return None
    if standing.failing:
        return NextStep("sample-longer")
    if standing.turned_by_infinite:
        return NextStep("look-at-items" if result.labelled is None else "look-at-infinite")
    if standing.answers:
        return NextStep("choose-question")
    if standing.methods:
        return NextStep("ask-experts")
    if standing.level == "equivalent":
        return NextStep("either")
    if standing.gap.difference is None and standing.gap.shared_items == 0:
        return NextStep("same-items")
    if standing.unseen is not None or standing.p is None:
        return NextStep("more-items")
    if standing.p >= SURE:
        return NextStep("use-leader")
    parts = {name: share or 0.0 for name, share in result.comparison.uncertainty.items()}
    for name, what in OF_PART.items():
        if parts.get(name, 0.0) > LARGEST_PART:
            return NextStep(what, share=parts[name])
    try:
        averaged = plan(result, standing.lead, standing.next)
        shown: float | None = averaged.difference  # of votes in shares of them
        if standing.gap.p_a_preferred is None:
            shown = standing.gap.difference
        observed = plan(result, standing.lead, standing.next, difference=shown)
    except ProbtruthError:
        return NextStep("more-items")
    enough = [{row["design"]: round(row["n_items"]) for row in made.designs} for made in (observed, averaged)]
    size, size_averaged = [sizes.get(ENOUGH) for sizes in enough]
    if size is None:
        return NextStep("more-annotators-too" if parts.get("annotators") else "more-items")
    n_items = len(result.scores.items)
    if n_items < size < MOST * n_items:
        return NextStep("more-items", size, size_averaged)
    return NextStep("more-items")
