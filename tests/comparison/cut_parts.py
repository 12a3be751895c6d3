"""Scores in memory, cut into parts at random."""

import numpy as np

from probtruth.comparison.evidence.parts import HeldParts, Part


def cut(scores, plan, rng):
    structure = plan.structure
    order = rng.permutation(len(scores.items))
    places = np.sort(rng.choice(np.arange(1, len(order)), 5, replace=False))
    listed = [Part(scores.values[:, items], items, *structure.codes(items)) for items in np.split(order, places)]
    return HeldParts(scores.models, structure, listed)
