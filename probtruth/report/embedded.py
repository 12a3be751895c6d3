"""What the page's script works on, as JSON inside the page: quantiles of differences, and the items.

Nothing of it can end the element that holds it or be read as markup: `<`, `>` and `&` are written as escapes.
"""

import base64
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from probtruth.line.analysis.curves import DifferenceCurves
from probtruth.line.analysis.items import ListedItems
from probtruth.line.result import Result
from probtruth.line.rows import leaders
from probtruth.report.words.numbers import LONGEST, decimals, favouring_a, interval_width, plain, short_names
from probtruth.report.words.sentences import mean_of, measure, unit
from probtruth.report.words.verdict import CERTAINTY, EQUIVALENT

_ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
THOUSANDTHS = 1000
LEAST_ERROR = 0.0005
"""Error of a probability read off the curves that is stated at least: what numbers of 32 bits and lines leave."""


def embedded(result: Result, explorable: bool) -> Markup:
    """The data of one result; the quantiles only if they may be explored."""
    comparison = result.comparison
    names = list(result.scores.models)
    data: dict[str, Any] = {
        "names": [plain(name) for name in names],
        "short": list(short_names(names, LONGEST).values()),
        "higherIsBetter": comparison.higher_is_better,
        "measure": measure(comparison.rule),
        "compared": mean_of(comparison),
        "unit": unit(comparison.rule),
        "favouringA": favouring_a(comparison.higher_is_better),
        "leading": [names.index(str(row["model"])) for row in leaders(comparison.ranks)[:2]],
        "rope": comparison.rope,
        "places": decimals(map(interval_width, comparison.pairs)),
        "certainty": [[bound, words] for bound, words, _ in CERTAINTY],
        "equivalent": EQUIVALENT,
    }
    curves, listed = result.analysis.curves, result.analysis.listed
    if curves is not None and explorable:
        data["curves"] = _curves(curves, names)
    if listed is not None:
        data["items"] = _items(listed, names, result)
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(_ESCAPED))


def _curves(curves: DifferenceCurves, names: Sequence[str]) -> dict[str, Any]:
    """Places in the order of the choice, and each curve as place, models, mean, and 32-bit quantiles in base64."""
    places = list(dict.fromkeys((curve.where, curve.group) for curve in curves.curves))
    grouped = len(places) > 1
    return {
        "error": max(curves.error, LEAST_ERROR),
        "probabilities": [round(float(p), 9) for p in curves.probabilities],
        "models": [names.index(model) for model in curves.models],
        "places": [_place_key(where, group, grouped) for where, group in places],
        "rows": [
            [
                places.index((curve.where, curve.group)),
                names.index(curve.a),
                names.index(curve.b),
                float(f"{curve.mean:.6g}"),
                base64.b64encode(np.asarray(curve.values, "<f4").tobytes()).decode(),  # the least byte first
            ]
            for curve in curves.curves
        ],
    }


def _place_key(where: str, group: str | None, grouped: bool) -> str:
    if group is not None:
        return plain(group)
    return {"": "all items, these groups" if grouped else "all items"}.get(where, where)


def _items(listed: ListedItems, names: Sequence[str], result: Result) -> dict[str, Any]:
    """The items in columns; probabilities and shares in thousandths."""
    data: dict[str, Any] = {
        "all": listed.n_all,
        "names": [plain(item) for item in listed.items],
        "models": [names.index(model) for model in listed.models],
        "scores": [[_brief(value) for value in row] for row in listed.scores.tolist()],
    }
    if listed.probs is not None and listed.columns is not None and listed.shares is not None:
        data["labels"] = [plain(label) for label in listed.labels]
        data["probs"] = [_thousandths(of_model) for of_model in listed.probs]
        if listed.votes is not None:
            data["votes"] = listed.votes.tolist()
        else:
            data["shares"] = _thousandths(listed.shares)
        if listed.columns.shape[1] < len(listed.labels):
            data["columns"] = listed.columns.tolist()
    for key, content in (("text", result.item_text), ("image", result.item_images)):
        if content:
            data[key] = [_line(content, item, key) for item in listed.items]
    return data


def _line(content: Mapping[str, str], item: str, key: str) -> str | None:
    value = content.get(item)
    return value if value is None or key == "image" else "\n".join(map(plain, value.split("\n")))


def _thousandths(values: np.ndarray) -> Any:
    return np.rint(values * THOUSANDTHS).astype(int).tolist()


def _brief(value: float) -> float | str | None:
    """Four significant digits; infinite as text, unknown as null."""
    if math.isnan(value):
        return None
    return float(f"{value:.4g}") if math.isfinite(value) else "inf" if value > 0 else "-inf"
