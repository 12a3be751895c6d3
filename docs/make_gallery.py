"""Makes the pictures of the gallery page from the code that stands on it: `python docs/make_gallery.py [FOLDER]`.

Every block of the page that ends in `ax = ...` is a figure; the image that follows it names the file, and its text is
what is read aloud. Deterministic, no network.
"""

import re
import sys
from pathlib import Path
from typing import Any

from probtruth.report.plots.svg import alone, inline, plain_style

PAGE = Path(__file__).parent / "gallery.md"
PARTS = re.compile(
    r"^```python\n(?P<code>.*?)^```$|^!\[(?P<text>[^]]*)\]\((?P<file>[^)]*)\)$", re.MULTILINE | re.DOTALL
)


def main(folder: Path) -> None:
    """Runs the page's blocks in order and writes a picture at each image."""
    names: dict[str, Any] = {"__name__": "__main__"}
    folder.mkdir(parents=True, exist_ok=True)
    with plain_style():
        for part in PARTS.finditer(PAGE.read_text(encoding="utf-8")):
            if part["code"] is not None:
                exec(compile(part["code"], str(PAGE), "exec"), names)
            else:
                name = Path(part["file"]).stem
                made = inline(names["ax"], name, part["text"])
                (folder / f"{name}.svg").write_text(alone(made), encoding="utf-8")
                print(f"wrote {name}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE.parent / "images" / "gallery")
