"""Three language models give one to five stars to the answers of two systems."""

import polars as pl

import probtruth as pt

stars = pl.read_csv("stars.csv")
mean = stars.group_by("prompt", "system").agg(pl.col("stars").mean())
comparison = pt.compare(pt.read_scores(mean, item="prompt", model="system", score="stars", higher_is_better=True))
print(comparison.pairwise().select("a", "b", "difference", "low", "high", "p_a_better"))
cells = stars.select(pl.concat_str("prompt", "system", separator="/").alias("item"), "judge", "stars")
annotations = pt.Annotations.from_long(cells, annotator="judge", label="stars")
print(pt.agreement.krippendorff_alpha(annotations, level="ordinal"))
