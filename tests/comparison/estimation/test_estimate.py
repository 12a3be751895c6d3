"""An estimate alone is enough for a comparison."""

from dataclasses import replace

import numpy as np
import pytest
from made_scores import estimated

from probtruth.comparison.compare import conclude
from probtruth.comparison.estimation.design import Design
from probtruth.comparison.estimation.estimate import power_sums, rows_from_models
from probtruth.comparison.options import checked_options


def test_a_pair_that_nothing_connects_is_null_with_its_reason_and_the_others_stand():
    values = np.random.default_rng(1).gamma(1.0, size=(3, 30)) + np.array([[0.0], [0.1], [0.4]])
    estimate = estimated(values, Design.of(np.zeros(30, int)))
    facts = {"models": estimate.names, "means": values.mean(1), "notes": ("a note",), "over": "new prompts like these"}
    estimate = replace(estimate, about=replace(estimate.about, **facts))
    mean = estimate.mean.copy()
    mean[5] = np.nan  # b and c
    found = conclude(replace(estimate, mean=mean), checked_options("exact"))
    first, second, third = found.pairs
    assert third.difference is None
    assert third.reason == "nothing in the data connects the two models"
    whole = conclude(estimate, checked_options("exact"))
    assert (first, second) == (whole.pairs[0], whole.pairs[1])
    assert [row.p_best for row in found.ranks] == [None] * 3
    assert "over new prompts like these" in found.estimand
    assert "a note" in found.warnings


@pytest.mark.parametrize("apart", [1.0, 1e-1, 1e-3, 1e-9, 0.0])
def test_sums_of_powers_of_differences_are_those_of_the_differences(apart: float) -> None:
    """From products of models' numbers, but where rounding would tell models that are alike apart."""
    rng = np.random.default_rng(0)
    base = rng.gamma(1.0, size=400)
    rows = base + apart * rng.gamma(1.0, size=(4, 400))
    squares, cubes = power_sums(rows)
    wanted = rows_from_models(rows)
    size = np.square(wanted).sum(1)
    assert squares[:, 0] == pytest.approx(size, rel=1e-9)
    scale = size.clip(1e-100) ** 1.5
    np.testing.assert_allclose(cubes[:, 0] / scale, (wanted**3).sum(1) / scale, atol=1e-9)
