"""What of an episode is searched: the text that is compared by words, and the one that a model reads."""

from __future__ import annotations

from typing import Any

from testlore.ranking.tokens import names, telling_words

_NAMES_IN_GIST = 4


def episode_text(record: dict[str, Any]) -> str:
    """What of an episode is compared by words: its tags, warnings and patterns."""
    marks = " ".join([*record["tags"], *record["warnings"]])
    return "\n".join([marks, *(pattern["content"] for pattern in record["patterns"])])


def gist(record: dict[str, Any]) -> str:
    """What an embedding model reads of an episode: the names of its tests in words, four times, then its whole text.

    Names come first and often because they say what a test is about, and because models average, and cut off what is
    long. An episode without names is read as it is.
    """
    text = episode_text(record)
    named = telling_words(names(text)) * _NAMES_IN_GIST
    return "\n".join([" ".join(named), text]) if named else text
