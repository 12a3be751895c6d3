"""Figure 6: errors in the variance of class 1 and in the tails of both classes.

The text calls (b), a variance of 2, over-confident; it is under-confident, as its angle below 45 degrees says.
Run: python examples/nelson_figure_6.py [--out FOLDER]
"""

import matplotlib.pyplot as plt
import nelson

CASES = {
    "(a) variance 0.5": ({"variance": (1.0, 0.5)}, "above 45"),
    "(b) variance 2": ({"variance": (1.0, 2.0)}, "below 45"),
    "(c) kappa 0": ({"kappa": (0.0, 0.0)}, "above 45, by much"),
    "(d) kappa 1": ({"kappa": (1.0, 1.0)}, "below 45"),
}


def main() -> None:
    figure, axes = plt.subplots(2, 2, figsize=(10, 10), layout="constrained")
    rows = []
    for axis, (title, (errors, published)) in zip(axes.ravel(), CASES.items(), strict=True):
        risk = nelson.profile(nelson.model(**errors))
        place = risk.powers.index(0)
        rows.append((f"{title}: angle", float(risk.angle[0]), published))
        rows.append((f"{title}: divergence probability", float(risk.divergence[0, place]), "below 1"))
        nelson.plot_model_against_source(axis, risk, title)
    nelson.show(rows)
    nelson.save(figure, "nelson_figure_6")


if __name__ == "__main__":
    main()
