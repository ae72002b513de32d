"""``export``: how many episodes of which kinds a memory holds."""

from __future__ import annotations

from collections import Counter
from typing import Any

from testlore.memory import store
from testlore.memory.store import Record
from testlore.project.safe_files import Root, existing_folder


def export(root: Root) -> dict[str, Any]:
    """How many episodes of each kind a memory holds. The result has no code, path, id, digest or time.

    Raises:
        Unusable: ``call-invalid``, ``no-memory``, ``store-corrupt``, ``store-conflicted``, ``store-unsafe``.
    """
    records = store.parse(store.read_bytes(existing_folder(root))).records
    return {
        "schemaVersion": 1,
        "episodes": len(records),
        "outcomes": _counts(record["outcome"] for record in records),
        "frameworks": _counts(record["framework"] for record in records),
        "languages": _counts(record["context"]["language"] for record in records),
        "purposes": _counts(record["context"]["purpose"] for record in records),
        "tags": _counts(tag for record in records for tag in record["tags"]),
        "warnings": _counts(warning for record in records for warning in record["warnings"]),
        "patterns": sum(len(record["patterns"]) for record in records),
        "evidence": _evidence(records),
        "undone": _counts(record["evidence"]["undone"] for record in records if "undone" in record["evidence"]),
    }


def _counts(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _evidence(records: list[Record]) -> dict[str, int]:
    totals: Counter[str] = Counter()
    for record in records:
        for key, value in record["evidence"].items():
            if key != "undone":  # a word
                totals[key] += int(value)
    return dict(totals)
