"""Which batches of an unfinished run are finished, and the checksums of what they wrote."""

import hashlib
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

import probtruth
from probtruth.io.tables.read import shown
from probtruth.streaming.disk_store import NumberFile
from probtruth.streaming.scratch_folder import remove_pass

LOG = logging.getLogger("probtruth")
SETTINGS, FINISHED = "settings.json", "finished.jsonl"


class Damaged(Exception):
    """Unfinished work is not what a run wrote; the message says what of it."""


class Passing(Path):
    """The folder of a pass that no other run goes on with."""


class Journal:
    """A folder of tables, and the batches that are finished: an interrupted run goes on behind the last of them.

    Damaged work, and that of other inputs, settings or versions, is not gone on with: the run starts anew and says so.
    In a folder that is `Passing` nothing is noted, and the disk is not waited for.
    """

    def __init__(self, folder: Path, settings_of: Callable[[], Mapping[str, object]]) -> None:
        self.folder, self._kept = folder, not isinstance(folder, Passing)
        self.finished: dict[str, dict[int, str]] = {}
        if not self._kept:
            folder.mkdir(parents=True)
            return
        settings = settings_of()
        versions = {"probtruth": probtruth.__version__, "numpy": np.__version__, "format": FORMAT}
        self._settings = json.dumps({"versions": versions, "settings": settings}, sort_keys=True, default=str)
        self._synced = False
        if not folder.exists() or not any(folder.iterdir()):
            self._start()
            return
        try:
            self._same_settings(versions)
            self.finished = self._read()
        except Damaged as reason:
            self.start_anew(str(reason))

    def of(self, table: str) -> Mapping[int, str]:
        """The finished batches of a table by their first rows, and their checksums."""
        return self.finished.get(table, {})

    def table(self, file: str, n_items: int, n_columns: int, name: str | None = None) -> NumberFile:
        """A table of numbers in the folder; anew, unless batches are finished under its name (or this other one)."""
        return NumberFile(self.folder / file, n_items, n_columns, resumed=bool(self.of(name or file)))

    def finish(self, name: str, start: int, values: Sequence[np.ndarray], tables: Sequence[NumberFile]) -> None:
        """These values of a batch are written into these tables: its entry follows once the disk has them."""
        if not self._kept:
            return
        checksum = checksum_of(name, start, *values)
        for table in tables:
            table.sync()
        if not self._synced:
            _sync_folder(self.folder)
        with (self.folder / FINISHED).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps([name, start, checksum]) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        if not self._synced:
            _sync_folder(self.folder)
            self._synced = True

    def start_anew(self, reason: str) -> None:
        """Removes the unfinished work, with a line that says why."""
        LOG.warning("starting anew: the unfinished work in %s %s", shown(self.folder), reason)
        remove_pass(self.folder)
        self.finished = {}
        self._start()

    def _start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / SETTINGS).open("w", encoding="utf-8") as stream:
            stream.write(self._settings)
            stream.flush()
            os.fsync(stream.fileno())

    def _same_settings(self, versions: Mapping[str, object]) -> None:
        try:
            text = (self.folder / SETTINGS).read_text(encoding="utf-8")
            before = json.loads(text)["versions"]
        except (OSError, ValueError, KeyError, TypeError):
            raise Damaged(f"is damaged ({SETTINGS} cannot be read)") from None
        if before != versions:
            raise Damaged("is of another version")
        if text != self._settings:
            raise Damaged("is of other inputs or settings")

    def _read(self) -> dict[str, dict[int, str]]:
        path = self.folder / FINISHED
        if not path.exists():
            return {}
        try:
            text = path.read_bytes()
        except OSError:
            raise Damaged(f"is damaged ({FINISHED} cannot be read)") from None
        whole = text.rfind(b"\n") + 1
        finished: dict[str, dict[int, str]] = {}
        for line in text[:whole].splitlines():
            try:
                name, start, checksum = json.loads(line)
                finished.setdefault(name, {})[start] = checksum
            except (ValueError, TypeError):
                raise Damaged(f"is damaged ({FINISHED} holds what no run writes)") from None
        if text[whole:] and (b"\0" in text[whole:] or not text.startswith(b"[", whole)):
            raise Damaged(f"is damaged ({FINISHED} holds what no run writes)")
        if whole < len(text):  # the last entry was cut off: its batch is not finished
            os.truncate(path, whole)
        return finished


FORMAT = 3
"""Of the files in a folder; 1 had no checksums, 2 those of BLAKE2."""


def checksum_of(name: str, start: int, *arrays: np.ndarray) -> str:
    """Of what a batch wrote, and where."""
    digest = hashlib.sha256(f"{name} {start}".encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    """Returns once the disk has the names of the files."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
