"""Which files are a project's sources: what git knows of the folder, or else every file below its root."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from testlore import canonical
from testlore.errors import Refusal
from testlore.project import git

#: Folders that hold no sources, at any depth, unless git tracks what is in them.
IGNORED_FOLDERS = frozenset(
    ".git node_modules .tddswarm .firecrawl coverage dist build .next "
    ".venv venv __pycache__ .pytest_cache .mypy_cache .ruff_cache .hypothesis .tox .nox".split()
)

#: A folder with this file is a virtual environment. It holds no sources either, unless git tracks what is in it.
ENVIRONMENT_MARK = "pyvenv.cfg"

# What is never a source, even if git tracks it: our own folder, since remembering must not change the sources; the file
# ".git" of a linked worktree or a submodule; and the database that doit writes beside its dodo.py.
_NEVER_FOLDERS = frozenset([".git", ".tddswarm"])
_NEVER = {".git", *(f".doit.db{end}" for end in ("", ".db", ".dat", ".dir", ".bak", ".pag", "-journal"))}

#: The arguments with which git names every source file, and those that it does not track.
LIST = ("ls-files", "-z", "-t", "--stage", "--others", "--exclude-standard")
UNTRACKED = ("ls-files", "-z", "--others", "--exclude-standard")

# Git must compare states as it does by default, whatever the repository's configuration says.
_STATES = ("-c", "core.trustctime=true", "-c", "core.checkStat=default")
_CHANGED = ("diff-files", "-z", "--name-only", "--relative", "--ignore-submodules=all")

# How an answer to LIST looks: "? PATH" for an untracked file, and for a tracked one its state, mode, object and stage,
# a tab and its path.
_NOT_TRACKED = "? "
_SUBMODULE = "160000"
_MODE = slice(2, 8)


class Index(NamedTuple):
    """Git's index, with which git compares the states of files.

    Attributes:
        digest: the digest of its bytes; empty when it cannot be read, or git cannot compare without starting a program.
        changed: the arguments with which git names the tracked files whose state differs from it.
    """

    digest: str
    changed: tuple[str, ...]


#: For a project whose files git does not compare.
NO_INDEX = Index("", ())


class Listing(NamedTuple):
    """A project's source files, in no order.

    Attributes:
        files: their paths, relative to the root.
        submodules: the folders that are repositories of their own. Their files are among ``files``.
    """

    files: set[str]
    submodules: list[str]


def paths(root: str) -> list[str]:
    """The project's source files, relative, in UTF-16 order.

    If git knows the folder, these are the files that it tracks or does not ignore; else every file below the root.

    Raises:
        Refusal: ``sources-unknown``: there is a repository, but git gives no answer.
    """
    return in_utf16_order(everything(root, git.Question(root, *LIST)).files)


def everything(root: str, question: git.Question) -> Listing:
    """All source files.

    Args:
        question: the question ``LIST``.

    Raises:
        Refusal: ``sources-unknown``.
    """
    tracked: set[str] = set()  # git names a file in a conflict more than once
    submodules: set[str] = set()
    others = []
    for line in _answer(root, question):
        if line.startswith(_NOT_TRACKED):
            others.append(line.removeprefix(_NOT_TRACKED))
        else:
            state, _, path = line.partition("\t")
            (submodules if state[_MODE] == _SUBMODULE else tracked).add(path)
    ordered = sorted(submodules)
    found = {*_may_be_sources(tracked), *_sources_among(root, others), *in_submodules(root, ordered)}
    return Listing(found or set(walk(root)), ordered)


def changed(root: str, question: git.Question) -> set[str]:
    """The tracked source files whose state git calls changed.

    Args:
        question: the question ``Index.changed``.

    Raises:
        Refusal: ``sources-unknown``.
    """
    return set(_may_be_sources(_answer(root, question)))


def untracked(root: str, question: git.Question) -> set[str]:
    """The source files that git does not track.

    Args:
        question: the question ``UNTRACKED``.

    Raises:
        Refusal: ``sources-unknown``.
    """
    return set(_sources_among(root, _answer(root, question)))


def in_submodules(root: str, submodules: Iterable[str]) -> Iterator[str]:
    """The source files in submodules, and in theirs. A folder without a repository is no less a part of the project.

    Args:
        submodules: their folders, relative to the root.

    Raises:
        Refusal: ``sources-unknown``.
    """
    for folder in submodules:
        place = os.path.join(root, folder)
        if os.path.realpath(place) != os.path.join(os.path.realpath(root), folder):
            continue  # a link has taken its place
        if os.path.lexists(os.path.join(place, ".git")):
            inside: Iterable[str] = everything(place, git.Question(place, *LIST)).files
        else:
            inside = walk(place)
        yield from _may_be_sources(f"{folder}/{path}" for path in inside)


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
        if prefix and any(entry.name == ENVIRONMENT_MARK for entry in entries):
            continue
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                if entry.name not in _NEVER:
                    yield prefix + entry.name
            elif entry.name not in IGNORED_FOLDERS:
                pending.append(f"{prefix}{entry.name}/")


def _answer(root: str, question: git.Question) -> list[str]:
    """What git names, part by part; nothing where there is no repository.

    Raises:
        Refusal: ``sources-unknown``. Taking a repository for a plain folder would make sources of what it ignores.
    """
    try:
        output = question.answer()
    except git.Failure as failure:
        repository = git.repository(root)
        if repository:
            raise Refusal("sources-unknown", f"{repository} is there, but git said: {failure}") from None
        return []
    return [part for part in os.fsdecode(output).split("\0") if part]


def _may_be_sources(found: Iterable[str]) -> Iterator[str]:
    """Paths without those that are never sources."""
    for path in found:
        *folders, name = path.split("/")
        if name not in _NEVER and _NEVER_FOLDERS.isdisjoint(folders):
            yield path


def _sources_among(root: str, found: Iterable[str]) -> Iterator[str]:
    """Paths of untracked files without those in folders that hold no sources.

    A repository of its own that nobody has added, such as another worktree, ends with a slash: it is no file.
    """
    left_out = {"": False}
    for path in _may_be_sources(found):
        *folders, name = path.split("/")
        above = ""
        for folder in folders:
            below = f"{above}{folder}/"
            if below not in left_out:
                left_out[below] = (
                    left_out[above]
                    or folder in IGNORED_FOLDERS
                    or os.path.lexists(os.path.join(root, below, ENVIRONMENT_MARK))
                )
            above = below
        if name and not left_out[above]:
            yield path


def unwatched(root: str) -> set[str]:
    """The tracked files whose state git does not compare: those marked *assume unchanged* or *skip worktree*.

    Raises:
        Refusal: ``sources-unknown``.
    """
    marked = _answer(root, git.Question(root, "ls-files", "-z", "-v", "--cached"))
    return {line[2:] for line in marked if line[0] != "H"}


def index(root: str) -> Index:
    """Git's index.

    Where a file was written as late as the index, git compares its bytes too, and would start its filter.
    """
    filters = git.filters(root)  # git answers this while we read the index
    path = git.ask(root, "rev-parse", "--git-path", "index").removesuffix(b"\n")
    try:
        with open(os.path.join(os.fsencode(root), path), "rb") as file:
            digest = canonical.digest(file.read())
    except (OSError, ValueError):  # ValueError: what git said is no path
        digest = ""
    off = git.filters_off(filters)
    return NO_INDEX if off is None else Index(digest, (*off, *_STATES, *_CHANGED))
