"""Temporary folders of ours. Those whose owner was killed are found by the lock that it held, and removed.

The owner holds a lock of the system (``flock``) on the folder itself. The system releases it whatever ends the owner,
and tools that clean up temporary files, such as systemd-tmpfiles, respect it too. A folder's age says nothing: a suite
may run for hours, and a killed run's copy lies there from the first second.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PREFIX, _SUFFIX = "testlore-", ".tmp"
_DIGITS = frozenset("0123456789abcdef")
_ATTEMPTS = 100


class Folder(NamedTuple):
    """A temporary folder, which nobody else removes until it is released.

    Attributes:
        path: where it is.
        lock: the descriptor that holds its lock; ``None`` where the file system has no locks.
    """

    path: str
    lock: int | None

    def release(self) -> None:
        """Give up the lock. What is left of the folder may be swept from now on."""
        if self.lock is not None:
            os.close(self.lock)


def make(name: Callable[[], str]) -> Folder:
    """Make and lock a new folder, for us alone.

    Args:
        name: gives a path, another one each time.

    Raises:
        OSError: it cannot be made.
    """
    for _ in range(_ATTEMPTS):
        path = name()
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
            try:
                return Folder(path, _lock(path))
            except (BlockingIOError, FileNotFoundError):  # a sweep came between
                continue
    raise FileExistsError(f"{path} exists, and {_ATTEMPTS - 1} more")


def _lock(path: str) -> int | None:
    """Lock a folder, without waiting.

    Returns:
        The descriptor that holds the lock; ``None`` where the file system has no locks.

    Raises:
        BlockingIOError: another process holds it.
        FileNotFoundError: it is gone, or is a link.
    """
    if fcntl is None:
        return None
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(descriptor), os.lstat(path)):
            raise FileNotFoundError(path)
    except (BlockingIOError, FileNotFoundError):
        os.close(descriptor)
        raise
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def sweep(within: str, is_ours: Callable[[str], bool], remove: Callable[[str], None]) -> None:
    """Remove the temporary folders whose owner is gone. It never fails: what cannot be removed stays.

    Args:
        within: the folder in which they lie.
        is_ours: whether a name is one that only we give.
        remove: removes a folder.
    """
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(within)):
            if not is_ours(entry.name):
                continue
            with contextlib.suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                    continue
                lock = _lock(entry.path)
                if lock is not None:
                    try:
                        remove(entry.path)
                    finally:
                        os.close(lock)


@contextlib.contextmanager
def in_system() -> Iterator[str]:
    """A new folder among the system's temporary files, removed with everything in it at the end.

    What killed runs left there is removed first. The path has no links.

    Raises:
        OSError: it cannot be made.
    """
    where = place()
    sweep(where, _is_ours, remove)
    folder = make(lambda: os.path.join(where, f"{_PREFIX}{os.urandom(4).hex()}{_SUFFIX}"))
    try:
        yield folder.path
    finally:
        remove(folder.path)
        folder.release()


def _is_ours(name: str) -> bool:
    digits = name.removeprefix(_PREFIX).removesuffix(_SUFFIX)
    return name == f"{_PREFIX}{digits}{_SUFFIX}" and len(digits) == 8 and _DIGITS.issuperset(digits)


def place() -> str:
    """The folder for temporary files, as a real path.

    Python passes over one that is full. We do not: who set ``TMPDIR`` wants nothing elsewhere, and an error that
    names it tells more than a copy in the current folder.

    Raises:
        FileNotFoundError: there is none.
    """
    import tempfile

    for path in (tempfile.tempdir, *map(os.environ.get, ("TMPDIR", "TEMP", "TMP")), "/tmp"):  # noqa: S108
        if path and os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK):
            return os.path.realpath(path)
    return os.path.realpath(tempfile.gettempdir())


def remove(path: str) -> None:
    """Remove a file, a link or a folder, even if a test left read-only folders in it. What cannot be removed stays."""
    if os.path.islink(path) or not os.path.isdir(path):
        with contextlib.suppress(OSError):
            os.unlink(path)
        return
    import shutil

    shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        _unlock(path)
        for folder, names, _ in os.walk(path):  # which lists a folder after we have unlocked it
            for name in names:
                _unlock(os.path.join(folder, name))
        shutil.rmtree(path, ignore_errors=True)


def _unlock(folder: str) -> None:
    """Take away what keeps us from removing what is in a folder; a link's target is left alone."""
    if not os.path.islink(folder):
        with contextlib.suppress(OSError):
            os.chmod(folder, stat.S_IRWXU)
