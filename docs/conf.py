"""Sphinx configuration: `sphinx-build -W -b html docs OUT`. No extension reaches the network."""

import os
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from pygments.lexers import JsonLexer, TextLexer

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "probtruth"
author = "The probtruth authors"
copyright = "The probtruth authors"
release = version_of("probtruth")
version = release

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_copybutton", "plain_docstrings", "directives", "demo_report"]
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
autodoc_typehints = "signature"
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
