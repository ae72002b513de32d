"""How long the texts of an episode may be, and how many sources it may name.

A schema counts whole characters, so a limit is checked here again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from testlore import canonical

PATTERN = 1_200
TITLE = 160
PATH = 200
NAME = 200
SYMBOL = 80
REASON = 300

#: How many sources an episode names at most. One that names so many may have run more.
FILES = 20


def too_long(record: dict[str, Any]) -> str:
    """What is longer than it may be in a record that fits its schema; empty when nothing is."""
    for what, text, limit in _texts(record):
        if canonical.utf16_length(text) > limit:
            return f"{what} is longer than {limit} characters"
    return ""


def _texts(record: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    for pattern in record["patterns"]:
        yield "a pattern", pattern["content"], PATTERN
    if record["schemaVersion"] == 1:
        return
    yield "the title", record["title"], TITLE
    for test in record["tests"]:
        yield "a test's path", test["path"], PATH
        yield "a test's name", test["name"], NAME
    for file in record["subject"]["files"]:
        yield "a file's path", file["path"], PATH
    for symbol in record["subject"]["symbols"]:
        yield "a symbol", symbol, SYMBOL
    for reason in record["reasons"]:
        yield "a reason", reason, REASON


def shorten(text: str, limit: int) -> str:
    """The first ``limit`` UTF-16 code units of ``text``, without half a character at the end."""
    if canonical.utf16_length(text) <= limit:
        return text
    return text.encode("utf-16-le", "surrogatepass")[: 2 * limit].decode("utf-16-le", "ignore").rstrip()


def one_line(text: str) -> str:
    """``text`` with a single space for each run of spaces and line breaks, and without control characters."""
    return "".join(char for char in " ".join(text.split()) if char.isprintable())
