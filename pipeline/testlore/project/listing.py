"""Which files are a project's sources: what git knows of the folder, or else every file below its root."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from testlore import canonical
from testlore.project import git

#: Folders that are never part of a project's sources, at any depth.
IGNORED_FOLDERS = frozenset(
    ".git node_modules .tddswarm .firecrawl coverage dist build .next "
    ".venv venv __pycache__ .pytest_cache .mypy_cache .ruff_cache .hypothesis .tox .nox".split()
)

# Files that are never sources: a linked worktree has a file ".git", and doit writes its database beside its dodo.py.
_NEVER = {".git", *(f".doit.db{end}" for end in ("", ".db", ".dat", ".dir", ".bak", ".pag", "-journal"))}

# Git must compare states as it does by default, whatever the repository's configuration says, and it must not start a
# program that the repository names (a file system monitor).
_OPTIONS = ("-c", "core.fsmonitor=false", "-c", "core.trustctime=true", "-c", "core.checkStat=default")

#: The arguments with which git names every source file, those that it does not track, and those whose state differs.
LIST = (*_OPTIONS, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
UNTRACKED = (*_OPTIONS, "ls-files", "-z", "--others", "--exclude-standard")
CHANGED = (*_OPTIONS, "diff-files", "-z", "--name-only", "--relative", "--ignore-submodules=all")


def paths(root: str) -> list[str]:
    """The project's source files, relative, in UTF-16 order.

    If git knows the folder, these are the files that it tracks or does not ignore; else every file below the root.
    """
    listed = set(names(git.ask(root, *LIST)))  # git names a file in a conflict more than once
    return in_utf16_order(listed or walk(root))


def in_utf16_order(names: Iterable[str]) -> list[str]:
    """Paths as JavaScript sorts them, by UTF-16 code units."""
    found = list(names)
    if all(map(str.isascii, found)):
        return sorted(found)
    return sorted(found, key=lambda name: name.encode("utf-16-be", "surrogatepass"))


def walk(root: str) -> Iterator[str]:
    """Every file below the root that may be a source, in no order; a folder that cannot be read counts as empty."""
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            entries = list(os.scandir(os.path.join(root, prefix)))
        except OSError:
            continue
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                if entry.name not in _NEVER:
                    yield prefix + entry.name
            elif entry.name not in IGNORED_FOLDERS:
                pending.append(f"{prefix}{entry.name}/")


def names(output: bytes) -> list[str]:
    """The paths that git names in its answer to one of the questions above, without those that are never sources."""
    found = (name for name in os.fsdecode(output).split("\0") if name)
    return [name for name in found if _may_be_source(name.split("/"))]


def _may_be_source(parts: list[str]) -> bool:
    return parts[-1] not in _NEVER and IGNORED_FOLDERS.isdisjoint(parts[:-1])


def unwatched(root: str) -> set[str]:
    """The tracked files whose state git does not compare: those marked *assume unchanged* or *skip worktree*."""
    marked = os.fsdecode(git.ask(root, *_OPTIONS, "ls-files", "-z", "-v", "--cached")).split("\0")
    return {line[2:] for line in marked if line and line[0] != "H"}


def index(root: str) -> str:
    """The digest of git's index; empty when it cannot be read."""
    path = git.ask(root, *_OPTIONS, "rev-parse", "--git-path", "index").removesuffix(b"\n")
    try:
        with open(os.path.join(os.fsencode(root), path), "rb") as file:
            return canonical.digest(file.read())
    except OSError:
        return ""
