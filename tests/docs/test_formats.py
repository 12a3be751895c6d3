"""The page of file formats lists the keys of a result, all of them and no others."""

import re
from collections.abc import Iterator, Mapping

import pages

import probtruth as pt

FREE = {
    "settings",
    "versions",
    "groups",
    "model_free_tests[]",
    "audit.by_model[]",
    "other_estimand.changes[]",
    "diagnostics.tables",
}  # Keys whose contents the page describes in words


def keys(value: object, path: str = "") -> Iterator[str]:
    if path in FREE or not isinstance(value, Mapping | list):
        yield path
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from keys(entry, f"{path}.{key}".lstrip("."))
    elif value:
        yield from keys(value[0], f"{path}[]") if isinstance(value[0], Mapping) else [f"{path}[]"]
    else:
        yield f"{path}[]"


def documented() -> Iterator[str]:
    page = (pages.REPOSITORY / "docs" / "formats.md").read_text()
    table = page[page.index("| key | meaning |") :].split("\n\n")[0]
    for line in table.splitlines()[2:]:
        names = re.findall(r"`([^`]+)`", line.split("|")[1])
        for name in names:
            yield names[0].rpartition(".")[0] + name if name.startswith(".") else name


def test_keys_of_the_result() -> None:
    votes = pt.Annotations.from_long({"item": list("aabb"), "annotator": list("xyxy"), "label": list("ynyy")})
    rows = {"a": [[0.3, 0.7], [0.1, 0.9]], "b": [[0.5, 0.5], [0.4, 0.6]]}
    result = pt.evaluate(votes, pt.Predictions.from_probs(rows, ["a", "b"], ["n", "y"]), engine="exact").to_dict()
    result["audit"]["by_model"] = [{"model": "a"}]
    assert sorted(documented()) == sorted(keys(result))
