# Crowd labels in a CSV, a model's probabilities in another: which model is better, and who annotates badly?
probtruth run --annotations labels.csv --predictions ours=ours.csv --predictions theirs=theirs.csv --out result
probtruth truth labels.csv --method dawid-skene
