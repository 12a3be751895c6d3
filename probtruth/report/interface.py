"""What the report needs of a result; `probtruth.line.evaluate.Result` has it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from probtruth.types import Annotations, Audit, Comparison, Predictions, Scores, Truth

if TYPE_CHECKING:
    from probtruth.streaming.compare_files import Streamed


@runtime_checkable
class OtherLike(Protocol):
    """The same models under the estimand that was not asked for."""

    @property
    def truth(self) -> Truth:
        """The reference labels under the other estimand."""

    @property
    def comparison(self) -> Comparison:
        """The posterior under the other estimand."""


@runtime_checkable
class ResultLike(Protocol):
    """The line's result: what went in, what was computed, and how."""

    @property
    def truth(self) -> Truth | None:
        """The reference labels; None for bare scores."""

    @property
    def annotations(self) -> Annotations | None:
        """What annotators said; None where soft labels or scores were given."""

    @property
    def other(self) -> OtherLike | None:
        """The verdict under the other estimand; None where there is none."""

    @property
    def predictions(self) -> Predictions | None:
        """The models' probabilities; None for bare scores."""

    @property
    def sample(self) -> tuple[Predictions, Truth] | None:
        """Probabilities and labels of a random sample of the items, of files that were streamed."""

    @property
    def scores(self) -> "Scores | Streamed":
        """One loss for each model and item; or, of files that were streamed, what is known of them."""

    @property
    def comparison(self) -> Comparison:
        """The posterior and its decisions."""

    @property
    def decomposition(self) -> Sequence[Mapping[str, Any]] | None:
        """Rows of model, expected, entropy, divergence; None for bare scores."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know first."""

    @property
    def note(self) -> str | None:
        """What must be said wherever the result is shown (demo data); None for data of the user's own."""

    @property
    def audit(self) -> Audit:
        """What alignment by name left out."""

    @property
    def command(self) -> str | None:
        """The command line that made the result; None from Python."""

    def to_dict(self) -> dict[str, Any]:
        """The content of `result.json`."""
