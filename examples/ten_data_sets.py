"""Five classifiers on ten data sets: which is better on these sets, on average over such sets, and on the next one?

Four data sets are scikit-learn's bundled ones, six are generated. Each is split once into halves: a classifier is
fitted on one and scored on the other by its Brier score, item by item. (Cross-validation would share training data
between items, which makes plain comparisons too sure.) Needs scikit-learn.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import probtruth as pt

CLASSIFIERS = {
    "discriminant": LinearDiscriminantAnalysis(),
    "logistic": LogisticRegression(max_iter=500),
    "naive-bayes": GaussianNB(),
    "neighbours": KNeighborsClassifier(15),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
}


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, features and classes of each set."""
    for name in ("iris", "wine", "breast_cancer", "digits"):
        yield name, *getattr(datasets, f"load_{name}")(return_X_y=True)
    for seed in range(6):
        options = {"n_features": 8 + 2 * seed, "n_informative": 4 + seed, "n_clusters_per_class": 1 + seed % 3}
        yield f"generated-{seed}", *datasets.make_classification(300, flip_y=0.05, random_state=seed, **options)


def score_table() -> pl.DataFrame:
    """One row for each held-out item and classifier, with its Brier score."""
    frames = []
    for name, features, classes in data_sets():
        train, test, known, wanted = train_test_split(features, classes, test_size=0.5, random_state=0)
        truth = np.eye(classes.max() + 1)[wanted]
        for model, classifier in CLASSIFIERS.items():
            probs = make_pipeline(StandardScaler(), classifier).fit(train, known).predict_proba(test)
            brier = np.asarray(pt.brier_score(probs, truth), np.float64)
            items = [f"{name}-{item}" for item in range(len(brier))]
            frames.append(pl.DataFrame({"item": items, "model": model, "set": name, "brier": brier}))
    return pl.concat(frames)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for the posterior (netCDF)")
    out = parser.parse_args().out

    scores = pt.Scores.from_frame(score_table(), score="brier", group="set", higher_is_better=False)
    names = list(scores.groups.names)
    comparison = pt.compare(
        scores, rope=0.01, weights=dict.fromkeys(names, 1 / len(names))
    )  # every set counts the same
    print("mean Brier score over these ten sets:")
    for row in comparison.ranking().iter_rows(named=True):
        print(f"  {row['model']:<13}{row['score']:.3f}  P(best) = {row['p_best']:.3f}")

    a, b = (row["model"] for row in comparison.ranking().head(2).iter_rows(named=True))
    print(f"the first two, {a} and {b}:")
    answers = {"these ten sets": comparison.pairwise().to_dicts(), **comparison.group_results}
    for question, rows in answers.items():
        (row,) = [row for row in rows if {row["a"], row["b"]} == {a, b}]
        p, sign = (row["p_a_better"], 1) if row["a"] == a else (row["p_b_better"], -1)
        low, high = sorted((sign * row["low"], sign * row["high"]))
        interval = f"{sign * row['difference']:+.3f} ({low:+.3f} to {high:+.3f})"
        print(f"  {question:<21}{interval}, P({a} better) = {p:.2f}")
    for warning in comparison.warnings:
        print(f"warning: {warning}")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        comparison.save(out / "ten_data_sets.nc")
        print(f"posterior: {out / 'ten_data_sets.nc'} (arviz.from_netcdf reads it)")


if __name__ == "__main__":
    main()
