"""JAX's persistent compilation cache, so that the second run of a command does not compile."""

import os
from pathlib import Path

SWITCH = "PROBTRUTH_CACHE"
"""Environment variable: a folder for compiled code, or `off`."""


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
    place = folder()
    if place is None:
        return
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    import jax

    jax.config.update("jax_compilation_cache_dir", str(place))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
