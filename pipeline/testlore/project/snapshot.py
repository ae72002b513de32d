"""A project's source files and their digests. Digests are kept, so that only changed files are read again.

A file's digest is kept with the file's *state*: its size, modification and change time, inode and mode. If a file was
read very soon after it was written, a later edit may leave its state unchanged. Such a file is *racily clean*, and is
read again next time; see git's ``Documentation/technical/racy-git``. The result is always the same as if every file had
been read.

In a large git work tree we do not even look at the state of every file. Git's index holds states too, and git compares
them faster. As long as the index has the same bytes, only these files can have changed: those that ``git diff-files``
names (it compares states, not contents), those that git does not track, those of submodules, and those that we watch
ourselves.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

from testlore import canonical, digests
from testlore.errors import Fallback
from testlore.progress import Progress, silent
from testlore.project import git, listing

#: The two files in which a scan keeps its result: a small sealed head, and a body that lists every file.
HEAD, BODY = "snapshot.json", "snapshot.files"

_SMALL = 200  # with fewer files, reading all of them costs no more than keeping their digests
_LARGE = 2_000  # with more files, starting two processes to compare with git's index pays off
_MOST_WATCHED = 1_000
_MAX_BODY_BYTES = 256 << 20
_RACY_NS = 2_000_000_000  # the coarsest clock of a common file system ticks every two seconds
_RACY = "racy"  # kept instead of the state of a racily clean file; no real state equals it


class Kept(Protocol):
    """A sealed object that was kept."""

    @property
    def value(self) -> dict[str, Any]:
        """The object."""


class Keeper(Protocol):
    """Where a scan keeps digests for the next scan: the derived cache. Each method may raise ``Fallback``."""

    def read(self, name: str, limit: int) -> bytes | None:
        """A file's bytes, or ``None`` when there is none."""

    def read_sealed(self, name: str) -> Kept | None:
        """A sealed object that this machine wrote, or ``None`` when there is none."""

    def write(self, name: str, data: bytes) -> None:
        """Write a file, or leave the old one as it is when that fails."""

    def write_sealed(self, name: str, value: dict[str, Any]) -> None:
        """Seal an object and write it as a file."""


class Entry(NamedTuple):
    """A file when it was read: its state as text, and the digest of its bytes; both are empty when there was none."""

    state: str
    digest: str


_NOTHING = Entry("", "")


class Snapshot(NamedTuple):
    """The source files of a project.

    Attributes:
        digest: the digest of the map ``{path: digest of the file's bytes}``, with paths in UTF-16 order.
        tools: the part of that map for the files that decide how tests run.
        files: returns the whole map. This is slow when nothing changed, since the map was not read then.
        derive: returns a function's result for the whole map. The result is kept under a name until the map changes.
        read: how many files were read to make the snapshot.
    """

    digest: str
    tools: dict[str, str]
    files: Callable[[], dict[str, str]]
    derive: Callable[[str, Callable[[dict[str, str]], str]], str]
    read: int


class Scan:
    """A scan of the project's sources. It starts git at once, in child processes, while the caller goes on.

    Args:
        root: the project's root.
        tools: the paths of the files in the snapshot's ``tools``.
        keeper: where digests are kept; without it every file is read.
        progress: told how many files were looked at, where that may take long.
    """

    def __init__(
        self, root: str, tools: Iterable[str], keeper: Keeper | None = None, progress: Progress = silent
    ) -> None:
        self._root = root
        self._progress = progress
        self._tools = frozenset(tools)
        self._keeper = keeper
        self._begun = time.time_ns()
        self._read = 0
        self._head: dict[str, Any] = {}
        self._kept: dict[str, Any] = {}
        if keeper is not None:
            with contextlib.suppress(Fallback):
                kept = keeper.read_sealed(HEAD)
                if kept is not None and kept.value.get("code") == digests.of("sources"):
                    self._kept, self._head = kept.value, dict(kept.value)
        if self._head.get("asked") != sorted(self._tools):  # the head has the digests of other tool files
            self._head["index"] = ""
        self._index = listing.index(root) if self._head.get("index") else listing.NO_INDEX
        asked = (self._index.changed, listing.UNTRACKED) if self._unchanged_index() else (listing.LIST,)
        self._questions: dict[tuple[str, ...], git.Question] = {
            arguments: git.Question(root, *arguments) for arguments in asked
        }

    def close(self) -> None:
        """End the questions to git that are still open."""
        while self._questions:
            self._questions.popitem()[1].end()

    def snapshot(self) -> Snapshot:
        """The sources as they are now.

        Raises:
            Refusal: ``sources-unknown``: there is a repository, but git gives no answer.
        """
        try:
            return (self._unchanged_index() and self._since_last()) or self._anew()
        finally:
            self.close()

    def _unchanged_index(self) -> bool:
        return bool(self._index.digest) and self._head.get("index") == self._index.digest

    def _question(self, arguments: tuple[str, ...]) -> git.Question:
        """A question to git. It may have been asked when the scan began."""
        return self._questions.pop(arguments, None) or git.Question(self._root, *arguments)

    def _since_last(self) -> Snapshot | None:
        """The last snapshot, updated; ``None`` when its body is lost."""
        watched = {path: Entry(*entry) for path, entry in self._head["watched"].items()}
        changed, loose = self._suspects(self._head["submodules"])
        suspects = {*changed, *loose, *self._head["unwatched"]}
        entries = {path: self._entry(path, watched.get(path)) for path in suspects | set(watched)}
        # What git no longer names is ignored now, or left out; it may still be there.
        entries.update((path, _NOTHING) for path in self._head["loose"] if path not in loose)
        same = entries.keys() == watched.keys() and all(
            watched[path].digest == entries[path].digest for path in entries
        )
        if same:
            self._keep_head(watched=_to_watch(entries, suspects), loose=sorted(loose))
            return self._result()
        body, self._head["loose"] = self._body(), sorted(loose)
        return self._finish({**body, **entries}, suspects) if body else None

    def _suspects(self, submodules: list[str]) -> tuple[set[str], set[str]]:
        """The files whose state git calls changed; and those that its index has not: untracked, or of submodules."""
        changed = listing.changed(self._root, self._question(self._index.changed))
        loose = listing.untracked(self._root, self._question(listing.UNTRACKED))
        return changed, loose.union(listing.in_submodules(self._root, submodules))

    def _anew(self) -> Snapshot:
        """A snapshot for which we look at the state of every file."""
        self._progress("listing the sources", 0, 0)
        listed, submodules = listing.everything(self._root, self._question(listing.LIST))
        suspects: set[str] = set()
        self._index = listing.NO_INDEX
        self._head.update(unwatched=[], loose=[], submodules=submodules)
        if len(listed) > _LARGE and self._keeper is not None:
            # Ask git before any file is read, so that a change made meanwhile is seen next time.
            self._index = listing.index(self._root)
        if self._index.digest:
            (changed, loose), unwatched = self._suspects(submodules), listing.unwatched(self._root)
            self._head.update(unwatched=sorted(unwatched), loose=sorted(loose))
            suspects = changed | loose | unwatched
        body = self._body()
        entries: dict[str, Entry] = {}
        for path in listed:
            entries[path] = self._entry(path, body.get(path))
            self._progress("reading the sources", len(entries), len(listed))
        return self._finish(entries, suspects, body)

    def _entry(self, path: str, known: Entry | None) -> Entry:
        """A file's entry today: the known one if the state is the same, else the file is read."""
        absolute = os.path.join(self._root, path)
        try:
            found = os.lstat(absolute)
            if not stat.S_ISREG(found.st_mode):
                return _NOTHING
            state = f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino} {found.st_mode}"
            if known is not None and known.state == state:
                return known
            self._read += 1
            with open(absolute, "rb") as file:
                digest = canonical.digest(file.read())
        except OSError:
            return _NOTHING
        racy = max(found.st_mtime_ns, found.st_ctime_ns) > self._begun - _RACY_NS
        return Entry(_RACY if racy else state, digest)

    def _finish(self, entries: dict[str, Entry], suspects: set[str], body: dict[str, Entry] | None = None) -> Snapshot:
        """Make a snapshot of these entries, and keep it for the next scan."""
        ordered = {path: entries[path] for path in listing.in_utf16_order(entries) if entries[path].digest}
        files = {path: entry.digest for path, entry in ordered.items()}
        digest = canonical.digest(files)
        watched = _to_watch(entries, suspects)
        compares = bool(self._index.digest) and len(watched) <= _MOST_WATCHED
        if len(ordered) < _SMALL:
            self._keeper = None
        lines = os.fsencode("\0".join(f"{entry.digest}\t{entry.state}\t{path}" for path, entry in ordered.items()))
        if self._keeper is not None and ordered != body:
            with contextlib.suppress(Fallback):
                self._keeper.write(BODY, lines)
        self._keep_head(
            code=digests.of("sources") if self._keeper is not None else "",
            body=canonical.digest(lines),
            digest=digest,
            index=self._index.digest if compares else "",
            watched=watched if compares else {},
            loose=self._head["loose"] if compares else [],
            asked=sorted(self._tools),
            tools={path: files[path] for path in files if path in self._tools},
            derived=self._head.get("derived", {}) if self._head.get("digest") == digest else {},
        )
        return self._result(files)

    def _result(self, files: dict[str, str] | None = None) -> Snapshot:
        def whole() -> dict[str, str]:
            if files is not None:
                return files
            body = self._body()
            if not body:
                return self._anew().files()
            return {path: entry.digest for path, entry in body.items()}

        def derive(name: str, work: Callable[[dict[str, str]], str]) -> str:
            derived: dict[str, str] = self._head["derived"]
            if name not in derived:
                self._keep_head(derived={name: work(whole())})
            return self._head["derived"][name]  # type: ignore[no-any-return]

        return Snapshot(self._head["digest"], self._head["tools"], whole, derive, self._read)

    def _keep_head(self, **changes: Any) -> None:
        """Change the head, and keep it for the next scan unless the very same one is kept already."""
        head = {"schemaVersion": 1, **self._head, **changes}
        head["watched"] = {path: list(entry) for path, entry in head["watched"].items()}
        if self._keeper is not None and head != self._kept:
            with contextlib.suppress(Fallback):
                self._keeper.write_sealed(HEAD, head)
        self._head = self._kept = head

    def _body(self) -> dict[str, Entry]:
        """Every file of the last snapshot; empty when the kept body does not belong to the head."""
        if self._keeper is None:
            return {}
        with contextlib.suppress(Fallback):
            lines = self._keeper.read(BODY, _MAX_BODY_BYTES) or b""
            if canonical.digest(lines) == self._head.get("body"):
                rows = (line.split("\t", 2) for line in os.fsdecode(lines).split("\0") if line)
                return {path: Entry(state, digest) for digest, state, path in rows}
        return {}


def _to_watch(entries: dict[str, Entry], suspects: set[str]) -> dict[str, Entry]:
    return {path: entry for path, entry in entries.items() if path in suspects or entry.state == _RACY}
