import numpy as np
import polars
from hypothesis import given, settings
from hypothesis import strategies as st

from probtruth.io.tables.batches import open_table
from probtruth.io.tables.long_scores import NameCodes, cells, checked_scores, sorted_names
from probtruth.types.index import sort_names

names = st.one_of(
    st.lists(st.integers(-(10**20), 10**20).map(str), unique=True, min_size=1),
    st.lists(st.text(min_size=1, max_size=4), unique=True, min_size=1),
    st.lists(st.sampled_from(["1", "10", "9", "007", "-0", "a", "é", "\U0001f600", "-3"]), unique=True, min_size=1),
)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(names)
def test_a_column_is_sorted_as_names_are(listed):
    assert sorted_names(polars.Series(listed, dtype=polars.String)).to_list() == list(sort_names(listed))


def test_codes_are_the_places_of_the_names_in_any_batches(tmp_path):
    rng = np.random.default_rng(0)
    item = rng.permutation(500)
    frame = polars.DataFrame({"item": item, "model": "m", "score": item / 7})
    frame.write_parquet(tmp_path / "a.parquet")
    table = open_table(tmp_path / "a.parquet")
    for size in (64, 500, 1000):
        items = NameCodes.of(table, "item", "item", size)
        models = NameCodes.of(table, "model", "model", size, ordered=False)
        read = list(cells(table, (items, models), size, "score"))
        assert np.concatenate([of_item for _, of_item, _ in read]).tolist() == item.tolist()
        assert np.concatenate([checked_scores(batch, "score") for batch, _, _ in read]).tolist() == (item / 7).tolist()
