"""Disposable copies of a project: its sources, byte for byte, and links to its installed Node packages.

A copy is for keeping what a run writes away from the project. It is no sandbox: tests are trusted code.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping

from testlore import canonical
from testlore.project import snapshot

_NODE_PACKAGES = "node_modules"


@contextlib.contextmanager
def disposable() -> Iterator[str]:
    """A new folder of our own, without links in its path, that is removed with all that is in it."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="testlore-"))
    try:
        yield folder
    finally:
        remove(folder)


def remove(folder: str) -> None:
    """Remove a folder, even when a test left something in it that is not writable."""
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.exists(folder):
        for place, _, _ in os.walk(folder):
            with contextlib.suppress(OSError):
                os.chmod(place, stat.S_IRWXU)
        shutil.rmtree(folder, ignore_errors=True)


def pristine(root: str, target: str) -> str:
    """Copy a project's sources into the new folder ``target``.

    Returns:
        The digest of what was copied: the ``sourceHash`` of the provenance, unless the sources changed meanwhile.
    """
    digests = {}
    links = []
    os.mkdir(target)
    for path in snapshot.paths(root):
        source, place = os.path.join(root, path), os.path.join(target, path)
        try:
            mode = os.lstat(source).st_mode
            if stat.S_ISLNK(mode):
                links.append(path)
            if not stat.S_ISREG(mode):
                continue
            with open(source, "rb") as file:
                os.makedirs(os.path.dirname(place), exist_ok=True)
                digests[path] = _copy(file, place, stat.S_IMODE(mode) | stat.S_IWUSR)
        except OSError:  # as in the snapshot: what cannot be read is not there
            continue
    for path in links:
        _copy_link(root, target, path)
    return canonical.digest(digests)


def _copy(file: object, place: str, mode: int) -> str:
    hasher = hashlib.sha256()
    with open(place, "xb") as copy:
        while chunk := file.read(1 << 20):  # type: ignore[attr-defined]
            hasher.update(chunk)
            copy.write(chunk)
    os.chmod(place, mode)
    return hasher.hexdigest()


def _copy_link(root: str, target: str, path: str) -> None:
    """Repeat a link that stays within the sources; leave out one that leads to the original or elsewhere."""
    text = os.readlink(os.path.join(root, path))
    leads_to = os.path.normpath(os.path.join(os.path.dirname(path), text))
    if not os.path.isabs(text) and leads_to != ".." and not leads_to.startswith(".." + os.sep):
        place = os.path.join(target, path)
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.symlink(text, place)


def variant(base: str, target: str, files: Mapping[str, bytes], deleted: list[str], root: str) -> str:
    """Make a copy of a pristine copy, with other content in some files.

    Args:
        base: what :func:`pristine` made.
        target: a new folder.
        files: the content of new and replaced files.
        deleted: the paths of files that go.
        root: the original, whose Node packages are linked.

    Returns:
        ``target``.
    """
    shutil.copytree(base, target, symlinks=True)
    for path in deleted:
        os.unlink(os.path.join(target, path))
    for path, content in files.items():
        place = os.path.join(target, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(content)
    _link_node_packages(root, target)
    return target


def _link_node_packages(root: str, target: str) -> None:
    """Give a copy the original's installed packages, each by a link of its own.

    A package that is itself a link into the project's sources, as in a workspace, becomes one into the copy. The folder
    is the copy's own, so that a cache that a runner keeps in it goes with the copy.
    """
    for folder, names, _ in os.walk(target):
        names[:] = [name for name in names if name != _NODE_PACKAGES]
        installed = os.path.join(root, os.path.relpath(folder, target), _NODE_PACKAGES)
        if os.path.isdir(installed):
            _link_entries(os.path.realpath(root), target, installed, os.path.join(folder, _NODE_PACKAGES))


def _link_entries(root: str, target: str, installed: str, place: str) -> None:
    os.makedirs(place, exist_ok=True)
    for entry in os.scandir(installed):
        link = os.path.join(place, entry.name)
        if entry.name in (".cache", ".vite", ".vitest"):
            continue
        if entry.name.startswith("@") and entry.is_dir():
            _link_entries(root, target, entry.path, link)
            continue
        real = os.path.realpath(entry.path)
        below = os.path.relpath(real, root)
        if not below.startswith("..") and _NODE_PACKAGES not in below.split(os.sep):
            real = os.path.join(target, below)
        with contextlib.suppress(FileExistsError):
            os.symlink(real, link)
