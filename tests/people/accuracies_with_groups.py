"""A table of accuracies in several subjects, with columns of any name."""

import polars as pl

import probtruth as pt

table = pl.read_csv("scores.csv")
comparison = pt.compare(
    table, item="question", model="system", score="accuracy", group="subject", higher_is_better=True
)
print(comparison.ranking().select("model", "score", "low", "high", "p_best"))
