"""False alarms of the monitor with a look after every item, and how soon it finds an effect (eight minutes).

A share of 0.05 has a standard error of 0.005 with 2,000 streams.
"""

from collections.abc import Iterator

import numpy as np
from monitor_study import BOUNDED, UNBOUNDED, Stream, alarms, stopping_times

RUNS, ITEMS, SEARCHED, EFFECT = 2000, 10_000, 2000, 0.3
HEAD = ("differences", "false alarms", "a better", "b better", "median stop", "90% stop by")


def row(stream: Stream, runs: int) -> tuple[str, ...]:
    low, high = alarms(stream, ITEMS, runs, seed=1)
    times = stopping_times(stream, EFFECT, SEARCHED, max(runs // 4, 1), seed=2) if stream.sd else None
    stops = ("", "") if times is None else (f"{np.median(times):.0f}", f"{np.quantile(times, 0.9):.0f}")
    return (stream.name, *(f"{share:.3f}" for share in (low + high, low, high)), *stops)


def study(runs: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    for table, streams in (("monitor-bounded", BOUNDED), ("monitor-unbounded", UNBOUNDED)):
        yield table, HEAD
        for stream in streams:
            yield table, row(stream, runs)
