"""Which probabilistic model is better when the reference labels are uncertain."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from probtruth.comparison.benavoli import ThreeRegions as ThreeRegions
    from probtruth.comparison.benavoli import correlated_t_test as correlated_t_test
    from probtruth.comparison.benavoli import hierarchical_test as hierarchical_test
    from probtruth.comparison.benavoli import signed_rank_test as signed_rank_test
    from probtruth.comparison.compare import compare as compare
    from probtruth.comparison.likelihoods import compare_likelihoods as compare_likelihoods
    from probtruth.comparison.monitor import monitor as monitor
    from probtruth.comparison.monitored import Monitor as Monitor
    from probtruth.comparison.plan import Plan as Plan
    from probtruth.comparison.plan import plan as plan
    from probtruth.comparison.validate import validate as validate
    from probtruth.comparison.validation import Validation as Validation
    from probtruth.errors import InputError as InputError
    from probtruth.errors import PosteriorError as PosteriorError
    from probtruth.errors import ProbtruthError as ProbtruthError
    from probtruth.informed import informed_truth as informed_truth
    from probtruth.io import loaders as loaders
    from probtruth.io.annotations import read_annotations as read_annotations
    from probtruth.io.monitor import read_monitor as read_monitor
    from probtruth.io.monitor import write_monitor as write_monitor
    from probtruth.io.predictions import read_predictions as read_predictions
    from probtruth.kernels.power_mean import generalized_mean as generalized_mean
    from probtruth.large.comparing import compare_files as compare_files
    from probtruth.large.evaluating import evaluate_files as evaluate_files
    from probtruth.large.scoring import score_files as score_files
    from probtruth.line import Result as Result
    from probtruth.line import evaluate as evaluate
    from probtruth.report import plots as figures  # noqa: F401
    from probtruth.report.latex import latex_table as latex_table
    from probtruth.report.write import write_report as write_report
    from probtruth.scoring import coupled_gaussian as coupled_gaussian
    from probtruth.scoring import rules as rules
    from probtruth.scoring import streaming as streaming
    from probtruth.scoring.calibration_error import calibration_error as calibration_error
    from probtruth.scoring.confusion import expected_confusion as expected_confusion
    from probtruth.scoring.corp import calibration_decomposition as calibration_decomposition
    from probtruth.scoring.curves import precision_recall_curves as precision_recall_curves
    from probtruth.scoring.curves import roc_curves as roc_curves
    from probtruth.scoring.decomposition import decompose as decompose
    from probtruth.scoring.degeneracy import degeneracy_report as degeneracy_report
    from probtruth.scoring.distances import hellinger as hellinger
    from probtruth.scoring.distances import jensen_shannon as jensen_shannon
    from probtruth.scoring.distances import total_variation as total_variation
    from probtruth.scoring.explain import explain_metric as explain_metric
    from probtruth.scoring.grouping import grouping_decomposition as grouping_decomposition
    from probtruth.scoring.loss_curve import loss_curve as loss_curve
    from probtruth.scoring.mean_score import mean_score as mean_score
    from probtruth.scoring.mean_score import mean_scores as mean_scores
    from probtruth.scoring.murphy import murphy_diagram as murphy_diagram
    from probtruth.scoring.precision_at_k import precision_at_k as precision_at_k
    from probtruth.scoring.proper import brier_score as brier_score
    from probtruth.scoring.proper import entropy as entropy
    from probtruth.scoring.proper import kl_divergence as kl_divergence
    from probtruth.scoring.proper import log_score as log_score
    from probtruth.scoring.proper import log_score_from_log_probs as log_score_from_log_probs
    from probtruth.scoring.proper import log_score_from_logits as log_score_from_logits
    from probtruth.scoring.proper import quadratic_score as quadratic_score
    from probtruth.scoring.proper import ranked_probability_score as ranked_probability_score
    from probtruth.scoring.proper import spherical_score as spherical_score
    from probtruth.scoring.proper import zero_one_score as zero_one_score
    from probtruth.scoring.propriety import best_report as best_report
    from probtruth.scoring.propriety import check_proper as check_proper
    from probtruth.scoring.reliability import reliability_curve as reliability_curve
    from probtruth.scoring.risk_profile import risk_profile as risk_profile
    from probtruth.scoring.rules import ScoringRule as ScoringRule
    from probtruth.scoring.score import score as score
    from probtruth.scoring.scorers import soft_label_loss as soft_label_loss
    from probtruth.scoring.skill import perplexity as perplexity
    from probtruth.scoring.skill import skill_scores as skill_scores
    from probtruth.truth.annotators.agreement import agreement as agreement
    from probtruth.truth.annotators.human_ceiling import human_ceiling as human_ceiling
    from probtruth.truth.annotators.pairs import annotator_pairs as annotator_pairs
    from probtruth.truth.infer import infer_truth as infer_truth
    from probtruth.truth.multilabel import infer_multilabel as infer_multilabel
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
    "Result": "line",
    "compare": "comparison.compare",
    "compare_likelihoods": "comparison.likelihoods",
    "ThreeRegions": "comparison.benavoli",
    "correlated_t_test": "comparison.benavoli",
    "hierarchical_test": "comparison.benavoli",
    "signed_rank_test": "comparison.benavoli",
    "monitor": "comparison.monitor",
    "Monitor": "comparison.monitored",
    "plan": "comparison.plan",
    "Plan": "comparison.plan",
    "validate": "comparison.validate",
    "Validation": "comparison.validation",
    "read_monitor": "io.monitor",
    "write_monitor": "io.monitor",
    "evaluate": "line",
    "compare_files": "large.comparing",
    "evaluate_files": "large.evaluating",
    "score_files": "large.scoring",
    "expected_confusion": "scoring.confusion",
    "generalized_mean": "kernels.power_mean",
    "degeneracy_report": "scoring.degeneracy",
    "precision_at_k": "scoring.precision_at_k",
    "precision_recall_curves": "scoring.curves",
    "risk_profile": "scoring.risk_profile",
    "roc_curves": "scoring.curves",
    "agreement": "truth.annotators.agreement",
    "annotator_pairs": "truth.annotators.pairs",
    "human_ceiling": "truth.annotators.human_ceiling",
    "infer_multilabel": "truth.multilabel",
    "infer_truth": "truth.infer",
    "informed_truth": "informed",
    "write_report": "report.write",
    "latex_table": "report.latex",
    "brier_score": "scoring.proper",
    "decompose": "scoring.decomposition",
    "entropy": "scoring.proper",
    "kl_divergence": "scoring.proper",
    "log_score": "scoring.proper",
    "log_score_from_log_probs": "scoring.proper",
    "log_score_from_logits": "scoring.proper",
    "mean_score": "scoring.mean_score",
    "mean_scores": "scoring.mean_score",
    "quadratic_score": "scoring.proper",
    "ranked_probability_score": "scoring.proper",
    "read_annotations": "io.annotations",
    "read_predictions": "io.predictions",
    "score": "scoring.score",
    "ScoringRule": "scoring.rules",
    "spherical_score": "scoring.proper",
    "zero_one_score": "scoring.proper",
    "check_proper": "scoring.propriety",
    "best_report": "scoring.propriety",
    "explain_metric": "scoring.explain",
    "total_variation": "scoring.distances",
    "hellinger": "scoring.distances",
    "jensen_shannon": "scoring.distances",
    "calibration_decomposition": "scoring.corp",
    "grouping_decomposition": "scoring.grouping",
    "reliability_curve": "scoring.reliability",
    "calibration_error": "scoring.calibration_error",
    "murphy_diagram": "scoring.murphy",
    "soft_label_loss": "scoring.scorers",
    "skill_scores": "scoring.skill",
    "perplexity": "scoring.skill",
    "loss_curve": "scoring.loss_curve",
}
"""Where each public name lives; loaded at first use, so that `import probtruth` is quick."""

_MODULES = {
    "coupled_gaussian": "scoring.coupled_gaussian",
    "figures": "report.plots",
    "loaders": "io.loaders",
    "rules": "scoring.rules",
    "streaming": "scoring.streaming",
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
