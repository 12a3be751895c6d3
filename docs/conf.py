"""Sphinx configuration: `sphinx-build -W -b html docs OUT`.

No extension reaches the network, except where the pages are published: there names of other projects become links.
"""

import os
import sys
from pathlib import Path
from typing import Any

from pygments.lexers import JsonLexer, TextLexer

import probtruth

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "probtruth"
author = "The probtruth authors"
copyright = "The probtruth authors"
release = probtruth.__version__
version = release

extensions = [
    "myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "plain_docstrings", "directives",
    "demo_report",
]  # fmt: skip
if os.environ.get("READTHEDOCS"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "arviz": ("https://python.arviz.org/en/stable", None),
        "jax": ("https://docs.jax.dev/en/latest", None),
        "matplotlib": ("https://matplotlib.org/stable", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "numpyro": ("https://num.pyro.ai/en/stable", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
        "polars": ("https://docs.pola.rs/api/python/stable", None),
        "python": ("https://docs.python.org/3", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "xarray": ("https://docs.xarray.dev/en/stable", None),
    }
source_suffix = {".md": "myst-nb", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_ext"]
smartquotes = False  # two hyphens are an option

myst_enable_extensions = ["colon_fence", "deflist", "attrs_block"]
myst_heading_anchors = 3

nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # the notebook's kernel inherits it

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

autodoc_member_order = "bysource"
autodoc_typehints = "description"  # a type for each argument, next to what its docstring says
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_title = "probtruth"
html_show_sphinx = False
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def setup(app: Any) -> None:
    """Kinds of blocks that Pygments has no name for."""
    app.add_lexer("csv", TextLexer)
    app.add_lexer("jsonl", JsonLexer)
