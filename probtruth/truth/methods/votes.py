"""Majority vote: the label that most of an item's annotations say, ties split equally.

Vote shares: the unsmoothed fraction of an item's annotations that say each label.
"""

import numpy as np
from jax.typing import ArrayLike

from probtruth import check_arrays
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import plurality, vote_shares


def majority(request: MethodRequest, *, prior: ArrayLike | None = None) -> MethodFit:
    """q_i is equal over the labels with the most votes, and 0 for the others; `diagnostics["n_ties"]` counts ties."""
    counts = request.annotations.counts()
    n_labels = counts.shape[1]
    empty = counts.sum(1) == 0
    probs = plurality(counts)
    tied = (probs.max(1) < 1) & ~empty
    if prior is not None:
        row = check_arrays.positive_row(prior, request.annotations.n_labels)
        probs[empty] = row / row.sum()
    known = request.gold >= 0
    probs[known] = np.eye(n_labels)[request.gold[known]]
    diagnostics = {
        "n_ties": int(tied.sum()),
        "n_without_votes": int(empty.sum()),
    }
    return MethodFit(probs, marginals=probs.mean(0), diagnostics=diagnostics)


def vote_share(request: MethodRequest, *, prior: ArrayLike | None = None) -> MethodFit:
    """q_ik = n_ik / n_i."""
    shares, n_votes = vote_shares(request.annotations)
    if prior is not None:
        row = check_arrays.positive_row(prior, request.annotations.n_labels)
        shares[n_votes == 0] = row / row.sum()
    n_annotations = max(int(n_votes.sum()), 1)
    marginals = request.annotations.counts().sum(0) / n_annotations
    empty = n_votes == 0
    diagnostics = {"n_without_votes": int(empty.sum())}
    return MethodFit(shares, marginals=np.asarray(marginals), diagnostics=diagnostics)
