"""The embedded demo data: four real classifiers of handwritten digits, judged against simulated annotators."""

from pathlib import Path

from probtruth.types import Annotations, Predictions

FOLDER = Path(__file__).parent

# The classifiers, fitted to 898 images; their probabilities are for 899 other images. See `docs/make_demo.py`.
MODELS = ("logistic", "nearest-neighbours", "neural-network", "support-vector")

NOTE = (
    "Demo data: the images of handwritten digits and the probabilities of the four classifiers are real; "
    "the annotators are simulated."
)  # A note to show with all results on the demo data


def paths() -> tuple[Path, dict[str, Path]]:
    """The file of annotations, and the file of each model's predictions."""
    predictions = {name: FOLDER / f"predictions-{name}.parquet" for name in MODELS}
    return FOLDER / "annotations.parquet", predictions


def digits() -> dict[str, str]:
    """The true digit of each image, by its name: ten groups of items.

    >>> list(digits().items())[0]
    ('image-0898', '8')
    """
    import polars

    table = polars.read_parquet(FOLDER / "digits.parquet")
    items = table["item"].to_list()
    names = [str(digit) for digit in table["digit"].to_list()]
    return dict(zip(items, names, strict=True))


def load() -> tuple[Annotations, Predictions]:
    """The annotations (3,570 by 12 annotators, of 899 items with 10 labels) and the predictions of four models.

    >>> annotations, predictions = load()
    >>> annotations.n_items, annotations.n_annotators, predictions.log_probs.shape
    (899, 12, (4, 899, 10))
    """
    import polars

    annotation_file, prediction_files = paths()
    first = polars.read_parquet(prediction_files[MODELS[0]])
    items = first["item"].to_list()
    labels = first.drop("item").columns
    annotations = Annotations.from_long(polars.read_parquet(annotation_file), labels=labels)
    probs = {}
    for name, path in prediction_files.items():
        probs[name] = polars.read_parquet(path).select(labels).to_numpy()  # all have the same items
    return annotations, Predictions.from_probs(probs, items=items, labels=labels)
