"""What a memory holds, for people: each episode, what it was about, and whether it fits today's sources."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from testlore.memory import forget, store
from testlore.memory.store import Record
from testlore.project.provenance import compatibility_reasons
from testlore.project.safe_files import Root, existing_folder
from testlore.stages.fit import TodaysFiles, fits
from testlore.stages.session import Session

_DAY = 86_400


class Entry(NamedTuple):
    """An episode of the memory.

    Attributes:
        record: the verified record.
        age_days: how many whole days old it is.
        fits: whether the sources that its cases ran are today's.
        changes: what else differs from the project that it was made with, in stable words.
    """

    record: Record
    age_days: int
    fits: bool
    changes: list[str]

    def summary(self) -> dict[str, Any]:
        """What ``testlore list --json`` prints of it."""
        tests = self.record.get("tests") or []
        return {
            **{key: self.record[key] for key in ("id", "candidateId", "createdAt", "framework", "outcome")},
            "ageDays": self.age_days,
            "title": self.record.get("title", ""),
            "test": {"path": tests[0]["path"], "name": tests[0]["name"]} if tests else None,
            "sourceCompatible": self.fits,
        }


def entries(root: Root, *, rejected: bool = False, path: str = "") -> list[Entry]:
    """The episodes of a memory, newest first, whatever their framework.

    Args:
        root: the project's folder.
        rejected: whether to leave out the accepted ones.
        path: leave out those that are not about this file, or a file in this folder, as a test or as a source.

    Raises:
        Unusable: ``call-invalid``, ``no-memory``, ``learning-disabled``, ``store-corrupt``, ``store-conflicted``,
            ``store-unsafe``, ``configuration-invalid``.
    """
    session = Session(existing_folder(root))
    try:
        records = session.scope().store.records
        chosen = [one for one in records if not (rejected and one["outcome"] == "accepted") and _is_about(one, path)]
        return _entries(session, chosen)
    finally:
        session.close()


def entry(root: Root, given: str) -> Entry:
    """The episode that an id of it or of its candidate, or a beginning of one, names.

    Raises:
        Refusal: ``call-invalid``: no episode fits, or several do.
        Unusable: as :func:`entries`.
    """
    session = Session(existing_folder(root))
    try:
        return _entries(session, [forget.named(given, session.scope().store.records)])[0]
    finally:
        session.close()


def _entries(session: Session, records: list[Record]) -> list[Entry]:
    if not records:
        return []
    today, files, now = session.provenance(), TodaysFiles(session.root), time.time()
    found = []
    for record in records:
        changes = compatibility_reasons(record["provenance"], today)
        age = max(0, int((now - store.seconds_of(record["createdAt"])) // _DAY))
        found.append(Entry(record, age, fits(record, changes, files), changes))
    return found


def _is_about(record: Record, path: str) -> bool:
    plain = path.removeprefix("./").rstrip("/")
    subject = record.get("subject") or {"files": []}
    paths = [one["path"] for one in (*record.get("tests", ()), *subject["files"])]
    return not path or any(one == plain or one.startswith(f"{plain}/") for one in paths)
