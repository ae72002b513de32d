"""How a project's sources are copied, byte for byte. What is installed beside them is the matter of ``installed``.

Files that a run writes go into the copy and not into the project. A copy is no sandbox: tests are trusted code.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
from typing import BinaryIO, NamedTuple

from testlore.evidence import room
from testlore.progress import Progress, silent
from testlore.project import listing, temporary

_CHUNK = 1 << 20


class File(NamedTuple):
    """A copied file: the digest of its bytes, and how many these are."""

    digest: str
    size: int


def pristine(root: str, target: str, progress: Progress = silent) -> dict[str, File]:
    """Copy a project's sources into the new folder ``target``.

    Args:
        progress: told how many files were copied.

    Returns:
        The copied files by path. They are those of the snapshot unless the sources have changed.

    Raises:
        Refusal: ``no-room``, ``copy-unwritable``, ``sources-unknown``.
    """
    files: dict[str, File] = {}
    links = []
    paths = listing.paths(root)
    folders: set[str] = set()
    try:
        os.mkdir(target)
        for number, path in enumerate(paths):
            progress("copying the sources", number, len(paths))
            source = os.path.join(root, path)
            copied = copy_file(source, os.path.join(target, path), folders)
            if copied is not None:
                files[path] = copied
            elif os.path.islink(source):
                links.append(path)
        for path in links:
            _copy_link(root, target, path)
    except OSError as error:
        size, total = sum(file.size for file in files.values()), room.size(root, paths)
        raise room.refusal(error, temporary.place(), f"{size} of the sources' {total} bytes were copied") from None
    return files


def copy_file(source: str, place: str, folders: set[str]) -> File | None:
    """Copy a regular file to where there is none yet.

    Args:
        folders: folders that exist; the file's own is made unless it is one of them, and is one afterwards.

    Returns:
        The copied file; ``None`` where there is none that can be read: for the snapshot, it does not exist.

    Raises:
        OSError: the copy cannot be written.
    """
    try:
        mode = os.lstat(source).st_mode
        if not stat.S_ISREG(mode):
            return None
        file = open(source, "rb", buffering=0)  # noqa: SIM115
    except OSError:
        return None
    with file:
        folder = os.path.dirname(place)
        if folder not in folders:
            os.makedirs(folder, exist_ok=True)
            folders.add(folder)
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as copy:
            copied = _copy(file, copy)
            os.fchmod(descriptor, stat.S_IMODE(mode) | stat.S_IWUSR)
    if copied is None:
        os.unlink(place)
    return copied


def _copy(file: io.FileIO, copy: BinaryIO) -> File | None:
    """Copy bytes; ``None`` when they cannot be read."""
    hasher, size = hashlib.sha256(), 0
    while True:
        try:
            chunk = file.read(_CHUNK)
        except OSError:
            return None
        if not chunk:
            return File(hasher.hexdigest(), size)
        hasher.update(chunk)
        copy.write(chunk)
        size += len(chunk)


def _copy_link(root: str, target: str, path: str) -> None:
    """Copy a link that stays within the project; leave out one that leads to the original or elsewhere."""
    try:
        text = os.readlink(os.path.join(root, path))
    except OSError:  # it is gone
        return
    leads_to = os.path.normpath(os.path.join(os.path.dirname(path), text))
    if not os.path.isabs(text) and leads_to != ".." and not leads_to.startswith(".." + os.sep):
        place = os.path.join(target, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.symlink(text, place)
