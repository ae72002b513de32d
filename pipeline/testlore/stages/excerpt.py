"""What an answer shows of a version 2 record: its title, and what in it is nearest to the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from testlore import canonical
from testlore.memory import texts
from testlore.memory.store import Record
from testlore.ranking import tokens

MAX_TESTS = 3
MAX_FILES = 5
MAX_SYMBOLS = 5
MAX_REASONS = 3
MAX_CHARACTERS = 120

_BEGINNING = 3  # a term and each word that it stands for begin with the same letters

Item = TypeVar("Item")


def of(record: Record, words: frozenset[str]) -> dict[str, Any]:
    """``title``, ``tests``, ``subject`` and ``reasons`` for an answer; nothing for a version 1 record.

    Args:
        words: the terms of the question. What shares most of them comes first.
    """
    if record["schemaVersion"] == 1:
        return {}
    subject = record["subject"]
    tests = _nearest(record["tests"], MAX_TESTS, words, lambda test: f"{test['path']} {test['name']}")
    paths = [file["path"] for file in subject["files"]]
    return {
        "title": _cut(record["title"]),
        "tests": [{**test, "path": _cut(test["path"]), "name": _cut(test["name"])} for test in tests],
        "subject": {
            "files": [_cut(path) for path in _nearest(paths, MAX_FILES, words, str)],
            "symbols": [_cut(symbol) for symbol in _nearest(subject["symbols"], MAX_SYMBOLS, words, str)],
        },
        "reasons": [_cut(reason) for reason in _nearest(record["reasons"], MAX_REASONS, words, str)],
    }


def _nearest(
    items: Sequence[Item], count: int, words: frozenset[str], text_of: Callable[[Item], str]
) -> Sequence[Item]:
    """At most ``count`` of the items: those that share most words with the question, else in their own order."""
    if len(items) <= 1 or not words:
        return items[:count]
    beginnings = {word[:_BEGINNING] for word in words}

    def distance(item: Item) -> int:
        text = text_of(item)
        if text.isascii():
            lower = text.lower()
            if not any(beginning in lower for beginning in beginnings):
                return 0  # reading its words would take a hundred times longer
        return -len(words.intersection(tokens.terms(text)))

    return sorted(items, key=distance)[:count]


def _cut(text: str) -> str:
    return text if canonical.utf16_length(text) <= MAX_CHARACTERS else texts.shorten(text, MAX_CHARACTERS - 1) + "…"
