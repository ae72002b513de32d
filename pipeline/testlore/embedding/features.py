"""Feature vectors: hashed word features.

As in Weinberger et al., *Feature Hashing for Large Scale Multitask Learning* (2009): each feature of a text counts at
one place, with a sign; both come from a hash of it. Sums are whole numbers and each component is one correctly rounded
division, so the bytes are the same on every platform, in NumPy and without it.
What tells episodes apart weighs more on the query's side alone, in whole numbers too: a product with an episode's
vector is weighed then as if both were, and no vector changes when another episode arrives.
This is no semantic model, and nothing is trained.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from testlore import digests
from testlore.errors import Fallback
from testlore.project.settings import Settings
from testlore.ranking import tokens
from testlore.ranking.bm25 import Statistics
from testlore.ranking.documents import episode_text

MODE = "lexical-vector"
IS_MODEL = False
text_of = episode_text

_FEW = 8  # for so many texts, importing NumPy takes longer than it saves
_PARTS = 64  # of one unit of weight


def identity(root: str, settings: Settings) -> dict[str, Any]:
    """The mode and the digest of the code that makes the features."""
    return {"mode": settings.embedding, "features": digests.of("features")}


def files(root: str, settings: Settings) -> list[str]:
    """None: only our own code decides."""
    return []


def place_and_sign(feature: str, dimensions: int) -> tuple[int, int]:
    """The component of a vector that a feature counts in, and its sign there."""
    hashed = tokens.hashed(feature)
    return (hashed >> 1) % dimensions, 1 if hashed & 1 else -1


def query_vector(root: str, settings: Settings, query: str, documents: Statistics | None = None) -> bytes:
    """The query's unit vector. It is made without NumPy, whose import would double the time of a warm recall.

    Args:
        documents: weigh the features by what they tell apart in these; without them all weigh the same, as in
            :func:`vectors`.

    Raises:
        Fallback: ``ruvector-empty-feature-query``: no word of the query counts.
    """
    counts = tokens.features(query)
    weighed = {}
    if documents is not None:
        holders = documents.holders(counts)
        weighed = {feature: count * _weight(len(holders[feature]), documents) for feature, count in counts.items()}
    for found in (weighed, counts):  # where no episode knows a word of the query, all its words weigh the same
        vector = _unit(found, settings.dimensions)
        if any(vector):
            return vector
    raise Fallback("ruvector-empty-feature-query")


def _unit(counts: Mapping[str, int], dimensions: int) -> bytes:
    """The unit vector of these features, or the zero vector where there is none, or all cancel out."""
    sums = [0] * dimensions
    for feature, count in counts.items():
        place, sign = place_and_sign(feature, dimensions)
        sums[place] += sign * count
    norm = math.sqrt(sum(value * value for value in sums)) or 1.0
    vector = array("f", [value / norm for value in sums])
    if sys.byteorder == "big":
        vector.byteswap()
    return vector.tobytes()


def _weight(holders: int, documents: Statistics) -> int:
    """The inverse document frequency of a feature that so many documents have, in whole parts; 0 where none has it.

    A logarithm may differ in its last bit between platforms. No quotient of whole numbers that occurs here comes near
    enough to the middle between two parts for that to show.
    """
    return round(_PARTS * documents.idf(holders)) if holders else 0


def vectors(root: str, settings: Settings, texts: Sequence[str], query: str | None) -> list[bytes]:
    """The unit vectors of many texts; a text without a feature has the zero vector.

    Raises:
        Fallback: ``ruvector-empty-feature-query``: no word of the query counts.
    """
    last = [] if query is None else [query_vector(root, settings, query)]
    if len(texts) <= _FEW:
        return [_unit(tokens.features(one), settings.dimensions) for one in texts] + last
    import numpy as np

    sums = np.zeros((len(texts), settings.dimensions), dtype=np.int64)
    for row, words in enumerate(texts):
        counts = tokens.features(words)
        if counts:
            places, signs = np.array([place_and_sign(feature, settings.dimensions) for feature in counts]).T
            np.add.at(sums[row], places, signs * np.array(list(counts.values())))
    norms = np.sqrt((sums * sums).sum(axis=1).astype(np.float64))
    norms[norms == 0] = 1
    unit = (sums / norms[:, None]).astype("<f4")
    return [row.tobytes() for row in unit] + last
