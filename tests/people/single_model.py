"""One model alone: how good is it, and is it calibrated?"""

import probtruth as pt

result = pt.evaluate("labels.csv", {"ours": "ours.csv"})
print(result.comparison.ranking().select("model", "score", "low", "high"))
pt.write_report(result, "report")
