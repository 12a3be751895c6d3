"""Makes the files of `probtruth demo`: `python docs/make_demo.py [FOLDER]`, with scikit-learn.

Real: the images (Alpaydin & Kaynak 1998, doi:10.24432/C50P49, as bundled with scikit-learn), their digits, and the
probabilities of four classifiers fitted to the first half of the images and applied to the second half, which comes
from other writers. Simulated: the annotators, by `simulate_annotations`, from the true digit and from how five-fold
cross-validated classifiers, none of them among the four, read each image.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars
from jaxtyping import Bool, Float, Int

from probtruth import demo

SEED = 20240
N_TRAIN = 898
N_LABELS = 10

ANNOTATORS = ("ada", "ben", "cleo", "dev", "eva", "finn", "gus", "hana", "ivo", "june", "kofi", "lena")
SKILL = np.array([4.6, 4.3, 4.2, 4.0, 3.8, 3.6, 3.4, 3.2, 2.9, 2.6, 2.2, 3.8])
"""Log-odds of a right answer on an easy image; see `simulate_annotations`."""
WORKLOAD = np.array([1.6, 1.0, 1.4, 0.8, 1.2, 1.0, 0.6, 1.4, 1.0, 0.8, 0.7, 0.5])
"""Relative number of images that each annotator labels."""
SPAMMER = len(ANNOTATORS) - 1
"""This annotator is a random responder on a third of the images."""
RANDOM_SHARE = 1 / 3
HARDNESS_COST = 4.5
"""Log-odds that an image costs if the independent classifiers give its true digit no probability."""
DISTRACTOR_SHARE = 0.75
"""Share of wrong answers that name the one digit that the image resembles: errors agree on hard images."""


def classifiers() -> dict[str, Any]:
    """The four models that the demo compares; all of them give every digit a positive probability."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC

    return {
        "logistic": LogisticRegression(C=0.5, max_iter=2000),
        "nearest-neighbours": CalibratedClassifierCV(KNeighborsClassifier(5), method="sigmoid", cv=5),
        "neural-network": MLPClassifier((50,), alpha=1.0, max_iter=500, random_state=SEED),
        "support-vector": CalibratedClassifierCV(SVC(), method="sigmoid", cv=5),
    }


def readers() -> list[Any]:
    """The independent classifiers whose out-of-fold probabilities define how hard an image is to read."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.naive_bayes import GaussianNB

    return [
        LinearDiscriminantAnalysis(),
        ExtraTreesClassifier(100, random_state=SEED),
        CalibratedClassifierCV(GaussianNB(var_smoothing=1e-3), method="sigmoid", cv=5),
    ]


def images() -> tuple[Float[np.ndarray, "item pixel"], Int[np.ndarray, " item"]]:
    """Pixels (0 to 1) and digits of all 1,797 images."""
    from sklearn.datasets import load_digits

    pixels, digits = load_digits(return_X_y=True)
    return pixels / 16, digits


def predict() -> dict[str, Float[np.ndarray, "item label"]]:
    """Each classifier's probabilities for the second half of the images, as float32."""
    pixels, digits = images()
    fitted = {name: model.fit(pixels[:N_TRAIN], digits[:N_TRAIN]) for name, model in classifiers().items()}
    return {name: model.predict_proba(pixels[N_TRAIN:]).astype(np.float32) for name, model in fitted.items()}


def looks_like() -> Float[np.ndarray, "item label"]:
    """What each image of the second half looks like: the mean out-of-fold probabilities of the readers."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    pixels, digits = images()
    folds = StratifiedKFold(5, shuffle=True, random_state=SEED)
    read = [cross_val_predict(reader, pixels, digits, cv=folds, method="predict_proba") for reader in readers()]
    mean: np.ndarray = np.mean(read, axis=0)[N_TRAIN:]
    return mean


def simulate_annotations(
    digits: Int[np.ndarray, " item"], looks: Float[np.ndarray, "item label"], seed: int = SEED
) -> tuple[Int[np.ndarray, " annotation"], Int[np.ndarray, " annotation"], Int[np.ndarray, " annotation"]]:
    """Items, annotators and labels of simulated annotations: three to five for each item.

    Annotator j reads image i correctly with probability sigmoid(SKILL_j - HARDNESS_COST (1 - looks_i[digit_i])). With
    probability DISTRACTOR_SHARE a wrong answer is the image's distractor (one digit drawn once for the image from
    `looks`), otherwise a new draw from `looks`. So errors on one image agree more often than by chance.
    """
    random = np.random.default_rng(seed)
    n_items = len(digits)
    other = 0.98 * looks + 0.02 / N_LABELS
    other[np.arange(n_items), digits] = 0
    other /= other.sum(1, keepdims=True)
    distractor = _draw(random, other)
    hardness = 1 - looks[np.arange(n_items), digits]

    crowd = random.integers(3, 6, n_items)
    order = np.argsort(np.log(WORKLOAD) + random.gumbel(size=(n_items, len(ANNOTATORS))), axis=1)[:, ::-1]
    chosen: Bool[np.ndarray, "item slot"] = np.arange(len(ANNOTATORS)) < crowd[:, None]
    item, position = np.nonzero(chosen)
    annotator = order[item, position]

    right = random.random(len(item)) < 1 / (1 + np.exp(HARDNESS_COST * hardness[item] - SKILL[annotator]))
    distracted = random.random(len(item)) < DISTRACTOR_SHARE
    label = np.where(right, digits[item], np.where(distracted, distractor[item], _draw(random, other[item])))
    careless = (annotator == SPAMMER) & (random.random(len(item)) < RANDOM_SHARE)
    return item, annotator, np.where(careless, random.integers(0, N_LABELS, len(item)), label)


def _draw(random: np.random.Generator, probs: Float[np.ndarray, "row label"]) -> Int[np.ndarray, " row"]:
    drawn: np.ndarray = (probs.cumsum(1) < random.random(len(probs))[:, None]).sum(1)
    drawn = np.minimum(drawn, N_LABELS - 1)
    return drawn


def make(folder: Path) -> None:
    """Writes `annotations.parquet`, `digits.parquet` and one `predictions-<model>.parquet` for each classifier."""
    _, digits = images()
    names = np.array([f"image-{number:04d}" for number in range(N_TRAIN, len(digits))])
    item, annotator, label = simulate_annotations(digits[N_TRAIN:], looks_like())
    table = polars.DataFrame(
        {
            "item": names[item],
            "annotator": np.array(ANNOTATORS)[annotator],
            "label": label.astype(np.uint8),
        }
    )
    _write(table, folder / "annotations.parquet")
    _write(polars.DataFrame({"item": names, "digit": digits[N_TRAIN:].astype(np.uint8)}), folder / "digits.parquet")
    for model, probs in predict().items():
        if not (probs > 0).all():
            raise RuntimeError(f"{model} gives a digit no probability: its log loss could be infinite")
        columns = {str(digit): probs[:, digit] for digit in range(N_LABELS)}
        _write(polars.DataFrame({"item": names, **columns}), folder / f"predictions-{model}.parquet")


def _write(table: polars.DataFrame, path: Path) -> None:
    table.write_parquet(path, compression="zstd", compression_level=19, statistics=False)
    print(f"{path.name}: {table.height} rows, {path.stat().st_size} bytes")


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(demo.__file__).parent)
