"""What a copy of a project gets beside the sources, so that tests find what is installed as they do in place."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator

from testlore.evidence import copies
from testlore.frameworks.javascript import PACKAGE_CACHES, PACKAGES, folders_of_packages

_METADATA = (".egg-info", ".dist-info")


def link_node_packages(root: str, target: str) -> None:
    """Link each installed package of the original into a copy.

    In a workspace a package may itself be a link into the project's sources. It becomes a link into the copy. The
    folder that holds the links belongs to the copy, so a cache that a runner keeps in it is removed with the copy.
    """
    for folder, names, _ in os.walk(target):
        names[:] = [name for name in names if name != PACKAGES]
        installed = os.path.join(root, os.path.relpath(folder, target), PACKAGES)
        if os.path.isdir(installed):
            _link_entries(os.path.realpath(root), target, installed, os.path.join(folder, PACKAGES))


def link_packages_above(root: str, target: str) -> None:
    """Link the packages that are installed in the folders around the original, as in a workspace, beside the copy.

    Node looks for packages in every folder upwards. The nearest of one name is the one that it takes.
    """
    original = os.path.realpath(root)
    for installed in folders_of_packages(os.path.dirname(original)):
        _link_entries(original, target, installed, os.path.join(os.path.dirname(target), PACKAGES))


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
            real = os.path.normpath(os.path.join(target, below))
        with contextlib.suppress(FileExistsError):
            os.symlink(real, link)


def metadata(root: str, sources: Iterable[str]) -> list[str]:
    """The folders of a Python package's metadata that lie beside the sources and are none, relative to the root.

    An installation in editable mode of the older kind keeps the metadata there, and git ignores it.
    """
    beside = set()
    for path in sources:
        if path.endswith(".py"):
            package = os.path.dirname(path)
            beside |= {package, os.path.dirname(package)}
    return [path for folder in sorted(beside) for path in _metadata_in(root, folder)]


def _metadata_in(root: str, folder: str) -> Iterator[str]:
    with contextlib.suppress(OSError):
        for entry in os.scandir(os.path.join(root, folder)):
            if entry.name.endswith(_METADATA) and entry.is_dir(follow_symlinks=False):
                yield os.path.join(folder, entry.name)


def copy_metadata(root: str, target: str, folders: Iterable[str]) -> None:
    """Copy folders of metadata, unless they are among the sources.

    Raises:
        OSError: a copy cannot be written.
    """
    for folder in folders:
        if os.path.lexists(os.path.join(target, folder)):
            continue
        made: set[str] = set()
        for below, _, files in os.walk(os.path.join(root, folder)):
            for file in files:
                source = os.path.join(below, file)
                copies.copy_file(source, os.path.join(target, os.path.relpath(source, root)), made)
