"""What other tools say of the same data: the numbers of the page `docs/explanation/other-tools.md`.

    pip install crowd-kit cleanlab krippendorff scoringrules autorank bayesian-testing evalica
    python tests/slow/other_tools.py

takes a minute or two. The data are those of `probtruth demo`; the images' true digits are scikit-learn's.
"""

import contextlib
import io
import warnings
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
import pandas
from scipy.stats import ttest_rel
from sklearn.datasets import load_digits

import probtruth as pt
from probtruth import demo

ANNOTATIONS, PREDICTIONS = demo.load()
LONG = pandas.DataFrame(
    {
        "task": np.array(ANNOTATIONS.index.items)[ANNOTATIONS.item],
        "worker": np.array(ANNOTATIONS.index.annotators)[ANNOTATIONS.annotator],
        "label": np.array(ANNOTATIONS.index.labels)[ANNOTATIONS.label],
    }
)
DIGITS = load_digits().target[[int(name.removeprefix("image-")) for name in ANNOTATIONS.index.items]]
FORECAST = PREDICTIONS.probs[PREDICTIONS.models.index("logistic")]


def on_gold(probs: np.ndarray) -> str:
    """Share of errors and log loss on the true digits."""
    right = probs[np.arange(len(DIGITS)), DIGITS]
    with np.errstate(divide="ignore"):
        return f"error {(probs.argmax(1) != DIGITS).mean():.3f}, log loss {-np.log(right).mean():.3f}"


def crowd_kit() -> None:
    from crowdkit.aggregation import GLAD, MACE, DawidSkene
    from crowdkit.metrics.data import alpha_krippendorff

    for name, model, method in (
        ("Dawid-Skene", DawidSkene(n_iter=100), "dawid-skene-em"),
        ("MACE", MACE(random_state=0), "mace"),
        ("GLAD", GLAD(silent=True), "glad"),
    ):
        found = model.fit_predict_proba(LONG)
        probs = found[list(ANNOTATIONS.index.labels)].loc[list(ANNOTATIONS.index.items)].to_numpy()
        truth = pt.infer_truth(ANNOTATIONS, method, draws=0)
        print(f"  {name}: {on_gold(probs)}; ours {on_gold(truth.probs)}")
    print(f"  {on_gold(pt.infer_truth(ANNOTATIONS, 'vote-share').probs)}: vote shares, ours")
    print(f"  {on_gold(pt.infer_truth(ANNOTATIONS, 'pooled', draws=0).probs)}: 'pooled', ours")
    print(f"  Krippendorff's alpha {alpha_krippendorff(LONG):.4f}")


def cleanlab() -> None:
    from cleanlab.multiannotator import get_label_quality_multiannotator

    wide = LONG.assign(label=LONG["label"].astype(int)).pivot_table(
        index="task", columns="worker", values="label", aggfunc="first"
    )
    found = get_label_quality_multiannotator(wide.loc[list(ANNOTATIONS.index.items)], FORECAST, verbose=False)
    consensus = found["label_quality"]["consensus_label"].to_numpy().astype(int)
    print(f"  consensus helped by the model `logistic`: error {(consensus != DIGITS).mean():.3f}")
    print(f"  majority: error {(pt.infer_truth(ANNOTATIONS, 'majority').probs.argmax(1) != DIGITS).mean():.3f}")


def krippendorff() -> None:
    from krippendorff import alpha

    counts = ANNOTATIONS.counts()
    for level in ("nominal", "ordinal", "interval"):
        theirs = alpha(value_counts=counts, value_domain=list(range(10)), level_of_measurement=level)
        print(f"  {level}: {theirs:.10f}; ours {pt.agreement.krippendorff_alpha(ANNOTATIONS, level=level).value:.10f}")


def scikit_learn() -> None:
    from sklearn.metrics import brier_score_loss, log_loss

    soft = pt.infer_truth(ANNOTATIONS, "vote-share").probs
    try:
        log_loss(soft, FORECAST)
    except ValueError as problem:
        print(f"  log_loss with soft labels: ValueError: {str(problem).splitlines()[0]}")
    try:
        print(f"  brier_score_loss with soft labels: {brier_score_loss(soft, FORECAST):.4f}")
    except ValueError as problem:
        print(f"  brier_score_loss with soft labels: ValueError: {str(problem).splitlines()[0]}")
    rows = np.repeat(np.arange(len(soft)), 10)
    weighted = log_loss(np.tile(np.arange(10), len(soft)), FORECAST[rows], sample_weight=soft.ravel())
    ours = pt.score(PREDICTIONS, pt.infer_truth(ANNOTATIONS, "vote-share")).values[0].mean()
    print(f"  log_loss on ten weighted copies of each item: {weighted:.6f}; pt.score {ours:.6f}")
    sure = np.array([[1.0, 0.0], [0.5, 0.5]])
    told = [log_loss([1, 0], sure.astype(kind), labels=[0, 1]) for kind in (np.float64, np.float32)]
    print(f"  one item certain and wrong, one at 0.5: {told[0]:.2f} in float64, {told[1]:.2f} in float32")


def scoring_rules() -> None:
    import scoringrules

    soft, ours = np.array([0.7]), float(pt.brier_score(np.array([0.6, 0.4]), np.array([0.7, 0.3])))
    try:
        print(f"  brier_score(0.6, 0.7) {scoringrules.brier_score(soft, np.array([0.6]))[0]:.4f}; ours {ours:.4f}")
    except ValueError as problem:
        print(f"  brier_score with the soft label 0.7: ValueError: {problem}; ours {ours:.4f}")


def autorank() -> None:
    from autorank import autorank as rank

    scores = pt.score(PREDICTIONS, pt.infer_truth(ANNOTATIONS, "vote-share"))
    table = pandas.DataFrame(scores.values.T, columns=list(scores.models))
    with contextlib.redirect_stdout(io.StringIO()):
        found = rank(table, order="ascending")
    print(f"  {found.omnibus} test, post-hoc {found.posthoc}, by {found.rankdf.columns[0]}")
    print(f"  order {list(found.rankdf.index)}; by mean loss {pt.compare(scores).ranking()['model'].to_list()}")


def bayesian_testing() -> None:
    from bayesian_testing.experiments import NormalDataTest

    scores = pt.score(PREDICTIONS, pt.infer_truth(ANNOTATIONS, "vote-share"))
    test = NormalDataTest()
    for name, losses in zip(scores.models, scores.values, strict=True):
        if name in ("logistic", "neural-network"):
            test.add_variant_data(name, losses.tolist())
    theirs = {row["variant"]: row["prob_being_best"] for row in test.evaluate(200_000, seed=1, min_is_best=True)}
    pairs = pt.compare(scores).pairwise().to_dicts()
    (ours,) = [row["p_a_better"] for row in pairs if (row["a"], row["b"]) == ("logistic", "neural-network")]
    at = [scores.models.index(name) for name in ("logistic", "neural-network")]
    p = ttest_rel(*scores.values[at]).pvalue
    print(f"  P(logistic best of two), unpaired {theirs['logistic']:.3f}; ours, paired {ours:.3f}; paired t p {p:.3f}")


def evalica() -> None:
    import evalica

    scores = pt.score(PREDICTIONS, pt.infer_truth(ANNOTATIONS, "vote-share"))
    left, right, winners = [], [], []
    for a in range(4):
        for b in range(a + 1, 4):
            for difference in scores.values[a] - scores.values[b]:
                left.append(scores.models[a])
                right.append(scores.models[b])
                winners.append(evalica.Winner.X if difference < 0 else evalica.Winner.Y)
    found = evalica.bradley_terry(left, right, winners).scores
    print(f"  Bradley-Terry on who wins each item: {list(found.index)}")


TOOLS: dict[str, Callable[[], None]] = {
    "crowd-kit": crowd_kit,
    "cleanlab": cleanlab,
    "krippendorff": krippendorff,
    "scikit-learn": scikit_learn,
    "scoringrules": scoring_rules,
    "autorank": autorank,
    "bayesian-testing": bayesian_testing,
    "evalica": evalica,
}


def main() -> None:
    warnings.simplefilter("ignore")
    for name, show in TOOLS.items():
        print(f"{name} {version(name)}", flush=True)
        show()


if __name__ == "__main__":
    main()
