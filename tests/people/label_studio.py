"""An export of Label Studio, and tables of two models."""

import probtruth as pt

annotations = pt.loaders.read_label_studio("export.json", question="mood", item="key")
predictions = pt.read_predictions({"ours": "ours.csv", "theirs": "theirs.csv"}, index=annotations.index)
result = pt.evaluate(annotations, predictions)
pt.write_report(result, "report")
print(result.comparison.ranking().select("model", "score", "low", "high", "p_best"))
