"""What may be secret in an address is not shown: whatever is printed, logged or written goes through here."""

import re

_USER = r"(?P<user>[^\s/?#'\"]*@|[^\s/?#@'\"]*:(?!\d*(?:$|[^\w~%.-]))[^\s/?#@'\"]*)?"
_QUERY = r"(?P<query>[?#](?:(?!['\"](?:[\s,.;:)\]]|$))[^\s\"])*)?"
# Addresses: what stands before the host, and what follows a question mark.
_SECRETS = re.compile(rf"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]+:/{{1,2}}){_USER}(?P<rest>[^\s?#'\"]*){_QUERY}")


def redacted(text: str) -> str:
    """The text with `***` for the user and the query of every address in it: these may be a password or a signature."""

    def hidden(match: re.Match[str]) -> str:
        query = match["query"] or ""
        if "=" in query or match["scheme"].lower().startswith("http"):  # else a pattern of files
            query = query and f"{query[0]}***"
        return f"{match['scheme']}{'***@' * bool(match['user'])}{match['rest']}{query}"

    return _SECRETS.sub(hidden, text) if ":/" in text else text
