"""Small, valid files to run commands on."""

from pathlib import Path

import pytest

ITEMS = [f"i{number}" for number in range(24)]


@pytest.fixture
def files(tmp_path) -> dict[str, Path]:
    """Annotations by three annotators, two models that differ, scores: 24 items, labels no and yes."""
    rows = ["item,annotator,label"]
    for place, item in enumerate(ITEMS):
        for annotator in ("ann", "bob", "cy"):
            wrong = (place + ord(annotator[0])) % 5 == 0
            rows.append(f"{item},{annotator},{'yes' if (place % 2 == 0) != wrong else 'no'}")
    made = {"labels": _write(tmp_path / "labels.csv", rows)}
    for name, sure in (("sharp", 0.85), ("flat", 0.6)):
        lines = ["item,yes,no"]
        for place, item in enumerate(ITEMS):
            p = sure + 0.01 * (place % 7) if place % 2 == 0 else 1 - sure - 0.01 * (place % 5)
            lines.append(f"{item},{p:.4f},{1 - p:.4f}")
        made[name] = _write(tmp_path / f"{name}.csv", lines)
    scores = ["item,model,score"]
    for place, item in enumerate(ITEMS):
        scores += [f"{item},a,{0.1 * (place % 4):.2f}", f"{item},b,{0.1 * (place % 5) + 0.05:.2f}"]
    made["scores"] = _write(tmp_path / "scores.csv", scores)
    return made


@pytest.fixture
def models(files) -> list[str]:
    """The options that name the two models."""
    return [f"--predictions={name}={files[name]}" for name in ("sharp", "flat")]


def _write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
