"""Disposable copies of a project: its sources, byte for byte, and links to its installed Node packages.

Files that a run writes go into the copy and not into the project. A copy is no sandbox: tests are trusted code.
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
from testlore.errors import Refusal, UnsafePath
from testlore.frameworks.javascript import PACKAGE_CACHES, PACKAGES
from testlore.project import listing, safe_files


@contextlib.contextmanager
def disposable() -> Iterator[str]:
    """A new folder, removed with everything in it when the block ends. Its path has no links."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="testlore-"))
    try:
        yield folder
    finally:
        remove(folder)


def remove(folder: str) -> None:
    """Remove a folder, even if a test left read-only files or folders in it."""
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.exists(folder):
        for place, _, _ in os.walk(folder):
            with contextlib.suppress(OSError):
                os.chmod(place, stat.S_IRWXU)
        shutil.rmtree(folder, ignore_errors=True)


def pristine(root: str, target: str) -> str:
    """Copy a project's sources into the new folder ``target``.

    Returns:
        The digest of the copied files. It equals the provenance's ``sourceHash`` unless the sources have changed.

    Raises:
        OSError: the copy cannot be written.
    """
    digests = {}
    links = []
    os.mkdir(target)
    for path in listing.paths(root):
        source, place = os.path.join(root, path), os.path.join(target, path)
        try:
            mode = os.lstat(source).st_mode
            if stat.S_ISLNK(mode):
                links.append(path)
            if not stat.S_ISREG(mode):
                continue
            file = open(source, "rb")  # noqa: SIM115
        except OSError:  # as in the snapshot, a file that cannot be read does not exist
            continue
        with file:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            digests[path] = _copy(file, place, stat.S_IMODE(mode) | stat.S_IWUSR)
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
    """Copy a link that stays within the project. Leave out one that is absolute or leads out of it."""
    text = os.readlink(os.path.join(root, path))
    leads_to = os.path.normpath(os.path.join(os.path.dirname(path), text))
    if not os.path.isabs(text) and leads_to != ".." and not leads_to.startswith(".." + os.sep):
        place = os.path.join(target, path)
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.symlink(text, place)


def variant(base: str, target: str, files: Mapping[str, bytes], deleted: list[str], root: str) -> str:
    """Copy a pristine copy, and change some of its files.

    Args:
        base: a folder that :func:`pristine` made.
        target: the new folder.
        files: the contents of new and replaced files, by path.
        deleted: the paths of files to delete.
        root: the original project. Its Node packages are linked into the copy.

    Returns:
        ``target``.

    Raises:
        Refusal: ``candidate-unsafe``: a path leads out of the copy; ``candidate-changed``: a file to delete is missing.
        OSError: the copy cannot be written.
    """
    shutil.copytree(base, target, symlinks=True)
    for path in deleted:
        place = _inside(target, path)
        if not os.path.isfile(place):
            raise Refusal("candidate-changed", f"it deletes {path}, which the project does not have")
        os.unlink(place)
    for path, content in files.items():
        place = _inside(target, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(content)
    _link_node_packages(root, target)
    return target


def _inside(target: str, path: str) -> str:
    """The absolute form of a path in a copy, from which neither the path nor a link leads out.

    Raises:
        Refusal: ``candidate-unsafe``.
    """
    try:
        return safe_files.safe_path(target, path)
    except UnsafePath as error:
        raise Refusal("candidate-unsafe", str(error)) from None


def _link_node_packages(root: str, target: str) -> None:
    """Link each installed package of the original into a copy.

    In a workspace a package may itself be a link into the project's sources. It becomes a link into the copy. The
    folder that holds the links belongs to the copy, so a cache that a runner keeps in it is removed with the copy.
    """
    for folder, names, _ in os.walk(target):
        names[:] = [name for name in names if name != PACKAGES]
        installed = os.path.join(root, os.path.relpath(folder, target), PACKAGES)
        if os.path.isdir(installed):
            _link_entries(os.path.realpath(root), target, installed, os.path.join(folder, PACKAGES))


def _link_entries(root: str, target: str, installed: str, place: str) -> None:
    os.makedirs(place, exist_ok=True)
    for entry in os.scandir(installed):
        link = os.path.join(place, entry.name)
        if entry.name in PACKAGE_CACHES:
            continue
        if entry.name.startswith("@") and entry.is_dir():
            _link_entries(root, target, entry.path, link)
            continue
        real = os.path.realpath(entry.path)
        below = os.path.relpath(real, root)
        if not below.startswith("..") and PACKAGES not in below.split(os.sep):
            real = os.path.join(target, below)
        with contextlib.suppress(FileExistsError):
            os.symlink(real, link)
