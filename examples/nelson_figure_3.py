"""Figure 3: model against source probability for the matched model: bubbles and marks lie on the identity line.

Run: python examples/nelson_figure_3.py [--out FOLDER]
"""

import matplotlib.pyplot as plt
import nelson

MARKS = ("decisiveness", "accuracy", "robustness")


def main() -> None:
    risk = nelson.profile(nelson.model())
    row = risk.table().row(0, named=True)
    rows = [(f"{mark}: model minus source", row[mark] - row[f"source_{mark}"], "0 (on the line)") for mark in MARKS]
    nelson.show([*rows, ("angle from robustness to decisiveness", float(risk.angle[0]), "45")])
    figure, axis = plt.subplots(figsize=(5, 5), layout="constrained")
    nelson.plot_model_against_source(axis, risk, "matched model")
    nelson.save(figure, "nelson_figure_3")


if __name__ == "__main__":
    main()
