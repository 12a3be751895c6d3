"""A board's differences and errors beside those of a fixed two-way model, fitted by statsmodels."""

from itertools import combinations

import numpy as np
import pytest
from made_scores import make

from probtruth.comparison.estimation.design import design
from probtruth.comparison.options import checked_options
from probtruth.comparison.sources import of_scores

ROUNDING = 1e-8  # relative, of least squares with 110 columns


@pytest.mark.long  # for the import
def test_a_board_has_the_contrasts_of_a_model_with_an_effect_for_each_item() -> None:
    """Errors are the sandwich's, by items, and without bias: by as many units as each pair effectively rests on."""
    from statsmodels.regression.linear_model import OLS

    rng = np.random.default_rng(0)
    n_models, n_items = 4, 120
    values = 2 * rng.standard_normal(n_items) + np.arange(n_models)[:, None] / 5
    values = values + rng.standard_normal((n_models, n_items))
    values[rng.random(values.shape) < 0.3] = np.nan
    values = values[:, (~np.isnan(values)).sum(0) > 1]  # an item of one model says nothing of differences
    model, item = np.nonzero(~np.isnan(values))
    columns = np.hstack([np.eye(n_models)[model], np.eye(values.shape[1])[item][:, 1:]])
    by_items = {"groups": item, "use_correction": False}
    fit = OLS(values[model, item], columns).fit(cov_type="cluster", cov_kwds=by_items)
    scores = make(values, higher_is_better=False)
    estimate = of_scores(scores, design(scores, None, None, None), checked_options(engine="exact", seed=0))
    part = estimate.total()
    for place, pair in enumerate(combinations(range(n_models), 2), n_models):
        contrast = np.zeros(columns.shape[1])
        contrast[list(pair)] = 1.0, -1.0
        theirs = fit.t_test(contrast)
        assert estimate.mean[place, 0] == pytest.approx(float(theirs.effect[0]), rel=ROUNDING)
        df = part.df[place, 0]
        unbiased = float(theirs.sd.squeeze()) ** 2 * (df + 1) / df
        assert part.variance[place, 0] == pytest.approx(unbiased, rel=ROUNDING)
