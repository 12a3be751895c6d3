import numpy as np
import polars
import pytest

import probtruth as pt

MODELS = {
    "bert_0": "bert-base-uncased_0",
    "bert_1": "bert-base-uncased_1",
    "roberta_0": "roberta-base_0",
    "roberta_1": "roberta-base_1",
    "roberta_2": "roberta-base_2",
}
NAMES = ("e", "n", "c")


@pytest.fixture(scope="session")
def chaosnli(data):
    folder = data / "chaosnli_snli"
    counts = polars.read_csv(folder / "label_counts.csv")
    votes = counts.select(NAMES).to_numpy()
    index = pt.Annotations.from_counts(votes, items=counts["item"].to_list(), labels=NAMES).index
    ordered = votes[np.argsort(counts["item"].to_numpy())][:, [2, 0, 1]]
    assert index.labels == ("c", "e", "n")
    shares = ordered / ordered.sum(1, keepdims=True)
    truth = pt.Truth(shares, index, "distribution", "vote-share", shares=shares, n_votes=ordered.sum(1))
    tables = {name: polars.read_csv(folder / "predictions" / f"{file}.csv") for name, file in MODELS.items()}
    items = tables["bert_0"]["item"].to_list()
    predictions = pt.Predictions.from_probs(
        {name: table.select(NAMES).to_numpy() for name, table in tables.items()}, items=items, labels=NAMES
    )
    return predictions, truth
