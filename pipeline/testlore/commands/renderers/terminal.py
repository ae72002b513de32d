"""Text on a terminal: how wide it is, and which characters are not safe to print."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """``text`` with U+FFFD for characters that move a terminal's cursor or reorder text. Newlines and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in "\n\t" or unicodedata.category(char)[0] != "C" else "\ufffd" for char in text)


def width(line: str) -> int:
    """How many columns of a terminal a line without control characters takes."""
    from wcwidth import wcswidth

    return wcswidth(line)


def shorten(line: str, columns: int) -> str:
    """A line of at most this many columns. If it was cut, it ends with an ellipsis."""
    if width(line) <= columns:
        return line
    while width(line) > columns - 1:
        line = line[:-1]
    return line + "…"
