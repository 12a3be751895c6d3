"""The types of public arguments that several functions share: what a caller may pass on, not what comes out."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame
else:
    IntoFrame = Any  # narwhals loads where a frame is read, not before

type StrPath = str | Path
"""A path of a file or folder."""

type Files = StrPath | Sequence[StrPath] | Mapping[str, StrPath | Sequence[StrPath]]
"""Log files: a file, a folder, a list of them, or these for each model."""

type Frame = IntoFrame | Mapping[str, Iterable[object]]
"""A table with named columns: any dataframe that narwhals knows, or a dict of columns."""

type Numbers = ArrayLike | IntoFrame
"""Numbers by item and label: an array of any library, nested lists, or a dataframe with a column for each label."""

type Tables = Mapping[str, Numbers]
"""A table for each model."""

type Groups = Mapping[str, str] | Sequence[object]
"""The group or cluster of each item: by the item's name, or in the order of the items."""

type JudgedBy = Literal["label", "top-label"]
"""Which event a forecast is judged by: each label against the others, or the most probable label being right."""

type Binning = Literal["uniform", "quantile"]
"""Bins of equal width, or of equal numbers of forecasts."""

type SourceMethod = Literal["isotonic", "bins", "bayes-bins", "kernel", "neighbours", "truth"]
"""How the source probability of Nelson's risk profile is estimated."""

type ResponseMode = Literal["sample", "argmax", "threshold"]
"""How a model answers with one label."""

type RuleName = Literal["log", "brier", "quadratic", "spherical", "ranked-probability", "zero-one", "linear"]
"""The scoring rules that have names."""
