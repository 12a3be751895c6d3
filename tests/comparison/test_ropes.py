"""How large a difference does not matter."""

import numpy as np
import pytest
from made_scores import make

from probtruth.comparison.compare import compare
from probtruth.errors import InputError

SCORES = make(np.random.default_rng(0).gamma(2, 1, (3, 50)), "abc")


def test_a_number_may_be_text():
    assert compare(SCORES, rope="0.02").rope == 0.02


@pytest.mark.parametrize("given", ["two", "-2%", "2%", "%", "1..2", "nan", -1, True, np.inf, [1]])
def test_errors(given):
    with pytest.raises(InputError, match="got rope"):
        compare(SCORES, rope=given)
