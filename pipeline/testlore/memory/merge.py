"""``merge``: add another worktree's memory to this one's."""

from __future__ import annotations

import os
from typing import NamedTuple

from testlore.errors import Refusal, Unusable
from testlore.memory import store, writer
from testlore.memory.store import Record, Store
from testlore.memory.writer import Change, Content
from testlore.project.safe_files import Root, existing_folder


class MergeCounts(NamedTuple):
    """What a merge did.

    Attributes:
        added: how many episodes are new here.
        known: how many of the other memory's episodes were here already.
        dropped: how many of the oldest were removed, since the store was full.
        total: how many there are now.
        forgotten: how many were removed here, since they were forgotten there.
        left: the ids of the dropped ones, newest first.
    """

    added: int
    known: int
    dropped: int
    total: int
    forgotten: int = 0
    left: tuple[str, ...] = ()


def merge(root: Root, source: Root) -> MergeCounts:
    """Add another worktree's memory to this one's. What was forgotten in either of them is forgotten in both.

    Args:
        source: the other project's root.

    Raises:
        Refusal: ``call-invalid``: there is no memory in ``source``.
        Unusable: ``call-invalid``; ``store-corrupt``, ``store-conflicted``, ``store-unsafe``: one of the two memories
            is not as it must be. Both stay as they are.
    """
    folder = os.fspath(source)
    try:
        others = store.parse(store.read_bytes(folder))
    except Unusable as unusable:
        if unusable.reason == "no-memory":
            raise Refusal("call-invalid", f"source is {folder!r}; allowed: a folder with {store.INDEX_FILE}") from None
        raise Unusable(unusable.reason, f"in the source: {unusable.detail}") from None
    change = writer.rewrite(existing_folder(root), lambda content: union(content, others))
    return _counted(change, others)


def union(*sides: Content | Store) -> Content:
    """Every episode once, and all tombstones; the writer takes out what they are of.

    Of two episodes with the same id the newer one stays, so the order of merges makes no difference.
    """
    found: dict[str, Record] = {}
    for record in (one for side in sides for one in side.records):
        rival = found.get(record["id"])
        if rival is None or _preference(record) < _preference(rival):
            found[record["id"]] = record
    return Content(list(found.values()), [one for side in sides for one in side.forgotten])


def _preference(record: Record) -> tuple[tuple[float, str], str]:
    return (store.newest_first(record), record["integrity"])


def _counted(change: Change, others: Store) -> MergeCounts:
    before, after = ({one["id"] for one in records} for records in (change.before, change.after))
    return MergeCounts(
        added=len(after - before),
        known=sum(one["id"] in before for one in others.records),
        dropped=len(change.dropped),
        total=len(after),
        forgotten=len(before - after - set(change.dropped)),
        left=tuple(change.dropped),
    )
