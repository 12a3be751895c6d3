"""Annotations drawn from known classes and confusion, the same under other names, and twelve for exact enumeration."""

import numpy as np

from probtruth import Annotations

TWELVE = Annotations.from_long(
    {"item": list("aaabbbcccdde"), "annotator": list("pqrpqrpqrpqp"), "label": list("xxyxyyyyxxyx")}
)
SAMPLED = {"samples": 400, "warmup": 200, "chains": 4}  # Options of a sampler on the twelve: all tests have one program


def answered(label: np.ndarray, annotator: np.ndarray | None = None) -> Annotations:
    """From labels by (item, answer), and who gave each answer: everybody answers every item unless they are named."""
    who = np.broadcast_to(np.arange(label.shape[1]), label.shape) if annotator is None else annotator
    item = np.repeat(np.arange(len(label)), label.shape[1])
    return Annotations.from_long({"item": item, "annotator": who.ravel(), "label": label.ravel()})


def simulate(
    n_items: int, n_annotators: int, per_item: int, n_labels: int, seed: int
) -> tuple[Annotations, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = generator.integers(n_labels, size=n_items)
    skill = generator.uniform(0.5, 0.95, n_annotators)
    wrong = generator.dirichlet(np.full(n_labels, 2.0), (n_annotators, n_labels))
    wrong[:, range(n_labels), range(n_labels)] = 0
    wrong /= wrong.sum(2, keepdims=True)
    confusion = skill[:, None, None] * np.eye(n_labels) + (1 - skill)[:, None, None] * wrong
    rows: dict[str, list[str]] = {"item": [], "annotator": [], "label": []}
    for item in range(n_items):
        for annotator in generator.choice(n_annotators, per_item, replace=False):
            rows["item"].append(f"i{item:03}")
            rows["annotator"].append(f"a{annotator:02}")
            rows["label"].append("abcdefgh"[generator.choice(n_labels, p=confusion[annotator, truth[item]])])
    return Annotations.from_long(rows), truth, confusion


def renamed(annotations: Annotations, seed: int) -> tuple[Annotations, np.ndarray, np.ndarray]:
    """The same annotations with new names of everything and the rows shuffled; new positions of items and labels."""
    generator = np.random.default_rng(seed)
    index = annotations.index
    new = {
        what: [f"{what}{number:05}" for number in generator.permutation(len(names))]
        for what, names in (("item", index.items), ("annotator", index.annotators), ("label", index.labels))
    }
    order = generator.permutation(len(annotations.item))
    rows = {
        "item": [new["item"][code] for code in annotations.item[order]],
        "annotator": [new["annotator"][code] for code in annotations.annotator[order]],
        "label": [new["label"][code] for code in annotations.label[order]],
        "replicate": [str(row) for row in order],
    }
    made = Annotations.from_long(rows)
    place_item = np.array([made.index.items.index(name) for name in new["item"]])
    place_label = np.array([made.index.labels.index(name) for name in new["label"]])
    return made, place_item, place_label


def misperceived(seed: int, share: float = 0.25) -> tuple[Annotations, np.ndarray]:
    """200 items of 3 classes, 8 annotators each; a share of the items looks like another class to nearly everybody."""
    generator = np.random.default_rng(seed)
    classes = generator.integers(3, size=200)
    seen = np.where(generator.random(200) < share, (classes + 1) % 3, classes)
    right, seen = generator.random((200, 8)) < 0.85, seen[:, None]
    return answered(np.where(right, seen, (seen + generator.integers(1, 3, (200, 8))) % 3)), classes
