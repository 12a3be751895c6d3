"""Ctrl-C at moments over the whole life of commands: one line and status 130, and no half of an output.

    python tests/slow/interrupts.py [MOMENTS [COMMAND...]] > table.md

Of the moments of each command a third lies in the first half second, a third anywhere in its life, some about its end,
and as many in the instants after the output got its name. A command that has ended before is not counted. What was not
one line goes to standard error, with its moment.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars

import probtruth

NOTHING, WHOLE = "interrupted: nothing was written", "is written, and whole"
OURS = str(Path(probtruth.__file__).parent)
"""In a traceback: what began after the first line of probtruth."""
OUTCOMES = (
    "one line, nothing written", "one line, the output stands", "before probtruth: traceback", "no line",
    "traceback", "wrong",
)  # fmt: skip


def write_input(folder: Path) -> None:
    """300 items, 12 annotators, two models."""
    rng = np.random.default_rng(0)
    labels, items = np.array(["no", "yes"]), [f"q{item}" for item in range(300)]
    votes = [(item, f"a{who}") for item in items for who in rng.choice(12, 4, replace=False)]
    frame = polars.DataFrame(votes, schema=["item", "annotator"], orient="row")
    frame.with_columns(label=labels[rng.integers(0, 2, len(votes))]).write_csv(folder / "votes.csv")
    for name in "ab":
        share = rng.uniform(0.1, 0.9, len(items))
        frame = polars.DataFrame({"item": items, "no": share, "yes": 1 - share})
        frame.write_csv(folder / f"{name}.csv")
        (folder / name).mkdir()
        frame.write_parquet(folder / name / "1.parquet")  # a folder of files is streamed
    values = rng.uniform(0, 2, 2 * len(items))
    scores = {"item": [*items, *items], "model": ["a"] * len(items) + ["b"] * len(items), "score": values}
    polars.DataFrame(scores).write_csv(folder / "scores.csv")


def commands() -> Iterator[tuple[str, list[str]]]:
    """What each is called, and its words."""
    whole, parts = (["--predictions", f"a=a{ending}", "--predictions", f"b=b{ending}"] for ending in (".csv", ""))
    yield "truth", ["truth", "votes.csv", "--method", "dawid-skene"]
    yield "run, streamed", ["run", "--annotations", "votes.csv", *parts, "--memory", "2GB"]
    yield "validate", ["validate", "--annotations", "votes.csv", *whole, "--replications", "400"]
    yield "run", ["run", "--annotations", "votes.csv", *whole]
    yield "demo", ["demo"]
    yield "plan", ["plan", "scores.csv", "--lower-is-better", "--cost", "item=1"]
    yield "monitor", ["monitor", "scores.csv", "--lower-is-better", "--bounds", "0", "2"]
    yield "check", ["check", "votes.csv", "a.csv", "scores.csv"]
    yield "info", ["info"]


PLOT, NONE = (".svg", "--plot"), ("",)
OUTPUTS = {
    "truth": (".parquet", "--out"), "validate": PLOT, "plan": PLOT, "monitor": (".json", "--state"),
    "check": NONE, "info": NONE,
}  # fmt: skip
"""What a command writes, where it is no folder: how its name ends, and the option that names it, if there is one."""


def started(folder: Path, words: list[str]) -> "tuple[subprocess.Popen[str], Path]":
    """The process, and the output that it is to write."""
    ending, *option = OUTPUTS.get(words[0], ("", "--out"))
    out = folder / f"out{ending}"
    command = [str(Path(sys.executable).with_name("probtruth")), *words]
    command += [*option, out.name, "--quiet"] if option else []
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, "cwd": folder}
    return subprocess.Popen(command, **pipes), out  # type: ignore[call-overload,no-any-return]


def ended(run: "subprocess.Popen[str]", out: Path) -> str | None:
    """What became of a process that was sent the signal; None where it had ended before."""
    said = run.communicate(timeout=600)[1]
    lines = said.splitlines()
    if "Traceback" in said:
        print(said, file=sys.stderr)
        return "traceback" if OURS in said else "before probtruth: traceback"
    if run.returncode == 0 and not said:
        return None
    if run.returncode == -signal.SIGINT and not said:
        return "no line"
    if run.returncode == 130 and len(lines) == 1:
        if lines[0] == f"probtruth: {NOTHING}" and not out.exists():
            return "one line, nothing written"
        if lines[0].endswith(WHOLE) and out.exists():
            return "one line, the output stands"
    print(run.returncode, said, out.exists(), file=sys.stderr)
    return "wrong"


def remove(out: Path) -> None:
    """The output, as a user removes it."""
    subprocess.run(["rm", "-rf", out], check=True)


def moments_of(life: float, number: int, draw: np.random.Generator) -> list[float | None]:
    """Seconds from the start; None for the instant in which the output has got its name."""
    third, early = number // 3, min(0.5, life / 2)
    anywhere, late = draw.uniform(early, life, third), draw.uniform(max(life - 0.4, early), life, third // 2)
    return [*draw.uniform(0.02, early, third), *anywhere, *late, *[None] * (third - third // 2)]


def swept(folder: Path, words: list[str], number: int) -> Counter[str]:
    """What became of one command at all moments; a last run, undisturbed, must leave nothing beside its output."""
    for _ in range(2):  # the first one compiles
        before = time.monotonic()
        run, out = started(folder, words)
        assert run.communicate()[1] == "", words
        life = time.monotonic() - before
        remove(out)
    counts: Counter[str] = Counter()
    for seconds in moments_of(life, number, np.random.default_rng(number)):
        run, out = started(folder, words)
        if seconds is None:
            while run.poll() is None and not out.exists():
                time.sleep(0.0005)
        else:
            time.sleep(seconds)
        run.send_signal(signal.SIGINT)
        outcome = ended(run, out)
        if outcome is not None:
            counts[outcome] += 1
        if outcome not in (None, *OUTCOMES[:2]):
            print(f"{words[0]}, {seconds} of {life:.2f} s: {outcome}\n", file=sys.stderr)
        remove(out)
    run, out = started(folder, words)
    if run.communicate()[1] or [path for path in folder.iterdir() if path.name.startswith(".")]:
        counts["wrong"] += 1
        print("left", sorted(path.name for path in folder.iterdir()), file=sys.stderr)
    remove(out)
    return counts


def main(number: int = 36, *chosen: str) -> None:
    """Prints the table."""
    for variable in ("XLA_FLAGS", "PYTHONDONTWRITEBYTECODE"):  # as a user has it
        os.environ.pop(variable, None)
    print("| command | " + " | ".join(OUTCOMES) + " |\n|---|" + "---:|" * len(OUTCOMES))
    for name, words in commands():
        if chosen and name not in chosen:
            continue
        with tempfile.TemporaryDirectory(prefix="interrupts-") as made:
            write_input(Path(made))
            counts = swept(Path(made), words, number)
        print(f"| {name} | " + " | ".join(str(counts[outcome]) for outcome in OUTCOMES) + " |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
