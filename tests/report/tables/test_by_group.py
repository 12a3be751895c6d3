from probtruth.report.formats.markdown import markdown
from probtruth.report.tables.models import by_group

ROW = {"a": "model-00", "b": "model-01", "difference": -0.2, "low": -0.3, "high": -0.1, "p_a_better": 0.99}


def test_the_leading_pair_stands_in_every_group(result, make):
    rows = [{"group": group, **ROW, "n_items": size} for group, size in (("left", 3), ("right", 40))]
    rows.append({"group": "left", **ROW, "b": "another", "n_items": 3})
    a, b = sorted(str(row["model"]) for row in result.comparison.ranks[:2])
    rows = [{**row, "a": a, "b": b if row["b"] == "model-01" else row["b"]} for row in rows]
    grouped = make["rewrite"](result, of_groups=lambda: rows)
    (table,) = by_group(grouped)
    assert len(table.rows) == 2
    shown = markdown(grouped)
    assert "The two leading models in every group" in shown
    assert "left" in shown


def test_without_groups_there_is_no_table(result):
    assert by_group(result) == ()
