"""The embedded demo data: four real classifiers of handwritten digits, judged against simulated annotators."""

from pathlib import Path

from probtruth.types import Annotations, Predictions

# The classifiers, fitted to 898 images; their probabilities are for 899 other images. See `docs/make_demo.py`.
MODELS = ("logistic", "nearest-neighbours", "neural-network", "support-vector")

NOTE = (
    "Demo data: the images of handwritten digits and the probabilities of the four classifiers are real; "
    "the annotators are simulated."
)  # A note to show with all results on the demo data


def paths() -> tuple[Path, dict[str, Path]]:
    """The file of annotations, and the file of each model's predictions."""
    folder = Path(__file__).parent
    return folder / "annotations.parquet", {name: folder / f"predictions-{name}.parquet" for name in MODELS}


def digits() -> dict[str, str]:
    """The true digit of each image, by its name: ten groups of items.

    >>> list(digits().items())[0]
    ('image-0898', '8')
    """
    import polars

    table = polars.read_parquet(Path(__file__).parent / "digits.parquet")
    return dict(zip(table["item"].to_list(), map(str, table["digit"].to_list()), strict=True))


def load() -> tuple[Annotations, Predictions]:
    """The annotations (3,570 by 12 annotators, of 899 items with 10 labels) and the predictions of four models.

    >>> annotations, predictions = load()
    >>> annotations.n_items, annotations.n_annotators, predictions.log_probs.shape
    (899, 12, (4, 899, 10))
    """
    import polars

    annotation_file, prediction_files = paths()
    tables = {name: polars.read_parquet(path) for name, path in prediction_files.items()}
    first = tables[MODELS[0]]
    labels = [column for column in first.columns if column != "item"]
    annotations = Annotations.from_long(polars.read_parquet(annotation_file), labels=labels)
    probs = {name: table.select(labels).to_numpy() for name, table in tables.items()}
    return annotations, Predictions.from_probs(probs, items=first["item"].to_list(), labels=labels)
