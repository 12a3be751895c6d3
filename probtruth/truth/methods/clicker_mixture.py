"""The opinions of annotators who read the item: some annotators click without reading, always or sometimes."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

from probtruth import check
from probtruth.inference.diagnostics import convergence
from probtruth.truth.annotators.quality import with_interval
from probtruth.truth.fit import MethodFit, MethodRequest, affordable, dirichlet_rows, evenly
from probtruth.truth.flat import FlatAnnotations, flatten
from probtruth.truth.gibbs import walk
from probtruth.truth.methods.dirichlet import learn_dirichlet, log_posterior

LEVELS = np.concatenate([[0.0], (np.arange(10) + 0.5) / 10, [1.0]])
"""Shares of clicks that an annotator can have: none, some (equally likely levels), all."""

READ = 1 - LEVELS
"""The shares of answers after reading."""

KINDS = np.array([0, *[1] * (len(LEVELS) - 2), 2])
"""Which kind of annotator a share belongs to: attentive, sometimes clicking, clicking."""

KIND_COUNTS = np.array([8.0, 0.5, 0.5])
"""Prior pseudo-counts of the three kinds."""

VISITS, FEWEST, MOST = 10_000, 60, 400
"""Visits to annotators by a chain, and the bounds of its sweeps, where no number is given."""

FIRST_STEP = -1.5
"""Log of the random walk's first step size; warm-up tunes it."""

SAME_SHARES = 0.03
"""Chains agree if their annotators' shares of clicks differ from the mean by less than this, on average."""

FLAGGED = 0.95
"""P(an annotator clicks at least half the time) from which they are flagged."""


@check.checks_itself
def clicker_mixture(request: MethodRequest, *, sweeps: int | None = None, chains: int = 2) -> MethodFit:
    """y_n ~ (1 - c_j) p_i + c_j h_j, p_i ~ Dirichlet(alpha m); c_j is 0, uniform, or 1: how often j clicks unread.

    p_i is how an annotator who reads item i would answer, h_j how often annotator j uses each label overall. Annotators
    who read the items agree with each other more than chance, those who click do not; so the votes of others on the
    same items tell who reads. Kinds of annotators have prior pseudo-counts 8, 0.5 and 0.5; log alpha has the prior
    of `dirichlet`. Gibbs sampling with p summed out.

    Arguments: `sweeps` count in each of `chains` chains, after half as many that do not (by default fewer where there
    are many annotators, 60 to 400).

    Returns the posterior of p. In `annotators()`, `clicked` is c_j with its 95 per cent interval, `p_clicker` is
    P(c_j > 1/2), and `flag` is "clicker" from 0.95 on. In `diagnostics`, `clicked` is the share of all annotations that
    were clicks, with `clicked_low` and `clicked_high`; `max_rhat` and `min_ess` are of that share and of alpha, which
    mix slowly, and `converged` says that the chains agree on the annotators. `shares` and `n_votes` of the truth are
    those of the annotators who more probably read than click (`p_clicker` at most 1/2); an item that none of them
    answered has none. Somebody who reads but sees everything differently from the others looks like a clicker. With one
    vote an item nothing tells readers from clickers: `diagnostics["clickers_identified"]`.

    Source: this package; the mixture of an answer and a habit is that of MACE (Hovy et al. 2013), here for opinions.
    """
    flat = flatten(request)
    check.whole(chains, 1, "chains")
    rows = flat.each()
    rows = rows[np.argsort(flat.annotator[rows], kind="stable")]
    votes = _SortedVotes(flat, flat.item[rows], flat.label[rows], flat.annotator[rows])
    many = (
        int(np.clip(VISITS / flat.n_annotators, FEWEST, MOST)) if sweeps is None else check.whole(sweeps, 4, "sweeps")
    )
    draws = affordable(request.draws, flat.n_items, flat.n_labels)
    seeds = np.random.SeedSequence([request.seed, 3]).spawn(chains)
    runs = [_sample(np.random.default_rng(seed), votes, many, -(-draws // chains)) for seed in seeds]
    clicked = np.concatenate([run.clicked for run in runs])
    share = np.stack([run.clicked @ flat.n_annotations / flat.n_annotations.sum() for run in runs])
    log_concentration = np.stack([run.log_concentration for run in runs])
    rhat, ess = convergence({"clicked": share, "log_concentration": log_concentration})
    by_chain = np.stack([run.clicked.mean(0) for run in runs])
    difference = float(np.abs(by_chain - by_chain.mean(0)).mean())
    p_clicker = (clicked > 0.5).mean(0)
    flag = np.where(p_clicker >= FLAGGED, "clicker", "")
    low, high = np.quantile(share, [0.025, 0.975])
    probs = np.mean([run.probs for run in runs], 0)
    columns = {"n_annotations": flat.n_annotations, **with_interval("clicked", clicked), "p_clicker": p_clicker}
    return MethodFit(
        probs,
        np.concatenate([run.draws for run in runs])[:draws] if draws else None,
        probs.mean(0),
        diagnostics={
            "clicked": float(share.mean()),
            "clicked_low": float(low),
            "clicked_high": float(high),
            "clickers_identified": bool((np.bincount(flat.item, flat.weight) > 1).any()),
            "concentration": float(np.exp(log_concentration).mean()),
            "sweeps": many,
            "chains": chains,
            "max_rhat": rhat,
            "min_ess": ess,
            "chain_difference": difference,
            "converged": difference <= SAME_SHARES,
        },
        annotator_results={**columns, "flag": flag},
    )


@dataclass(frozen=True, eq=False)
class _SortedVotes:
    """Annotations sorted by annotator."""

    flat: FlatAnnotations
    item: Int[np.ndarray, " annotation"]
    label: Int[np.ndarray, " annotation"]
    annotator: Int[np.ndarray, " annotation"]

    def by_annotator(self) -> list[tuple[slice, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Of each annotator: which annotations, their items, cells and labels, and P(label, clicked) by level."""
        bounds, habit = np.concatenate([[0], np.cumsum(self.flat.n_annotations)]).tolist(), self.habit()
        parts = []
        for start, stop in pairwise(bounds):
            own = slice(start, stop)
            item, label = self.item[own], self.label[own]
            parts.append((own, item, item * self.flat.n_labels + label, label, np.outer(LEVELS, habit[own])))
        return parts

    def habit(self) -> Float[np.ndarray, " annotation"]:
        """How often the annotator gives that label, by their other annotations and a Dirichlet prior from all of them.

        Leaving the annotation itself out keeps a habit that fits the data from looking more probable than it is.
        """
        n_labels, cell = self.flat.n_labels, self.annotator * self.flat.n_labels + self.label
        uses = np.bincount(cell, minlength=self.flat.n_annotators * n_labels)
        prior = learn_dirichlet(uses.reshape(-1, n_labels))[0]
        others = self.flat.n_annotations[self.annotator] - 1
        return np.asarray((uses[cell] - 1 + prior[self.label]) / (others + prior.sum()))


@dataclass(frozen=True, eq=False)
class _Chain:
    """Of the sweeps that count: the mean posterior of p, annotators' shares of clicks, the log of alpha, draws of p."""

    probs: Float[np.ndarray, "item label"]
    clicked: Float[np.ndarray, "sweep annotator"]
    log_concentration: Float[np.ndarray, " sweep"]
    draws: Float[np.ndarray, "draw item label"]


def _sample(random: np.random.Generator, votes: _SortedVotes, sweeps: int, draws: int) -> _Chain:
    flat, warmup = votes.flat, sweeps // 2
    n_items, n_labels, n_annotators = flat.n_items, flat.n_labels, flat.n_annotators
    by_annotator = votes.by_annotator()
    table, read = flat.votes(), np.ones(len(votes.item))
    reads, totals = table.reshape(-1), table.sum(1)  # reads are those of the table, by cell
    log_alpha, step = np.log(learn_dirichlet(table.astype(np.int64))[0]), np.array(FIRST_STEP)
    kinds, levels = KIND_COUNTS / KIND_COUNTS.sum(), np.zeros(n_annotators, int)
    clicked, log_concentration = np.zeros((sweeps, n_annotators)), np.zeros(sweeps)
    probs, drawn = np.zeros((n_items, n_labels)), []
    wanted = np.bincount(evenly(sweeps, draws), minlength=sweeps) if draws else np.zeros(sweeps, int)
    for turn in range(-warmup, sweeps):
        gain = 1 / np.sqrt(1 + warmup + turn) if turn < 0 else 0.0
        density = log_posterior(table.astype(np.int64))
        log_alpha, step = walk(random, log_alpha, step, density, gain)
        alpha = np.exp(log_alpha)
        total, log_prior = alpha.sum(), np.log(kinds / np.bincount(KINDS))[KINDS]
        uniform = random.random(len(votes.item))
        for annotator in random.permutation(n_annotators).tolist():
            own, item, cell, label, if_clicked = by_annotator[annotator]
            before = read[own]
            np.subtract.at(reads, cell, before)
            np.subtract.at(totals, item, before)
            if_read = (alpha[label] + reads[cell]) / (total + totals[item])
            mixed = READ[:, None] * if_read + if_clicked
            logs = log_prior + np.log(mixed).sum(1)
            running = np.exp(logs - logs.max()).cumsum()
            level = int(running.searchsorted(random.random() * running[-1], "right"))
            levels[annotator] = level
            after = (uniform[own] * mixed[level] < READ[level] * if_read).astype(float)
            read[own] = after
            np.add.at(reads, cell, after)
            np.add.at(totals, item, after)
        kinds = random.dirichlet(KIND_COUNTS + np.bincount(KINDS[levels], minlength=len(KIND_COUNTS)))
        if turn < 0:
            continue
        n_read = np.bincount(votes.annotator, read, n_annotators)
        # between the levels, given which answers were read
        some = random.beta(1 + flat.n_annotations - n_read, 1 + n_read)
        clicked[turn] = np.where(KINDS[levels] == 1, some, LEVELS[levels])
        log_concentration[turn] = np.log(total)
        posterior = table + alpha
        probs += posterior / posterior.sum(1, keepdims=True)
        drawn += [dirichlet_rows(random, posterior).astype(np.float32) for _ in range(wanted[turn])]
    return _Chain(probs / sweeps, clicked, log_concentration, np.array(drawn).reshape(-1, n_items, n_labels))
