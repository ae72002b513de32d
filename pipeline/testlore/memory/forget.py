"""``forget``: remove episodes because a person asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from testlore.errors import Refusal
from testlore.memory import store, writer
from testlore.memory.store import Record
from testlore.project.safe_files import Root, existing_folder

_FEWEST_ID_DIGITS = 8


def forget(root: Root, ids: Sequence[str], why: str) -> list[Record]:
    """Remove episodes because a person asks for it.

    Args:
        ids: whole ids, or at least their first 8 digits.
        why: the person's reason.

    Returns:
        The removed episodes, newest first. If another worktree still has one, a merge brings it back.

    Raises:
        Refusal: ``call-invalid``: there is no reason, or an id does not match exactly one episode. Nothing is removed.
        Unusable: ``call-invalid``, ``no-memory``, ``store-corrupt``, ``store-unsafe``.
    """
    if not why.strip():
        raise Refusal("call-invalid", "why is empty; allowed: a person's reason, in words")
    if not ids:
        raise Refusal("call-invalid", "ids is empty; allowed: one id or more")
    store.read_bytes(existing_folder(root))  # if there is no memory, fail here instead of making one
    wanted: set[str] = set()

    def without(records: list[Record]) -> list[Record]:
        for given in ids:
            matching = [one["id"] for one in records if one["id"].startswith(given)]
            if len(matching) != 1 or len(given) < _FEWEST_ID_DIGITS:
                fits = f"fits {len(matching)} episodes" if len(given) >= _FEWEST_ID_DIGITS else "is too short"
                raise Refusal(
                    "call-invalid",
                    f"id {given!r:.80} {fits}; allowed: the first {_FEWEST_ID_DIGITS} digits or more of one",
                )
            wanted.add(matching[0])
        return [one for one in records if one["id"] not in wanted]

    change = writer.update(existing_folder(root), without)
    return [one for one in change.before if one["id"] in wanted]
