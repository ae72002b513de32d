"""``forget``: remove episodes because a person asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from testlore.errors import Refusal
from testlore.memory import store, tombstones, writer
from testlore.memory.store import Record
from testlore.memory.writer import Content
from testlore.project.safe_files import Root, existing_folder

_FEWEST_CHARACTERS = 4
_MOST_NAMED = 10


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
        removed[:] = {one["id"]: one for one in (_named(given, content.records) for given in ids)}.values()
        return Content(
            [one for one in content.records if one not in removed],
            [*map(tombstones.of, removed), *content.forgotten],
        )

    writer.rewrite(existing_folder(root), without)
    return sorted(removed, key=store.newest_first)


def _named(given: str, records: Sequence[Record]) -> Record:
    """The one record that an id, or a beginning of one, names."""
    whole = [one for one in records if given in (one["id"], one["candidateId"])]
    if not whole and len(given) < _FEWEST_CHARACTERS:
        allowed = f"allowed: at least {_FEWEST_CHARACTERS} characters of one"
        raise Refusal("call-invalid", f"id {given!r:.80} names no episode, and is too short for a beginning; {allowed}")
    fitting = whole or [one for one in records if one["id"].startswith(given) or one["candidateId"].startswith(given)]
    if len(fitting) == 1:
        return fitting[0]
    allowed = "allowed: the id of an episode or of its candidate, or the beginning of one"
    if not fitting:
        raise Refusal("call-invalid", f"id {given!r:.80} fits no episode; {allowed}")
    named = ", ".join(f"{one['id']} ({one['outcome']}, of {one['candidateId']})" for one in fitting[:_MOST_NAMED])
    more = f" and {len(fitting) - _MOST_NAMED} more" if len(fitting) > _MOST_NAMED else ""
    raise Refusal("call-invalid", f"id {given!r:.80} fits {len(fitting)} episodes: {named}{more}; {allowed}")
