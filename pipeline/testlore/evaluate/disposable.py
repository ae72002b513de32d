"""Writes a disposable project whose memory holds the right answer to every question, each as an accepted episode."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from testlore import canonical
from testlore.evaluate.questions import Question
from testlore.frameworks import UNKNOWN
from testlore.memory import store
from testlore.project.settings import CONFIG_FILE, Settings

_COUNTS = "originalCases candidateCases passedCases failedCases missingCases demonstratedDefects caughtDefects"


def write(root: str, questions: Sequence[Question], settings: Settings, embedding: str) -> list[str]:
    """Write the configuration and the canonical store of a project that remembers the answers.

    Args:
        root: an empty folder.
        settings: give the runtime, the dimensions, the time limit and the embedding command.
        embedding: ``feature-vectors`` or ``command``.

    Returns:
        The id of each question's episode.
    """
    records = [_record(number, question) for number, question in enumerate(questions)]
    ordered = sorted(records, key=store.newest_first)
    memory = canonical.seal({"schemaVersion": 1, "records": ordered})
    os.makedirs(os.path.dirname(os.path.join(root, store.INDEX_FILE)))
    with open(os.path.join(root, store.INDEX_FILE), "wb") as file:
        file.write(canonical.to_bytes(canonical.dumps(memory) + "\n"))
    provider: dict[str, Any] = {"mode": embedding}
    if embedding == "command":
        provider |= {"argv": list(settings.argv), "identity": settings.identity}
    plugin = {
        "enabled": True,
        "runtime": settings.runtime,
        "dimensions": settings.dimensions,
        "timeoutMs": settings.timeout_ms,
        "embedding": provider,
    }
    with open(os.path.join(root, CONFIG_FILE), "w", encoding="utf-8") as text:
        json.dump({"adapter": UNKNOWN, "plugins": {"ruvector": plugin}}, text)
    return [record["id"] for record in records]


def _record(number: int, question: Question) -> dict[str, Any]:
    manifest = canonical.digest({"commit": question.commit, "number": number})
    return canonical.seal(
        {
            "schemaVersion": 1,
            "id": store.record_id(manifest, "accepted"),
            "candidateId": question.commit,
            "createdAt": store.created_at(question.time),
            "manifestHash": manifest,
            "validationHash": manifest,
            "provenance": dict.fromkeys(("fingerprint", "runner", "servicesHash", "sourceHash"), manifest),
            "framework": UNKNOWN,
            "outcome": "accepted",
            "tags": [],
            "warnings": [],
            "context": {
                "language": question.language,
                "changedTests": 1,
                "deletedFiles": 0,
                "purpose": "candidate-tests",
            },
            "evidence": {**dict.fromkeys(_COUNTS.split(), 0), "complete": True},
            "patterns": [
                {"language": question.language, "content": question.tests, "hash": canonical.digest(question.tests)},
            ],
        }
    )
