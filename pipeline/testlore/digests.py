"""Which of our own files decide what is derived and kept in the cache, and their digests.

Whatever was made by other code, or checked against another schema, is made or checked again. So each module and schema
that changes an outcome must be listed here under that outcome's name.
"""

from __future__ import annotations

import os
from functools import cache

from testlore import canonical, schemas

_HERE = os.path.dirname(os.path.abspath(__file__))
_WORDS = ("ranking/tokens.py", "ranking/documents.py", "ranking/arabic.py")

#: Each derived outcome, and the files that decide it: modules of this package, rooms
#: as ``ROOM/``, which stand for every file below them, and schemas as ``schemas/NAME``.
DECIDED_BY = {
    "validation": (
        *("canonical.py", "schemas.py", "project/settings.py", "forms.py", "memory/store.py", "memory/texts.py"),
        *("schemas/config", "schemas/store"),
    ),
    "words": _WORDS,
    "features": (*_WORDS, "embedding/features.py"),
    "model": ("canonical.py", *_WORDS, "embedding/command.py", "embedding/semantic.py"),
    "statistics": ("canonical.py", *_WORDS, "ranking/comments.py", "ranking/bm25.py", "stages/terms.py"),
    "sources": ("canonical.py", "project/git.py", "project/listing.py", "project/snapshot.py", "project/provenance.py"),
    "verdict": (
        *("evidence/", "frameworks/", "child.py", "guard.py", "project/git.py", "project/safe_files.py"),
        *(f"project/{name}.py" for name in ("listing", "snapshot", "provenance", "settings")),
        *("canonical.py", "forms.py", "memory/store.py", "memory/texts.py", "schemas/validation"),
    ),
    "index": ("canonical.py", "engines/calls.py", "stages/key.py", "stages/embed.py", "stages/index.py"),
}


@cache
def of(outcome: str, *more: str) -> str:
    """The digest of all files that decide an outcome. A process reads each file once.

    Args:
        outcome: a key of :data:`DECIDED_BY`.
        more: further files, such as an engine's own.
    """
    return canonical.digest([_of_file(name) for name in (*files(outcome), *more)])


def files(outcome: str) -> list[str]:
    """The files that decide an outcome, those of its rooms one by one.

    Args:
        outcome: a key of :data:`DECIDED_BY`.
    """
    return [one for name in DECIDED_BY[outcome] for one in (_below(name) if name.endswith("/") else [name])]


def _below(room: str) -> list[str]:
    found = []
    for folder, folders, names in os.walk(os.path.join(_HERE, room)):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        below = os.path.relpath(folder, _HERE).replace(os.sep, "/")
        found += [f"{below}/{name}" for name in sorted(names)]
    return found


@cache
def _of_file(name: str) -> str:
    folder, _, schema = name.partition("/")
    if folder == "schemas":
        return schemas.digest(schema)
    with open(os.path.join(_HERE, name), "rb") as file:
        return canonical.digest(file.read())
