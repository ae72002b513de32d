"""Words and subwords of code and prose.

A *term* is what two texts must share to be related: a word, a part of an identifier, or the whole identifier,
case-folded and lightly stemmed. ``test_zero_boundary`` and ``testZeroBoundary`` have the same terms.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

_WORD = re.compile(r"\w+")
_ASCII_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_STOP_WORDS = frozenset(
    "a an and are as at be by can do does for from has have if in into is it its of on or so that the their then "
    "there this to was we were which will with test".split()
)


def episode_text(record: dict[str, Any]) -> str:
    """What of an episode is searched: its tags, warnings and patterns."""
    words = " ".join([*record["tags"], *record["warnings"]])
    return "\n".join([words, *(pattern["content"] for pattern in record["patterns"])])


def terms(text: str) -> list[str]:
    """The terms of a text, in order, each as often as it occurs; stop words and single letters left out."""
    found: list[str] = []
    for word in _WORD.findall(text if text.isascii() else unicodedata.normalize("NFKC", text)):
        found += _terms_of_word(word)
    return found


def words(text: str) -> list[str]:
    """The words of a text, in order and case-folded, identifiers split into their parts; nothing is left out."""
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return [part.casefold() for word in _WORD.findall(normal) for part in _parts(word)]


@lru_cache(maxsize=1 << 14)
def _terms_of_word(word: str) -> tuple[str, ...]:
    parts = [part.casefold() for part in _parts(word)]
    found = [stem(part) for part in parts if len(part) > 1]
    if len(parts) > 1:
        found.append("".join(parts))
    return tuple(term for term in found if term not in _STOP_WORDS)


def _parts(word: str) -> list[str]:
    """The parts of an identifier: ``parseHTTPResponse2_ok`` has parse, HTTP, Response, 2 and ok."""
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
    """Whether a new part of ``word`` begins at ``at``, as in ``aB``, ``ABc`` (before B), ``a1`` and ``1a``."""
    before, char, after = word[at - 1], word[at], word[at + 1 : at + 2]
    if char.isnumeric() != before.isnumeric():
        return True
    return char.isupper() and (before.islower() or (before.isupper() and after.islower()))


def stem(word: str) -> str:
    """A word without the endings of English plurals and verb forms; other words as they are.

    Light on purpose, in the spirit of Harman's S-stemmer (*How effective is suffixing?*, JASIS 42(1), 1991) with
    ``-ed``, ``-ing`` and a final ``-e`` besides: reject, rejects, rejected and rejecting meet, unlike words do not.
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
        if root != word and len(root) >= 3 and re.search("[aeiouy]", root):
            word = root[:-1] if root[-1] == root[-2] and root[-1] not in "lsz" else root
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word
