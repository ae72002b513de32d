"""What a terminal makes of a text: how wide it is, and which characters it would act on."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """``text`` without what could move a terminal's cursor or reorder what is read; newlines and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in "\n\t" or unicodedata.category(char)[0] != "C" else "\ufffd" for char in text)


def width(line: str) -> int:
    """How many columns of a terminal a line takes that has no control characters."""
    from wcwidth import wcswidth

    return wcswidth(line)


def shorten(line: str, columns: int) -> str:
    """A line cut to this many columns; one that was cut ends with an ellipsis."""
    if width(line) <= columns:
        return line
    while width(line) > columns - 1:
        line = line[:-1]
    return line + "…"
