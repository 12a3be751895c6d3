"""Which probabilistic model is better when the reference labels are uncertain."""

from probtruth import display as _display
from probtruth.version import __version__ as __version__

TYPE_CHECKING = False  # as of `typing`, whose import takes long enough for a Ctrl-C to fall into it
if TYPE_CHECKING:
    from types import ModuleType

    from probtruth import errors as errors
    from probtruth import figures as figures
    from probtruth.comparison.estimation.moments import Moments as Moments
    from probtruth.comparison.posterior.program import program as program
    from probtruth.errors import InputError as InputError
    from probtruth.io import loaders as loaders
    from probtruth.io.annotations import read_annotations as read_annotations
    from probtruth.io.predictions import read_predictions as read_predictions
    from probtruth.io.scores import read_scores as read_scores
    from probtruth.io.votes import read_votes as read_votes
    from probtruth.line.compare import compare as compare
    from probtruth.line.compare_metric import compare_metric as compare_metric
    from probtruth.line.evaluate import evaluate as evaluate
    from probtruth.line.result import Result as Result
    from probtruth.line.score import score as score
    from probtruth.line.several_labels import evaluate_labels as evaluate_labels
    from probtruth.report.write import write_report as write_report
    from probtruth.scoring import calibration as calibration
    from probtruth.scoring import confusion as confusion
    from probtruth.scoring import nelson as nelson
    from probtruth.scoring import rules as rules
    from probtruth.scoring.calibration.decompositions import decompose as decompose
    from probtruth.scoring.confusion.expected import expected_confusion as expected_confusion
    from probtruth.scoring.rules.proper import brier_score as brier_score
    from probtruth.scoring.rules.proper import entropy as entropy
    from probtruth.scoring.rules.proper import kl_divergence as kl_divergence
    from probtruth.scoring.rules.proper import log_score as log_score
    from probtruth.scoring.rules.proper import quadratic_score as quadratic_score
    from probtruth.scoring.rules.proper import ranked_probability_score as ranked_probability_score
    from probtruth.scoring.rules.proper import spherical_score as spherical_score
    from probtruth.scoring.rules.proper import zero_one_score as zero_one_score
    from probtruth.scoring.rules.rule import ScoringRule as ScoringRule
    from probtruth.study.monitor import monitor as monitor
    from probtruth.study.plan import plan as plan
    from probtruth.study.validate import validate as validate
    from probtruth.truth import agreement as agreement
    from probtruth.truth.infer import infer_truth as infer_truth
    from probtruth.truth.multilabel import infer_multilabel as infer_multilabel
    from probtruth.types import Annotations as Annotations
    from probtruth.types import Comparison as Comparison
    from probtruth.types import Predictions as Predictions
    from probtruth.types import Scores as Scores
    from probtruth.types import Truth as Truth
    from probtruth.types import Votes as Votes

_HOME = {
    "Annotations": "types",
    "Comparison": "types",
    "InputError": "errors",
    "Moments": "comparison.estimation.moments",
    "Predictions": "types",
    "Result": "line.result",
    "Scores": "types",
    "ScoringRule": "scoring.rules.rule",
    "Truth": "types",
    "Votes": "types",
    "brier_score": "scoring.rules.proper",
    "compare": "line.compare",
    "compare_metric": "line.compare_metric",
    "decompose": "scoring.calibration.decompositions",
    "entropy": "scoring.rules.proper",
    "evaluate": "line.evaluate",
    "evaluate_labels": "line.several_labels",
    "expected_confusion": "scoring.confusion.expected",
    "infer_multilabel": "truth.multilabel",
    "infer_truth": "truth.infer",
    "kl_divergence": "scoring.rules.proper",
    "log_score": "scoring.rules.proper",
    "monitor": "study.monitor",
    "plan": "study.plan",
    "program": "comparison.posterior.program",
    "quadratic_score": "scoring.rules.proper",
    "ranked_probability_score": "scoring.rules.proper",
    "read_annotations": "io.annotations",
    "read_predictions": "io.predictions",
    "read_scores": "io.scores",
    "read_votes": "io.votes",
    "score": "line.score",
    "spherical_score": "scoring.rules.proper",
    "validate": "study.validate",
    "write_report": "report.write",
    "zero_one_score": "scoring.rules.proper",
}  # Where each public name lives; loaded at first use, so that `import probtruth` is quick

_MODULES = {
    "agreement": "truth.agreement",
    "calibration": "scoring.calibration",
    "confusion": "scoring.confusion",
    "errors": "errors",
    "figures": "figures",
    "loaders": "io.loaders",
    "nelson": "scoring.nelson",
    "rules": "scoring.rules",
}  # Public modules, each with its own `__all__`

__all__ = ["__version__", *sorted([*_HOME, *_MODULES])]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    from importlib import import_module  # here for the same reason

    if name in _MODULES:
        value: object = import_module(f"probtruth.{_MODULES[name]}")
    elif name in _HOME:
        value = getattr(import_module(f"probtruth.{_HOME[name]}"), name)
    else:
        raise AttributeError(f"module 'probtruth' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


def _report() -> "ModuleType":
    from probtruth.report import objects  # with the whole report

    return objects


_display.register(_report)
