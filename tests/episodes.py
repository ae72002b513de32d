"""Records of memory for the tests, valid and sealed; each test changes what it is about."""

from __future__ import annotations

from typing import Any

from testlore import canonical
from testlore.memory import store

Json = dict[str, Any]

_FIRST_SECOND = 1_700_000_000


def make_episode(
    number: int, text: str = "zero boundary", *, language: str = "javascript", outcome: str = "accepted", **changes: Any
) -> Json:
    """A valid, sealed record; the higher the number, the newer it is.

    Args:
        text: the content of its one pattern; empty for none.
        language: of the pattern and of the context.
        changes: other keys, as they stand in the record.
    """
    body: Json = {
        "schemaVersion": 1,
        "id": "",
        "candidateId": f"c{number}",
        "createdAt": store.created_at(_FIRST_SECOND + number),
        "manifestHash": canonical.digest(f"manifest {number}"),
        "validationHash": canonical.digest(f"validation {number}"),
        "provenance": dict.fromkeys(("fingerprint", "runner", "servicesHash", "sourceHash"), canonical.digest("")),
        "framework": "node",
        "outcome": outcome,
        "tags": ["boundary"],
        "warnings": [],
        "context": {"language": language, "changedTests": 1, "deletedFiles": 0, "purpose": "candidate-tests"},
        "evidence": {
            "originalCases": 1,
            "candidateCases": 2,
            "passedCases": 2,
            "failedCases": 0,
            "missingCases": 0,
            "demonstratedDefects": 0,
            "caughtDefects": 0,
            "complete": True,
        },
        "patterns": [pattern(text, language)] if text else [],
    }
    return reseal({**body, **changes})


def pattern(text: str, language: str = "javascript") -> Json:
    return {"language": language, "content": text, "hash": canonical.digest(text)}


def reseal(record: Json, **changes: Any) -> Json:
    """The record with these changes, and the id and seal that fit them."""
    record = {**record, **changes}
    if "id" not in changes:
        record["id"] = store.record_id(record["manifestHash"], record["outcome"])
    return canonical.seal(record)
