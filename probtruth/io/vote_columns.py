"""The columns of votes on pairs of models, by their names."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from probtruth.check import MaybeText, Strings, Texts, one_of
from probtruth.io.table import Table


@dataclass(frozen=True)
class Votes:
    """A row for each vote on a pair of models; without `winner` and `flags` the left one is preferred.

    `swapped` is the winner of a second game, in which the right one stood left. `flags` are columns of 0 and 1 that
    say whether the left one won, the right one, or neither.
    """

    left: str
    right: str
    winner: MaybeText = None
    item: MaybeText = None
    annotator: MaybeText = None
    swapped: MaybeText = None
    group: MaybeText = None
    covariates: Texts = ()
    flags: Texts = ()


FLAGS = ("winner_model_a", "winner_model_b", "winner_tie")  # as Kaggle's file of the arena has them
# The columns of the two models of a vote, the preferred one first where nothing says who won.
VOTE_PAIRS = """
model_a model_b
model_1 model_2
model_left model_right
left_model right_model
generator_1 generator_2
left right
chosen_model rejected_model
""".strip()
SIDES = ("left", "right", "winner")  # What tells that a table holds votes
# The names by which the column of each other role is known.
VOTE_COLUMNS = {
    "left": "",
    "right": "",
    "winner": "winner preference preferred vote outcome g1_winner",
    "item": "item prompt prompt_id question_id instruction question conversation_id task_id",
    "annotator": "annotator judge worker worker_id user user_id rater judge_hash evaluator",
    "group": "",
}


def votes_in(table: Table, named: Mapping[str, MaybeText] = MappingProxyType({})) -> Votes | None:
    """The columns of votes in a table, of which an index without a name may hold the prompts."""
    item = named.get("item")
    columns = table.columns if item is None else table.with_items(item).columns
    votes = vote_columns(columns, named)
    unnamed = table.row_names is not None and not table.index_columns and not table.numbers_rows
    return replace(votes, item="item") if votes is not None and votes.item is None and unnamed else votes


def vote_columns(columns: Strings, named: Mapping[str, MaybeText] = MappingProxyType({})) -> Votes | None:
    """The columns of votes, those that are named and the others by their names; None where there are none."""
    lower = {name.strip().lower(): name for name in reversed(columns)}
    roles = {}
    for role, names in VOTE_COLUMNS.items():
        said = named.get(role)
        if said is not None and role in SIDES:
            one_of(said, tuple(columns), f"column of {role}")
        roles[role] = said if said is not None else next((lower[name] for name in names.split() if name in lower), None)
    left = roles["left"]
    right = roles["right"]
    for pair in VOTE_PAIRS.splitlines():
        first, second = pair.split()
        if left is None and right is None and first in lower and second in lower:
            left = lower[first]
            right = lower[second]
    if left is None or right is None:
        return None
    winner = roles["winner"]
    flags: Texts = ()
    if winner is None and all(name in lower for name in FLAGS):
        flags = tuple(lower[name] for name in FLAGS)
    if left.lower().startswith("chosen"):
        winner = named.get("winner")
    elif winner is None and not flags:
        return None
    for role, said in named.items():
        if said is not None:
            one_of(said, tuple(columns), f"column of {role}")
    swapped = lower.get("g2_winner") if str(winner).lower() == "g1_winner" else None
    return Votes(left, right, winner, roles["item"], roles["annotator"], swapped, roles["group"], flags=flags)
