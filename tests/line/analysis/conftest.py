"""Results without sampling."""

from line_results import make, odd, result

__all__ = ("make", "odd", "result")
