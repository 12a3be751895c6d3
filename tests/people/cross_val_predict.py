"""Two classifiers of scikit-learn, each item predicted by a model that was not trained on it."""

from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

import probtruth as pt

data, target = load_iris(return_X_y=True)
models = {"bayes": GaussianNB(), "logistic": LogisticRegression(max_iter=1000)}
probs = {name: cross_val_predict(model, data, target, cv=5, method="predict_proba") for name, model in models.items()}
result = pt.evaluate(pt.Truth.from_labels(target, 3), probs)
print(result.comparison.ranking().select("model", "score", "low", "high", "p_best"))
