"""Feature vectors: hashed word features.

As in Weinberger et al., *Feature Hashing for Large Scale Multitask Learning* (2009): each term adds +1 or -1 at one
place; place and sign come from a hash of the term. Sums are whole numbers and each component is one correctly rounded
division, so the bytes are the same on every platform, in NumPy and without it.
This is no semantic model, and nothing is trained.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from pipeline import text
from pipeline.cache import code_digest
from pipeline.errors import Fallback
from pipeline.settings import Settings

MODE = "lexical-vector"


def identity(root: str, settings: Settings) -> dict[str, Any]:
    """The mode and the digest of the code that makes the features."""
    return {"mode": settings.embedding, "features": code_digest("text.py", "embedding/features.py")}


def files(root: str, settings: Settings) -> list[str]:
    """None: only our own code decides."""
    return []


@lru_cache(maxsize=1 << 16)
def _hashed(term: str) -> int:
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def place_and_sign(term: str, dimensions: int) -> tuple[int, int]:
    """Where a term counts in a vector of that length, and with which sign."""
    hashed = _hashed(term)
    return (hashed >> 1) % dimensions, 1 if hashed & 1 else -1


def query_vector(root: str, settings: Settings, query: str) -> bytes:
    """The query's unit vector, made without NumPy since a warm recall needs no more than this one.

    Raises:
        Fallback: ``ruvector-empty-feature-query``: no word of the query counts.
    """
    sums = [0] * settings.dimensions
    for term in text.terms(query):
        place, sign = place_and_sign(term, settings.dimensions)
        sums[place] += sign
    norm = math.sqrt(sum(value * value for value in sums))
    if not norm:
        raise Fallback("ruvector-empty-feature-query")
    vector = array("f", [value / norm for value in sums])
    if sys.byteorder == "big":
        vector.byteswap()
    return vector.tobytes()


def vectors(root: str, settings: Settings, texts: Sequence[str], query: str | None) -> list[bytes]:
    """The unit vectors of many texts; a text without a term has the zero vector.

    Raises:
        Fallback: ``ruvector-empty-feature-query``: no word of the query counts.
    """
    import numpy as np

    last = [] if query is None else [query_vector(root, settings, query)]
    if not texts:
        return last
    sums = np.zeros((len(texts), settings.dimensions), dtype=np.int64)
    for row, words in enumerate(texts):
        hashed = [place_and_sign(term, settings.dimensions) for term in text.terms(words)]
        if hashed:
            places, signs = np.array(hashed).T
            np.add.at(sums[row], places, signs)
    norms = np.sqrt((sums * sums).sum(axis=1).astype(np.float64))
    norms[norms == 0] = 1
    unit = (sums / norms[:, None]).astype("<f4")
    return [row.tobytes() for row in unit] + last
