"""How a recall ranks: the lexical score is fused with the native similarity and weighted by evidence.

For every record that was found::

    lexical = BM25 / the best BM25
    native  = the similarity, scaled to 0..1
    fused   = (1 - share) * lexical + share * native
    score   = fused * evidence weight * novelty

This is a weighted sum of normalized scores, like CombSUM of Fox and Shaw, *Combination of Multiple Searches* (TREC-2,
1994). With feature vectors the native similarity comes from the same words, hashed. Its share is small then: it decides
between records whose BM25 is close, and a hash collision does little harm. With a model its share is larger, since a
model knows more than words say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from testlore.memory import store
from testlore.memory.store import Record
from testlore.ranking import bm25, tokens
from testlore.ranking.bm25 import Match, Statistics

FEATURE_SHARE = 0.2
MODEL_SHARE = 0.4
NEAREST = 20  # how many records count as found by a model, which gives a distance to every record

_DIGITS = 6
_ACCEPTED_TO_REJECTED = 2.0
_PER_CAUGHT_DEFECT = 0.1
_MOST_CAUGHT_DEFECTS = 10
_PER_CLOSED_GAP = 0.1
_MOST_CLOSED_GAPS = 10
_NOTHING_TRIED = 0.8
_NEAR_DUPLICATE = 0.8  # the Jaccard similarity from which two episodes count as saying the same


class Words(NamedTuple):
    """What words alone say about a query.

    Attributes:
        documents: the statistics of the records.
        matches: how each record matches the query.
    """

    documents: Statistics
    matches: list[Match]


class RankedEpisode(NamedTuple):
    """A record, its score, and the parts of the score.

    Attributes:
        record: the record.
        score: ``fused * evidence * novelty``; records are ranked by it.
        words: what each word of the query adds to ``lexical``.
        lexical: the sum of ``words``, 0 to 1.
        similarity: the native similarity, 0 to 1; ``None`` in lexical recall.
        native: the similarity, scaled to 0..1 over the records.
        share: the weight of ``native`` in ``fused``, 0 to 1.
        fused: ``(1 - share) * lexical + share * native``.
        evidence: the weight of the record's evidence.
        novelty: 1; less for a near-duplicate of a better record.
        duplicate_of: the id of that better record, or empty.
        found_by: ``lexical``, ``native`` or ``both``.
        matched: whether the query had a usable word; if not, the record is merely new.
    """

    record: Record
    score: float
    words: dict[str, float] = {}  # noqa: RUF012
    lexical: float = 0.0
    similarity: float | None = None
    native: float = 0.0
    share: float = 0.0
    fused: float = 0.0
    evidence: float = 1.0
    novelty: float = 1.0
    duplicate_of: str = ""
    found_by: str = "lexical"
    matched: bool = True

    def explanation(self) -> dict[str, Any]:
        """The parts of the score, as the answer's schema describes them."""
        found: dict[str, Any] = {
            "words": [{"word": word, "weight": weight} for word, weight in self.words.items()],
            "lexical": self.lexical,
        }
        if self.similarity is not None:
            found |= {"similarity": self.similarity, "native": self.native, "nativeShare": self.share}
        found |= {"fused": self.fused, "evidence": self.evidence, "novelty": self.novelty}
        if self.duplicate_of:
            found["nearDuplicateOf"] = self.duplicate_of
        return found


def unasked(record: Record) -> RankedEpisode:
    """A record for a query that has no word to rank by."""
    return RankedEpisode(record, 0.0, evidence=round(evidence_weight(record), _DIGITS), matched=False)


def matched(documents: Statistics, query: str) -> Words:
    """How each of the records with these statistics matches a query."""
    return Words(documents, bm25.bm25(tokens.wanted(query), documents))


def by_words(records: Sequence[Record], words: Words, limit: int) -> list[RankedEpisode]:
    """Rank the records that share a term with the query by BM25 and evidence."""
    matches = words.matches
    related = [number for number, match in enumerate(matches) if match.related]
    ranked = _fused(records, matches, related, [None] * len(records), [0.0] * len(records), 0.0)
    return _different_first(ranked, records, words.documents, limit)


def by_features(
    records: Sequence[Record], words: Words, similarity: Mapping[str, float], limit: int
) -> list[RankedEpisode]:
    """Rank the records that share a term with the query and that the engine found, by words and similarity.

    The similarity is divided by the greatest one of these records.

    Args:
        similarity: the native similarity of each record, by its id.
    """
    matches = words.matches
    nearness = [similarity.get(record["id"]) for record in records]
    found = [number for number, match in enumerate(matches) if match.related and nearness[number] is not None]
    greatest = max((nearness[number] or 0.0 for number in found), default=0.0) or 1.0
    native = [(value or 0.0) / greatest for value in nearness]
    ranked = _fused(records, matches, found, nearness, native, FEATURE_SHARE)
    return _different_first(ranked, records, words.documents, limit)


def by_model(
    records: Sequence[Record], words: Words, similarity: Mapping[str, float], limit: int
) -> list[RankedEpisode]:
    """Rank the records that share a term with the query or are among the nearest, by words and similarity.

    Models place all texts of one kind near each other. So the similarity is scaled from the least to the greatest one.

    Args:
        similarity: the native similarity of each record, by its id.
    """
    matches = words.matches
    nearness = [similarity.get(record["id"], 0.0) for record in records]
    least, greatest = min(nearness, default=0.0), max(nearness, default=0.0)
    native = [(value - least) / (greatest - least) if greatest > least else float(value > 0) for value in nearness]
    by_nearness = sorted(
        range(len(records)), key=lambda number: (-nearness[number], store.newest_first(records[number]))
    )
    nearest = {number for number in by_nearness[:NEAREST] if nearness[number] > 0}
    found = [number for number, match in enumerate(matches) if match.related or number in nearest]
    ranked = _fused(records, matches, found, nearness, native, MODEL_SHARE)
    names = {(True, True): "both", (True, False): "lexical", (False, True): "native"}
    ranked = [
        one._replace(found_by=names[matches[number].related, number in nearest])
        for number, one in zip(found, ranked, strict=True)
    ]
    return _different_first(ranked, records, words.documents, limit)


def _fused(
    records: Sequence[Record],
    matches: Sequence[Match],
    found: Sequence[int],
    similarity: Sequence[float | None],
    native: Sequence[float],
    share: float,
) -> list[RankedEpisode]:
    """The records with these numbers, in this order. Parts are rounded as they are printed, so that these add up.

    Args:
        matches, similarity, native: by number, for all records.
        found: the numbers of the records to return.
    """
    best = max((sum(matches[number].words.values()) for number in found), default=0.0) or 1.0
    ranked = []
    for number in found:
        words = {word: round(score / best, _DIGITS) for word, score in matches[number].words.items()}
        exact = round(sum(words.values()), _DIGITS)
        near = round(native[number], _DIGITS)
        fused = round((1 - share) * exact + share * near, _DIGITS)
        evidence = round(evidence_weight(records[number]), _DIGITS)
        value = similarity[number]
        ranked.append(
            RankedEpisode(
                records[number],
                round(fused * evidence, _DIGITS),
                words,
                exact,
                None if value is None else round(value, _DIGITS),
                near,
                share,
                fused,
                evidence,
            )
        )
    return ranked


def _different_first(
    ranked: list[RankedEpisode], records: Sequence[Record], documents: Statistics, limit: int
) -> list[RankedEpisode]:
    """The first ``limit`` records by score. A near-duplicate of a better record comes after all different records.

    Comments do not tell one lesson from another. All near-duplicates get the same novelty, such that the best of them
    scores no more than the last different record. A record without patterns is never a near-duplicate, since tags alone
    say too little.
    """
    ranked = sorted(ranked, key=lambda one: (-one.score, store.newest_first(one.record)))
    numbers = {record["id"]: number for number, record in enumerate(records)}
    different: list[RankedEpisode] = []
    seen: list[set[int]] = []
    duplicates: list[RankedEpisode] = []
    for one in ranked:
        features = documents.code_features(numbers[one.record["id"]]) if one.record["patterns"] else set()
        twin = next((number for number, other in enumerate(seen) if _jaccard(features, other) >= _NEAR_DUPLICATE), None)
        if twin is None:
            different.append(one)
            seen.append(features)
        else:
            duplicates.append(one._replace(duplicate_of=different[twin].record["id"]))
        if len(different) == limit:
            break
    return [*different, *_behind(different, duplicates)][:limit]


def _behind(different: list[RankedEpisode], duplicates: list[RankedEpisode]) -> Iterator[RankedEpisode]:
    if not duplicates:
        return
    last, best = different[-1].score, duplicates[0].score
    novelty = int(min(1.0, last / best) * 10**_DIGITS) / 10**_DIGITS if best else 1.0
    for one in duplicates:
        yield one._replace(novelty=novelty, score=round(one.fused * one.evidence * novelty, _DIGITS))


def _jaccard(one: set[int], other: set[int]) -> float:
    if not one or not other:
        return 0.0
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def evidence_weight(record: dict[str, Any]) -> float:
    """The weight of an episode's evidence: rejected 0.5; accepted 1, plus 0.1 for each caught defect up to ten.

    Since version 2, another 0.1 for each closed gap up to ten, and 0.8 where nothing was tried.
    """
    if record["outcome"] == "rejected":
        return 1 / _ACCEPTED_TO_REJECTED
    evidence = record["evidence"]
    caught: int = evidence["caughtDefects"]
    weight = 1 + _PER_CAUGHT_DEFECT * min(caught, _MOST_CAUGHT_DEFECTS)
    if "closedGaps" not in evidence:
        return weight
    tried = evidence["demonstratedDefects"] or evidence["mutants"] or evidence["undone"] != "none"
    if not tried:
        return _NOTHING_TRIED
    closed: int = evidence["closedGaps"]
    return weight + _PER_CLOSED_GAP * min(closed, _MOST_CLOSED_GAPS)
