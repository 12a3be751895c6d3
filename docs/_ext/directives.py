"""Directives made from the code: `{live-table} NAME`, `{live-commands}` and `{public-names} SECTION`."""

from typing import Any

import live_tables
import public_names
from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class LiveTable(SphinxDirective):
    """A table of `live_tables`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The table's nodes."""
        return self.parse_text_to_nodes(live_tables.as_markdown(self.arguments[0]))


class LiveCommands(SphinxDirective):
    """The reference of the command line."""

    def run(self) -> list[nodes.Node]:
        """A section for each command."""
        return self.parse_text_to_nodes(live_tables.commands(), allow_section_headings=True)


class PublicNames(SphinxDirective):
    """The list of the objects of a section of `public_names`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The table's nodes, and those of the list of pages."""
        return self.parse_text_to_nodes(public_names.as_markdown(self.arguments[0]))


def _write_pages(app: Any) -> None:
    public_names.write_pages(app.srcdir / public_names.FOLDER)


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("builder-inited", _write_pages)
    app.add_directive("live-table", LiveTable)
    app.add_directive("live-commands", LiveCommands)
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
