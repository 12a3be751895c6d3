"""The data that plan and validate start from: scores, or annotations and predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from probtruth.cli.reading import AnnotationColumns, read_annotations
from probtruth.errors import InputError

if TYPE_CHECKING:
    import probtruth.types


@dataclass(frozen=True)
class PilotFiles:
    """The files of a pilot, and how to read them."""

    scores: str | None
    columns: Mapping[str, Any]
    higher_is_better: bool | None
    annotations: str | None
    predictions: Sequence[str]
    rule: str
    kind: str

    def read(self) -> "tuple[probtruth.types.Scores, probtruth.types.Annotations | None]":
        """The scores, and the annotations behind them if the same few annotators judged all items."""
        if (self.scores is None) == (self.annotations is None):
            raise InputError(
                "both SCORES and --annotations" if self.scores else "no pilot", "one of the two",
                "Give a table of scores, or --annotations and --predictions.",
            )  # fmt: skip
        if self.scores is not None:
            from probtruth.io.scores import read_scores

            return read_scores(self.scores, **self.columns, higher_is_better=self.higher_is_better), None
        from probtruth.comparison.evidence.crossed import same_few
        from probtruth.io.predictions import model_files, read_predictions_pairs
        from probtruth.scoring.score import score
        from probtruth.truth.infer import infer_truth

        item = self.columns["item"]
        files = model_files(self.predictions)
        annotations = read_annotations(str(self.annotations), AnnotationColumns(item), predictions=files[0][1])
        predictions = read_predictions_pairs(files, annotations.index, item, self.kind)
        annotations = annotations.annotated()[0]
        scores = score(predictions, infer_truth(annotations, method="vote-share"), rule=self.rule)
        return scores, annotations if same_few(annotations) else None
