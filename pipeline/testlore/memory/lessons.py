"""``learn``: what a memory tells of a file, a symbol or a kind of test that came up several times."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from testlore.memory import store
from testlore.memory.store import Record
from testlore.project.safe_files import Root, existing_folder

_FEWEST = 3  # fewer episodes are no lesson

#: Tags that an accepted candidate has anyway, so that they tell nothing.
_IMPLIED = frozenset({"assertion", "case-preservation", "held-out-tested"})


class Told(NamedTuple):
    """An episode that a lesson is about.

    Attributes:
        id: its id.
        title: what was to be shown; empty for an episode of version 1.
        outcome: ``accepted`` or ``rejected``.
        why: why it was rejected, in stable words.
    """

    id: str
    title: str
    outcome: str
    why: list[str]


class Lesson(NamedTuple):
    """What became of the candidates about one thing. It is tentative, never a rule.

    Attributes:
        kind: ``symbol``, ``file`` or ``kind`` (of test: a tag).
        subject: the symbol's name, the file's path, or the tag.
        text: a sentence for people.
        episodes: the rejected ones and those that closed a gap, newest first.
    """

    kind: str
    subject: str
    text: str
    episodes: list[Told]


def learn(root: Root) -> list[Lesson]:
    """The lessons of a memory, those with the most rejected candidates first.

    Raises:
        Unusable: ``call-invalid``, ``no-memory``, ``store-corrupt``, ``store-conflicted``, ``store-unsafe``.
    """
    return lessons_of(store.parse(store.read_bytes(existing_folder(root))).records)


def lessons_of(records: list[Record]) -> list[Lesson]:
    """The lessons of these records.

    A subject is a lesson when at least three candidates were about it, and one of them was rejected or closed a gap. Of
    subjects with the very same episodes only the narrowest is told: a symbol before its file, a file before a kind.
    """
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        for key in _subjects(record):
            groups.setdefault(key, []).append(record)
    found: dict[tuple[str, ...], tuple[tuple[int, int, str, str], Lesson]] = {}
    for kind in ("symbol", "file", "kind"):
        for (of, subject), group in groups.items():
            told = [record for record in group if record["outcome"] == "rejected" or _closed_gaps(record)]
            if of == kind and len(group) >= _FEWEST and told:
                rejected = sum(record["outcome"] == "rejected" for record in told)
                order = (-rejected, -len(told), kind, subject)
                lesson = Lesson(kind, subject, _sentence(subject, group), [_told(record) for record in told])
                found.setdefault(tuple(record["id"] for record in group), (order, lesson))
    return [lesson for _, lesson in sorted(found.values(), key=lambda one: one[0])]


def _subjects(record: Record) -> list[tuple[str, str]]:
    """What a record is about: (kind, name) of each symbol, file and tag."""
    subject = record.get("subject") or {"files": [], "symbols": []}
    return [
        *(("symbol", name) for name in dict.fromkeys(subject["symbols"])),
        *(("file", file["path"]) for file in subject["files"]),
        *(("kind", tag) for tag in record["tags"] if tag not in _IMPLIED),
    ]


def _closed_gaps(record: Record) -> int:
    gaps: int = record["evidence"].get("closedGaps", 0)
    return gaps if record["outcome"] == "accepted" else 0


def _words(record: Record) -> list[str]:
    """Why a record's candidate was rejected. Records of version 1 hold warnings alone."""
    if record["outcome"] != "rejected":
        return []
    given = [reason.partition(": ")[0] for reason in record.get("reasons") or []]
    return list(dict.fromkeys(given or record["warnings"]))


def _sentence(subject: str, group: list[Record]) -> str:
    rejected = [record for record in group if record["outcome"] == "rejected"]
    counts = Counter(word for record in rejected for word in _words(record))
    parts = []
    if rejected:
        why = ", ".join(f"{word} {count}" for word, count in counts.most_common())
        parts.append(f"{len(rejected)} of {len(group)} candidates were rejected" + (f" ({why})" if why else ""))
    closing = sum(bool(_closed_gaps(record)) for record in group)
    if closing:
        parts.append(f"{closing} of {len(group)} closed gaps that the old tests had left")
    return f"{subject}: {'; '.join(parts)}."


def _told(record: Record) -> Told:
    return Told(record["id"], record.get("title") or "", record["outcome"], _words(record))
