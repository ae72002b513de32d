"""How the canonical store is written: one process at a time, whole, and only when what is written would be accepted."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from testlore import canonical
from testlore.errors import Refusal, UnsafePath, Unusable
from testlore.memory.store import INDEX_FILE, MAX_BYTES, MAX_RECORDS, Record, newest_first, parse, read_bytes, verify
from testlore.memory.turn import turn
from testlore.project import safe_files

LOCK_FILE = f"{INDEX_FILE}.lock"

_TEMPORARY = ".testlore-tmp"
_LOCK_SECONDS = 60


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
    """Change the store, one process at a time. Nothing else writes it.

    The new store is a new file that takes the old one's place at once, so that a reader, and whoever comes after a
    crash, finds the one or the other, whole. When nothing changed, nothing is written.

    Args:
        change: gets the records as they are now, and returns those that shall be; the oldest leave over the limits.

    Raises:
        Unusable: ``store-corrupt``, ``store-unsafe``: the store is not as it must be, and stays as it is.
        Refusal: ``memory-busy``, ``memory-unwritable``.
    """
    earlier = _current(root)  # what is verified before we hold the lock need not be while others wait
    with _lock(root):
        before = _current(root, earlier)
        wanted = sorted(change(list(before)), key=newest_first)
        after, data = _within_limits(wanted)
        if after != before:
            verify(canonical.loads(data), known=before)  # a store that would be refused is not written
            _write(root, data)
        return Change(before, after, [record["id"] for record in wanted[len(after) :]])


def _current(root: str, known: Sequence[Record] = ()) -> list[Record]:
    """The records of the store, verified; none where there is no store yet.

    Args:
        known: records that need not be verified again.
    """
    try:
        return parse(read_bytes(root), known=known).records
    except Unusable as unusable:
        if unusable.reason != "no-memory":
            raise
        return []


def _within_limits(records: list[Record]) -> tuple[list[Record], bytes]:
    kept = records[:MAX_RECORDS]
    while True:
        body = {"schemaVersion": 1, "records": kept}
        data = canonical.to_bytes(canonical.pretty(canonical.seal(body)))
        if len(data) <= MAX_BYTES:
            return kept, data
        kept = kept[:-1]


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
        safe_files.write_whole(final, data, _TEMPORARY)
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
