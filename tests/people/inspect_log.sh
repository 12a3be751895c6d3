# Logs of Inspect, one for each model.
probtruth check logs
probtruth compare logs --out result
