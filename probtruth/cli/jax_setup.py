"""Where arrays are computed on: `--device cpu` or `gpu`.

JAX's persistent compilation cache, so that the second run of a command does not compile.
"""

import os
import warnings
from pathlib import Path

from probtruth import check
from probtruth.errors import InputError

DEVICES = ("cpu", "gpu")


def use(name: str | None) -> str | None:
    """Makes the first device of this kind the one that JAX uses; None leaves the choice to JAX.

    Errors: `InputError` where JAX finds no such device.
    """
    if name is None:
        return None
    check.one_of(name, DEVICES, "--device")
    import jax

    try:
        devices = jax.devices(name)
    except RuntimeError:
        raise InputError(
            f"--device {name} where JAX finds none",
            "a device of this machine",
            "Install a JAX for it (pip install 'probtruth[gpu]'), or leave --device out.",
        ) from None
    jax.config.update("jax_default_device", devices[0])
    return name


SWITCH = "PROBTRUTH_CACHE"
"""Environment variable: a folder for compiled code, or `off`."""

DAMAGED = "Error reading persistent compilation cache entry"
"""How JAX's warning of an entry that it cannot read begins; it then compiles, but leaves the entry as it is."""


def folder() -> Path | None:
    """Where compiled code is kept; None where the cache is switched off."""
    chosen = os.environ.get(SWITCH, "")
    if chosen.lower() in ("off", "0", "no"):
        return None
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "probtruth" / "jax"


def switch_on() -> None:
    """Points JAX at the cache; does nothing where it is off or the folder cannot be made."""
    path = folder()
    if path is None:
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    import jax

    jax.config.update("jax_compilation_cache_dir", str(path))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    _mend(path)


def _mend(path: Path) -> None:
    """Where JAX warns that an entry is damaged, removes the entries instead, so that they are made anew."""
    show = warnings.showwarning

    def mend(message: Warning | str, *rest: object) -> None:
        if not str(message).startswith(DAMAGED):
            show(message, *rest)  # type: ignore[arg-type]
            return
        for entry in path.glob("*-cache"):
            entry.unlink(missing_ok=True)

    warnings.showwarning = mend  # type: ignore[assignment]
    warnings.filterwarnings("always", DAMAGED)
