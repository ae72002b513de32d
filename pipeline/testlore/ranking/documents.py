"""The two texts of an episode that are searched: one for comparing words, one for an embedding model."""

from __future__ import annotations

from typing import Any

from testlore.ranking.tokens import has_arabic, names, telling_words

_NAMES_IN_GIST = 4


def episode_text(record: dict[str, Any]) -> str:
    """The text for comparing words: tags, warnings and patterns."""
    marks = " ".join([*record["tags"], *record["warnings"]])
    return "\n".join([marks, *(pattern["content"] for pattern in record["patterns"])])


def decisive_text(record: dict[str, Any]) -> str:
    """All that decides the terms of an episode: its text, the languages of its patterns, and how words are stemmed."""
    text = episode_text(record)
    languages = " ".join(pattern["language"] for pattern in record["patterns"])
    if not has_arabic(text):
        return f"{text}\n{languages}"
    from testlore.ranking import arabic

    return f"{text}\n{languages}\n{arabic.identity()}"


def gist(record: dict[str, Any]) -> str:
    """The text for an embedding model: the names of the tests as words, four times, then the whole text.

    The names say what a test is about. They come first because models cut off long texts, and four times because models
    average over a text. An episode without such names has its whole text alone.
    """
    text = episode_text(record)
    named = telling_words(names(text)) * _NAMES_IN_GIST
    return "\n".join([" ".join(named), text]) if named else text
