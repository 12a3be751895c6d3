"""The mixture of label sets against its definition, written out in loops over every set of labels."""

from itertools import product

import numpy as np
import pytest

import probtruth as pt

LABELS = ("x", "y", "z")


def crowd(n_items: int = 30, n_annotators: int = 6) -> list[tuple[str, str, set[str]]]:
    """What annotators said of items of two kinds; an item has three annotators, who err."""
    rng = np.random.default_rng(5)
    rho = np.array([[0.9, 0.7, 0.1], [0.1, 0.2, 0.8]])
    said = []
    for item in range(n_items):
        holds = rng.random(3) < rho[item % 2]
        for annotator in rng.choice(n_annotators, 3, replace=False):
            given = np.where(rng.random(3) < 0.85, holds, ~holds)
            said.append((f"i{item}", f"a{annotator}", {label for label, own in zip(LABELS, given, strict=True) if own}))
    return said


def as_annotations(said: list[tuple[str, str, set[str]]]) -> pt.Annotations:
    rows = [(item, annotator, label) for item, annotator, given in said for label in (sorted(given) or ["none"])]
    columns = dict(zip(("item", "annotator", "label"), zip(*rows, strict=True), strict=True))
    return pt.Annotations.from_long({name: list(values) for name, values in columns.items()}, replicate="label")


@pytest.mark.parametrize("kinds", [1, 2])
def test_the_answer_is_the_fixed_point_of_em_by_enumeration(kinds: int) -> None:
    """Pseudo-counts: 1 for each kind and its labels, 6 and 2 for a label, right and wrong, 10 for each annotator."""
    said = crowd()
    found = pt.infer_multilabel(as_annotations(said), none="none", prototypes=kinds)
    assert found.diagnostics["converged"]
    labels = found.index.labels
    assert found.weights is not None
    assert found.prototypes is not None
    errors = {(row["annotator"], row["label"]): row for row in found.annotators().iter_rows(named=True)}
    mass, both = np.zeros(kinds), np.zeros((kinds, 3))
    applies = {}
    for item in found.index.items:
        joint = np.zeros((kinds, 2, 2, 2))
        for kind, *holds in product(range(kinds), (0, 1), (0, 1), (0, 1)):
            chance = found.weights[kind]
            for place, label in enumerate(labels):
                chance *= found.prototypes[kind, place] if holds[place] else 1 - found.prototypes[kind, place]
                for own, annotator, given in said:
                    if own == item:
                        row = errors[annotator, label]
                        right = row["sensitivity"] if holds[place] else row["specificity"]
                        chance *= right if (label in given) == holds[place] else 1 - right
            joint[kind, *holds] = chance
        joint /= joint.sum()
        mass += joint.sum((1, 2, 3))
        yes = np.stack([joint[:, 1].sum((1, 2)), joint[:, :, 1].sum((1, 2)), joint[:, :, :, 1].sum((1, 2))], 1)
        both += yes
        applies[item] = yes.sum(0)
    n = len(applies)
    np.testing.assert_allclose(found.probs, [applies[item] for item in found.index.items], atol=1e-4)
    np.testing.assert_allclose(found.weights, (mass + 1) / (n + kinds), atol=1e-4)
    base = (sum(applies.values()) + 0.5) / (n + 1)
    np.testing.assert_allclose(found.prototypes, (both + base) / (mass[:, None] + 1), atol=1e-4)
    for place, label in enumerate(labels):
        for what, given_right in (("sensitivity", True), ("specificity", False)):
            right, total = dict.fromkeys(found.index.annotators, 0.0), dict.fromkeys(found.index.annotators, 0.0)
            for item, annotator, given in said:
                true = applies[item][place] if given_right else 1 - applies[item][place]
                total[annotator] += true
                right[annotator] += true * ((label in given) == given_right)
            shared = (sum(right.values()) + 6) / (sum(total.values()) + 8)
            for annotator in found.index.annotators:
                wanted = (right[annotator] + 10 * shared) / (total[annotator] + 10)
                assert errors[annotator, label][what] == pytest.approx(wanted, abs=1e-4)
