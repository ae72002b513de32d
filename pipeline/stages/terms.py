"""What the lexical side of a recall counts: hashed term statistics of the episodes in scope.

They are made anew from the canonical records whenever they do not fit, and kept beside a native index, so that a warm
recall reads no text. The file is one line of sealed JSON, then hashes and counts: no word.
"""

from __future__ import annotations

import contextlib
from typing import NamedTuple

from pipeline import canonical, lexical, text
from pipeline.cache import TERMS, Cache, code_digest
from pipeline.errors import Fallback
from pipeline.lexical import Statistics
from pipeline.stages.validate import Scope

_MAX_BYTES = 8 << 20


class Terms(NamedTuple):
    """The statistics of the episodes in scope, in their order, and whether the cache holds them."""

    statistics: Statistics
    kept: bool


def run(cache: Cache, scope: Scope) -> Terms:
    """Read the statistics of the episodes in scope, or make them."""
    found = _read(cache, scope)
    if found is not None:
        return Terms(found, True)
    return Terms(lexical.statistics(text.episode_text(record) for record in scope.eligible), False)


def keep(cache: Cache, scope: Scope, terms: Terms) -> None:
    """Keep the statistics beside a native index, if they are not; where that fails they are made anew next time."""
    if terms.kept:
        return
    body = terms.statistics.to_bytes()
    head = {
        "schemaVersion": 1,
        "code": _code(),
        "store": scope.store.digest,
        "framework": scope.framework,
        "starts": terms.statistics.starts,
        "digest": canonical.digest(body),
    }
    with contextlib.suppress(Fallback):
        cache.write(TERMS, canonical.to_bytes(canonical.dumps(canonical.seal(head)) + "\n") + body)


def _code() -> str:
    return code_digest("text.py", "lexical.py", "stages/terms.py")


def _read(cache: Cache, scope: Scope) -> Statistics | None:
    """The kept statistics, or ``None`` where there are none that fit their seal, the store and today's code."""
    if not scope.settings.enabled or scope.settings.plugin_problem:
        return None
    try:
        head, _, body = (cache.read(TERMS, _MAX_BYTES) or b"").partition(b"\n")
        value = canonical.loads(head)
        if not canonical.is_sealed(value) or value.get("digest") != canonical.digest(body):
            return None
        if [value.get(key) for key in ("code", "store", "framework")] != [_code(), scope.store.digest, scope.framework]:
            return None
        starts = value.get("starts")
        if not isinstance(starts, list) or len(starts) != len(scope.eligible) + 1:
            return None
        return lexical.from_bytes(body, starts)
    except (Fallback, ValueError, TypeError):
        return None
