# ChaosNLI as it is published: a list of counts in each line of JSON.
probtruth check chaosnli.jsonl
probtruth run --annotations chaosnli.jsonl --predictions ours=ours.csv --predictions theirs=theirs.csv --rule log
