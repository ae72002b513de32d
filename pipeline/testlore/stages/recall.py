"""``recall``: joins hits to the records that are intact and in scope now, ranks them, and labels them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from testlore.errors import Fallback, Unusable
from testlore.memory import store
from testlore.memory.store import Record
from testlore.project.provenance import Provenance, compatibility_reasons
from testlore.ranking import fusion, tokens
from testlore.ranking.fusion import RankedEpisode
from testlore.stages import excerpt
from testlore.stages.answer import GENERAL_WARNING, RecallResult, fallback_warning
from testlore.stages.fit import TodaysFiles, fits
from testlore.stages.session import Session
from testlore.stages.validate import Scope

_DAY = 86_400


def run(session: Session, limit: int, *, explain: bool = False) -> RecallResult:
    """The answer to the session's query: native, or lexical with a warning. It is not yet cut to a budget.

    Args:
        limit: the most records to return.
        explain: whether each record explains its rank.

    Raises:
        Unusable: nothing can be recalled at all.
    """
    scope = session.validated()
    warnings: tuple[str, ...] = (GENERAL_WARNING, *session.cache_warning())
    try:
        ranked = natively(session, limit)
        sdk, provider = session.sdk(), session.provider()
        details = {
            "engine": sdk.name,
            "mode": provider.MODE,
            "version": sdk.version,
            "cache": session.index().cache,
        }
        _check(ranked, scope)
        records = to_records(
            ranked, session.root, session.provenance, session.query, tell_finder=provider.IS_MODEL, explain=explain
        )
        return RecallResult(records, "ruvector", details, warnings + session.sources_warning())
    except Fallback as fallback:
        warnings += fallback_warning(fallback)
    ranked = lexically(session, limit)
    _check(ranked, scope)
    records = to_records(ranked, session.root, session.provenance, session.query, explain=explain)
    return RecallResult(records, "deterministic-lexical", None, warnings + session.sources_warning())


def _check(ranked: Sequence[RankedEpisode], scope: Scope) -> None:
    """Verify the records that go out, whatever was verified before.

    Raises:
        Unusable: ``store-corrupt``.
    """
    for one in ranked:
        if not store.is_intact(one.record) or one.record["framework"] != scope.framework:
            raise Unusable("store-corrupt", "a record that was found is not intact")


def natively(session: Session, limit: int) -> list[RankedEpisode]:
    """The best records by the native engine and by the words that they share with the query.

    With feature vectors a record must share a term with the query, so that a hash collision alone finds nothing. With a
    model's vectors a record needs either a shared term or a place among the nearest.

    Raises:
        Fallback: the engine failed, or ``ruvector-no-applicable-hits``.
        Unusable: nothing can be recalled at all.
    """
    rank = fusion.by_model if session.provider().IS_MODEL else fusion.by_features
    words = session.words()
    similarity = {hit.id: hit.similarity for hit in session.hits()}
    found = rank(session.scope().eligible, words, similarity, limit)
    if not found:
        raise Fallback("ruvector-no-applicable-hits")
    return found


def lexically(session: Session, limit: int) -> list[RankedEpisode]:
    """The best records by the words that they share with the query; for a query without terms, the newest records.

    Raises:
        Unusable: nothing can be recalled at all.
    """
    eligible = session.scope().eligible
    if not tokens.terms(session.query or ""):
        return [fusion.unasked(record) for record in eligible[:limit]]
    return fusion.by_words(eligible, session.words(), limit)


def to_records(
    ranked: Sequence[RankedEpisode],
    root: str,
    today: Callable[[], Provenance | None],
    query: str | None = None,
    *,
    tell_finder: bool = False,
    explain: bool = False,
) -> list[dict[str, Any]]:
    """The records of an answer. Each says whether it still fits the project's sources.

    Args:
        root: the project's folder.
        today: returns the project's provenance, or nothing where it is unknown; called only if there is a record.
        query: the question, which decides what is shown of a version 2 record.
        tell_finder: whether each record says whether words or the model found it.
        explain: whether each record explains its rank.
    """
    if not ranked:
        return []
    current, files, now = today(), TodaysFiles(root), time.time()
    words = frozenset(tokens.terms(query or ""))
    records = []
    for one in ranked:
        record = {**_labelled(one.record, one.score, current, files, now), **excerpt.of(one.record, words)}
        if not one.matched:
            record["matched"] = False
        if tell_finder:
            record["foundBy"] = one.found_by
        if explain:
            record["explain"] = one.explanation()
        records.append(record)
    return records


def _labelled(
    record: Record, score: float, current: Provenance | None, files: TodaysFiles, now: float
) -> dict[str, Any]:
    reasons = compatibility_reasons(record["provenance"], current)
    return {
        **{key: record[key] for key in ("id", "outcome", "framework")},
        # Copies, since the caller may change the answer, and this process keeps the records.
        **{key: record[key].copy() for key in ("tags", "warnings", "context", "evidence")},
        "historical": True,
        "sourceCompatible": fits(record, reasons, files),
        "compatibilityReasons": reasons,
        "ageDays": max(0, int((now - store.seconds_of(record["createdAt"])) // _DAY)),
        "score": score,
        "patterns": [pattern.copy() for pattern in record["patterns"]],
        "advisoryOnly": True,
    }
