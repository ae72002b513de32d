"""Makes the record of an episode from its parts, and keeps every limit that a store has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from testlore import canonical
from testlore.memory import store, texts
from testlore.memory.store import Record

MAX_TESTS = 20
MAX_SYMBOLS = 40
MAX_REASONS = 20
MAX_PATTERNS = 8

#: The evidence of a version 2 record, in order, and what stands for what nobody has found out.
_EVIDENCE: dict[str, Any] = {
    **dict.fromkeys(("originalCases", "candidateCases", "passedCases", "failedCases", "missingCases"), 0),
    **dict.fromkeys(("demonstratedDefects", "caughtDefects"), 0),
    "complete": False,
    **dict.fromkeys(("newCases", "repeats", "closedGaps", "mutants", "caughtMutants", "survivingMutants"), 0),
    "undone": "none",
}


def make(
    *,
    candidate_id: str,
    created_at: str,
    manifest_hash: str,
    validation_hash: str,
    provenance: Mapping[str, str],
    framework: str,
    outcome: str,
    context: Mapping[str, Any],
    evidence: Mapping[str, Any],
    title: str = "",
    tests: Iterable[Mapping[str, str]] = (),
    files: Iterable[Mapping[str, str]] = (),
    symbols: Iterable[str] = (),
    tags: Iterable[str] = (),
    warnings: Iterable[str] = (),
    reasons: Iterable[str] = (),
    patterns: Iterable[Mapping[str, str]] = (),
    masked: Callable[[str], str] = str,
) -> Record:
    """A sealed version 2 record. What is too long is cut, and what is too much is left out from the end.

    Args:
        candidate_id, created_at, manifest_hash, validation_hash, provenance, framework, outcome, context: as a record
            holds them.
        evidence: the counts; those that are missing are 0, and ``undone`` is ``none``.
        title: what was to be shown, in one line.
        tests: the new cases, each with ``path``, ``name`` and ``outcome``.
        files: the sources that the new cases ran, each with ``path`` and ``digest``. None is kept where a path is too
            long, or holds what is masked: the others alone could not tell whether the record still fits the sources.
        symbols: the names of the functions that the new cases ran, the rarest first.
        tags, warnings: words that a record may hold.
        reasons: why it was rejected: each a word, or a word, ``: `` and a name.
        patterns: each with ``language`` and ``content``; none is kept of a rejected candidate.
        masked: masks the secrets in a text. The title and each name, path, symbol and reason goes through it; patterns
            come masked.
    """

    def short(text: str, limit: int) -> str:
        return texts.shorten(texts.one_line(masked(text)), limit)

    paths = [(file["path"], file["digest"]) for file in files]
    fitting = all(short(path, texts.PATH) == path for path, _ in paths)
    record = {
        "schemaVersion": 2,
        "id": store.record_id(manifest_hash, outcome),
        "candidateId": candidate_id,
        "createdAt": created_at,
        "manifestHash": manifest_hash,
        "validationHash": validation_hash,
        "provenance": dict(provenance),
        "framework": framework,
        "outcome": outcome,
        "title": short(title, texts.TITLE),
        "tests": [
            {
                "path": short(test["path"], texts.PATH),
                "name": short(test["name"], texts.NAME),
                "outcome": test["outcome"],
            }
            for test in _first(tests, MAX_TESTS)
        ],
        "subject": {
            "files": [{"path": path, "digest": digest} for path, digest in paths[: texts.FILES] if fitting],
            "symbols": [short(symbol, texts.SYMBOL) for symbol in _first(symbols, MAX_SYMBOLS)],
        },
        "tags": list(dict.fromkeys(tags)),
        "warnings": list(dict.fromkeys(warnings)),
        "reasons": [short(reason, texts.REASON) for reason in _first(reasons, MAX_REASONS)],
        "context": dict(context),
        "evidence": {key: evidence.get(key, default) for key, default in _EVIDENCE.items()},
        "patterns": [_pattern(one) for one in _first(patterns, MAX_PATTERNS)] if outcome == "accepted" else [],
    }
    return _within_limits(record)


def _first(items: Iterable[Any], count: int) -> list[Any]:
    return list(items)[:count]


def _pattern(pattern: Mapping[str, str]) -> dict[str, str]:
    content = texts.shorten(pattern["content"], texts.PATTERN)
    return {"language": pattern["language"], "content": content, "hash": canonical.digest(content)}


def _within_limits(record: Record) -> Record:
    """The record, sealed. What has no room goes: patterns first, then symbols, tests and reasons, each from the end."""
    sealed = canonical.seal(record)
    for items in (record["patterns"], record["subject"]["symbols"], record["tests"], record["reasons"]):
        while items and len(canonical.to_bytes(canonical.dumps(sealed))) > store.MAX_RECORD_BYTES:
            items.pop()
            sealed = canonical.seal(record)
    return sealed
