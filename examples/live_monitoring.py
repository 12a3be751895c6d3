"""Look every day without fooling yourself: two chatbots, a hundred rated answers a day, stop when it is clear.

Each day both answer the same new questions and a rater says from 0 to 1 how good each answer is. If you stop on the
first day when an ordinary P(better) passes 0.95, you are often wrong if the two are alike; the confidence sequence of
`monitor` holds for all looks together. The script shows one stream with a difference, and many without.
"""

import argparse
from pathlib import Path

import numpy as np

import probtruth as pt
from probtruth.study.monitor_state import Monitor

DAY, DAYS = 100, 20
"""Questions a day, and days."""
STREAMS = 30
"""Streams without a difference, to count false alarms."""


def ratings(gain: float, seed: int, days: int = DAYS) -> dict[str, np.ndarray]:
    """Ratings of both chatbots, question by question: some questions are hard for both."""
    random = np.random.default_rng(seed)
    ease = random.beta(4, 2, DAY * days)
    noise = random.normal(0, 0.2, (2, DAY * days))
    return {"candidate": np.clip(ease + gain + noise[0], 0, 1), "current": np.clip(ease + noise[1], 0, 1)}


def one_day(stream: dict[str, np.ndarray], day: int) -> dict[str, list[object]]:
    """The table of scores that arrives on one day."""
    part = slice(DAY * day, DAY * (day + 1))
    questions = [f"q{number}" for number in range(part.start, part.stop)]
    return {
        "item": questions * 2,
        "model": ["candidate"] * DAY + ["current"] * DAY,
        "score": [*stream["candidate"][part], *stream["current"][part]],
    }


def follow(stream: dict[str, np.ndarray], state: Path | None = None) -> Monitor:
    """Looks every day and stops at the first decision; the state is a file, as it would be between days."""
    watch = None
    for day in range(DAYS):
        if watch is None:
            watch = pt.monitor(one_day(stream, day), bounds=(0, 1), higher_is_better=True)
        else:
            watch = pt.monitor(one_day(stream, day), watch)
        if state is not None:
            watch.save(state)
            watch = pt.monitor(earlier=state)
            low, high = watch.interval
            print(f"  day {day + 1:>2}: {watch.n_items:>5} questions, difference {low:+.3f} to {high:+.3f}")
        if watch.decision is not None:
            break
    assert watch is not None
    return watch


def peeking(stream: dict[str, np.ndarray]) -> bool:
    """Whether the ordinary posterior passes 0.95, one way or the other, on any day."""
    for day in range(DAYS):
        gap = (stream["candidate"] - stream["current"])[: DAY * (day + 1)]
        certain = abs(gap.mean()) > 1.96 * gap.std(ddof=1) / np.sqrt(len(gap))
        if certain:
            return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for the state and the figure")
    out = parser.parse_args().out
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)

    print("a candidate that is better by 0.015 (candidate minus current: positive favours the candidate)")
    watch = follow(ratings(0.015, seed=1), None if out is None else out / "state.json")
    better = {"a": watch.a, "b": watch.b, None: "open"}.get(watch.decision, watch.decision)
    print(f"stopped after {watch.n_items} questions: {better}; P(candidate better) = {watch.p_a_better:.4f}")

    alike = [ratings(0.0, seed) for seed in range(100, 100 + STREAMS)]
    wrong = sum(peeking(stream) for stream in alike), sum(follow(stream).decision is not None for stream in alike)
    print(f"two equal chatbots, {DAYS} looks each, {STREAMS} streams:")
    print(f"  a 95% interval with a look every day excludes 0 in {wrong[0]} of {STREAMS}")
    print(f"  the confidence sequence does in {wrong[1]} of {STREAMS}")
    if out is not None:
        pt.figures.plot_monitor(watch).figure.savefig(out / "monitor.svg")
        print(f"figure: {out / 'monitor.svg'}")


if __name__ == "__main__":
    main()
