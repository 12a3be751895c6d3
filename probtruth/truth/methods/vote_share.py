"""Vote shares: the unsmoothed fraction of an item's annotations that say each label."""

import numpy as np
from jax.typing import ArrayLike

from probtruth import check
from probtruth.truth.fit import MethodFit, MethodRequest
from probtruth.truth.flat import vote_shares


@check.checks_itself
def vote_share(request: MethodRequest, *, prior: ArrayLike | None = None) -> MethodFit:
    """q_ik = n_ik / n_i.

    Arguments: `prior` is the distribution (normalised here) of items without any annotation; the others ignore it.
    There is no posterior and so there are no draws.
    """
    shares, n_votes = vote_shares(request.annotations)
    if prior is not None:
        row = check.positive_row(prior, request.annotations.n_labels, "prior")
        shares[n_votes == 0] = row / row.sum()
    marginals = request.annotations.counts().sum(0) / max(int(n_votes.sum()), 1)
    return MethodFit(
        shares, marginals=np.asarray(marginals), diagnostics={"n_without_votes": int((n_votes == 0).sum())}
    )
