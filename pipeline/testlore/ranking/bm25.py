"""Deterministic lexical ranking: Okapi BM25 over the features of :mod:`testlore.ranking.tokens`."""

from __future__ import annotations

import math
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import compress, pairwise
from typing import NamedTuple

from testlore.ranking import tokens
from testlore.ranking.tokens import QueryFeature

K1 = 1.5  # how much each repetition of a feature still adds
B = 0.75  # how much the features of a long text are discounted

_MOST_COUNTED = 0xFFFF


class Statistics(NamedTuple):
    """How often each feature occurs in each document. It holds hashes, no words.

    Attributes:
        hashes: the features as 64-bit hashes, document after document, ascending within a document.
        counts: how often each of them occurs in that document, as :func:`testlore.ranking.tokens.features` counts.
        in_code: 1 for each of them that occurs outside the document's comments too, else 0.
        starts: the position in both where each document begins, and the position where the last one ends.
    """

    hashes: array[int]
    counts: array[int]
    in_code: array[int]
    starts: list[int]

    def code_features(self, number: int) -> set[int]:
        """The hashed features of a document without its comments."""
        start, end = self.starts[number], self.starts[number + 1]
        return set(compress(self.hashes[start:end], self.in_code[start:end]))

    def part(self, number: int) -> Statistics:
        """The statistics of one document."""
        start, end = self.starts[number], self.starts[number + 1]
        return Statistics(self.hashes[start:end], self.counts[start:end], self.in_code[start:end], [0, end - start])

    def holders(self, features: Iterable[str]) -> dict[str, dict[int, int]]:
        """For each feature, the documents that have it and how often, in the order of the documents."""
        wanted = {tokens.hashed(feature): feature for feature in features}
        hashes = set(wanted)
        found: dict[str, dict[int, int]] = {feature: {} for feature in wanted.values()}
        for number, (start, end) in enumerate(pairwise(self.starts)):
            for hashed in hashes.intersection(self.hashes[start:end]):
                found[wanted[hashed]][number] = self.counts[bisect_left(self.hashes, hashed, start, end)]
        return found

    def idf(self, holders: int) -> float:
        """The inverse document frequency of a feature that ``n`` of ``N`` documents have.

        ``ln(1 + (N - n + 0.5) / (n + 0.5))``

        Args:
            holders: ``n``.
        """
        return math.log(1 + (len(self.starts) - 1 - holders + 0.5) / (holders + 0.5))

    def to_bytes(self) -> bytes:
        """The hashes, the counts, and what is in code, little-endian."""
        return b"".join(_little_endian(numbers).tobytes() for numbers in (self.hashes, self.counts, self.in_code))


class Match(NamedTuple):
    """How a document matches a query.

    Attributes:
        words: what each word of the query adds to its score, in the query's order.
        related: whether it shares a whole term with the query, and not only the beginnings of words.
    """

    words: dict[str, float]
    related: bool


def statistics(texts: Sequence[str], codes: Sequence[str] | None = None) -> Statistics:
    """Count the features of documents.

    Args:
        texts: the documents.
        codes: each one without its comments; without it, no document has any.
    """
    hashes, counts, in_code, starts = array("Q"), array("H"), array("B"), [0]
    for text, code in zip(texts, texts if codes is None else codes, strict=True):
        features = tokens.features(text)
        known = features if code == text else tokens.features(code)
        found = sorted((tokens.hashed(feature), count, feature in known) for feature, count in features.items())
        hashes.extend([hashed for hashed, _, _ in found])
        counts.extend([min(count, _MOST_COUNTED) for _, count, _ in found])
        in_code.extend([is_in_code for _, _, is_in_code in found])
        starts.append(len(hashes))
    return Statistics(hashes, counts, in_code, starts)


def joined(parts: Iterable[Statistics]) -> Statistics:
    """The statistics of all documents of several statistics, in order."""
    hashes, counts, in_code, starts = array("Q"), array("H"), array("B"), [0]
    for part in parts:
        starts += [len(hashes) + start for start in part.starts[1:]]
        hashes += part.hashes
        counts += part.counts
        in_code += part.in_code
    return Statistics(hashes, counts, in_code, starts)


def from_bytes(data: bytes, starts: list[int]) -> Statistics:
    """The inverse of :meth:`Statistics.to_bytes`.

    Args:
        starts: those of the statistics.

    Raises:
        ValueError: the bytes do not fit ``starts``.
    """
    if starts != sorted(starts) or starts[:1] != [0] or len(data) != 11 * starts[-1]:
        raise ValueError("the statistics do not fit their documents")
    hashes, counts, in_code = array("Q"), array("H"), array("B")
    hashes.frombytes(data[: 8 * starts[-1]])
    counts.frombytes(data[8 * starts[-1] : 10 * starts[-1]])
    in_code.frombytes(data[10 * starts[-1] :])
    return Statistics(_little_endian(hashes), _little_endian(counts), in_code, starts)


def _little_endian(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers


def bm25(query: Sequence[QueryFeature], documents: Statistics) -> list[Match]:
    """Score every document for a query with Okapi BM25.

    Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009), equation 3.15. Each feature
    of the query has its own weight. The inverse document frequency is that of Lucene, which is never negative. Words in
    the names of tests are counted several times before the saturation is applied, as fields are in section 3.6; see
    :func:`testlore.ranking.tokens.features`.

    Returns:
        One match for each document. It has no words exactly when the document shares no feature with the query.
    """
    lengths = [sum(documents.counts[start:end]) for start, end in pairwise(documents.starts)]
    average = sum(lengths) / len(lengths) if lengths else 0.0
    found: list[Match] = [Match({}, False) for _ in lengths]
    holders_of = documents.holders(wanted.feature for wanted in query)
    for wanted in query:
        holders = holders_of[wanted.feature]
        weight = wanted.weight * documents.idf(len(holders))
        for number, frequency in holders.items():
            saturation = frequency + K1 * (1 - B + B * lengths[number] / average)
            words, related = found[number]
            words[wanted.word] = words.get(wanted.word, 0.0) + weight * frequency * (K1 + 1) / saturation
            found[number] = Match(words, related or wanted.relates)
    return found
