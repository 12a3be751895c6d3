"""Everything is in dataframes already."""

import pandas as pd
import polars as pl

import probtruth as pt

annotations = pd.read_csv("labels.csv")
result = pt.evaluate(annotations, {"ours": pd.read_csv("ours.csv"), "theirs": pl.read_csv("theirs.csv")}, rule="brier")
print(result.comparison.ranking().select("model", "score", "low", "high", "p_best"))
print(result.truth)
