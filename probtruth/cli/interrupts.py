"""How a command ends early, by Ctrl-C, SIGTERM or `--time`: with one line, which says whether its output stands.

Python tells only the main thread of a signal, and only between two steps of its own: in compiled code, where a
sampler may be for hours, the main thread hears nothing. Another thread, which the system wakes, then ends the process.
What stays is what a killed process leaves: an output stands whole or not at all, and the next run clears the rest.
"""

import _thread
import math
import os
import re
import signal
import sys
import threading
from dataclasses import dataclass, field
from time import monotonic, sleep
from types import FrameType

from probtruth.errors import InputError

INTERRUPTED = 130
"""Exit status after Ctrl-C, by convention."""
SIGNALS = {signal.SIGINT: ("interrupted", INTERRUPTED), signal.SIGTERM: ("terminated", 143)}
"""What ends a command: the word for it, and the exit status, by convention."""
SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
HEARING, CLEARING = 1.0, 30.0
"""Seconds in which the main thread hears of a signal, and then clears away what it has begun."""
FRESH_LINE = b"\r\x1b[2K\x1b[?25h"
"""For a terminal: in place of a bar of progress, with the cursor that it hides."""


@dataclass
class TimeLimit:
    """The limit of this run as it was written, whether it is over, and whether the same command would go on."""

    option: str = ""
    over: bool = False
    resumes: bool = False
    timer: threading.Timer | None = field(default=None, repr=False)

    def start(self, option: str) -> None:
        """Starts the clock.

        Errors: `InputError` for what is no time.
        """
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([smhd]?)\s*", option)
        seconds = float(match[1]) * SECONDS[match[2]] if match else 0.0
        if not 0 < seconds <= threading.TIMEOUT_MAX:
            raise InputError(f"--time {option}", "a time such as 90s, 10m or 2h", "Leave it out for no limit.")
        self.stop()
        self.option, self.over, self.resumes = option.strip(), False, False
        self.timer = threading.Timer(seconds, self.end)
        self.timer.daemon = True
        self.timer.start()

    def stop(self) -> None:
        """Stops the clock."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = None

    def end(self) -> None:
        """Interrupts the main thread, in whatever it does or waits for."""
        self.over = True
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:
            _thread.interrupt_main()


LIMIT = TimeLimit()
"""That of this process."""


def start(option: str | None) -> str | None:
    """Starts the clock of this process where there is a limit."""
    if option is not None:
        LIMIT.start(option)
    return option


@dataclass
class Watch:
    """What the main thread has heard and when; `ignored` is whether Ctrl-C is not meant for this process."""

    ignored: bool = False
    number: int = signal.SIGINT
    since: float = math.inf
    heard: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """From now on a signal reaches the main thread within a second, or ends the process.

        In the main thread only. A process that was started to ignore Ctrl-C still ends when its time is over.
        """
        self.ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        for number in SIGNALS:
            if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._hear)
        if hasattr(signal, "pthread_kill"):
            read, write = os.pipe()
            os.set_blocking(write, False)
            signal.set_wakeup_fd(write, warn_on_full_buffer=False)
            threading.Thread(target=self._listen, args=(read,), daemon=True).start()
        self.since = monotonic()

    def stop(self) -> None:
        """All is written or cleared away: from now on a signal ends the process at once."""
        for number in SIGNALS:
            if signal.getsignal(number) == self._hear:
                signal.signal(number, self._end if self._meant(number) else signal.SIG_IGN)

    def _end(self, number: int, frame: object) -> None:
        """The main thread's handler, once it has nothing more to do."""
        self.number = number
        leave()

    def _meant(self, number: int) -> bool:
        """Whether a signal is to end this process."""
        return number in SIGNALS and (number != signal.SIGINT or not self.ignored or LIMIT.over)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        """The main thread's handler; a starter that hands Ctrl-C on sends it twice, who presses it again means it."""
        if not self._meant(number):
            return
        if self.heard.is_set():
            if monotonic() - self.since > HEARING:
                leave()
            return
        self.since, self.number = monotonic(), number
        self.heard.set()
        if _imports(frame):
            leave()
        raise KeyboardInterrupt

    def _listen(self, read: int) -> None:
        """Ends the process where the main thread hears nothing, or does not come to an end."""
        while True:
            (number,) = os.read(read, 1)
            if self._meant(number):
                if self.heard.wait(HEARING):
                    sleep(CLEARING)
                else:
                    self.number = number
                leave()


def _imports(frame: FrameType | None) -> bool:
    """Whether a module is being imported: libraries make other errors of what interrupts that, or print it."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


WATCH = Watch()
"""That of this process; the command line starts it where the process is its own."""


OUTPUT = "probtruth.io.output.folder"
"""The module that writes; a command that has not loaded it has written nothing."""
TEMPORARY = "probtruth.io.output.swap"
"""The module that knows what is temporary in this process."""


def begin() -> None:
    """A command begins: what others of this process have written is not its own."""
    if OUTPUT in sys.modules:
        sys.modules[OUTPUT].PLACED.clear()


def ending() -> tuple[str, int]:
    """What an interrupted command ends with: the words and the exit status."""
    written = sys.modules[OUTPUT].written() if OUTPUT in sys.modules else []
    stands = f"{' and '.join(written)} {'is' if len(written) == 1 else 'are'} written, and whole"
    state = stands if written else "nothing was written"
    if not LIMIT.over:
        word, status = SIGNALS[signal.Signals(WATCH.number)]
        return f"{word}: {state}", status
    ways = "Allow more time"
    if LIMIT.resumes and not written:
        ways += ", or repeat the command: it goes on behind its last finished batch"
    return f"got more work than --time {LIMIT.option} allows, expected less: {state}. Hint: {ways}.", 1


def leave() -> None:
    """Ends the process at once, with the one line, and without what no other run goes on with."""
    words, status = ending()
    line = f"probtruth: {words}\n".encode(errors="replace")
    os.write(2, (FRESH_LINE if os.isatty(2) else b"") + line)
    if TEMPORARY in sys.modules:
        sys.modules[TEMPORARY].clear_held()
    os._exit(status)
