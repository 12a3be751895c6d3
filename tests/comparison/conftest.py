"""Published paired scores, and a comparison of five models that several tests look at."""

from pathlib import Path

import numpy as np
import polars
import pytest
from made_scores import make

from probtruth.comparison.compare import compare
from probtruth.types import Comparison, Scores


@pytest.fixture(scope="session")
def gpqa(data: Path) -> polars.DataFrame:
    """198 questions x 5 repeats x 2 models, correct or not."""
    frame = polars.read_csv(data / "gpqa_diamond" / "gpqa_diamond_scores.csv")
    return frame.rename({"item_id": "item", "model_id": "model", "epoch": "replicate"})


@pytest.fixture(scope="session")
def five() -> Scores:
    rng = np.random.default_rng(5)
    quality = np.array([0.0, 0.05, 0.1, 0.1, 0.4])[:, None]
    return make(rng.gamma(2.0, 0.5, (5, 80)) + rng.normal(size=80) + quality, tuple("abcde"))


@pytest.fixture(scope="session")
def five_compared(five: Scores) -> Comparison:
    return compare(five, rope=0.05)


@pytest.fixture(scope="session")
def grouped(five: Scores) -> Comparison:
    return compare(make(five.values[:3], "abc"), groups=np.arange(80) % 8, rope=0.05)
