"""What is not shown as it is: secrets in addresses, and characters that would control what shows them."""

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


# Characters that control a terminal, end a line, or turn the direction of the text around them. Which of them a format
# escapes by itself differs; none of them passes.
CONTROLS = frozenset(
    (
        *range(0x20),
        *range(0x7F, 0xA0),
        *(0x61C, 0x200E, 0x200F, 0x2028, 0x2029),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    )
)
# Halves of surrogate pairs and codes that are no characters: neither UTF-8 nor XML holds them.
NO_TEXT = frozenset((*range(0xD800, 0xE000), 0xFFFE, 0xFFFF))
