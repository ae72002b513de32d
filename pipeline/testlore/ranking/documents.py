"""The two texts of an episode that are searched: one is compared by words, one is read by a model."""

from __future__ import annotations

from typing import Any

from testlore.ranking.tokens import names, telling_words

_NAMES_IN_GIST = 4


def episode_text(record: dict[str, Any]) -> str:
    """The text that is compared by words: tags, warnings and patterns."""
    marks = " ".join([*record["tags"], *record["warnings"]])
    return "\n".join([marks, *(pattern["content"] for pattern in record["patterns"])])


def gist(record: dict[str, Any]) -> str:
    """The text that an embedding model reads: the names of the tests in words, four times, then the whole text.

    Names come first and often because they say what a test is about, and because models average, and cut off what is
    long. An episode without names is read as it is.
    """
    text = episode_text(record)
    named = telling_words(names(text)) * _NAMES_IN_GIST
    return "\n".join([" ".join(named), text]) if named else text
