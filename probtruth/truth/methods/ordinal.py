"""Ordered labels: every item has a place on a line, every annotator thresholds on it and a precision."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np

from probtruth.truth.annotators.agreement import ranks
from probtruth.truth.by_content import fit_by_content
from probtruth.truth.fit import Fit, Request
from probtruth.truth.sampled import fit_by_nuts


def ordinal(
    request: Request, *, order: object = None, samples: object = 500, warmup: object = 300, chains: object = 4
) -> Fit:
    r"""P(y <= l | x) = e_j l/K + (1 - e_j) logistic(a_j (c_jl - x)), x_i ~ N(z_i, s^2), z_i ~ pi, in order of labels.

    `order` lists the labels from low to high where they are not numbers. Classes stand at distance 1 from each other,
    and an item of a class lies near its place (sd s, at five points of Gauss-Hermite quadrature); annotator j reads
    it with a logistic error of scale 1/a_j, cuts the line at c_jl, and answers at random with probability e_j. What
    makes items of a class differ makes annotators err together, so that many votes do not make a borderline item
    certain. Classes and places are summed out, the rest is sampled by NUTS; other options as in `dawid-skene`.

    Source: McCullagh (1980), https://doi.org/10.1111/j.2517-6161.1980.tb01109.x; Johnson (1996),
    https://doi.org/10.1080/01621459.1996.10476676.
    """
    annotations = request.annotations
    place = ranks(annotations, cast(Sequence[object] | None, order), needed=True)
    place = np.argsort(np.argsort(place))  # `order` may name labels that the annotations lack
    low_first = np.argsort(place)
    names = tuple(annotations.index.labels[label] for label in low_first)
    gold = np.where(request.gold >= 0, place[request.gold], -1)
    sorted_labels = replace(annotations, label=place[annotations.label], index=replace(annotations.index, labels=names))
    fit = partial(fit_by_nuts, program="ordinal", samples=samples, warmup=warmup, chains=chains)
    found = fit_by_content(replace(request, annotations=sorted_labels, gold=gold), fit, keep_labels=True)
    assert found.marginals is not None
    assert found.confusion is not None
    return replace(
        found,
        probs=found.probs[:, place],
        draws=None if found.draws is None else found.draws[:, :, place],
        marginals=found.marginals[place],
        confusion=found.confusion[:, place][:, :, place],
    )
