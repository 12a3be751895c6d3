"""Everything is in dataframes already, under names of its own."""

import pandas as pd
import polars as pl

import probtruth as pt

crowd = pd.read_csv("crowd.csv")
annotations = pt.read_annotations(crowd, item="ticket_id", annotator="worker", label="category")
result = pt.evaluate(annotations, {"new": pd.read_csv("new.csv"), "old": pl.read_csv("old.csv")}, rule="brier")
print(result)
