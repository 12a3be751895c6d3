"""The front door is small: at most 46 names on top, the rest in public modules that show nothing but their own."""

import inspect

import pytest

import probtruth as pt

MODULES = [name for name in pt.__all__ if inspect.ismodule(getattr(pt, name))]


def test_the_top_level_has_at_most_46_names():
    assert len(set(pt.__all__) - {"__version__"}) <= 46


@pytest.mark.parametrize("module", MODULES)
def test_a_public_module_shows_its_names_and_no_imports(module):
    room = getattr(pt, module)
    assert list(room.__all__) == sorted(room.__all__)
    shown = {
        name
        for name, thing in vars(room).items()
        if not name.startswith("_")
        and (inspect.isroutine(thing) or inspect.isclass(thing) or inspect.ismodule(thing))
        and not (inspect.ismodule(thing) and thing.__name__.startswith(f"{room.__name__}."))
    }
    assert shown - {"jaxtyping"} <= set(room.__all__)  # run-time shape checks bring that name
    assert set(room.__all__) <= set(dir(room))
