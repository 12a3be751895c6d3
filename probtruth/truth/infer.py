"""Truth from annotations: the methods by name, and the checks that they share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature

import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.errors import InputError
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import (
    LARGEST_CONFUSION,
    Gold,
    confusion_cells,
    known_answers,
    need_votes,
    plurality,
    vote_shares,
)
from probtruth.truth.methods.ability import ability
from probtruth.truth.methods.dawid_skene import dawid_skene, dawid_skene_em, hierarchical_dawid_skene
from probtruth.truth.methods.dirichlet import dirichlet
from probtruth.truth.methods.glad import glad
from probtruth.truth.methods.mace import mace
from probtruth.truth.methods.one_coin import one_coin
from probtruth.truth.methods.perceived_class import perceived_class
from probtruth.truth.methods.pooled import pooled
from probtruth.truth.methods.votes import majority, vote_share
from probtruth.types import Annotations, Truth
from probtruth.types.arguments import Estimand, MethodName


@dataclass(frozen=True)
class TruthMethod:
    """A truth method: its function `(request, *, options) -> MethodFit`, the estimand it answers, and what it uses."""

    fit: Callable[..., MethodFit]
    estimand: Estimand
    only_counts: bool = False

    @property
    def options(self) -> list[str]:
        """The names of the options that the method takes."""
        return [name for name, kind in signature(self.fit).parameters.items() if kind.kind is kind.KEYWORD_ONLY]


METHODS: Mapping[MethodName, TruthMethod] = {
    "vote-share": TruthMethod(vote_share, "distribution", only_counts=True),
    "dirichlet": TruthMethod(dirichlet, "distribution", only_counts=True),
    "majority": TruthMethod(majority, "class", only_counts=True),
    "dawid-skene-em": TruthMethod(dawid_skene_em, "class"),
    "dawid-skene": TruthMethod(dawid_skene, "class"),
    "hierarchical-dawid-skene": TruthMethod(hierarchical_dawid_skene, "class"),
    "one-coin": TruthMethod(one_coin, "class"),
    "mace": TruthMethod(mace, "class"),
    "glad": TruthMethod(glad, "class"),
    "ability": TruthMethod(ability, "class"),
    "perceived-class": TruthMethod(perceived_class, "class"),
    "pooled": TruthMethod(pooled, "class"),
}  # Every method by name

DEFAULTS: Mapping[Estimand, MethodName] = {
    "distribution": "dirichlet",
    "class": "pooled",
}  # The method of each estimand, where none is named


def infer_truth(
    annotations: Annotations,
    method: MethodName | None = None,
    estimand: Estimand | None = None,
    draws: int = 1000,
    seed: int = 0,
    gold: Gold | None = None,
    **options: object,
) -> Truth:
    """Infers a distribution over labels for every item from its annotations.

    Arguments:
        annotations: labels by annotators, as `read_annotations` or `Annotations.from_long` makes them.
        method: a name in `METHODS`.
        estimand: "distribution" (how annotators would answer; the default) or "class" (which label is the one true
            class), and is set by the method if you name only that.
        draws: the number of posterior draws. They take at most 256 MiB, and where fewer fit, `diagnostics["draws"]` is
            how many of `diagnostics["draws_asked"]` there are. Draws of the estimand "class" are rows with a single 1.
        seed: of everything random: the same seed gives the same numbers.
        gold: maps names of items to the names of their known labels (a dict, or pairs). Only methods of the estimand
            "class" take it, and learn from it.
        options: those of the method.

    Returns: `Truth`, with `shares`, `n_votes` and the annotations under every method. Its `probs` are on the simplex.
    The same annotations in any order have the same truth, draws included; under other names they have the same within
    the Monte Carlo error of a method that samples.

    Errors: `InputError` for an unknown method, estimand or option, a method that answers another estimand, counts
    for a method that needs annotators, unknown names in `gold`, and items without annotations and known label
    unless you give the method a `prior`.

    Example:
        >>> import probtruth as pt
        >>> votes = pt.Annotations.from_counts([[3, 0], [1, 2]], items=["a", "b"], labels=["no", "yes"])
        >>> pt.infer_truth(votes, method="vote-share").probs.round(3).tolist()
        [[1.0, 0.0], [0.333, 0.667]]
    """
    check.own_threads()
    check.instance(annotations, Annotations, "Annotations.from_long, Annotations.from_counts or read_annotations")
    name = choose(method, estimand)
    chosen = METHODS[name]
    known_options = chosen.options
    for option in options:
        if option not in known_options:
            raise InputError(
                f"option {option!r} for method {name!r}",
                f"one of {check.shortlist(known_options, 40)}",
                check.did_you_mean(option, known_options),
            )
    n_draws = check.whole(draws, 0, "draws")
    shares, n_votes = vote_shares(annotations)
    known = known_answers(gold, annotations, name, chosen.estimand)
    if options.get("prior") is None:
        need_votes(annotations, np.where(known >= 0, 1, n_votes))
    of_annotators = chosen.estimand == "class" and not chosen.only_counts
    if of_annotators and confusion_cells(annotations) > LARGEST_CONFUSION:
        raise InputError(
            f"{annotations.n_annotators:,} annotators and {annotations.n_labels:,} labels for method {name!r}",
            f"at most {LARGEST_CONFUSION:,} cells of confusion matrices (annotators x labels x labels)",
            "Choose 'majority' or a method of the estimand 'distribution', which need none, or merge labels.",
        )
    request = MethodRequest(annotations, n_draws, check.whole(seed, 0, "seed"), known)
    result = chosen.fit(request, **options)
    diagnostics = {
        **result.diagnostics,
        "n_gold": int((known >= 0).sum()),
        "draws": 0 if result.draws is None else len(result.draws),
        "draws_asked": n_draws,
    }
    if of_annotators:
        diagnostics["drifted_labels"] = _drifted(annotations, result.probs, known)
    if annotations.excluded:
        diagnostics["excluded_annotators"] = annotations.excluded
    fitted = {**vars(result), "diagnostics": diagnostics, "shares": shares, "n_votes": np.asarray(n_votes)}
    return Truth(index=annotations.index, estimand=chosen.estimand, method=name, annotations=annotations, **fitted)


def choose(method: MethodName | None, estimand: Estimand | None) -> MethodName:
    """The method's name, from a method, an estimand, both or neither; raises where the two conflict."""
    if estimand is not None:
        check.one_of(estimand, tuple(DEFAULTS), "estimand")
    if method is None:
        return DEFAULTS[estimand or "distribution"]
    name = check.one_of(method, tuple(METHODS), "method")
    answers = METHODS[name].estimand
    if estimand is not None and answers != estimand:
        fitting = [other for other, known in METHODS.items() if known.estimand == estimand]
        raise InputError(
            f"method {name!r}, which answers the estimand {answers!r}, with estimand {estimand!r}",
            f"a method that answers {estimand!r}: {check.shortlist(fitting, 40)}",
            "Give the method alone (it sets the estimand), or another method.",
        )
    return name


def _drifted(
    annotations: Annotations, probs: Float[np.ndarray, "item label"], known: Int[np.ndarray, " item"]
) -> Mapping[str, tuple[float, float]]:
    """The labels that the truth holds of far more, or far fewer, items than most votes say: both shares, by label."""
    counts = annotations.counts()
    open_items = (counts.sum(1) > 0) & (known < 0)
    n_items = max(int(open_items.sum()), 1)
    expected = probs[open_items].sum(0)
    voted = plurality(counts[open_items]).sum(0)
    allowed = 0.25 * voted + 3 * np.sqrt(voted + 1)
    far = np.abs(expected - voted) > allowed
    drifted = {}
    for label in np.flatnonzero(far).tolist():
        shares = (float(expected[label] / n_items), float(voted[label] / n_items))
        drifted[annotations.index.labels[label]] = shares
    return drifted
