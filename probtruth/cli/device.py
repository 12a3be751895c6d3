"""Where arrays are computed on: `--device cpu` or `gpu`."""

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
