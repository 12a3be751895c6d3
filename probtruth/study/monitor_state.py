"""The state of a monitor: evidence that may be looked at after every item, and the JSON file that holds it."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from probtruth import frames
from probtruth.comparison.compare import compare
from probtruth.comparison.estimation.serial import FALSE_ALARMS, lag_one
from probtruth.errors import InputError
from probtruth.io.addresses import shown
from probtruth.io.output.folder import whole
from probtruth.io.tables.read import read_bytes
from probtruth.kernels.shapes import UnitFloats
from probtruth.study.confidence_sequence import START, SequentialEvidence
from probtruth.types import Partition, RuleFacts, Scores
from probtruth.types.arguments import StrPath
from probtruth.types.shown import Brief

if TYPE_CHECKING:
    import polars

LOOKS = 60  # Times at which `path` gives the confidence sequence
CONTENT = "probtruth monitor, version 3"


@dataclass(frozen=True, eq=False, repr=False)
class Monitor(Brief):
    """What is known so far about the mean difference of two models, valid at any time, however often you look.

    Differences are a minus b in units of the score. `bounds` are those of a score, None if the method is `asymptotic`.
    `shared_labels` says that annotators of many items, or a fit to them, stand behind the scores.
    `skipped` counts the items of the last batch that were already known, `waiting` those that only one model has.
    """

    a: str
    b: str
    bounds: tuple[float, float] | None
    alpha: float = 0.05
    rope: float | None = None
    higher_is_better: bool = False
    largest_cluster: int = 1
    differences: Sequence[float] = ()
    items: Sequence[str] = ()
    clusters: Sequence[str] | None = None
    closed: bool = False
    shared_labels: bool = False
    skipped: int = 0
    waiting: int = 0

    @property
    def method(self) -> str:
        """`betting` if scores are bounded, else `asymptotic`."""
        return "asymptotic" if self.bounds is None else "betting"

    @cached_property
    def _unit(self) -> np.ndarray:
        """The unit of each item that counts; items of a cluster that may still grow do not count."""
        if not self.clusters:
            return np.arange(len(self.differences))
        names = np.array(self.clusters)
        begins = names[1:] != names[:-1]
        unit = np.append(0, np.cumsum(begins))
        return unit if self.closed else unit[unit < unit[-1]]

    @cached_property
    def evidence(self) -> SequentialEvidence:
        """The independent units that are complete, and the e-processes behind the numbers."""
        total = np.bincount(self._unit, self.differences[: self.n_items]) + 0.0
        size = np.bincount(self._unit).astype(np.float64)
        bound = None
        if self.bounds is not None:
            low, high = self.bounds
            bound = high - low
        return SequentialEvidence(total, size, self.largest_cluster, bound)

    @property
    def n_items(self) -> int:
        """Items that count."""
        return len(self._unit)

    @property
    def n_units(self) -> int:
        """Independent units: items, or clusters that are complete."""
        return len(self.evidence.total)

    @property
    def difference(self) -> float | None:
        """The mean difference over the items; None before the first."""
        return math.fsum(self.differences[: self.n_items]) / self.n_items if self.n_items else None

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The confidence sequence now: with probability 1 - alpha it holds the mean difference at all times."""
        return self.evidence.interval(self.alpha)

    @cached_property
    def _paths(self) -> tuple[np.ndarray, np.ndarray]:
        """The log e-processes for "a is better" and for "b is better"."""
        below = self.evidence.below(0.0)
        above = self.evidence.above(0.0)
        return (above, below) if self.higher_is_better else (below, above)

    @property
    def e_a_better(self) -> float:
        """E-value for "a is better", against equal means or a better b."""
        return _last(self._paths[0])

    @property
    def e_b_better(self) -> float:
        """E-value for "b is better", against equal means or a better a."""
        return _last(self._paths[1])

    @property
    def p_value(self) -> float:
        """Anytime-valid, two-sided, against equal means: twice the inverse of the largest evidence so far."""
        return min(1.0, 2 * math.exp(-max(float(path.max(initial=0.0)) for path in self._paths)))

    @property
    def decision(self) -> str | None:
        """`a`, `b` or `equivalent` (within the ROPE) once the confidence sequence shows it, else None.

        The sequence never widens, so a decision stays right: `equivalent` may only become the more precise `a` or `b`.
        """
        low, high = self.interval
        if high < 0 or low > 0:
            return "a" if (low > 0) == self.higher_is_better else "b"
        return "equivalent" if self.rope is not None and -self.rope <= low and high <= self.rope else None

    @cached_property
    def p_a_better(self) -> float | None:
        """The posterior probability of `compare` for these items, as if this were the only look.

        None before there are two units, and where one difference on every item leaves the spread unknown.
        """
        if self.n_units < 2:
            return None
        halves = np.array(self.differences[: self.n_items]) / 2
        numbers = tuple(map(str, range(self.n_items)))
        scores = Scores(
            np.stack([halves, -halves]),
            ("a", "b"),
            numbers,
            "difference",
            self.higher_is_better,
            RuleFacts(range=self.bounds),
            clusters=None if self.clusters is None else Partition(self._unit, numbers[: self.n_units]),
        )
        return compare(scores, engine="exact").pairs[0].p_a_better

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the reader."""
        messages = []
        units = self.evidence
        more = "false alarms are more frequent than alpha"
        if self.method == "asymptotic":
            messages.append(
                "asymptotic: scores have no bounds, so the false-alarm rate holds in large samples only, for "
                "differences with a finite variance; give bounds for a rate that holds always"
            )
            if self.n_units < START:
                messages.append(f"there is no evidence before {START} units; here are {self.n_units}")
            skewness = units.far_from_normal()
            if skewness is not None:
                messages.append(
                    f"differences are far from normal so far (skewness {skewness:+.1f} of {self.n_units} units): "
                    f"{more}; give bounds, or decide with more units"
                )
        of_units = units.total / units.size
        correlation, z = lag_one(of_units, np.zeros(self.n_units, np.int64)) if self.n_units else (0.0, 0.0)
        if z > ndtri(1 - FALSE_ALARMS):
            messages.append(
                f"differences that follow each other are alike (rank correlation {correlation:.2f}): units are not "
                f"independent and {more}; say what they share by clusters (command line: --cluster)"
            )
        if self.shared_labels:
            messages.append(
                "the same annotators, or a fit to them, stand behind the labels of all items: this is the answer "
                "against these labels, and what new annotators would say is less sure; compare counts that"
            )
        low, high = self.interval
        if low > high:
            messages.append(
                "the limits have crossed: the mean difference has drifted; items do not come from one source"
            )
        return tuple(messages)

    def path(self, looks: int = LOOKS) -> "polars.DataFrame":
        """The state at up to `looks` times, evenly spread on a logarithmic scale, the last of them now.

        Columns: `n_units`, `n_items`, `difference`, the confidence sequence `low` to `high`, and the e-values
        `e_a_better` and `e_b_better`.
        """
        units = self.evidence
        n = self.n_units
        times = np.unique(np.geomspace(1, n, looks).round().astype(int)) if n else np.zeros(0, int)
        n_items = np.cumsum(units.size)[times - 1]
        mean = np.cumsum(units.total)[times - 1] / n_items
        names = ("n_units", "n_items", "difference", "low", "high", "e_a_better", "e_b_better")
        rows = []
        for time, items, difference in zip(times.tolist(), n_items.tolist(), mean.tolist(), strict=True):
            interval = units.first(time).interval(self.alpha)
            e_values = [_last(path[:time]) for path in self._paths]
            now = (time, int(items), difference, *interval, *e_values)
            rows.append(dict(zip(names, now, strict=True)))
        return frames.from_rows(rows, names)

    def to_dict(self) -> dict[str, object]:
        """The numbers of this moment, as plain values."""
        names = ("a", "b", "method", "alpha", "bounds", "rope", "higher_is_better", "n_items", "n_units")
        counts = {"pending": len(self.differences) - self.n_items, "skipped": self.skipped, "waiting": self.waiting}
        low, high = self.interval
        numbers = ("e_a_better", "e_b_better", "p_value", "decision", "p_a_better")
        return {
            **{name: getattr(self, name) for name in names},
            **{"clusters": self.clusters is not None, **counts},
            **{"difference": self.difference, "low": low, "high": high},
            **{name: getattr(self, name) for name in numbers},
            "warnings": list(self.warnings),
        }

    def save(self, path: StrPath) -> None:
        """Writes the state atomically; an earlier state is replaced.

        The file holds the items' names and differences exactly, so that a monitor that was stopped gives the same
        numbers as one that was not.

        Errors: `InputError` if the file cannot be written, or holds something else.

        >>> import pathlib, tempfile, probtruth as pt
        >>> rows = {"item": [1, 1, 2, 2], "model": ["x", "y"] * 2, "score": [0, 1, 1, 1]}
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "state.json"
        >>> pt.monitor(rows, bounds=(0, 1), higher_is_better=False).save(path)
        >>> pt.monitor(earlier=path).difference
        -0.5
        """
        state = {name: value for name, value in vars(self).items() if name in STORED}
        with whole(path, is_state) as work:
            work.write_text(json.dumps({"content": CONTENT, "digest": _digest(state)} | state), encoding="utf-8")


STORED = tuple(field.name for field in fields(Monitor) if field.name not in ("skipped", "waiting"))


def read_monitor(path: StrPath) -> Monitor:
    """The monitor whose state its method `save` wrote."""
    file = Path(path)
    content = read_bytes(file)
    try:
        state = json.loads(content)
        sound = state.pop("content") == CONTENT and state.pop("digest") == _digest(state)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        hint = "Check the path; if the file is damaged, start again from the scores."
        wanted = f"what the `save` of a monitor writes ({CONTENT!r})"
        raise InputError("something that is no state of a monitor", wanted, hint, shown(file))
    return Monitor(**state | {"bounds": state["bounds"] and tuple(state["bounds"])})


def is_state(path: Path) -> bool:
    """Whether a file is the state of a monitor."""
    try:
        with path.open("rb") as stream:
            return CONTENT.encode() in stream.read(200)
    except OSError:
        return False


def _digest(state: dict[str, object]) -> str:
    return blake2b(json.dumps(state).encode(), digest_size=16).hexdigest()


def _last(path: UnitFloats) -> float:
    if not len(path):
        return 1.0
    return math.exp(min(float(path[-1]), 700.0))
