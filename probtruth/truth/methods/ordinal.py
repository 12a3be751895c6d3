"""Ordered labels: every item has a position on a line, every annotator thresholds on it and a precision."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from probtruth import check
from probtruth.errors import InputError
from probtruth.truth.annotators.agreement import ranks
from probtruth.truth.by_content import fit_by_content
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.sampled import NutsSettings, fit_by_nuts


@check.checks_itself
def ordinal(
    request: MethodRequest,
    *,
    order: Sequence[object] | None = None,
    samples: int = 300,
    warmup: int = 200,
    chains: int = 4,
) -> MethodFit:
    r"""P(y <= l | x) = e_j l/K + (1 - e_j) logistic(a_j (c_jl - x)), x_i ~ N(z_i, s^2), z_i ~ pi, in order of labels.

    Arguments: `order` lists the labels from low to high where they are not numbers; the others as in `dawid-skene`.

    Classes stand at distance 1 from each other, and an item lies near its class (sd s, at places a fifth apart);
    annotator j reads it with a logistic error of scale 1/a_j, cuts the line at c_jl, and answers at random with
    probability e_j. What makes items of a class differ makes annotators err together, so that many votes do not
    make a borderline item certain. Classes and places are summed out, the rest is sampled by NUTS.

    Errors: `InputError` for labels without an order, and for one label only.

    Source: McCullagh (1980), https://doi.org/10.1111/j.2517-6161.1980.tb01109.x; Johnson (1996),
    https://doi.org/10.1080/01621459.1996.10476676.
    """
    annotations = request.annotations
    if annotations.n_labels < 2:
        raise InputError("one label", "at least two, in an order", "Give labels= with all labels that there are.")
    rank = ranks(annotations, order, needed=True)
    rank = np.argsort(np.argsort(rank))  # `order` may name labels that the annotations lack
    low_first = np.argsort(rank)
    names = tuple(annotations.index.labels[label] for label in low_first)
    gold = np.where(request.gold >= 0, rank[request.gold], -1)
    sorted_labels = replace(annotations, label=rank[annotations.label], index=replace(annotations.index, labels=names))
    fit = partial(fit_by_nuts, program="ordinal", settings=NutsSettings(samples, warmup, chains))
    result = fit_by_content(replace(request, annotations=sorted_labels, gold=gold), fit, keep_labels=True)
    assert result.marginals is not None
    assert result.confusion is not None
    return replace(
        result,
        probs=result.probs[:, rank],
        draws=None if result.draws is None else result.draws[:, :, rank],
        marginals=result.marginals[rank],
        confusion=result.confusion[:, rank][:, :, rank],
    )
