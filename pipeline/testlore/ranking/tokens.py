"""Words and subwords of code and prose.

A *term* is a word, a part of an identifier, two neighbouring parts, or the whole identifier, case-folded,
without accents and lightly stemmed. ``test_zero_boundary`` and ``testZeroBoundary`` have the same terms. In scripts
without spaces between words, two neighbouring characters are a term. An Arabic word is also one without its prefixes.
Texts that share a term are related.

A *feature* is a term or the beginning of a word. Texts are compared by features, so *serializer* and *serialization*
count as similar. But a shared beginning alone does not make two texts related.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

NAME_WEIGHT = 3  # how often a word counts in the name of a test, since the name says what the test is about

_PAIR_WEIGHT = 0.5  # of two neighbouring words of a query, written as one
_BEGINNING_WEIGHT = 0.5
_WEAK_WEIGHT = 0.4
_BEGINNING = 5  # characters
#: The marks above and below Latin, Greek and Cyrillic letters; Arabic vowels, and the stroke between Arabic letters.
_ACCENTS = "[\u0300-\u036f\u0640\u064b-\u0652\u0670]"
_ARABIC = "[\u0620-\u064a\u066e-\u06d3\u0750-\u077f]"
#: Kana, Han, Thai, Lao, Burmese and Khmer: written without spaces, so that neighbouring pairs stand in for words.
_UNSPACED = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"
_VOWELS = frozenset("aeiouy")
_MARK = "*"  # the last character of a beginning; no term has it

_WORD = re.compile(r"\w+")
_ASCII_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NAME = (  # re compiles it when an episode's text is read, which a warm recall does not do
    r"\bdef\s+(test\w*)|\bclass\s+(\w+)"
    r"|\b(?:it|test|describe|suite)(?:\.\w+)*\s*(?:\([^()]*\)\s*)?\(\s*(?:'([^'\n]*)'|\"([^\"\n]*)\"|`([^`]*)`)"
)
_STOP_WORDS = frozenset(
    "a an and are as at be by can do does for from has have if in into is it its of on or so that the their then "
    "there this to was we were which will with test".split()
)
# Words that occur in nearly every test's code, and say nothing about what is tested.
_BOILERPLATE = frozenset(
    "def class self assert return import from async await const let var function expect should true false none null "
    "undefined pytest raises parametrize mark fixture new this if else for in with as try except lambda yield require "
    "equal done it describe test tests the".split()
)
# Programmers use both forms. The long one counts as the short one.
_SHORT_FORMS = {
    long: short
    for short, *forms in map(
        str.split,
        (
            "arg argument",
            "async asynchronous",
            "attr attribute",
            "auth authentication authenticate",
            "bool boolean",
            "char character",
            "config configuration configure",
            "del delete",
            "dict dictionary",
            "dir directory",
            "doc documentation docstring",
            "env environ environment",
            "err error",
            "exec execute execution",
            "expr expression",
            "func function",
            "init initialize initialization",
            "int integer",
            "iter iterate iterator iteration",
            "max maximum",
            "min minimum",
            "num number",
            "param parameter",
            "prop property",
            "ref reference",
            "req request",
            "resp response",
            "spec specification",
            "str string",
            "temp temporary",
        ),
    )
    for long in forms
}
# These words of a query say what a change does, not what a test is about, so they count less.
_WEAK_WORDS = (
    "add use fix support remove make allow ensure change update new improve drop introduce implement handle rename "
    "deprecate enable disable provide move replace switch simplify extend tweak adjust correct avoid prevent raise "
    "refactor clean check work issue bug problem case behavior behaviour feature missing better properly correctly "
    "when not but all any how what where while would could may might must only just also more most other some such no "
    "nor than still now instead via per using without within before after about like get set both each every same them "
    "they you your our"
)


class QueryFeature(NamedTuple):
    """A feature that a query asks for.

    Attributes:
        feature: a term, or the beginning of a word.
        word: the word of the query that it comes from, or two neighbouring words.
        weight: how much it counts, 0 to 1.
        relates: whether this feature alone makes a text related to the query.
    """

    feature: str
    word: str
    weight: float
    relates: bool


def has_arabic(text: str) -> bool:
    """Whether a text has Arabic letters, so that a stemmer decides its terms."""
    return not text.isascii() and re.search(_ARABIC, text) is not None


def telling_words(text: str) -> list[str]:
    """The words of a text, case-folded and in order, without single letters and words of nearly every test's code."""
    return [word for word in words(text) if len(word) > 1 and word not in _BOILERPLATE]


def names(text: str) -> str:
    """The names of the tests and classes in a text of Python or JavaScript code."""
    return "\n".join(name for found in re.findall(_NAME, text) for name in found if name)


def terms(text: str) -> list[str]:
    """The terms of a text, in order, each as often as it occurs, without stop words and single letters."""
    return [feature for word in _words(text) for feature in _features_of_word(word) if feature[-1] != _MARK]


def words(text: str) -> list[str]:
    """All words of a text, case-folded and in order. Identifiers are split into their parts."""
    return [part.casefold() for word in _words(text) for part in _parts(word)]


def distinct(text: str) -> list[str]:
    """The whole words of a text, each once and in order."""
    return list(dict.fromkeys(_words(text)))


def features(text: str) -> dict[str, int]:
    """How often each feature occurs in a text. In the name of a test it counts :data:`NAME_WEIGHT` times."""
    found = Counter(feature for word in _words(text) for feature in _features_of_word(word))
    for word in _words(names(text)):
        for feature in _features_of_word(word):
            found[feature] += NAME_WEIGHT - 1
    return found


def wanted(query: str) -> list[QueryFeature]:
    """The features that a query asks for, each once: those of its words, and of two neighbours written as one word."""
    found: dict[str, QueryFeature] = {}
    written = _words(query)
    for word in written:
        for feature in _features_of_word(word):
            is_beginning = feature[-1] == _MARK
            weight = _WEAK_WEIGHT if feature in _weak_terms() else _BEGINNING_WEIGHT if is_beginning else 1.0
            found.setdefault(feature, QueryFeature(feature, word, weight, not is_beginning))
    parts = [part for word in written for part in _parts(word)]
    for one, other in pairwise(parts):
        joined = _common((one + other).casefold())
        found.setdefault(joined, QueryFeature(joined, f"{one} {other}", _PAIR_WEIGHT, True))
    return list(found.values())


@lru_cache(maxsize=1)
def _weak_terms() -> frozenset[str]:
    return frozenset(_common(word) for word in _WEAK_WORDS.split())


@lru_cache(maxsize=1 << 16)
def hashed(feature: str) -> int:
    """A feature's 64-bit hash, the same on every platform and run."""
    return int.from_bytes(blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _words(text: str) -> list[str]:
    if not text.isascii():
        import unicodedata  # slow to import, and most code is ASCII

        plain = re.sub(_ACCENTS, "", unicodedata.normalize("NFKD", text))
        text = unicodedata.normalize("NFKC", plain)
    return _WORD.findall(text)


@lru_cache(maxsize=1 << 14)
def _features_of_word(word: str) -> tuple[str, ...]:
    parts = [part.casefold() for part in _parts(word)]
    counting = [part for part in parts if len(part) > 1 and part not in _STOP_WORDS]
    found = [_common(part) for part in counting]
    if len(parts) > 2:
        found += [_common(one + other) for one, other in pairwise(parts)]
    if len(parts) > 1:
        found.append(_common("".join(parts)))
    found = [term for term in found if term not in _STOP_WORDS]
    if not word.isascii():
        found += [one + other for run in re.findall(_UNSPACED, word) for one, other in pairwise(run)]
        found += [stemmed for part in counting if (stemmed := _arabic_stem(part)) not in ("", part)]
    return (*found, *(part[:_BEGINNING] + _MARK for part in counting if len(part) >= _BEGINNING))


def _arabic_stem(part: str) -> str:
    """The stem of a word in Arabic letters; empty for any other, or where a single letter would be left."""
    if not has_arabic(part):
        return ""
    from testlore.ranking import arabic  # with its library, which only such a text needs

    stemmed = arabic.stem(part)
    return stemmed if len(stemmed) > 1 else ""


def _parts(word: str) -> list[str]:
    """The parts of an identifier. Those of ``parseHTTPResponse2_ok`` are parse, HTTP, Response, 2 and ok."""
    if word.isascii():
        return _ASCII_PART.findall(word)
    parts: list[str] = []
    for piece in word.split("_"):
        start = 0
        for at in range(1, len(piece)):
            if _is_boundary(piece, at):
                parts.append(piece[start:at])
                start = at
        if piece:
            parts.append(piece[start:])
    return parts


def _is_boundary(word: str, at: int) -> bool:
    """Whether a new part of ``word`` begins at ``at``: at B in ``aB`` and ``ABc``, at 1 in ``a1``, at a in ``1a``."""
    before, char, after = word[at - 1], word[at], word[at + 1 : at + 2]
    if char.isdecimal() != before.isdecimal():
        return True
    return char.isupper() and (before.islower() or (before.isupper() and after.islower()))


def _common(word: str) -> str:
    """The form in which a word is compared: its stem, or the short form that programmers use for it."""
    root = stem(word)
    return _SHORT_STEMS.get(root, root)


def stem(word: str) -> str:
    """A word without the endings of English plurals and verb forms.

    It removes little on purpose, like Harman's S-stemmer (*How effective is suffixing?*, JASIS 42(1), 1991), and also
    ``-ed``, ``-ing`` and a final ``-e``. So reject, rejects, rejected and rejecting have one stem, and different words
    keep different ones.
    """
    if len(word) < 4 or not word.isascii():
        return word
    if word.endswith(("ies", "ied")):
        return word[:-3] + "y" if len(word) > 4 else word
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= 3 and not _VOWELS.isdisjoint(root):
            word = root[:-1] if root[-1] == root[-2] and root[-1] not in "lsz" else root
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


_SHORT_STEMS = {stem(long): short for long, short in _SHORT_FORMS.items()}
