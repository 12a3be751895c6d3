"""`--time`: a run that takes longer ends as one that is interrupted does, with a message of its own."""

import _thread
import re
import signal
import threading
from dataclasses import dataclass, field

from probtruth.errors import InputError

SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


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

    def message(self) -> str:
        """What the run ends with when the time is over."""
        ways = "Allow more time"
        if self.resumes:
            ways += ", or repeat the command: it goes on behind its last finished batch"
        return f"got more work than --time {self.option} allows, expected less: nothing was written. Hint: {ways}."


LIMIT = TimeLimit()
"""That of this process."""


def start(option: str | None) -> str | None:
    """Starts the clock of this process where there is a limit."""
    if option is not None:
        LIMIT.start(option)
    return option
