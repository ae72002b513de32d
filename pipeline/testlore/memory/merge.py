"""``merge``: add another worktree's memory to this one's."""

from __future__ import annotations

import os
from typing import NamedTuple

from testlore.errors import Refusal, Unusable
from testlore.memory import store, writer
from testlore.memory.store import Record
from testlore.memory.writer import Change
from testlore.project.safe_files import Root, existing_folder


class MergeCounts(NamedTuple):
    """What a merge did.

    Attributes:
        added: how many episodes are new here.
        known: how many of the other memory's episodes were here already.
        dropped: how many of the oldest were removed, since the store was full.
        total: how many there are now.
    """

    added: int
    known: int
    dropped: int
    total: int


def merge(root: Root, source: Root) -> MergeCounts:
    """Add another worktree's memory to this one's.

    Args:
        source: the other project's root.

    Raises:
        Refusal: ``call-invalid``: there is no memory in ``source``.
        Unusable: ``call-invalid``; ``store-corrupt``, ``store-unsafe``: one of the two memories is not as it must be.
            Both stay as they are.
    """
    folder = os.fspath(source)
    try:
        others = store.parse(store.read_bytes(folder)).records
    except Unusable as unusable:
        if unusable.reason == "no-memory":
            raise Refusal("call-invalid", f"source is {folder!r}; allowed: a folder with {store.INDEX_FILE}") from None
        raise Unusable(unusable.reason, f"in the source: {unusable.detail}") from None
    change = writer.update(existing_folder(root), lambda records: _union(records, others))
    return _counted(change, others)


def _union(ours: list[Record], theirs: list[Record]) -> list[Record]:
    """Every episode once. Of two with the same id the newer one stays, so the order of merges makes no difference."""
    found: dict[str, Record] = {}
    for record in [*ours, *theirs]:
        rival = found.get(record["id"])
        if rival is None or _preference(record) < _preference(rival):
            found[record["id"]] = record
    return list(found.values())


def _preference(record: Record) -> tuple[tuple[float, str], str]:
    return (store.newest_first(record), record["integrity"])


def _counted(change: Change, others: list[Record]) -> MergeCounts:
    before, after = ({one["id"] for one in records} for records in (change.before, change.after))
    return MergeCounts(
        added=len(after - before),
        known=sum(one["id"] in before for one in others),
        dropped=len(change.dropped),
        total=len(after),
    )
