"""How the canonical store is written: one process at a time, whole, and only when what is written would be accepted."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from testlore import canonical
from testlore.errors import Refusal, UnsafePath, Unusable
from testlore.memory import tombstones
from testlore.memory.store import (
    INDEX_FILE,
    MAX_BYTES,
    MAX_RECORDS,
    Record,
    Tombstone,
    newest_first,
    parse,
    read_bytes,
    verify,
)
from testlore.memory.turn import turn
from testlore.project import safe_files

LOCK_FILE = f"{INDEX_FILE}.lock"

_TEMPORARY = ".testlore-tmp"
_LOCK_SECONDS = 60


class Content(NamedTuple):
    """What a store holds: its records and its tombstones."""

    records: list[Record]
    forgotten: list[Tombstone]


class Fitted(NamedTuple):
    """What a store can hold.

    Attributes:
        content: its records and tombstones, each newest first.
        data: its bytes.
        dropped: the ids of the oldest records, for which there is no room.
    """

    content: Content
    data: bytes
    dropped: list[str]


class Change(NamedTuple):
    """What an update did to a store.

    Attributes:
        before, after: its records, newest first.
        dropped: the ids of the oldest, which had to leave because the store was over its limits.
    """

    before: list[Record]
    after: list[Record]
    dropped: list[str]


def update(root: str, change: Callable[[list[Record]], list[Record]]) -> Change:
    """Change the records of the store; see :func:`rewrite`. What was forgotten stays forgotten."""
    return rewrite(root, lambda content: content._replace(records=change(content.records)))


def rewrite(root: str, change: Callable[[Content], Content], *, conflicted: bool = False) -> Change:
    """Change the store, one process at a time. Nothing else writes it.

    The new store is a new file that takes the old one's place at once, so that a reader, and whoever comes after a
    crash, finds the one or the other, whole. When nothing changed, nothing is written.

    Args:
        change: gets the content as it is now, and returns that which shall be; the oldest records leave over the
            limits, and those that were forgotten after they were made.
        conflicted: whether a store with git's conflict markers counts as an empty one, and is replaced.

    Raises:
        Unusable: ``store-corrupt``, ``store-unsafe``, ``store-conflicted``: the store is not as it must be, and stays
            as it is.
        Refusal: ``memory-busy``, ``memory-unwritable``.
    """
    # What is verified before we hold the lock need not be while others wait.
    earlier = _current(root, conflicted=conflicted)
    with _lock(root):
        current = _current(root, earlier.records if earlier else (), conflicted=conflicted)
        before = current or Content([], [])
        fitted = fit(change(Content(list(before.records), list(before.forgotten))))
        if current is None or fitted.content != before:
            verify(canonical.loads(fitted.data), known=before.records)  # a store that would be refused is not written
            _write(root, fitted.data)
        return Change(before.records, fitted.content.records, fitted.dropped)


def fit(content: Content) -> Fitted:
    """Bring what a store shall hold into order and within the limits: what was forgotten goes, then the oldest."""
    forgotten = tombstones.union(content.forgotten)
    alive = sorted(tombstones.alive(content.records, forgotten), key=newest_first)
    kept = alive[:MAX_RECORDS]
    while (excess := len(data := to_bytes(kept, forgotten)) - MAX_BYTES) > 0:
        while excess > 0:  # to write the whole store again for each record that goes would take long
            excess -= len(to_bytes([kept.pop()]))  # a little more than it took; then the outer loop goes on
    return Fitted(Content(kept, forgotten), data, [record["id"] for record in alive[len(kept) :]])


def _current(root: str, known: Sequence[Record] = (), *, conflicted: bool) -> Content | None:
    """The content of the store, verified; an empty one where there is no store yet.

    Args:
        known: records that need not be verified again.
        conflicted: whether a conflict is no error.

    Returns:
        ``None`` where a conflict must be replaced.
    """
    try:
        found = parse(read_bytes(root), known=known)
        return Content(found.records, found.forgotten)
    except Unusable as unusable:
        if unusable.reason == "store-conflicted" and conflicted:
            return None
        if unusable.reason != "no-memory":
            raise
        return Content([], [])


def to_bytes(records: Sequence[Record], forgotten: Sequence[Tombstone] = ()) -> bytes:
    """The bytes of a store: of version 1, unless something in it needs version 2.

    Args:
        records, forgotten: newest first.
    """
    if forgotten or any(record["schemaVersion"] != 1 for record in records):
        body = {"schemaVersion": 2, "records": records, "forgotten": forgotten}
    else:
        body = {"schemaVersion": 1, "records": records}
    return canonical.to_bytes(canonical.pretty(canonical.seal(body)))


@contextlib.contextmanager
def _lock(root: str) -> Iterator[None]:
    """Hold the lock that every writer of the store holds."""
    with _writing():
        path = safe_files.safe_path(root, LOCK_FILE)
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with contextlib.ExitStack() as held:
        try:
            with _writing():
                held.enter_context(turn(path, _LOCK_SECONDS))
        except TimeoutError:
            raise Refusal("memory-busy", f"another process has held {LOCK_FILE} for {_LOCK_SECONDS} s") from None
        yield


def _write(root: str, data: bytes) -> None:
    with _writing():
        final = safe_files.safe_path(root, INDEX_FILE)
        folder = os.path.dirname(final)
        for entry in os.scandir(folder):  # left by killed writers: whoever holds the lock is the only one at work
            if entry.name.endswith(_TEMPORARY) and not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
        safe_files.write_whole(final, data, _TEMPORARY, mode=0o666, keep_mode=True)
        _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    """Make a rename last through a power cut, where the system lets a folder be synchronized."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except TimeoutError:
        raise
    except UnsafePath as error:
        raise Unusable("store-unsafe", str(error)) from None
    except OSError as error:
        raise Refusal("memory-unwritable", f"{INDEX_FILE}: {error.strerror or error}") from None
