"""Which probabilistic model is better when the reference labels are uncertain."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from probtruth.errors import InputError as InputError
    from probtruth.errors import PosteriorError as PosteriorError
    from probtruth.errors import ProbtruthError as ProbtruthError
    from probtruth.types import Annotations as Annotations
    from probtruth.types import Comparison as Comparison
    from probtruth.types import Predictions as Predictions
    from probtruth.types import Scores as Scores
    from probtruth.types import Truth as Truth

__version__ = "0.1.0"

_HOME = {
    "InputError": "errors",
    "PosteriorError": "errors",
    "ProbtruthError": "errors",
    "Annotations": "types",
    "Comparison": "types",
    "Predictions": "types",
    "Scores": "types",
    "Truth": "types",
}
"""Where each public name lives; loaded at first use, so that `import probtruth` is quick."""

__all__ = ["__version__", *sorted(_HOME)]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'probtruth' has no attribute {name!r}")
    value = getattr(import_module(f"probtruth.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
