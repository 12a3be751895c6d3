"""`probtruth info`: versions, devices, methods and rules."""

from collections.abc import Mapping

from probtruth.cli import jax_setup, settings
from probtruth.cli import options as opt


def info(context: opt.Context, json: opt.Json = False) -> None:
    """Print versions, devices, methods and rules. Also where compiled code is kept."""
    import jax

    from probtruth.kernels.host import versions
    from probtruth.scoring.rules import RULES
    from probtruth.truth.infer import METHODS

    facts = {
        "versions": versions(),
        "devices": [str(device) for device in jax.devices()],
        "methods": {name: method.estimand for name, method in METHODS.items()},
        "rules": list(RULES),
        "compilation cache": str(jax_setup.folder() or "off"),
    }
    console = settings.console(context, json)
    console.show(*(f"{name}: {_listed(value)}" for name, value in facts.items()))
    console.emit(facts)


def _listed(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {entry}" for name, entry in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)
