"""Deterministic lexical ranking: Okapi BM25 over the terms of :mod:`pipeline.text`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

K1 = 1.2  # how soon repeating a term stops to count
B = 0.75  # how much a long text is discounted

_ACCEPTED_TO_REJECTED = 2.0
_PER_CAUGHT_DEFECT = 0.1
_MOST_CAUGHT_DEFECTS = 10


def bm25(query: Sequence[str], documents: Sequence[Sequence[str]]) -> list[float]:
    """Score every document for a query with Okapi BM25.

    Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009), equation 3.15, with the
    inverse document frequency of Lucene, ``ln(1 + (N - n + 0.5) / (n + 0.5))``, which is never negative.

    Args:
        query: the terms of the query; doubles count once.
        documents: the terms of each document.

    Returns:
        One score a document, at least 0; it is 0 exactly when the document shares no term with the query.
    """
    counts = [Counter(document) for document in documents]
    average = sum(map(len, documents)) / len(documents) if documents else 0.0
    scores = [0.0] * len(documents)
    for term in dict.fromkeys(query):
        holders = [number for number, count in enumerate(counts) if term in count]
        idf = math.log(1 + (len(documents) - len(holders) + 0.5) / (len(holders) + 0.5))
        for number in holders:
            frequency = counts[number][term]
            saturation = frequency + K1 * (1 - B + B * len(documents[number]) / average)
            scores[number] += idf * frequency * (K1 + 1) / saturation
    return scores


def evidence_weight(record: dict[str, Any]) -> float:
    """How much an episode's evidence counts: rejected 0.5; accepted 1, and 0.1 more a caught defect up to ten."""
    if record["outcome"] == "rejected":
        return 1 / _ACCEPTED_TO_REJECTED
    caught: int = record["evidence"]["caughtDefects"]
    return 1 + _PER_CAUGHT_DEFECT * min(caught, _MOST_CAUGHT_DEFECTS)
