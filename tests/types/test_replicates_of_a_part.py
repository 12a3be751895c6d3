"""Some items of scores with replicates are what these items' rows make."""

import numpy as np

import probtruth as pt


def test_the_common_items_of_a_board_with_replicates():
    """`c` lacks every third item: the cells of the others stay, under their new places."""
    rng = np.random.default_rng(0)
    rows = {"item": [], "model": [], "score": [], "seed": []}
    for item in range(30):
        for model in "abc":
            for seed in range(3):
                if model == "c" and item % 3 == 0:
                    continue
                for name, value in zip(rows, (f"q{item:02d}", model, rng.normal(), str(seed)), strict=True):
                    rows[name].append(value)
    common = pt.Scores.from_frame(rows, replicate="seed", higher_is_better=True).common()
    whole = {
        name: [v for v, item in zip(of, rows["item"], strict=True) if int(item[1:]) % 3] for name, of in rows.items()
    }
    wanted = pt.Scores.from_frame(whole, replicate="seed", higher_is_better=True)
    assert common.items == wanted.items
    np.testing.assert_array_equal(common.replicates.values, wanted.replicates.values)
    np.testing.assert_array_equal(common.replicates.item, wanted.replicates.item)
    assert common.replicates.counts(20).tolist() == [[3] * 20] * 3
