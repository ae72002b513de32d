"""``learn`` and ``export``: what the episodes of a memory have in common, and how many there are."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from testlore.memory import store
from testlore.memory.store import Record

_FEWEST = 2  # what happened once is an episode, not a lesson


class Lesson(NamedTuple):
    """Something that several episodes have in common: tentative, never a rule.

    Attributes:
        kind: ``warning`` or ``success``.
        subject: the warning, or the tag of accepted candidates.
        text: a sentence for people.
        episodes: the ids of the episodes that it was drawn from, newest first.
    """

    kind: str
    subject: str
    text: str
    episodes: list[str]


_KINDS = {
    "warning": ("rejected", "warnings", "{count} of {of} rejected candidates met {subject}."),
    "success": ("accepted", "tags", "{count} of {of} accepted candidates were of the kind {subject}."),
}


def learn(root: str) -> list[Lesson]:
    """The lessons of a memory: warnings first, and the most frequent first.

    Raises:
        Unusable: ``no-memory``, ``store-corrupt``, ``store-unsafe``.
    """
    records = store.parse(store.read_bytes(root)).records
    lessons = []
    for kind, (outcome, key, sentence) in _KINDS.items():
        chosen = [record for record in records if record["outcome"] == outcome]
        counts = Counter(subject for record in chosen for subject in record[key])
        for subject, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            if count >= _FEWEST:
                text = sentence.format(count=count, of=len(chosen), subject=subject)
                episodes = [record["id"] for record in chosen if subject in record[key]]
                lessons.append(Lesson(kind, subject, text, episodes))
    return lessons


def export(root: str) -> dict[str, Any]:
    """Counts of a memory, and nothing else: no code, path, id, digest or time.

    Raises:
        Unusable: ``no-memory``, ``store-corrupt``, ``store-unsafe``.
    """
    records = store.parse(store.read_bytes(root)).records
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
    }


def _counts(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _evidence(records: list[Record]) -> dict[str, int]:
    totals: Counter[str] = Counter()
    for record in records:
        for key, value in record["evidence"].items():
            totals[key] += int(value)
    return dict(totals)
