# A check that stops a branch whose model is worse.
probtruth compare scores.csv --score loss --baseline main --fail-if 'p_worse > 0.9' --out result
