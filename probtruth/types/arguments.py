"""The types of public arguments that several functions share: what a caller may pass on, not what comes out."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame
else:
    IntoFrame = Any  # narwhals loads where a frame is read, not before

type StrPath = str | PathLike[str]  # A path of a file or folder
# Log files: a file, a folder, a list of them, or these for each model
type Files = StrPath | Sequence[StrPath] | Mapping[str, StrPath | Sequence[StrPath]]
# A table with named columns: any dataframe that narwhals knows, or a dict of columns
type Frame = IntoFrame | Mapping[str, Iterable[object]]
# Numbers by item and label: an array of any library, nested lists, or a dataframe with a column for each label
type Numbers = ArrayLike | IntoFrame
type Tables = Mapping[str, Numbers]  # A table for each model
type GivenNames = Iterable[object] | None  # Names along an axis of an array, in its order; None where it has none
# Experts' answers on a few items: {item: label}, or a table with columns `item`, `label` and perhaps `probability`
type ExpertLabels = Mapping[Any, Any] | StrPath | IntoFrame
# The group or cluster of each item: by the item's name (a dict, a Series of pandas), or in the order of the items
type Groups = Mapping[str, str] | Sequence[object]
# The weight of each group: the same, by the group's name, or in the order in which the items come to the groups
type Weights = Literal["equal"] | Mapping[str, float]
# Which event a forecast is judged by: each label against the others, or the most probable label being right
type JudgedBy = Literal["label", "top-label"]
# How the source probability of Nelson's risk profile is estimated
type SourceMethod = Literal["isotonic", "bins", "bayes-bins", "kernel", "truth"]
type ResponseMode = Literal["sample", "argmax", "threshold"]  # How a model answers with one label
# The scoring rules that have names
type RuleName = Literal[
    "log",
    "brier",
    "quadratic",
    "spherical",
    "ranked-probability",
    "zero-one",
    "linear",
    "manhattan",
    "wasserstein",
]
type ScoredUnit = Literal["item", "annotation"]  # What has a score
# What a truth is about: how annotators would answer, those of them who read the item, or which label is true
type Estimand = Literal["distribution", "class"]
ESTIMANDS: tuple[Estimand, ...] = ("distribution", "class")  # Every estimand
QUESTIONS = {
    "distribution": "how annotators would answer",
    "class": "the one true class of each item",
}  # What each estimand asks for

# The truth methods
type MethodName = Literal[
    "vote-share",
    "dirichlet",
    "majority",
    "dawid-skene-em",
    "dawid-skene",
    "hierarchical-dawid-skene",
    "one-coin",
    "mace",
    "glad",
    "ability",
    "perceived-class",
    "pooled",
]
METHOD_WORDS = {
    "vote-share": "vote shares",
    "dirichlet": "vote shares with their uncertainty",
    "majority": "majority vote",
    "dawid-skene-em": "Dawid and Skene's model",
    "dawid-skene": "Dawid and Skene's model, sampled",
    "hierarchical-dawid-skene": "Dawid and Skene's model of similar annotators",
    "one-coin": "one accuracy for each annotator",
    "mace": "annotators who know the label or guess",
    "glad": "annotators' skill and items' difficulty",
    "ability": "annotators of different skill who err independently",
    "perceived-class": "annotators who err together on hard items",
    "pooled": "annotators who may err together",
}  # What each truth method is called in a sentence


def method_in_words(method: str) -> str:
    """The plain name of a truth method before the one that options take: `majority vote (majority)`."""
    words = METHOD_WORDS.get(method)
    return method if words is None else f"{words} ({method})"


# The metrics that `compare_metric` knows
type MetricName = Literal[
    "accuracy", "precision", "recall", "f1", "macro-f1", "kappa", "roc-auc", "average-precision", "ece"
]
type Engine = Literal["auto", "nuts", "exact"]  # How a posterior is computed: by sampling, or by quadrature
# Which items an answer is about: new ones like these, or these
type ItemPopulation = Literal["new-items", "these-items"]
type ReplicateKind = Literal["independent", "crossed", "folds"]  # What the repeated scores of an item are
# What speaks for the class of an item: its annotators, or the models' forecasts too
type ClassEvidence = Literal["auto", "annotators", "annotators-and-models"]
