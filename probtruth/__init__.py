"""Which probabilistic model is better when the reference labels are uncertain."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from probtruth import figures  # noqa: F401
    from probtruth import streaming as streaming
    from probtruth.comparison.companions.benavoli import ThreeRegions as ThreeRegions
    from probtruth.comparison.companions.benavoli import correlated_t_test as correlated_t_test
    from probtruth.comparison.companions.benavoli import hierarchical_test as hierarchical_test
    from probtruth.comparison.companions.benavoli import signed_rank_test as signed_rank_test
    from probtruth.comparison.compare import compare as compare
    from probtruth.comparison.likelihoods.compare_likelihoods import compare_likelihoods as compare_likelihoods
    from probtruth.errors import InputError as InputError
    from probtruth.errors import PosteriorError as PosteriorError
    from probtruth.errors import ProbtruthError as ProbtruthError
    from probtruth.io import loaders as loaders
    from probtruth.io.annotations import read_annotations as read_annotations
    from probtruth.io.predictions import read_predictions as read_predictions
    from probtruth.kernels.power_mean import generalized_mean as generalized_mean
    from probtruth.line.compare_files import compare_files as compare_files
    from probtruth.line.evaluate import Result as Result
    from probtruth.line.evaluate import evaluate as evaluate
    from probtruth.line.evaluate_files import evaluate_files as evaluate_files
    from probtruth.line.informed_truth import informed_truth as informed_truth
    from probtruth.line.score_files import score_files as score_files
    from probtruth.report.formats.latex import latex_table as latex_table
    from probtruth.report.write import write_report as write_report
    from probtruth.scoring import rules as rules
    from probtruth.scoring.calibration.corp import calibration_decomposition as calibration_decomposition
    from probtruth.scoring.calibration.expected_error import calibration_error as calibration_error
    from probtruth.scoring.calibration.grouping import grouping_decomposition as grouping_decomposition
    from probtruth.scoring.calibration.murphy import murphy_diagram as murphy_diagram
    from probtruth.scoring.calibration.reliability import reliability_curve as reliability_curve
    from probtruth.scoring.confusion.curves import precision_recall_curves as precision_recall_curves
    from probtruth.scoring.confusion.curves import roc_curves as roc_curves
    from probtruth.scoring.confusion.degeneracy import degeneracy_report as degeneracy_report
    from probtruth.scoring.confusion.expected import expected_confusion as expected_confusion
    from probtruth.scoring.confusion.precision_at_k import precision_at_k as precision_at_k
    from probtruth.scoring.decompose import decompose as decompose
    from probtruth.scoring.distances import hellinger as hellinger
    from probtruth.scoring.distances import jensen_shannon as jensen_shannon
    from probtruth.scoring.distances import total_variation as total_variation
    from probtruth.scoring.loss_curve import loss_curve as loss_curve
    from probtruth.scoring.means.arrays import mean_score as mean_score
    from probtruth.scoring.means.arrays import mean_scores as mean_scores
    from probtruth.scoring.nelson import coupled_gaussian as coupled_gaussian
    from probtruth.scoring.nelson.explain import explain_metric as explain_metric
    from probtruth.scoring.nelson.profile import risk_profile as risk_profile
    from probtruth.scoring.rules import ScoringRule as ScoringRule
    from probtruth.scoring.rules.proper import brier_score as brier_score
    from probtruth.scoring.rules.proper import entropy as entropy
    from probtruth.scoring.rules.proper import kl_divergence as kl_divergence
    from probtruth.scoring.rules.proper import log_score as log_score
    from probtruth.scoring.rules.proper import log_score_from_log_probs as log_score_from_log_probs
    from probtruth.scoring.rules.proper import log_score_from_logits as log_score_from_logits
    from probtruth.scoring.rules.proper import quadratic_score as quadratic_score
    from probtruth.scoring.rules.proper import ranked_probability_score as ranked_probability_score
    from probtruth.scoring.rules.proper import spherical_score as spherical_score
    from probtruth.scoring.rules.proper import zero_one_score as zero_one_score
    from probtruth.scoring.rules.propriety import best_report as best_report
    from probtruth.scoring.rules.propriety import check_proper as check_proper
    from probtruth.scoring.score import score as score
    from probtruth.scoring.scorers import soft_label_loss as soft_label_loss
    from probtruth.scoring.skill import perplexity as perplexity
    from probtruth.scoring.skill import skill_scores as skill_scores
    from probtruth.study.monitor import monitor as monitor
    from probtruth.study.monitor_file import read_monitor as read_monitor
    from probtruth.study.monitor_file import write_monitor as write_monitor
    from probtruth.study.monitored import Monitor as Monitor
    from probtruth.study.plan import Plan as Plan
    from probtruth.study.plan import plan as plan
    from probtruth.study.validate import validate as validate
    from probtruth.study.validation import Validation as Validation
    from probtruth.truth.agreement import agreement as agreement
    from probtruth.truth.human_ceiling import human_ceiling as human_ceiling
    from probtruth.truth.infer import infer_truth as infer_truth
    from probtruth.truth.multilabel import infer_multilabel as infer_multilabel
    from probtruth.truth.pairs import annotator_pairs as annotator_pairs
    from probtruth.types import Annotations as Annotations
    from probtruth.types import Comparison as Comparison
    from probtruth.types import Predictions as Predictions
    from probtruth.types import Scores as Scores
    from probtruth.types import Truth as Truth

__version__ = "0.1.0"

_HOME = {
    "InputError": "errors",
    "PosteriorError": "errors",
    "ProbtruthError": "errors",
    "Annotations": "types",
    "Comparison": "types",
    "Predictions": "types",
    "Scores": "types",
    "Truth": "types",
    "Result": "line.evaluate",
    "compare": "comparison.compare",
    "compare_likelihoods": "comparison.likelihoods.compare_likelihoods",
    "ThreeRegions": "comparison.companions.benavoli",
    "correlated_t_test": "comparison.companions.benavoli",
    "hierarchical_test": "comparison.companions.benavoli",
    "signed_rank_test": "comparison.companions.benavoli",
    "monitor": "study.monitor",
    "Monitor": "study.monitored",
    "plan": "study.plan",
    "Plan": "study.plan",
    "validate": "study.validate",
    "Validation": "study.validation",
    "read_monitor": "study.monitor_file",
    "write_monitor": "study.monitor_file",
    "evaluate": "line.evaluate",
    "compare_files": "line.compare_files",
    "evaluate_files": "line.evaluate_files",
    "score_files": "line.score_files",
    "expected_confusion": "scoring.confusion.expected",
    "generalized_mean": "kernels.power_mean",
    "degeneracy_report": "scoring.confusion.degeneracy",
    "precision_at_k": "scoring.confusion.precision_at_k",
    "precision_recall_curves": "scoring.confusion.curves",
    "risk_profile": "scoring.nelson.profile",
    "roc_curves": "scoring.confusion.curves",
    "agreement": "truth.agreement",
    "annotator_pairs": "truth.pairs",
    "human_ceiling": "truth.human_ceiling",
    "infer_multilabel": "truth.multilabel",
    "infer_truth": "truth.infer",
    "informed_truth": "line.informed_truth",
    "write_report": "report.write",
    "latex_table": "report.formats.latex",
    "brier_score": "scoring.rules.proper",
    "decompose": "scoring.decompose",
    "entropy": "scoring.rules.proper",
    "kl_divergence": "scoring.rules.proper",
    "log_score": "scoring.rules.proper",
    "log_score_from_log_probs": "scoring.rules.proper",
    "log_score_from_logits": "scoring.rules.proper",
    "mean_score": "scoring.means.arrays",
    "mean_scores": "scoring.means.arrays",
    "quadratic_score": "scoring.rules.proper",
    "ranked_probability_score": "scoring.rules.proper",
    "read_annotations": "io.annotations",
    "read_predictions": "io.predictions",
    "score": "scoring.score",
    "ScoringRule": "scoring.rules",
    "spherical_score": "scoring.rules.proper",
    "zero_one_score": "scoring.rules.proper",
    "check_proper": "scoring.rules.propriety",
    "best_report": "scoring.rules.propriety",
    "explain_metric": "scoring.nelson.explain",
    "total_variation": "scoring.distances",
    "hellinger": "scoring.distances",
    "jensen_shannon": "scoring.distances",
    "calibration_decomposition": "scoring.calibration.corp",
    "grouping_decomposition": "scoring.calibration.grouping",
    "reliability_curve": "scoring.calibration.reliability",
    "calibration_error": "scoring.calibration.expected_error",
    "murphy_diagram": "scoring.calibration.murphy",
    "soft_label_loss": "scoring.scorers",
    "skill_scores": "scoring.skill",
    "perplexity": "scoring.skill",
    "loss_curve": "scoring.loss_curve",
}
"""Where each public name lives; loaded at first use, so that `import probtruth` is quick."""

_MODULES = {
    "figures": "figures",
    "coupled_gaussian": "scoring.nelson.coupled_gaussian",
    "loaders": "io.loaders",
    "rules": "scoring.rules",
    "streaming": "streaming",
}
"""Public modules."""

__all__ = ["__version__", *sorted([*_HOME, *_MODULES])]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = import_module(f"probtruth.{_MODULES[name]}")
    elif name in _HOME:
        value = getattr(import_module(f"probtruth.{_HOME[name]}"), name)
    else:
        raise AttributeError(f"module 'probtruth' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
