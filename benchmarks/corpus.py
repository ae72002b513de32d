"""A made-up project with a memory of full-sized episodes, the same every time."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from testlore import canonical
from testlore.memory import store, texts

_WORDS = (
    "zero boundary retry timeout cursor page token session expired currency rounding refund unicode accent leap year"
    " february queue order drain flush cache evict header parse chunk stream limit offset merge rebase branch commit"
    " lock release tenant quota invoice ledger balance transfer route wildcard prefix decode encode escape quote field"
).split()
_TAGS = ("boundary", "error", "async", "table", "assertion", "case-preservation")
_CONFIG = {
    "adapter": "pytest",
    "plugins": {"ruvector": {"enabled": True, "dimensions": 128, "timeoutMs": 10_000}},
}


def episode(number: int, source: random.Random) -> dict[str, Any]:
    """A sealed accepted episode of about 2.5 KB of JSON."""
    lines: list[str] = []
    while sum(map(len, lines)) < 950:
        one, two, three, four = source.choices(_WORDS, k=4)
        lines += [
            f"def test_{one}_{two}_{len(lines)}() -> None:",
            f"    assert {three}({source.random():.6f}) == '{four}'",
        ]
    content = "\n".join(lines)[: texts.PATTERN]
    manifest = canonical.digest(f"manifest {number}")
    hashes = {name: canonical.digest(name) for name in ("fingerprint", "runner", "servicesHash", "sourceHash")}
    counts = {"originalCases": 20, "candidateCases": 22, "passedCases": 22, "failedCases": 0, "missingCases": 0}
    return canonical.seal(
        {
            "schemaVersion": 1,
            "id": store.record_id(manifest, "accepted"),
            "candidateId": f"candidate-{number}",
            "createdAt": f"2026-0{1 + number // 28 % 9}-{1 + number % 28:02}T12:00:00.000Z",
            "manifestHash": manifest,
            "validationHash": canonical.digest(f"validation {number}"),
            "provenance": hashes,
            "framework": "pytest",
            "outcome": "accepted",
            "tags": sorted(source.sample(_TAGS, 3)),
            "warnings": [],
            "context": {"language": "python", "changedTests": 1, "deletedFiles": 0, "purpose": "candidate-tests"},
            "evidence": {**counts, "demonstratedDefects": 1, "caughtDefects": 1, "complete": True},
            "patterns": [{"language": "python", "content": content, "hash": canonical.digest(content)}],
        }
    )


def more(first: int, count: int) -> list[dict[str, Any]]:
    """Episodes with these numbers, each the same wherever it is made."""
    return [episode(number, random.Random(number)) for number in range(first, first + count)]


def write_store(root: Path, records: list[dict[str, Any]]) -> None:
    """Write a canonical store of these records."""
    path = root / store.INDEX_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    body = {"schemaVersion": 1, "records": sorted(records, key=store.newest_first)}
    path.write_text(json.dumps(canonical.seal(body), indent=2, ensure_ascii=False) + "\n", "utf-8")


def write_project(root: Path, episodes: int = 200, dimensions: int = 128) -> list[dict[str, Any]]:
    """Make a project with a memory; return its records."""
    source = random.Random(2026)  # the same corpus every time
    records = [episode(number, source) for number in range(episodes)]
    write_store(root, records)
    plugin = {**_CONFIG["plugins"]["ruvector"], "dimensions": dimensions}  # type: ignore[index]
    (root / "tddswarm.config.json").write_text(json.dumps({**_CONFIG, "plugins": {"ruvector": plugin}}, indent=2))
    (root / "src").mkdir()
    (root / "src" / "ledger.py").write_text("def balance(entries):\n    return sum(entries)\n")
    return records
