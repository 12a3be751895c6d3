"""The columns of votes on pairs of models, by their names."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from probtruth.check import MaybeText, Texts, one_of
from probtruth.io.table import Table


@dataclass(frozen=True)
class Votes:
    """A row for each vote on a pair of models, or for each `games` of the pair: the left one is preferred if none.

    A game has the columns that say who won it, one, or three of 0 and 1: the left one, the right one, neither. In a
    second game the right one stood left.
    """

    left: str
    right: str
    games: tuple[Texts, ...] = ()
    item: MaybeText = None
    annotator: MaybeText = None
    group: MaybeText = None
    covariates: Texts = ()


FLAGS = ("winner_model_a", "winner_model_b", "winner_tie")  # as Kaggle's file of the arena has them
# The names by which the column of each role is known; a preferred one is on the left where nothing says who won.
VOTE_COLUMNS = {
    "left": "model_a model_1 model_left left_model generator_1 left chosen_model",
    "right": "model_b model_2 model_right right_model generator_2 right rejected_model",
    "winner": "winner preference preferred vote outcome g1_winner",
    "item": "item prompt prompt_id question_id instruction question conversation_id task_id",
    "annotator": "annotator judge worker worker_id user user_id rater judge_hash evaluator",
    "group": "",
}


def votes_in(table: Table, named: Mapping[str, MaybeText] = MappingProxyType({})) -> Votes | None:
    """The columns of votes, those that are named and the others by their names; None where there are none."""
    item = named.get("item")
    columns = table.columns if item is None else table.with_items(item).columns
    lower = {name.strip().lower(): name for name in reversed(columns)}
    roles = {}
    for role, names in VOTE_COLUMNS.items():
        said = named.get(role)
        found = [lower[name] for name in names.split() if name in lower]
        roles[role] = said if said is not None or not found else found[0]
    left = roles["left"]
    right = roles["right"]
    if left is None or right is None:
        return None
    winner = roles["winner"]
    games: list[Texts] = []
    if left.lower().startswith("chosen"):
        winner = named.get("winner")
    elif winner is None and lower.keys() >= {*FLAGS}:
        games.append(tuple([lower[name] for name in FLAGS]))
    elif winner is None:
        return None
    if winner is not None:
        games.append((winner,))
        if winner.lower() == "g1_winner" and "g2_winner" in lower:
            games.append((lower["g2_winner"],))
    for role, said in named.items():
        if said is not None:
            one_of(said, tuple(columns), f"column of {role}")
    item = roles["item"]
    if item is None and table.row_names is not None and not table.index_columns and not table.numbers_rows:
        item = "item"  # an index without a name
    return Votes(left, right, tuple(games), item, roles["annotator"], roles["group"])
