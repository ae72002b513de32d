"""The first two rankings of this project, for comparison: by shared words, and by plain hashed words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from testlore.embedding.features import place_and_sign

DIMENSIONS = 128

_WORD = re.compile(r"\w+")
_STOP_WORDS = frozenset(
    "a an and are as at be by for from in is it of on or that the this to was with test tests".split()
)


def words(text: str) -> list[str]:
    """The words of a text, case-folded and not split, without stop words and single letters."""
    found = (word.casefold() for word in _WORD.findall(text))
    return [word for word in found if len(word) > 1 and word not in _STOP_WORDS]


def shared_words(query: str, documents: Sequence[str]) -> list[float]:
    """The number of words that each document shares with the query."""
    wanted = set(words(query))
    return [float(len(wanted.intersection(words(document)))) for document in documents]


def hashed_words(query: str, documents: Sequence[str]) -> list[float]:
    """The cosine of the query's and each document's hashed words, in :data:`DIMENSIONS` dimensions."""
    asked = _hashed(query)
    return [sum(asked[place] * value for place, value in _hashed(document).items()) for document in documents]


def _hashed(text: str) -> Counter[int]:
    sums: Counter[int] = Counter()
    for word in words(text):
        place, sign = place_and_sign(word, DIMENSIONS)
        sums[place] += sign
    norm = math.sqrt(sum(value * value for value in sums.values())) or 1.0
    return Counter({place: value / norm for place, value in sums.items()})
