"""Which module shows results. The package's front door registers the report: the types know nothing of a page."""

TYPE_CHECKING = False  # as in `probtruth`: `import probtruth` stays quick
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    type Loader = Callable[[], ModuleType]

_loaders: "list[Loader]" = []


def register(loader: "Loader") -> None:
    """Makes what the loader returns show results: a module with `first_lines`, `in_notebook` and `plot`."""
    _loaders.append(loader)


def module() -> "ModuleType":
    """The module that was registered last, loaded now."""
    return _loaders[-1]()
