"""What the shell completes after an option; written out here, so that nothing heavy is loaded at a key."""

from collections.abc import Callable

RULES = ("log", "brier", "quadratic", "spherical", "ranked-probability", "zero-one", "linear")
ESTIMANDS = ("distribution", "class")
METHODS = (
    *("vote-share", "dirichlet", "dirichlet-mixture", "annotator-effects"),
    *("majority", "dawid-skene-em", "dawid-skene", "hierarchical-dawid-skene", "ordinal", "one-coin", "mace", "glad"),
    *("ability", "perceived-class", "pooled"),
)
ENGINES = ("nuts", "exact")
KINDS = ("probs", "log_probs", "logits")
LIKELIHOODS = ("auto", "normal", "student-t", "skew-t", "tie-spike", "two-component")
REPLICATES = ("independent", "crossed", "folds")
NORMALISE = ("none", "characters")


def of(options: tuple[str, ...]) -> Callable[[str], list[str]]:
    """The options that begin with what is written so far."""

    def matching(incomplete: str) -> list[str]:
        return [option for option in options if option.startswith(incomplete)]

    return matching
