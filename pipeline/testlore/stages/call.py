"""The arguments of a recall, and their bounds.

This module imports little, so that a wrong call is refused before anything else is imported.
"""

from __future__ import annotations

from typing import NamedTuple

from testlore import canonical
from testlore.errors import Unusable

DEFAULT_LIMIT = 5
MAX_LIMIT = 20

DEFAULT_MAX_CHARS = 6_000
MIN_MAX_CHARS, MAX_MAX_CHARS = 256, 20_000

MAX_QUERY_CHARACTERS = 4_096


class Call(NamedTuple):
    """The arguments of a recall, checked.

    Attributes:
        query: what the next test is about, at most 4,096 UTF-16 code units.
        limit: the most records to return, 1 to 20.
        max_chars: the greatest length of the JSON answer with its newline, in UTF-16 code units, 256 to 20,000.
        explain: whether each record explains its rank.
    """

    query: str
    limit: int = DEFAULT_LIMIT
    max_chars: int = DEFAULT_MAX_CHARS
    explain: bool = False


def check(query: object, limit: object, max_chars: object, explain: object = False) -> Call:
    """Check the arguments of a recall.

    Raises:
        Unusable: ``call-invalid``, naming the argument, its value, and what is allowed.
    """
    if not isinstance(query, str) or canonical.utf16_length(query) > MAX_QUERY_CHARACTERS:
        was = f"{canonical.utf16_length(query)} characters long" if isinstance(query, str) else repr(query)
        raise Unusable("call-invalid", f"query is {was}; allowed: a text of at most {MAX_QUERY_CHARACTERS} characters")
    if explain not in (True, False):
        raise Unusable("call-invalid", f"explain is {explain!r:.80}; allowed: 1 or 0")
    return Call(
        query,
        _within("limit", limit, 1, MAX_LIMIT),
        _within("max_chars", max_chars, MIN_MAX_CHARS, MAX_MAX_CHARS),
        bool(explain),
    )


def _within(name: str, value: object, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Unusable("call-invalid", f"{name} is {value!r:.80}; allowed: a whole number from {low} to {high}")
    return value


def number(value: object) -> object:
    """A word of the command line as a whole number; any other value as it is, for :func:`check` to refuse."""
    if not (isinstance(value, str) and value.isascii() and value.isdigit()):
        return value
    try:
        return int(value)
    except ValueError:  # more digits than Python reads
        return value
