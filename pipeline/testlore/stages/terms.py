"""Hashed term statistics of the episodes in scope, for ranking by words.

They are kept beside a native index, so that a warm recall reads no text. When they do not fit, they are made again from
the canonical records. The file is one line of sealed JSON, then hashes and counts. It holds no word.
"""

from __future__ import annotations

import contextlib
from typing import NamedTuple

from testlore import digests
from testlore.cache import Cache
from testlore.errors import Fallback
from testlore.memory.store import Record
from testlore.ranking import bm25, documents
from testlore.ranking.bm25 import Statistics
from testlore.stages.validate import Scope

TERMS = "terms.bin"

_MAX_BYTES = 8 << 20


class Terms(NamedTuple):
    """The statistics of the episodes in scope, in their order, and whether the cache holds exactly these."""

    statistics: Statistics
    kept: bool


def run(cache: Cache, scope: Scope, texts: list[str]) -> Terms:
    """Read the statistics of the episodes in scope, and make those that are not kept.

    Args:
        texts: the digest of what decides each episode's terms.
    """
    names, kept = _read(cache, scope)
    if names == texts:
        return Terms(kept, True)
    known = {name: number for number, name in enumerate(names)}
    parts = [
        kept.part(known[name]) if name in known else _counted(record)
        for name, record in zip(texts, scope.eligible, strict=True)
    ]
    return Terms(bm25.joined(parts), False)


def _counted(record: Record) -> Statistics:
    from testlore.ranking import comments  # a warm recall counts nothing

    return bm25.statistics([documents.episode_text(record)], [comments.code_text(record)])


def keep(cache: Cache, texts: list[str], terms: Terms) -> None:
    """Keep the statistics beside a native index. If that fails, the next recall makes them again."""
    if terms.kept:
        return
    body = terms.statistics.to_bytes()
    head = {
        "schemaVersion": 1,
        "code": _code(),
        "texts": texts,
        "starts": terms.statistics.starts,
    }
    with contextlib.suppress(Fallback):
        cache.write_sealed(TERMS, head, body)


def _code() -> str:
    return digests.of("statistics")


def _read(cache: Cache, scope: Scope) -> tuple[list[str], Statistics]:
    """The digests of the texts, and the kept statistics; both empty if they do not fit their seal or today's code."""
    nothing: tuple[list[str], Statistics] = ([], bm25.joined([]))
    if not scope.settings.is_native:
        return nothing
    try:
        sealed = cache.read_sealed(TERMS, _MAX_BYTES)
        if sealed is None or sealed.value.get("code") != _code():
            return nothing
        return sealed.value["texts"], bm25.from_bytes(sealed.body, sealed.value["starts"])
    except (Fallback, ValueError):  # ValueError: written on a machine of the other byte order
        return nothing
