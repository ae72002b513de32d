"""Records of memory for the tests, valid and sealed; each test changes what it is about."""

from __future__ import annotations

from typing import Any

from testlore import canonical
from testlore.memory import episode, store

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


def make_episode_2(number: int, text: str = "zero boundary", *, outcome: str = "accepted", **changes: Any) -> Json:
    """A valid, sealed record of version 2, with something under each key."""
    first = make_episode(number, text if outcome == "accepted" else "", outcome=outcome)
    parts = {
        "candidate_id": first["candidateId"],
        "created_at": first["createdAt"],
        "manifest_hash": first["manifestHash"],
        "validation_hash": first["validationHash"],
        **{
            key: first[key] for key in ("provenance", "framework", "outcome", "tags", "context", "evidence", "patterns")
        },
        "title": f"Zero is no boundary {number}",
        "tests": [{"path": "tests/zero.test.js", "name": "zero", "outcome": "passed"}],
        "files": [{"path": "src/zero.js", "digest": canonical.digest("zero")}],
        "symbols": ["zero"],
        "reasons": [] if outcome == "accepted" else ["case-loss: one"],
    }
    return episode.make(**{**parts, **changes})


def pattern(text: str, language: str = "javascript") -> Json:
    return {"language": language, "content": text, "hash": canonical.digest(text)}


def reseal(record: Json, **changes: Any) -> Json:
    """The record with these changes, and the id and seal that fit them."""
    record = {**record, **changes}
    if "id" not in changes:
        record["id"] = store.record_id(record["manifestHash"], record["outcome"])
    return canonical.seal(record)
