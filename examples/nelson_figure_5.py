"""Figure 5: an under-confident mean (class 1 at 1) and an over-confident one (at 3), both against the source at 2.

Run: python examples/nelson_figure_5.py [--out FOLDER]
"""

import matplotlib.pyplot as plt
import nelson

CASES = {"mean 1 (under-confident)": (1.0, "below 45"), "mean 3 (over-confident)": (3.0, "above 45")}


def main() -> None:
    figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
    rows = []
    for axis, (title, (mean, published)) in zip(axes, CASES.items(), strict=True):
        risk = nelson.profile(nelson.model(loc=(0.0, mean)))
        place = risk.powers.index(0)
        rows.append((f"{title}: angle", float(risk.angle[0]), published))
        rows.append((f"{title}: divergence probability", float(risk.divergence[0, place]), "below 1"))
        nelson.plot_model_against_source(axis, risk, title)
    nelson.show(rows)
    nelson.save(figure, "nelson_figure_5")


if __name__ == "__main__":
    main()
