"""The formats of files by name; light, so that a shell can complete them without loading what reads them."""

SCORE_TOOLS = ("lm-eval", "inspect", "helm")
"""The tools whose files hold scores."""
ANNOTATION_TOOLS = ("label-studio", "argilla", "prodigy")
"""The tools whose files hold annotations."""
SCORE_FORMATS = ("auto", "table", "wide", *SCORE_TOOLS)
"""What --format takes where scores are read."""
ANNOTATION_FORMATS = ("auto", "table", "counts", "wide", *ANNOTATION_TOOLS)
"""What --format takes where annotations are read."""
