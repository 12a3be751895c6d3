"""How to cite, the same in the page and in CITATION.cff."""

import re
from pathlib import Path

import probtruth
from probtruth.report.cite import RELEASED, TITLE, bibtex

CFF = Path(probtruth.__file__).parents[1] / "CITATION.cff"


def test_bibtex_is_an_entry_with_balanced_braces():
    entry = bibtex()
    assert entry.startswith("@software{probtruth,\n")
    assert entry.count("{") == entry.count("}")
    assert "version = {0.1.0}" in entry


def test_the_file_for_citations_says_the_same():
    fields = dict(re.findall(r"^([\w-]+): \"?(.*?)\"?$", CFF.read_text("utf-8"), re.MULTILINE))
    assert fields["version"].split()[0] == probtruth.__version__
    assert fields["title"] == TITLE
    assert fields["date-released"].startswith(RELEASED)
    assert fields["license"] == "Apache-2.0"
