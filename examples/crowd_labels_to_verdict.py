"""From a file of crowd labels and a file of probabilities for each model to a verdict: the whole line on files.

Two models classify 400 comments as fine, rude or hateful; each comment is labelled by three of ten annotators. Both
models know about equally much about people's answers. The first is as sure as people agree, the second is surer.
Everything is simulated, so the answer is known.
"""

import argparse
import csv
import tempfile
from pathlib import Path

import numpy as np

import probtruth as pt

LABELS = ("fine", "rude", "hateful")
N_ITEMS, N_ANNOTATORS, PER_ITEM = 400, 10, 3


def write_table(path: Path, head: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([head, *rows])


def simulate(folder: Path, seed: int = 0) -> None:
    """Writes labels.csv, calibrated.csv and overconfident.csv, as a user would have them."""
    random = np.random.default_rng(seed)
    opinion = random.dirichlet([0.8, 0.5, 0.3], N_ITEMS)  # how people would answer; nobody sees it in real life
    names = [f"comment-{item:03}" for item in range(N_ITEMS)]
    annotations: list[tuple[object, ...]] = []
    for item, name in enumerate(names):
        for annotator in random.choice(N_ANNOTATORS, PER_ITEM, replace=False):
            annotations.append((name, f"worker-{annotator}", LABELS[random.choice(3, p=opinion[item])]))
    write_table(folder / "labels.csv", ("item", "annotator", "label"), annotations)

    calibrated, other = (0.75 * opinion + 0.25 * random.dirichlet([1.0, 1.0, 1.0], N_ITEMS) for _ in range(2))
    overconfident = other**2.5 / (other**2.5).sum(1, keepdims=True)
    for model, probs in (("calibrated", calibrated), ("overconfident", overconfident)):
        rows = [(name, *row) for name, row in zip(names, probs.tolist(), strict=True)]
        write_table(folder / f"{model}.csv", ("item", *LABELS), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for the report")
    out = parser.parse_args().out

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        simulate(folder)
        annotations = pt.read_annotations(folder / "labels.csv")
        files = {model: folder / f"{model}.csv" for model in ("calibrated", "overconfident")}
        predictions = pt.read_predictions(files, index=annotations.index)

    print(
        f"{len(annotations.item)} annotations of {annotations.n_items} items by {annotations.n_annotators} annotators"
    )
    for method in ("vote-share", "majority"):
        result = pt.evaluate(annotations, predictions, method=method, rope=0.01)
        pair = result.comparison.pairwise().row(0, named=True)
        print(
            f"{method:>10}: {pair['a']} - {pair['b']} = {pair['difference']:+.3f} nats "
            f"({pair['low']:+.3f} to {pair['high']:+.3f}), P({pair['a']} better) = {pair['p_a_better']:.3f}"
        )
        for warning in result.warnings:
            print(f"            {warning}")

    result = pt.evaluate(annotations, predictions, rope=0.01)
    shares = result.comparison.uncertainty
    print(f"of the variance, {shares['items']:.0%} is due to the items and {shares['labels']:.0%} to the labels")
    if out is not None:
        pt.write_report(result, out / "crowd-labels-to-verdict")
        print(f"report: {out / 'crowd-labels-to-verdict' / 'report.html'}")


if __name__ == "__main__":
    main()
