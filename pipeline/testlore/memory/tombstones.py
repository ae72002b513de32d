"""Tombstones: what was forgotten stays forgotten, whatever a merge brings."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from testlore.memory import store
from testlore.memory.store import MAX_TOMBSTONES, Record, Tombstone

_LAST = "9999-12-31T23:59:59.999Z"


def union(*several: Iterable[Tombstone]) -> list[Tombstone]:
    """Every tombstone once, newest first. Of two of one id the younger stays; over 1,000 the oldest go."""
    youngest: dict[str, Tombstone] = {}
    for tombstone in (one for tombstones in several for one in tombstones):
        rival = youngest.get(tombstone["id"])
        if rival is None or rival["at"] < tombstone["at"]:
            youngest[tombstone["id"]] = tombstone
    return sorted(youngest.values(), key=store.youngest_first)[:MAX_TOMBSTONES]


def alive(records: Iterable[Record], forgotten: Sequence[Tombstone]) -> list[Record]:
    """The records that were not forgotten after they were made."""
    forgotten_at = {one["id"]: one["at"] for one in forgotten}
    return [record for record in records if forgotten_at.get(record["id"], "") <= record["createdAt"]]


def of(record: Record) -> Tombstone:
    """The tombstone of a record that is forgotten now."""
    return {"id": record["id"], "at": _after(record["createdAt"])}


def creation(record: Mapping[str, str], forgotten: Sequence[Tombstone]) -> str:
    """The ``createdAt`` of a record that is remembered now: its own, or a later one when it was forgotten before."""
    for tombstone in forgotten:
        if tombstone["id"] == record["id"]:
            return _after(tombstone["at"])
    return record["createdAt"]


def _after(moment: str) -> str:
    """Now, or a millisecond after ``moment`` if that is later: the clocks of two machines differ."""
    if moment == _LAST:  # the calendar ends
        return _LAST
    next_one = (round(store.seconds_of(moment) * 1000) + 1.5) / 1000  # half a millisecond more, since the rest is cut
    return max(store.created_at(time.time()), store.created_at(next_one))
