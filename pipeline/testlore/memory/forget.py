"""``forget``: remove episodes because a person asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from testlore.errors import Refusal
from testlore.memory import find, store, tombstones, writer
from testlore.memory.store import Record
from testlore.memory.writer import Content
from testlore.project.safe_files import Root, existing_folder


def forget(root: Root, ids: Sequence[str], why: str) -> list[Record]:
    """Remove episodes because a person asks for it. Each leaves a tombstone, so that no merge brings it back.

    Args:
        ids: ids of episodes or of their candidates, whole, or so much of their beginnings that one episode fits, and
            at least 4 characters.
        why: the person's reason.

    Returns:
        The removed episodes, newest first.

    Raises:
        Refusal: ``call-invalid``: there is no reason, or an id does not match exactly one episode. Nothing is removed.
        Unusable: ``call-invalid``, ``no-memory``, ``store-corrupt``, ``store-conflicted``, ``store-unsafe``.
    """
    if not why.strip():
        raise Refusal("call-invalid", "why is empty; allowed: a person's reason, in words")
    if not ids:
        raise Refusal("call-invalid", "ids is empty; allowed: one id or more")
    store.read_bytes(existing_folder(root))  # if there is no memory, fail here instead of making one
    removed: list[Record] = []

    def without(content: Content) -> Content:
        removed[:] = {one["id"]: one for one in (named(given, content.records) for given in ids)}.values()
        return Content(
            [one for one in content.records if one not in removed],
            [*map(tombstones.of, removed), *content.forgotten],
        )

    writer.rewrite(existing_folder(root), without)
    return sorted(removed, key=store.newest_first)


def named(given: str, records: Sequence[Record]) -> Record:
    """The one episode that an id of it or of its candidate, or a beginning of one, names.

    Raises:
        Refusal: ``call-invalid``.
    """
    return find.one(
        given,
        records,
        "episodes",
        lambda record: (record["id"], record["candidateId"]),
        lambda record: f"{record['id']} ({record['outcome']}, of {record['candidateId']})",
    )
