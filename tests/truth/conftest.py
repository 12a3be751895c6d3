"""Real annotations, and simulated ones whose parameters are known."""

from pathlib import Path

import numpy as np
import polars
import pytest
from simulated_annotations import simulate

from probtruth import Annotations


def read(path: Path) -> Annotations:
    return Annotations.from_long(polars.read_csv(path, infer_schema=False))


@pytest.fixture(scope="session")
def anesthesia(data: Path) -> Annotations:
    return read(data / "anesthesia" / "annotations.csv")


@pytest.fixture(scope="session")
def snow_rte(data: Path) -> tuple[Annotations, np.ndarray]:
    """Annotations and the position of the experts' label of every item."""
    annotations = read(data / "snow_rte" / "annotations.csv")
    gold = dict(polars.read_csv(data / "snow_rte" / "gold.csv", infer_schema=False).iter_rows())
    return annotations, np.array([annotations.index.labels.index(gold[name]) for name in annotations.index.items])


@pytest.fixture(scope="session")
def simulated() -> tuple[Annotations, np.ndarray, np.ndarray]:
    """120 items, 8 annotators of whom 5 answer each item, 3 labels: annotations, true classes, true confusion."""
    return simulate(120, 8, 5, 3, seed=11)
