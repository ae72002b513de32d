"""Feature vectors: hashed word features.

As in Weinberger et al., *Feature Hashing for Large Scale Multitask Learning* (2009), each feature of a text is added to
one component of the vector, with a sign. Component and sign come from a hash of the feature. Sums are whole numbers and
each component is one correctly rounded division, so the bytes are the same on every platform, with NumPy and without.

Features that few episodes have get a greater weight, but only in the query's vector, and in whole numbers too. The
product of the query's and an episode's vector is then weighted just as well, and no episode's vector changes when
another episode is added.

This is no semantic model, and nothing is trained.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from testlore import digests, libraries
from testlore.errors import Fallback
from testlore.project.settings import Settings
from testlore.ranking import tokens
from testlore.ranking.bm25 import Statistics
from testlore.ranking.documents import episode_text

MODE = "lexical-vector"
IS_MODEL = False
text_of = episode_text

_FEW = 8  # up to so many texts, importing NumPy takes longer than it saves
_PARTS = 64  # weights are whole numbers of 64ths


def identity(root: str, settings: Settings) -> dict[str, Any]:
    """The mode and the digest of the code that makes the features."""
    return {"mode": settings.embedding, "features": digests.of("features")}


def files(root: str, settings: Settings) -> list[str]:
    """None: only our own code decides the vectors."""
    return []


def place_and_sign(feature: str, dimensions: int) -> tuple[int, int]:
    """The component of a vector to which a feature is added, and its sign, 1 or -1."""
    hashed = tokens.hashed(feature)
    return (hashed >> 1) % dimensions, 1 if hashed & 1 else -1


def query_vector(root: str, settings: Settings, query: str, documents: Statistics | None = None) -> bytes:
    """The query's unit vector. It is made without NumPy, whose import would double the time of a warm recall.

    Args:
        documents: the statistics by which features are weighted; without them all features have the same weight, as in
            :func:`vectors`.

    Raises:
        Fallback: ``ruvector-empty-feature-query``: no word of the query counts.
    """
    counts = tokens.features(query)
    weighed = {}
    if documents is not None:
        holders = documents.holders(counts)
        weighed = {feature: count * _weight(len(holders[feature]), documents) for feature, count in counts.items()}
    for found in (weighed, counts):  # if no episode has a word of the query, all its words have the same weight
        vector = _unit(found, settings.dimensions)
        if any(vector):
            return vector
    raise Fallback("ruvector-empty-feature-query")


def _unit(counts: Mapping[str, int], dimensions: int) -> bytes:
    """The unit vector of these features; the zero vector if there are none, or if they cancel each other out."""
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
    """The inverse document frequency of a feature, in 64ths; 0 if no document has it.

    A logarithm may differ in its last bit between platforms. That does not change the result: for the numbers of
    documents that occur here, no value is so close to the middle between two 64ths.

    Args:
        holders: how many documents have the feature.
    """
    return round(_PARTS * documents.idf(holders)) if holders else 0


def vectors(root: str, settings: Settings, texts: Sequence[str], query: str | None) -> list[bytes]:
    """The unit vector of each text, and of the query if there is one. A text without a feature has the zero vector.

    Raises:
        Fallback: ``ruvector-empty-feature-query``: no word of the query counts.
    """
    last = [] if query is None else [query_vector(root, settings, query)]
    if len(texts) <= _FEW:
        return [_unit(tokens.features(one), settings.dimensions) for one in texts] + last
    with libraries.installed():
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
