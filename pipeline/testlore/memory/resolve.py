"""``resolve`` and ``merge-driver``: join the two sides of the memory when git merges branches."""

from __future__ import annotations

import os
from typing import NamedTuple

from testlore import canonical
from testlore.errors import Refusal, Unusable
from testlore.memory import store, writer
from testlore.memory.merge import union
from testlore.memory.store import INDEX_FILE, MAX_BYTES, Store
from testlore.project import git, safe_files
from testlore.project.safe_files import Root, existing_folder

#: Where git's index keeps each side while a merge, a rebase or a cherry-pick waits for a person.
_STAGES = {"ours": 2, "theirs": 3}
_ALLOWED = (
    "allowed: a memory that git is merging and that both sides have; "
    f"`git checkout --merge -- {INDEX_FILE}` brings back a conflict that was marked as resolved"
)
_TEMPORARY = ".testlore-tmp"


class Union(NamedTuple):
    """What joining two sides did.

    Attributes:
        ours, theirs: how many episodes each side had.
        total: how many there are now.
        left: the ids of the oldest, which had no room, newest first.
    """

    ours: int
    theirs: int
    total: int
    left: list[str]


def resolve(root: Root) -> Union:
    """Replace a memory with git's conflict markers by the union of both sides, as git's index has them.

    A memory without markers is kept: its episodes come into the union, too.

    Raises:
        Refusal: ``call-invalid``: git's index does not have two sides of the memory.
        Unusable: ``call-invalid``; ``store-corrupt``: a side, or the memory itself, is not as it must be;
            ``store-unsafe``. Nothing is changed then.
    """
    folder = existing_folder(root)
    data = {name: git.ask(folder, "cat-file", "blob", f":{stage}:./{INDEX_FILE}") for name, stage in _STAGES.items()}
    missing = [name for name, found in data.items() if not found]
    if missing:
        raise Refusal("call-invalid", f"git's index does not hold {' and '.join(missing)} of {INDEX_FILE}; {_ALLOWED}")
    ours, theirs = (_side(found, name) for name, found in data.items())
    change = writer.rewrite(folder, lambda content: union(content, ours, theirs), conflicted=True)
    return Union(len(ours.records), len(theirs.records), len(change.after), change.dropped)


def drive(ours_file: str, theirs_file: str) -> Union:
    """What git's merge driver does: write the union of two files with stores into the first one.

    Raises:
        Refusal: ``call-invalid``: a file cannot be read or written.
        Unusable: ``store-corrupt``, ``store-conflicted``: a file is no store. Neither is changed then.
    """
    ours, theirs = (_side(_read(file), file) for file in (ours_file, theirs_file))
    fitted = writer.fit(union(ours, theirs))
    store.verify(canonical.loads(fitted.data), known=[*ours.records, *theirs.records])
    try:
        safe_files.write_whole(os.path.abspath(ours_file), fitted.data, _TEMPORARY, mode=0o666, keep_mode=True)
    except OSError as error:
        raise Refusal("call-invalid", f"{ours_file!r:.200} cannot be written: {error.strerror}") from None
    return Union(len(ours.records), len(theirs.records), len(fitted.content.records), fitted.dropped)


def _side(data: bytes, name: str) -> Store:
    try:
        return store.parse(data)
    except Unusable as unusable:
        raise Unusable(unusable.reason, f"in {name}: {unusable.detail}") from None


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise Refusal("call-invalid", f"{file!r:.200} cannot be read: {getattr(error, 'strerror', error)}") from None
    if len(data) > MAX_BYTES:
        raise Unusable("store-corrupt", f"{file} is larger than {MAX_BYTES} bytes")
    return data
