"""`python -m tests.benchmarks [NAME...] [--write]`: measures and prints; without names all, into docs/performance.md.

With `--write` the sections named are written into the page, and the others stay.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.benchmarks import comparison, files, large, scoring, truth
from tests.benchmarks.measure import Section, measure
from tests.benchmarks.page import page, table

SECTIONS: dict[str, Callable[[], Section]] = {
    "log": lambda: scoring.mean_log_score(1_000_000, 10, "<= 1.6"),
    "log-wide": lambda: scoring.mean_log_score(100_000, 1_000, "<= 1.6"),
    **{
        f"kernels-{items}x{labels}{'-gradient' * gradient}": partial(scoring.under_jit, items, labels, gradient)
        for items, labels in ((1_000_000, 10), (4_096, 10), (100_000, 1_000), (4_096, 1_000))
        for gradient in (False, True)
    },
    "from-log": lambda: scoring.from_log_probs(1_000_000, 10),
    "from-log-wide": lambda: scoring.from_log_probs(100_000, 1_000),
    "several": lambda: scoring.several(1_000_000, 10),
    "several-wide": lambda: scoring.several(100_000, 1_000, rounds=2),
    "two-labels": scoring.two_labels,
    "streaming": scoring.streaming,
    "truth": truth.dawid_skene,
    "truth-draws": truth.posterior,
    "truth-sampled": truth.sampled,
    "compare": comparison.warm,
    "compare-groups": comparison.many_groups,
    "compare-cold": comparison.cold,
    "first-answer": comparison.first_answer,
    "compare-by-items": comparison.by_items,
    "compare-million": comparison.million,
    "two-models": comparison.two_models,
    "files": files.reading,
    "large-run": large.run,
    "large-memory": large.memory,
    "dask": large.dask,
}


def main() -> int:
    """Runs the sections named, or all."""
    names = [name for name in sys.argv[1:] if not name.startswith("-")]
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        print(f"unknown: {' '.join(unknown)}; known: {' '.join(SECTIONS)}", file=sys.stderr)
        return 2
    parts = []
    for name in names or SECTIONS:
        section = SECTIONS[name]()
        part = table(section, measure(section))
        print(part, flush=True)
        parts.append(part)
        scoring.soft.cache_clear()
        large.folder.cache_clear()
    if not names or "--write" in sys.argv:
        place = Path(__file__).parents[2] / "docs" / "performance.md"
        earlier = place.read_text(encoding="utf-8") if names else ""
        place.write_text(page(parts, earlier), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
