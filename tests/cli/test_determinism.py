"""The same inputs give the same bytes in any order; other names change nothing but the names."""

import json
import random

import pytest
from closeness import differing

import probtruth as pt


def shuffled(path, seed, columns=False):
    """The file with its rows, and its columns after the first, in another order."""
    header, *rows = [line.split(",") for line in path.read_text().splitlines()]
    draw = random.Random(seed)
    draw.shuffle(rows)
    order = list(range(1, len(header)))
    if columns:
        draw.shuffle(order)
    made = path.with_name(f"shuffled-{seed}-{path.name}")
    made.write_text("\n".join(",".join([row[0], *(row[k] for k in order)]) for row in [header, *rows]) + "\n")
    return made


@pytest.fixture
def about(tmp_path):
    path = tmp_path / "about.csv"
    path.write_text(
        "\n".join(["item,parity,pair", *(f"i{k},{'eo'[k % 2]},p{k // 4 * 2 + k % 2}" for k in range(24))]) + "\n"
    )
    return path


@pytest.mark.long
def test_order_of_rows_columns_and_files_changes_no_byte(run, files, about, tmp_path):
    def result(seed):
        order = ["sharp", "flat"] if seed is None else ["flat", "sharp"]
        used = {name: files[name] if seed is None else shuffled(files[name], seed, True) for name in (*order, "labels")}
        table = about if seed is None else shuffled(about, seed)
        models = [word for name in order for word in ("--predictions", f"{name}={used[name]}")]
        out = tmp_path / f"out{seed}"
        structure = ["--groups", f"{table}:parity", "--clusters", f"{table}:pair"]
        options = ["--rule", "brier", "--engine", "exact", "--rope", "0.01", "--seed", 7]
        outcome = run("run", "--annotations", used["labels"], *models, *structure, *options, "--out", out)
        assert outcome.status == 0, outcome.err
        return {name: (out / name).read_bytes() for name in ("result.json", "pairwise.csv", "models.csv")}

    assert result(None) == result(1)


NAMES = {"sharp": "zz", "flat": "aa", "ann": "q", "bob": "p", "cy": "z"}
"""Models change their order among the names; so do annotators and items."""
LABELS = {"in the same order": {"yes": "y", "no": "n"}, "the other way round": {"yes": "a", "no": "b"}}


def renamed(path, names):
    lines = [line.split(",") for line in path.read_text().splitlines()]
    head = [names.get(word, word) for word in lines[0]]
    rows = [[f"x{100 - int(row[0][1:])}", *(names.get(word, word) for word in row[1:])] for row in lines[1:]]
    made = path.with_name(f"renamed-{path.name}")
    made.write_text("\n".join(",".join(row) for row in [head, *rows]) + "\n")
    return made


ROUNDING = 1e-12
# Scores add up labels, and models among the evidence items, in the order of names: other names, other last digits.
CLIMB = 1e-7  # EM ends where a step moves no probability by more than 1e-9


@pytest.mark.parametrize(
    ("method", "labels", "within"),
    [
        ("vote-share", "in the same order", ROUNDING),
        ("vote-share", "the other way round", ROUNDING),
        ("dawid-skene-em", "in the same order", CLIMB),
        ("dawid-skene-em", "the other way round", CLIMB),
    ],
)
def test_names_change_only_the_names(files, method, labels, within):
    names = NAMES | LABELS[labels]

    def answer(labels, models):
        annotations = pt.read_annotations(labels)
        predictions = pt.read_predictions(models, index=annotations.index)
        result = pt.evaluate(annotations, predictions, method=method, rule="brier", engine="exact", seed=5)
        return json.loads(json.dumps(result.to_dict()))

    plain = answer(files["labels"], {name: files[name] for name in ("sharp", "flat")})
    models = {names[name]: renamed(files[name], names) for name in ("sharp", "flat")}
    other = answer(renamed(files["labels"], names), models)
    by_name = {names[row["model"]]: {**row, "model": names[row["model"]]} for row in plain["models"]}
    for row in other["models"]:
        assert differing(row, by_name[row["model"]], within) == []
    (before,), (after,) = plain["pairwise"], other["pairwise"]  # flat minus sharp; aa (flat) minus zz (sharp)
    assert differing({**after, "a": "flat", "b": "sharp"}, before, within) == []
    for key in ("uncertainty", "diagnostics"):
        assert differing(other[key], plain[key], within) == []
    weights = [result["truth"].pop("model_weights") or [] for result in (plain, other)]
    before = {names[row["model"]]: row["weight"] for row in weights[0]}
    after = {row["model"]: row["weight"] for row in weights[1]}
    assert differing(before, after, within) == []
    assert other["truth"] == plain["truth"]
