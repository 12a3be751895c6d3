"""How much memory is free, and what is said where nothing temporary can be written."""

from pathlib import Path

import pytest

from probtruth.errors import InputError
from probtruth.kernels import host

GIB = 1 << 30


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with 64 GiB free, whose process stands in `/jobs/one`."""
    (tmp_path / "self").mkdir()
    (tmp_path / "meminfo").write_text(f"MemTotal: {128 * GIB >> 10} kB\nMemAvailable: {64 * GIB >> 10} kB\n")
    monkeypatch.setattr(host, "PROC", tmp_path)
    monkeypatch.setattr(host, "CGROUPS", tmp_path / "cgroup")
    return tmp_path


def group(folder: Path, files: dict[str, object]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(f"{content}\n")


class TestFreeMemory:
    def test_without_limits(self, machine: Path) -> None:
        assert host.free_memory() == 64 * GIB

    # The files and their meaning: Linux, Documentation/admin-guide/cgroup-v2.rst ("memory.max", "memory.current").
    @pytest.mark.parametrize("place", ["", "jobs", "jobs/one"])
    def test_the_limit_of_a_container(self, machine: Path, place: str) -> None:
        (machine / "self" / "cgroup").write_text("0::/jobs/one\n")
        group(machine / "cgroup" / "jobs" / "one", {"memory.max": "max", "memory.current": GIB})
        limits = {"memory.max": 4 * GIB, "memory.current": 3 * GIB, "memory.stat": f"anon 5\ninactive_file {GIB}"}
        group(machine / "cgroup" / place, limits)
        assert host.free_memory() == 2 * GIB  # of 4, 3 are in use, of which 1 holds pages of files

    # Documentation/admin-guide/cgroup-v1/memory.rst
    def test_version_1(self, machine: Path) -> None:
        (machine / "self" / "cgroup").write_text("9:cpu:/x\n4:memory:/docker/abc\n0::/\n")
        files = {"memory.limit_in_bytes": 2 * GIB, "memory.usage_in_bytes": GIB, "memory.stat": "total_inactive_file 0"}
        group(machine / "cgroup" / "memory", files)  # inside, the path of the host is not there
        assert host.free_memory() == GIB

    def test_used_up(self, machine: Path) -> None:
        (machine / "self" / "cgroup").write_text("0::/\n")
        group(machine / "cgroup", {"memory.max": GIB, "memory.current": 2 * GIB, "memory.stat": ""})
        assert host.free_memory() == 1  # a number that is positive

    def test_files_that_cannot_be_read(self, machine: Path) -> None:
        (machine / "self" / "cgroup").write_text("what\n")
        assert host.free_memory() == 64 * GIB


def test_no_usable_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    for make in (host.temporary_folder, lambda: host.empty_array((2, 2), True)):
        with pytest.raises(InputError, match=r"no folder for temporary files .*Set TMPDIR"):
            make()
