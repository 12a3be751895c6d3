"""Compare systems by any per-item score: here a translation metric from 0 to 100, where higher is better.

Three systems translate 60 documents of a few sentences each. Sentences of one document are easy or hard together, so
they are a cluster; if you forget that, the answer is too sure. The table has one row for each sentence and system.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl

import probtruth as pt

QUALITY = {"baseline": 0.0, "larger": 1.2, "tuned": 1.6}
"""True mean gain of each system, in points."""


def score_table(seed: int = 0) -> pl.DataFrame:
    """A simulated table in long form: sentence, document, system, score."""
    random = np.random.default_rng(seed)
    rows = []
    for document in range(60):
        fit = {system: random.normal(0, 2.0) for system in QUALITY}  # how well a system suits the document
        for sentence in range(random.integers(3, 9)):
            ease = random.normal(45, 12)
            for system, gain in QUALITY.items():
                score = np.clip(ease + gain + fit[system] + random.normal(0, 3), 0, 100)
                rows.append((f"d{document:02}-s{sentence}", f"d{document:02}", system, round(float(score), 2)))
    return pl.DataFrame(rows, schema=["sentence", "document", "system", "bleu"], orient="row")


def show(title: str, comparison: pt.Comparison) -> None:
    print(title)
    for row in comparison.pairwise().iter_rows(named=True):
        # scores were given as higher-is-better; a difference is of losses, so negative still favours a
        print(
            f"  {row['a']:>8} against {row['b']:<8} {-row['difference']:+.2f} points "
            f"({-row['high']:+.2f} to {-row['low']:+.2f}), P({row['a']} better) = {row['p_a_better']:.3f}, "
            f"P(within half a point) = {row['p_equivalent']:.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for the table of scores")
    out = parser.parse_args().out

    table = score_table()
    columns = {"item": "sentence", "model": "system", "score": "bleu", "higher_is_better": True}
    naive = pt.compare(pt.Scores.from_frame(table, **columns), rope=0.5)
    honest = pt.compare(pt.Scores.from_frame(table, **columns, cluster="document"), rope=0.5)
    show("sentences as if they were independent (too sure):", naive)
    show("sentences within documents:", honest)

    print("ranking:")
    for row in honest.ranking().iter_rows(named=True):
        chance, regret = row["p_best"], row["expected_regret"]
        print(f"  {row['model']:>8} {row['score']:.2f}, P(best) = {chance:.3f}, expected regret {regret:.2f}")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        table.write_csv(out / "bleu.csv")
        print(f"the same on the command line: probtruth compare {out / 'bleu.csv'} --item sentence --model system")
        print("  --score bleu --cluster document --higher-is-better --rope 0.5 --out result")


if __name__ == "__main__":
    main()
