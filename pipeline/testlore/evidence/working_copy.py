"""The one copy of a project in which its suites run, one after another.

Copying 10,000 small files for each run takes longer than most suites. So a run's copy is put back to what it was: every
file that the run changed, made or removed. What the system does not prove to be unchanged is copied anew, and where not
even that is certain, the whole project is. A run cannot tell the difference from a copy of its own.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from testlore.errors import Refusal, UnsafePath
from testlore.evidence import copies, installed, room, traces
from testlore.evidence.traces import Attributes, State
from testlore.progress import Progress, silent
from testlore.project import safe_files
from testlore.project.temporary import remove


class _Unproved(Exception):
    """We cannot be sure that the copy is as it was."""


class _Folder(NamedTuple):
    """A folder of the copy: its rights, and what else it is."""

    mode: int
    attributes: Attributes


class WorkingCopy:
    """A copy of a project that is made when it is first needed, and put back before it is needed again.

    Args:
        root: the project.
        folder: a disposable folder.
        digests: the project's source files, with the digests of their bytes.
        progress: told how much is copied, or put back.

    Attributes:
        size: how many bytes the copied files have.
    """

    def __init__(self, root: str, folder: str, digests: Mapping[str, str], progress: Progress = silent) -> None:
        self.size = 0
        self._root = root
        self._folder = folder
        self._digests = digests
        # A project's own folder may be a package, which tests import by its name.
        self._name = os.path.basename(os.path.realpath(root)) or "project"
        self._metadata: list[str] = []
        self._progress = progress
        self._at = ""  # where the copy is now
        self._states: dict[str, State] = {}  # of the files and links that are as they were when copied
        self._modes: dict[str, int] = {}
        self._links: dict[str, str] = {}
        self._folders: dict[str, _Folder] = {}
        self._newest = 0
        self._ticked = False
        self._shows_mapped_writes: bool | None = None

    @property
    def path(self) -> str:
        """Where the copy is since it was last prepared."""
        return self._at

    def prepare(self, name: str, files: Mapping[str, bytes], deleted: Sequence[str]) -> str:
        """The copy as the project is, but for some changes, at a path of its own.

        Args:
            name: a name for the folder around it that no other run has.
            files: the content of new and replaced files, by path.
            deleted: the paths of files to delete.

        Returns:
            The path. It ends with the name of the project's own folder.

        Raises:
            Refusal: ``candidate-unsafe``: a path leads out of the copy; ``candidate-changed``: a file to delete is
                missing; ``provenance-changed``: a source file has changed; ``no-room``, ``copy-unwritable``.
            OSError: a change cannot be written.
        """
        around, last = os.path.join(self._folder, name), os.path.dirname(self._at)
        target = os.path.join(around, self._name)
        remove(around)
        put_back = bool(self._at) and self._is_put_back()
        if last and not put_back:
            remove(last)
        os.mkdir(around)
        if put_back:
            os.rename(self._at, target)  # a process that outlived its run may know the old path
            remove(last)
        else:
            self._copy_anew(target)
        self._at = target
        self._change(files, deleted)
        installed.link_node_packages(self._root, target)
        installed.link_packages_above(self._root, target)
        installed.copy_metadata(self._root, target, self._metadata)
        self._ticked = traces.wait_for_tick(os.path.join(self._folder, "clock"), self._newest)
        return target

    def _copy_anew(self, target: str) -> None:
        self._states, self._modes, self._links, self._folders, self._newest = {}, {}, {}, {}, 0
        copied = copies.pristine(self._root, target, self._progress)
        if {path: file.digest for path, file in copied.items()} != self._digests:
            raise Refusal("provenance-changed", "the sources changed while they were copied")
        self._metadata = installed.metadata(self._root, copied)
        self.size = sum(file.size for file in copied.values())
        self._folders[""] = _folder(target)
        pending = [""]
        while pending:
            below = pending.pop()
            for entry in os.scandir(os.path.join(target, below)):
                path = f"{below}/{entry.name}" if below else entry.name
                if entry.is_dir(follow_symlinks=False):
                    self._folders[path] = _folder(entry.path)
                    pending.append(path)
                else:
                    if entry.is_symlink():
                        self._links[path] = os.readlink(entry.path)
                    self._record(path, entry.stat(follow_symlinks=False))

    def _record(self, path: str, found: os.stat_result) -> None:
        """Remember the state of a file or link that is as it was copied."""
        self._states[path] = traces.state(found)
        self._modes[path] = stat.S_IMODE(found.st_mode)
        self._newest = max(self._newest, found.st_ctime_ns)

    def _change(self, files: Mapping[str, bytes], deleted: Sequence[str]) -> None:
        for path in deleted:
            place = self._inside(path)
            if not os.path.isfile(place):
                raise Refusal("candidate-changed", f"it deletes {path}, which the project does not have")
            self._states.pop(path, None)
            os.unlink(place)
        for path, content in files.items():
            place = self._inside(path)
            self._states.pop(path, None)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(content)

    def _inside(self, path: str) -> str:
        """The absolute form of a path in the copy, from which neither the path nor a link leads out.

        Raises:
            Refusal: ``candidate-unsafe``.
        """
        try:
            return safe_files.safe_path(self._at, path)
        except UnsafePath as error:
            raise Refusal("candidate-unsafe", str(error)) from None

    def _is_put_back(self) -> bool:
        """Put the copy back; false where we cannot be sure that it is as it was."""
        try:
            if not self._ticked or traces.anything_runs(self._folder):
                return False
            if self._shows_mapped_writes is None:
                self._shows_mapped_writes = traces.shows_mapped_writes(os.path.join(self._folder, "mapped"))
            self._put_back()
        except _Unproved:
            return False
        except OSError as error:
            if error.errno in room.FULL:
                raise
            return False
        return True

    def _put_back(self) -> None:
        """Remove what is not as it was copied, and copy it again.

        Raises:
            _Unproved: something cannot be put back.
            Refusal: ``provenance-changed``: a source file has changed.
            OSError: it cannot be read or written.
        """
        if not stat.S_ISDIR(os.lstat(self._at).st_mode):
            raise _Unproved
        self._check_folder("", self._at)
        seen, pending = {""}, [""]
        while pending:
            below = pending.pop()
            for entry in list(os.scandir(os.path.join(self._at, below))):
                path = f"{below}/{entry.name}" if below else entry.name
                self._progress("putting the copy back", len(seen), len(self._states) + len(self._folders))
                if path in self._folders and entry.is_dir(follow_symlinks=False):
                    self._check_folder(path, entry.path)
                    pending.append(path)
                elif not self._is_as_copied(path, entry):
                    self._states.pop(path, None)
                    remove(entry.path)
                    if os.path.lexists(entry.path):
                        raise _Unproved
                    continue
                seen.add(path)
        for path in sorted(self._folders.keys() - seen):  # a folder before what is in it
            os.mkdir(os.path.join(self._at, path))
            self._check_folder(path, os.path.join(self._at, path))
        for path in (self._digests.keys() | self._links.keys()) - seen:
            self._copy_again(path)

    def _check_folder(self, path: str, place: str) -> None:
        """Give a folder the rights that it had.

        Raises:
            _Unproved: it differs in more.
        """
        expected, found = self._folders[path], os.lstat(place)
        if stat.S_IMODE(found.st_mode) != expected.mode:
            os.chmod(place, expected.mode)
        if traces.attributes(place, found) != expected.attributes:
            raise _Unproved

    def _is_as_copied(self, path: str, entry: os.DirEntry[str]) -> bool:
        if self._states.get(path) != traces.state(entry.stat(follow_symlinks=False)):
            return False
        return bool(self._shows_mapped_writes) or path in self._links or self._has_its_bytes(path)

    def _has_its_bytes(self, path: str) -> bool:
        hasher = hashlib.sha256()
        with open(os.path.join(self._at, path), "rb") as file:
            while chunk := file.read(1 << 20):
                hasher.update(chunk)
        return hasher.hexdigest() == self._digests[path]

    def _copy_again(self, path: str) -> None:
        place = os.path.join(self._at, path)
        if path in self._links:
            os.symlink(self._links[path], place)
        else:
            copied = copies.copy_file(os.path.join(self._root, path), place, {os.path.dirname(place)})
            if copied is None or copied.digest != self._digests[path]:
                raise Refusal("provenance-changed", f"{path} changed while the suites ran")
            os.chmod(place, self._modes[path])
        self._record(path, os.lstat(place))


def _folder(path: str) -> _Folder:
    found = os.lstat(path)
    return _Folder(stat.S_IMODE(found.st_mode), traces.attributes(path, found))
