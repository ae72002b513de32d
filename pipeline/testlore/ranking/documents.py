"""The two texts of an episode that are searched: one for comparing words, one for an embedding model."""

from __future__ import annotations

from typing import Any, NamedTuple

from testlore.ranking.tokens import NAME_WEIGHT, distinct, has_arabic, names, telling_words

_NAMES_IN_GIST = 4


class _About(NamedTuple):
    """What an episode says it is about: each part a text. Episodes of version 1 say nothing.

    Attributes:
        telling: the title, and the names of the tests. Each word of a name counts once, however many cases have it.
        rest: the functions and files that the tests run, the paths of the tests, and why they were rejected.
    """

    telling: list[str]
    rest: list[str]


_NOTHING = _About([], [])


def _about(record: dict[str, Any]) -> _About:
    if "subject" not in record:
        return _NOTHING
    tests, subject = record["tests"], record["subject"]
    paths = [one["path"] for one in (*subject["files"], *tests)]
    telling = [record.get("title", ""), _words([one["name"] for one in tests])]
    rest = [_words(subject["symbols"]), _words(paths), _words(record.get("reasons", []))]
    return _About([part for part in telling if part], [part for part in rest if part])


def _words(texts: list[str]) -> str:
    return " ".join(distinct(" ".join(texts)))


def episode_text(record: dict[str, Any]) -> str:
    """The text for comparing words: tags, warnings, what it is about, and patterns.

    Title and names of tests are in it as often as a word counts in the name of a test in a pattern, since they say as
    much. So a rejected attempt, which has no pattern, is found by what it was about.
    """
    about = _about(record)
    return _joined(record, [*about.telling * NAME_WEIGHT, *about.rest])


def decisive_text(record: dict[str, Any]) -> str:
    """All that decides the terms of an episode: its text, the languages of its patterns, and how words are stemmed.

    Each recall asks for that of every episode, so no text is cut into words for it.
    """
    text = _joined(record, _raw(record))
    languages = " ".join(pattern["language"] for pattern in record["patterns"])
    if not has_arabic(text):
        return f"{text}\n{languages}"
    from testlore.ranking import arabic

    return f"{text}\n{languages}\n{arabic.identity()}"


def _raw(record: dict[str, Any]) -> list[str]:
    """The texts that decide what an episode says it is about, part by part; nothing for version 1."""
    if "subject" not in record:
        return []
    tests, subject = record["tests"], record["subject"]
    parts = (
        [record["title"]],
        [test["name"] for test in tests],
        [one["path"] for one in (*subject["files"], *tests)],
        subject["symbols"],
        record["reasons"],
    )
    return ["\0".join(part) for part in parts]


def gist(record: dict[str, Any]) -> str:
    """The text for an embedding model: title and names of the tests as words, four times, then the whole text.

    They say what a test is about. They come first because models cut off long texts, and four times because models
    average over a text. An episode without any has its whole text alone.
    """
    about = _about(record)
    text = _joined(record, [*about.telling, *about.rest])
    named = telling_words("\n".join([*about.telling, names(text)])) * _NAMES_IN_GIST
    return "\n".join([" ".join(named), text]) if named else text


def _joined(record: dict[str, Any], about: list[str]) -> str:
    marks = " ".join([*record["tags"], *record["warnings"]])
    return "\n".join([marks, *about, *(pattern["content"] for pattern in record["patterns"])])
