"""Exchanging two folders at once where the system can, and by renames where it cannot."""

import ctypes
import errno
import sys
from pathlib import Path

import pytest

from probtruth.io.output import swap


class System:
    """Stands in for the C library: notes the call, and fails with a number or succeeds without doing anything."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.calls: list[tuple[str, tuple[object, ...]]] = []

    def __getattr__(self, name: str) -> object:
        def call(*arguments: object) -> int:
            self.calls.append((name, arguments))
            ctypes.set_errno(self.number)
            return -1 if self.number else 0

        return call


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    return tmp_path / "one", tmp_path / "other"


def exchanged(pair: tuple[Path, Path]) -> bool:
    return (pair[0] / "other").exists() and (pair[1] / "one").exists() and len(list(pair[0].parent.iterdir())) == 2


def test_the_real_system(pair: tuple[Path, Path]) -> None:
    swap.exchange(*pair)
    assert exchanged(pair)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EINVAL, errno.ENOTSUP])
def test_a_system_that_does_not_know_how(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: System(number))
    swap.exchange(*pair)
    assert exchanged(pair)


@pytest.mark.parametrize("error", [OSError, AttributeError, TypeError])
def test_a_system_without_the_call(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def no_library(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(ctypes, "CDLL", no_library)
    swap.exchange(*pair)
    assert exchanged(pair)


def test_a_system_that_fails(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: System(errno.EBUSY))
    with pytest.raises(OSError, match="busy"):
        swap.exchange(*pair)
    assert (pair[0] / "one").exists()


@pytest.mark.parametrize(("platform", "name"), [("linux", "renameat2"), ("darwin", "renamex_np")])
def test_each_system_is_asked_in_its_own_words(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, platform: str, name: str
) -> None:
    system = System(0)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: system)
    monkeypatch.setattr(sys, "platform", platform)
    swap.exchange(*pair)
    ((asked, arguments),) = system.calls
    assert asked == name
    assert [value for value in arguments if isinstance(value, bytes)] == [str(path).encode() for path in pair]


def test_a_hidden_name_beside_that_nobody_uses(tmp_path: Path) -> None:
    names = {swap.sibling(tmp_path / ("é" * 127)) for _ in range(10)}
    longest = 256
    assert len(names) == 10
    assert all(
        path.parent == tmp_path and path.name.startswith(".") and len(str(path.name).encode()) < longest
        for path in names
    )
